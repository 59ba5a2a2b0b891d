"""``ncc measure``: a table of kernel times on your devices."""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import Json, Seed
from ncc.cli.output import print_answer, say

DeviceNames = Annotated[
    list[str] | None,
    typer.Option("--device", metavar="NAME", help="Number in ncc devices, or part of a name; default: all."),
]


def measure(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="TABLE.parquet", help="Table to write or to add to.")
    ],
    kernels: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KERNEL...]", help="OpenCL C: file, folder or glob; default: the kernels that ship."),
    ] = None,
    device: DeviceNames = None,
    sizes: Annotated[
        str, typer.Option(metavar="A:B|A,B", help="Work-items: a range in steps of 4, or a list.")
    ] = "1K:16M",
    wgsize: Annotated[str, typer.Option(metavar="A,B", help="Work-items per work-group.")] = "64,256",
    budget: Annotated[float | None, typer.Option(metavar="MINUTES", help="Stop after this time.")] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit for a kernel at one size.")] = 30.0,
    seconds: Annotated[float, typer.Option(help="Longest time to repeat one size.")] = 1.0,
    seed: Seed = 204,
    as_json: Json = False,
) -> None:
    """Time OpenCL kernels on your devices; run again to resume after a stop.

    Example: ncc measure kernels/ -o times.parquet --sizes 1K:1M --device pthread
    """
    from ncc import api

    found = api.measure_kernels(
        kernels or (),
        output,
        device=device,
        sizes=sizes,
        wgsize=wgsize,
        budget_minutes=budget,
        timeout_s=timeout,
        seconds=seconds,
        seed=seed,
        progress=say,
    )
    if as_json:
        print_answer(found.to_dict())
    else:
        print_answer(found.to_text())
    if not found.num_rows:
        raise typer.Exit(1)
