"""``ncc evaluate embedding``: analogies, the semantic distance test, neighbors, and pictures of the words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ncc.cli.options import EmbeddingFolder, OneJson, ResultFile
from ncc.system.files.writing import check_writable
from ncc_lab.cli.figures import Into, card_of, print_figures

if TYPE_CHECKING:
    from ncc.learning.embedding.embedding import Embedding

Inst2vec = Annotated[
    tuple[Path, Path] | None,
    typer.Option(metavar="DICTIONARY MATRIX", help="Instead measure an inst2vec embedding as published by spcl/ncc."),
]


def measured_embedding(folder: Path | None, inst2vec: tuple[Path, Path] | None) -> "Embedding":
    """The embedding that a command is to measure."""
    from ncc import api
    from ncc_lab.vectors.inst2vec import load_inst2vec

    return load_inst2vec(*inst2vec) if inst2vec else api.load_embedding(folder)


def evaluate_embedding(
    embedding: EmbeddingFolder = None,
    inst2vec: Inst2vec = None,
    nearest: Annotated[
        list[str] | None, typer.Option(metavar="STATEMENT", help="Show the neighbors of this statement.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many nearest words may contain the answer.")] = 5,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the words, colored by family.")] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="The same as a page, to explore in a browser.")
    ] = None,
    method: Annotated[Literal["umap", "tsne"], typer.Option(help="Projection of the pictures.")] = "tsne",
    output: ResultFile = None,
    as_json: OneJson = False,
    into: Into = None,
) -> None:
    """Run the inst2vec paper's analogies and semantic distance test on an embedding, and draw it."""
    import ncc_lab

    check_writable(plot, html, output)
    if into:
        card_of(into)
    table = measured_embedding(embedding, inst2vec)
    scores = ncc_lab.evaluate_embedding(table, nearest=nearest, k=k)
    if plot or html:
        ncc_lab.draw_embedding(table, plot=plot, html=html, method=method)
    figures = {"num_words": len(table.vocabulary), **scores.to_dict()}
    print_figures(figures, scores.parts(), output, as_json, into, scores.to_card)
