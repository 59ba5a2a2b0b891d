"""``ncc evaluate embedding``: analogies, the semantic distance test, neighbors, and pictures of the words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ncc.system.files.writing import check_writable
from ncc.verbs.types import Words, command
from ncc_lab.cli.figures import card_of, print_figures
from ncc_lab.cli.options import EmbeddingFolder, Into, OneJson, ResultFile

if TYPE_CHECKING:
    from ncc.learning.embedding.embedding import Embedding

Inst2vec = Annotated[
    tuple[Path, Path] | None,
    Words(metavar="DICTIONARY MATRIX", help="Instead measure an inst2vec embedding as published by spcl/ncc."),
]


def measured_embedding(folder: Path | None, inst2vec: tuple[Path, Path] | None) -> "Embedding":
    """The embedding that a command is to measure."""
    import ncc
    from ncc_lab.vectors.inst2vec import load_inst2vec

    return load_inst2vec(*inst2vec) if inst2vec else ncc.load_embedding(folder)


@command(compiles=False)
def evaluate_embedding(
    *,
    embedding: EmbeddingFolder | None = None,
    inst2vec: Inst2vec | None = None,
    nearest: Annotated[
        list[str] | None, Words(metavar="STATEMENT", help="Show the neighbors of this statement.")
    ] = None,
    k: Annotated[int, Words(option=("-k",), help="How many nearest words may contain the answer.")] = 5,
    plot: Annotated[Path | None, Words(metavar="FILE.png", help="Draw the words, colored by family.")] = None,
    html: Annotated[
        Path | None, Words(metavar="FILE.html", help="The same as a page, to explore in a browser.")
    ] = None,
    method: Annotated[Literal["umap", "tsne"], Words(help="Projection of the pictures.")] = "tsne",
    output: ResultFile | None = None,
    as_json: OneJson = False,
    into: Into | None = None,
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
