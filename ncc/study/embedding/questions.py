"""Analogy questions of the paper, made of the words that a vocabulary has: a is to b as c is to d.

Where the original fills templates and drops what its vocabulary lacks, here the words themselves are matched, so that
every type, flag and index that the vocabulary has is asked about.

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.embedding.vocabulary import Vocabulary
from ncc.errors import InputError
from ncc.study.embedding.kinds import GROUPS, KINDS
from ncc.study.embedding.statements import parse_words

__all__ = ["GROUPS", "Question", "QuestionSet", "generate_questions"]


@dataclass(frozen=True)
class Question:
    """Rows of the vocabulary: ``a`` is to ``b`` as ``c`` is to ``d``, right where d is near c + b - a."""

    a: int
    b: int
    c: int
    d: int


@dataclass(frozen=True, eq=False)
class QuestionSet:
    """All questions of one kind.

    Attributes:
        group: One of `GROUPS`.
        kind: What the questions are about.
        in_paper: Whether the paper asks it; only these count for the score of a group.
        num_possible: Questions that the vocabulary allows; more than are asked where they were sampled.
        rows: (num_questions, 4) int32 rows of the vocabulary, a, b, c, d.
    """

    group: str
    kind: str
    in_paper: bool
    num_possible: int
    rows: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Question]:
        return (Question(*row) for row in self.rows.tolist())


def generate_questions(
    vocabulary: Vocabulary, *, max_questions: int = 200_000, seed: int = 204
) -> tuple[QuestionSet, ...]:
    """Makes the questions that can be asked of a vocabulary.

    Only words with a count above 0 that are no generalised forms take part. Mirrored forms of a question (b is to a
    as d is to c, and so on) are the same question and asked once. A kind that no words fit is there, empty.

    Args:
        vocabulary: The words.
        max_questions: Most questions of one kind; of more, as many are drawn at random.
        seed: Of the drawing.

    Raises:
        InputError: ``max_questions`` is below 1.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    if max_questions < 1:
        raise InputError(f"max_questions is {max_questions}; expected 1 or more")
    words = parse_words(vocabulary)
    generator = np.random.default_rng(seed)
    sets = []
    for kind in KINDS:
        rows = possible = kind.ask(words)
        if len(possible) > max_questions:
            rows = possible[np.sort(generator.choice(len(possible), max_questions, replace=False))]
        sets.append(QuestionSet(kind.group, kind.name, kind.in_paper, len(possible), rows))
    return tuple(sets)
