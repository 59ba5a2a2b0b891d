"""``ncc train devmap``: a head that predicts the faster device."""

from typing import Annotated, Literal

import typer

from ncc.cli.options import DataFolder, EmbeddingFolder, OutputFolder, Seed
from ncc.cli.output import print_card, say
from ncc.runtime.provenance import command_line

__all__ = ["train_devmap"]


def train_devmap(
    output: OutputFolder,
    platform: Annotated[
        Literal["amd", "nvidia"], typer.Option(help="amd (Tahiti 7970) or nvidia (GTX 970).")
    ] = "nvidia",
    model: Annotated[
        Literal["gp", "lstm"],
        typer.Option(help="gp: Gaussian processes, as in the head that ships; lstm: an ensemble of LSTMs (an hour)."),
    ] = "gp",
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Fit a device head to the CGO'17 tables, measured on kernels and applications held out."""
    from ncc import api

    head = api.train_devmap(
        output,
        platform=platform,
        model=model,
        embedding=api.load_embedding(embedding),
        seed=seed,
        data=data,
        about={"command": command_line()},
        progress=say,
    )
    print_card(head.about)
