"""The semantic distance test: are statements that do the same nearer to each other than to all others?

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats32
from ncc.learning.embedding.backoff import opcode_of
from ncc.learning.embedding.embedding import Embedding, l2_normalize
from ncc_lab.embedding.analogies import SAME
from ncc_lab.embedding.statements import exact_rows

PUBLISHED_DISTANCE = 79.1
"""Percentage of the paper's best embedding (context width 2)."""

CATEGORIES = {
    **{opcode: (opcode,) for opcode in ("add", "fadd", "sub", "fsub", "mul", "fmul", "fdiv", "udiv", "sdiv", "ret")},
    "bitwise binary": ("and", "or", "xor", "shl", "lshr", "ashr"),
}
"""The paper's categories by their opcodes. The original finds "add" by its letters, and addrspacecast with it."""

_BLOCK = 256


@dataclass(frozen=True)
class CategoryScore:
    """One category of statements.

    Attributes:
        category: Its name.
        num_words: Words in it.
        num_comparisons: Pairs of its words, in both orders, times words outside it.
        percent: Share of comparisons in which the pair is nearer; None with fewer than two words.
    """

    category: str
    num_words: int
    num_comparisons: int
    percent: float | None


@dataclass(frozen=True)
class DistanceScore:
    """All categories, and the mean over those that have words to compare; None where none has."""

    categories: tuple[CategoryScore, ...]
    percent: float | None
    published_percent: float = PUBLISHED_DISTANCE


def score_distance(embedding: Embedding) -> DistanceScore:
    """Compares distances within and out of every category, exactly.

    For all s1 and s2 in a category, s1 not s2, and all s3 outside it: the share with distance(s1, s2) below
    distance(s1, s3), by cosine. Generalised forms and words that no statement of the corpus has take no part.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    rows = exact_rows(embedding.vocabulary)
    vectors = l2_normalize(embedding.vectors[rows])
    opcodes = [opcode_of(embedding.vocabulary.words[row]) for row in rows.tolist()]
    categories = []
    for category, members in CATEGORIES.items():
        inside = np.array([opcode in members for opcode in opcodes], bool)
        categories.append(_score_category(category, vectors[inside], vectors[~inside]))
    known = [score.percent for score in categories if score.percent is not None]
    return DistanceScore(tuple(categories), sum(known) / len(known) if known else None)


def _score_category(category: str, inside: Floats32, outside: Floats32) -> CategoryScore:
    num_comparisons = len(inside) * (len(inside) - 1) * len(outside)
    if not num_comparisons:
        return CategoryScore(category, len(inside), 0, None)
    nearer = 0
    for start in range(0, len(inside), _BLOCK):
        block = inside[start : start + _BLOCK]
        pairs = block @ inside.T - SAME
        others = np.sort(block @ outside.T, axis=1)
        for at in range(len(block)):
            farther = np.searchsorted(others[at], pairs[at], side="left")
            nearer += int(farther.sum() - farther[start + at])
    return CategoryScore(category, len(inside), num_comparisons, 100 * nearer / num_comparisons)
