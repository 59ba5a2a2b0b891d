"""``ncc train coarsening``: a head that predicts thread-coarsening factors."""

from typing import Annotated, Literal

import typer

from ncc.cli.options import DataFolder, EmbeddingFolder, OutputFolder, Seed, arguments_of
from ncc.cli.output import print_card
from ncc.system.files.provenance import command_line


def train_coarsening(
    output: OutputFolder,
    model: Annotated[
        Literal["line", "lstm"],
        typer.Option(help="line: a straight line in one feature, like the shipped head; lstm: an ensemble of LSTMs."),
    ] = "line",
    embedding: EmbeddingFolder = None,
    seed: Seed = 204,
    data: DataFolder = None,
) -> None:
    """Fit a thread-coarsening head to the published times, scored on kernels held out.

    Example: ncc train coarsening -o mine && ncc predict-coarsening kernel.cl --head mine
    """
    given = arguments_of(locals())
    from ncc import api

    head = api.train_coarsening(**given, about={"command": command_line()})
    print_card(head.card)
