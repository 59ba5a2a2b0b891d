"""``ncc train coarsening``: a head that predicts thread-coarsening factors."""

from typing import Annotated, Literal

import typer

from ncc.cli.options import DataFolder, EmbeddingFolder, OutputFolder, Seed
from ncc.cli.output import print_card
from ncc.runtime.provenance import command_line

__all__ = ["train_coarsening"]


def train_coarsening(
    output: OutputFolder,
    model: Annotated[
        Literal["line", "lstm"],
        typer.Option(help="line: a line in one feature, as in the head that ships; lstm: an ensemble of LSTMs."),
    ] = "line",
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Fit the head of thread coarsening to the PACT'14 table, measured on kernels held out."""
    from ncc import api

    head = api.train_coarsening(
        output,
        model=model,
        embedding=api.load_embedding(embedding),
        seed=seed,
        data=data,
        about={"command": command_line()},
    )
    print_card(head.about)
