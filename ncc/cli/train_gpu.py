"""``ncc train gpu``: a head that predicts launches on one card, from profiles."""

from pathlib import Path
from typing import Annotated

import typer

from ncc.cli.options import DataFolder, OutputFolder, Seed
from ncc.cli.output import print_card, say
from ncc.system.files.provenance import command_line


def train_gpu(
    output: OutputFolder,
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TABLE]", help="Launches, .csv: your own, or from nsys or ncu; default: gpuFLOPBench's."
        ),
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Sources of the table's kernels; default: the table's folder.")
    ] = None,
    gpu: Annotated[str, typer.Option(metavar="NAME", help="The card that the table was measured on.")] = "RTX 3080",
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Fit a head to measured launches of GPU kernels.

    Example: ncc train gpu profile.csv --sources src --gpu A100 -o mine
    """
    from ncc import api

    about = {"command": command_line()}
    head = api.train_gpu(output, table=table, sources=sources, gpu=gpu, seed=seed, data=data, about=about, progress=say)
    print_card(head.card)
