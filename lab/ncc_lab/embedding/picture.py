"""The picture of an embedding: its most frequent statements in a plane by t-SNE, colored by family.

Reference: Ben-Nun et al. 2018, section 5.1.
"""

import io
import os
from collections import Counter
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats32, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.backoff import opcode_of
from ncc.learning.embedding.embedding import Embedding, l2_normalize
from ncc.system.files.writing import write_output
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
    """

    rows: Ints32
    xy: Floats32
    families: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def title(self) -> str:
        """Caption of the picture, in one line."""
        return f"The {len(self.rows):,} most frequent statements, by t-SNE"

    @property
    def sizes(self) -> dict[str, int]:
        """Family → how many statements are here, in the order of the legend."""
        count = Counter(self.families)
        return {family: count[family] for family in FAMILIES if family in count}


def project(embedding: Embedding, *, max_words: int = 4000, seed: int = 204) -> Projection:
    """Lay the most frequent statements of an embedding out on a plane."""
    from sklearn.manifold import TSNE

    rows = exact_rows(embedding.vocabulary)
    rows = rows[np.argsort(-embedding.vocabulary.counts[rows], kind="stable")][: max(max_words, 0)]
    if len(rows) < _MIN_WORDS:
        raise InputError(
            f"{len(rows)} statements to show (max_words is {max_words}, the embedding has "
            f"{len(exact_rows(embedding.vocabulary))}); expected {_MIN_WORDS} or more"
        )
    projection = TSNE(perplexity=min(30.0, (len(rows) - 1) / 3), metric="cosine", init="pca", random_state=seed)
    xy = np.asarray(projection.fit_transform(l2_normalize(embedding.vectors[rows])), np.float32)
    texts = tuple(embedding.vocabulary.words[row] for row in rows.tolist())
    return Projection(rows, xy, tuple(map(family_of, texts)), texts)


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
