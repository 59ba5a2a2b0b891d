"""``ncc train devmap``: a head that predicts times on devices, and thus the faster one."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from ncc.cli.options import DataFolder, EmbeddingFolder, OutputFolder, Seed, arguments_of
from ncc.cli.output import print_card, say
from ncc.system.files.provenance import command_line


def train_devmap(
    output: OutputFolder,
    tables: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[TABLE]...", help="Times of your own, .csv or .parquet; default: the published ones."),
    ] = None,
    platform: Annotated[
        Literal["amd", "nvidia"], typer.Option(help="amd (Tahiti 7970) or nvidia (GTX 970).")
    ] = "nvidia",
    model: Annotated[
        Literal["times", "gp", "trees", "lstm"] | None,
        typer.Option(
            help="gp (Gaussian processes, the default with tables), trees or lstm (reads statements); without tables "
            "also times, like the shipped heads."
        ),
    ] = None,
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Fit a device head to measured times, scored on kernels and families held out.

    Example: ncc train devmap times.csv -o mine && ncc predict-device kernel.cl --global-size 1048576 --head mine
    """
    given = arguments_of(locals()) | {"tables": tables or ()}
    from ncc import api

    head = api.train_devmap(**given, about={"command": command_line()}, progress=say)
    print_card(head.card)
