"""``ncc devices``: the machine's OpenCL devices."""

from typing import Annotated

import typer

from ncc.cli.output import print_answer, print_rows
from ncc.system.files.text import format_bytes


def devices(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per device and line.")] = False,
) -> None:
    """List the OpenCL devices on which kernels can be measured."""
    from ncc import api

    found = api.list_devices()
    if as_json:
        for device in found:
            print_answer(device.to_dict())
        return
    rows = [
        (str(number), one.name, one.kind, str(one.compute_units), str(one.max_wgsize), format_bytes(one.memory_bytes),
         one.driver)
        for number, one in enumerate(found, 1)
    ]  # fmt: skip
    print_rows(rows, ("number", "name", "kind", "units", "wgsize", "memory", "driver"))
