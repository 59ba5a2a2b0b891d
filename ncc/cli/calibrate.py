"""``ncc calibrate``: a head for your own machine."""

from typing import Annotated

import typer

from ncc.cli.measure import DeviceNames
from ncc.cli.options import OutputFolder, Seed
from ncc.cli.output import now_and_then, print_card
from ncc.system.files.provenance import command_line


def calibrate(
    output: OutputFolder,
    budget: Annotated[
        float, typer.Option(metavar="MINUTES", help="Time for measuring; training takes extra time.")
    ] = 10.0,
    kernels: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="OpenCL C to measure; default: the kernels that ship.")
    ] = None,
    device: DeviceNames = None,
    sizes: Annotated[
        str, typer.Option(metavar="A:B|A,B", help="Work-items: a range in steps of 4, or a list.")
    ] = "1K:1M",
    wgsize: Annotated[str, typer.Option(metavar="A,B", help="Work-items per work-group.")] = "64,256",
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Time limit for a kernel at one size.")] = 30.0,
    seconds: Annotated[float, typer.Option(help="Longest time to repeat one size.")] = 0.3,
    seed: Seed = 204,
) -> None:
    """Measure kernels on your devices and train a head on the times; run again to measure more.

    Example: ncc calibrate -o mine --budget 10, then ncc predict-device kernel.cl --head mine
    """
    from ncc import api

    head = api.calibrate(
        output,
        budget_minutes=budget,
        kernels=kernels,
        device=device,
        sizes=sizes,
        wgsize=wgsize,
        timeout_s=timeout,
        seconds=seconds,
        seed=seed,
        about={"command": command_line()},
        progress=now_and_then(),
    )
    print_card(head.card)
