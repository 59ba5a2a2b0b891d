"""Pictures of an embedding, as a file or a page: its most frequent statements in a plane, colored by family.

Reference: Ben-Nun et al. 2018, section 5.1 (there t-SNE).
"""

import importlib
import io
import os
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from ncc.arrays import Floats32, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.backoff import opcode_of
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, l2_normalize, load_embedding
from ncc.system.files.pages import render_page
from ncc.system.files.writing import check_writable, write_output
from ncc_lab.embedding.statements import exact_rows

_MIN_WORDS = 5

_OPCODES = {
    "integer arithmetic": "add sub mul udiv sdiv urem srem",
    "floating-point arithmetic": "fadd fsub fmul fdiv frem fneg",
    "bitwise": "and or xor shl lshr ashr",
    "comparison": "icmp fcmp",
    "conversion": "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast "
    "ptrtoaddr",
    "vector and aggregate": "extractelement insertelement shufflevector extractvalue insertvalue",
    "memory load": "load",
    "memory store": "store",
    "address": "getelementptr",
    "stack": "alloca",
    "call": "call invoke callbr",
    "function header": "define",
    "control flow": "br switch indirectbr ret unreachable resume landingpad catchswitch catchret cleanupret catchpad "
    "cleanuppad",
    "phi and select": "phi select",
    "atomic": "atomicrmw cmpxchg fence",
}
_FAMILY_OF = {opcode: family for family, opcodes in _OPCODES.items() for opcode in opcodes.split()}

FAMILIES = (*_OPCODES, "other")
"""All families, related ones beside each other."""


def family_of(text: str) -> str:
    """Return the family of a statement or of any of its generalizations.

    >>> family_of("<%ID> = load i32, ptr <%ID>, align 4")
    'memory load'
    """
    if " atomic " in text:  # load atomic, store atomic
        return "atomic"
    return _FAMILY_OF.get(opcode_of(text), "other")


_COLORS = ("#0072B2", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#882255", "#E69F00", "#666666")
MARKS = {family: (_COLORS[row // 2], ("circle", "triangle")[row % 2]) for row, family in enumerate(FAMILIES)}
"""Color and shape of every family: colors that the color-blind tell apart, each used twice with another shape."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Words on a plane.

    Attributes:
        rows: (n,) int32 rows of the embedding, most frequent first.
        xy: (n, 2) float32 coordinates; only distances between neighbors mean something.
        families: (n,) the family of each.
        texts: (n,) the statements.
        method: "umap" or "tsne".
    """

    rows: Ints32
    xy: Floats32
    families: tuple[str, ...]
    texts: tuple[str, ...]
    method: str

    @property
    def title(self) -> str:
        """One line that says what is to be seen."""
        name = {"umap": "UMAP", "tsne": "t-SNE"}.get(self.method, self.method)
        return f"The {len(self.rows):,} most frequent statements, by {name}"

    @property
    def sizes(self) -> dict[str, int]:
        """Family → how many statements are here, in the order of the legend."""
        count = Counter(self.families)
        return {family: count[family] for family in FAMILIES if family in count}


def _umap(vectors: Floats32, seed: int) -> Floats32:
    with warnings.catch_warnings():
        # of optional parts that are not installed, and of one thread being all that a seed allows
        warnings.filterwarnings("ignore", module=r"(umap|pynndescent|numba|sklearn|scipy)(\.|$)")
        try:
            umap = importlib.import_module("umap")
        except ImportError as error:
            raise InputError(
                "method 'umap' needs umap-learn, which is not installed: 'pip install umap-learn', or use method 'tsne'"
            ) from error
        options = {"metric": "cosine", "init": "pca", "random_state": seed, "n_jobs": 1}
        return umap.UMAP(n_neighbors=min(15, len(vectors) - 1), **options).fit_transform(vectors)


def _tsne(vectors: Floats32, seed: int) -> Floats32:
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    return TSNE(perplexity=perplexity, metric="cosine", init="pca", random_state=seed).fit_transform(vectors)


METHODS: dict[str, Callable[[Floats32, int], Floats32]] = {"umap": _umap, "tsne": _tsne}
"""Projections by name."""


def project(embedding: Embedding, *, method: str = "umap", max_words: int = 4000, seed: int = 204) -> Projection:
    """Lay the most frequent statements of an embedding out on a plane."""
    if method not in METHODS:
        raise InputError(f"method {method!r} is not one of {', '.join(METHODS)}")
    rows = exact_rows(embedding.vocabulary)
    rows = rows[np.argsort(-embedding.vocabulary.counts[rows], kind="stable")][: max(max_words, 0)]
    if len(rows) < _MIN_WORDS:
        raise InputError(
            f"{len(rows)} statements to show (max_words is {max_words}, the embedding has "
            f"{len(exact_rows(embedding.vocabulary))}); expected {_MIN_WORDS} or more"
        )
    xy = np.asarray(METHODS[method](l2_normalize(embedding.vectors[rows]), seed), np.float32)
    texts = tuple(embedding.vocabulary.words[row] for row in rows.tolist())
    return Projection(rows, xy, tuple(map(family_of, texts)), texts, method)


def write_png(projection: Projection, path: str | os.PathLike[str]) -> None:
    """Draw a projection as a PNG picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8), dpi=150, facecolor="white", layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_title(projection.title, loc="left", fontsize=12, color="#222222")
    sizes, families = projection.sizes, np.array(projection.families)
    handles = {}
    for family in sorted(sizes, key=lambda family: -sizes[family]):  # rare ones on top
        x, y = projection.xy[families == family].T
        color, shape = MARKS[family]
        marker = {"circle": "o", "triangle": "^"}[shape]
        handles[family] = axes.scatter(x, y, s=9, c=color, marker=marker, linewidths=0, alpha=0.8)
    legend = axes.legend(
        [handles[family] for family in sizes],
        [f"{family} ({size:,})" for family, size in sizes.items()],
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        frameon=False,
        markerscale=2.5,
        fontsize=10,
        labelspacing=0.7,
    )
    for handle in filter(None, legend.legend_handles):
        handle.set_alpha(1)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_output(path, picture.getvalue())


def write_html(projection: Projection, path: str | os.PathLike[str]) -> None:
    """Write a projection as one page that needs nothing else: pan, zoom, hover, search, families on and off."""
    sizes = projection.sizes
    position = {family: index for index, family in enumerate(sizes)}
    points = [
        [round(x, 4), round(y, 4), position[family]]
        for (x, y), family in zip(projection.xy.tolist(), projection.families, strict=True)
    ]
    families = [
        {"name": family, "color": MARKS[family][0], "shape": MARKS[family][1], "count": size}
        for family, size in sizes.items()
    ]
    data = {"families": families, "points": points, "texts": projection.texts}
    write_output(path, render_page("words.html.j2", package="ncc_lab", title=projection.title, data=data).encode())


def draw_embedding(
    embedding: AnyEmbedding | None = None,
    *,
    plot: str | Path | None = None,
    html: str | Path | None = None,
    method: Literal["umap", "tsne"] = "tsne",
) -> None:
    """Draw the words of an embedding in two dimensions, colored by family.

    Args:
        embedding: Default the one that ships with ncc.
        plot: A .png file.
        html: A .html file, to explore in a browser.
        method: Of the projection.

    Raises:
        OutputError: A file can't be written.
    """
    files = [None if path is None else Path(path) for path in (plot, html)]
    check_writable(*files)
    projection = project(load_embedding(embedding), method=method)
    for path, write in zip(files, (write_png, write_html), strict=True):
        if path:
            write(projection, path)
