"""What ``ncc evaluate embedding`` and ``coverage`` do, as functions: how good an embedding is by itself."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ncc.embedding import Embedding, load_embedding
from ncc.frontend import CompileOptions
from ncc.runtime.writable import check_writable

if TYPE_CHECKING:
    from ncc.study.embedding import Coverage, IntrinsicScores

__all__ = ["draw_embedding", "evaluate_coverage", "evaluate_embedding"]


def evaluate_embedding(
    embedding: Embedding | None = None, *, nearest: Sequence[str] | None = None, k: int = 5
) -> "IntrinsicScores":
    """Asks the paper's analogies and semantic distance test of an embedding.

    Args:
        embedding: Default the one that ships with ncc.
        nearest: Abstracted statements whose neighbours are wanted; default a few everyday ones.
        k: Number of nearest words among which an answer must be.

    Returns:
        Scores of each kind of analogy and of the distance test, in percent, and neighbours.

    Raises:
        InputError: ``k`` is below 1.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    from ncc.study.embedding import DEFAULT_STATEMENTS
    from ncc.study.embedding import evaluate_embedding as evaluate

    return evaluate(embedding or load_embedding(), neighbors_of=nearest or DEFAULT_STATEMENTS, k=k)


def draw_embedding(
    embedding: Embedding | None = None,
    *,
    picture: str | Path | None = None,
    page: str | Path | None = None,
    method: Literal["umap", "tsne"] = "tsne",
) -> None:
    """Draws the words of an embedding in two dimensions, coloured by family.

    Args:
        embedding: Default the one that ships with ncc.
        picture: A .png file.
        page: A .html file, to explore in a browser.
        method: Of the projection.

    Raises:
        OutputError: A file can't be written.
    """
    from ncc.study.embedding import project, write_html, write_png

    files = [None if path is None else Path(path) for path in (picture, page)]
    check_writable(*files)
    projection = project(embedding or load_embedding(), method=method)
    for path, write in zip(files, (write_png, write_html), strict=True):
        if path:
            write(projection, path)


def evaluate_coverage(
    inputs: Sequence[str],
    *,
    embedding: Embedding | None = None,
    misses: int = 20,
    options: CompileOptions | None = None,
) -> "Coverage":
    """Counts how many statements of code an embedding has as they stand, and how far others back off.

    Args:
        inputs: Files, folders and globs, and folders of corpora that `build_corpus` made.
        embedding: Default the one that ships with ncc.
        misses: Number of the most frequent misses to list.
        options: How source is compiled.

    Returns:
        The counts; files that could not be read are named in ``failures``.

    Raises:
        InputError: ``misses`` is negative, or a corpus was counted with another abstraction.
        AssetError: A corpus is damaged.
    """
    from ncc.corpus import count_statements
    from ncc.study.embedding import measure_coverage

    embedding = embedding or load_embedding()
    found = count_statements(inputs, abstraction=embedding.abstraction, options=options)
    coverage = measure_coverage(found.counts, embedding.vocabulary, num_misses=misses)
    by_compiler = {}
    for compiler, counts in sorted(found.by_compiler.items()):
        one = measure_coverage(counts, embedding.vocabulary, num_misses=0)
        by_compiler[compiler] = (one.num_statements, one.exact_rate)
    return replace(coverage, failures=found.failures, by_compiler=by_compiler)
