"""Scores of the analogy questions: is d among the words nearest to c + b - a?

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.embedding.table import Embedding, normalised
from ncc.errors import InputError
from ncc.study.embedding.questions import GROUPS, QuestionSet, generate_questions

__all__ = [
    "PUBLISHED_ANALOGIES",
    "AnswerRanks",
    "GroupScore",
    "KindScore",
    "rank_answers",
    "score_analogies",
    "score_groups",
    "score_kind",
]

PUBLISHED_ANALOGIES = {"types": 40.4, "options": 84.9, "conversions": 8.9, "data structures": 87.5}
"""Percentages of the paper's best embedding (context width 2), on the questions that its own vocabulary allowed."""

SAME = 1e-6
"""Similarities that differ by less are the same: words that share a vector differ only by rounding."""

_BLOCK = 512


@dataclass(frozen=True)
class KindScore:
    """Questions of one kind answered right.

    Attributes:
        group: The column of the paper's table that the kind belongs to.
        kind: What the questions are about.
        in_paper: Whether the paper asks it.
        num_possible: Questions that the vocabulary allows; more than were asked where they were sampled.
        num_questions: Questions asked.
        num_correct: Questions answered right.
    """

    group: str
    kind: str
    in_paper: bool
    num_possible: int
    num_questions: int
    num_correct: int

    @property
    def percent(self) -> float | None:
        """Share answered right in percent, or None where nothing was asked."""
        return 100 * self.num_correct / self.num_questions if self.num_questions else None


@dataclass(frozen=True)
class GroupScore:
    """A column of the paper's table: all questions of the kinds in the paper counted alike."""

    group: str
    num_questions: int
    num_correct: int
    published_percent: float

    @property
    def percent(self) -> float | None:
        """Share answered right in percent, or None where nothing was asked."""
        return 100 * self.num_correct / self.num_questions if self.num_questions else None


@dataclass(frozen=True, eq=False)
class AnswerRanks:
    """How many other words are as near to c + b - a as the right answer, or nearer.

    Attributes:
        among_all: (num_questions,) int32, the question's own words included, as the original counts.
        without_query: (num_questions,) int32, without a, b and c, as word2vec's tool counts.
    """

    among_all: NDArray[np.int32]
    without_query: NDArray[np.int32]


def rank_answers(embedding: Embedding, questions: NDArray[np.int32]) -> AnswerRanks:
    """Ranks the answers of questions among all words with a count above 0, by cosine.

    Words that share the answer's vector count as nearer: an embedding that can't tell words apart can't answer.

    Args:
        embedding: The vectors.
        questions: (num_questions, 4) int32 rows a, b, c, d, distinct in each question and with counts above 0.
    """
    vectors = normalised(embedding.vectors)
    candidates = np.ascontiguousarray(vectors[embedding.vocabulary.counts > 0].T)
    among_all = np.zeros(len(questions), np.int32)
    without_query = np.zeros(len(questions), np.int32)
    for start in range(0, len(questions), _BLOCK):
        block = slice(start, start + _BLOCK)
        a, b, c, d = vectors[questions[block].T]
        target = normalised(c + b - a)
        least = np.einsum("ij,ij->i", target, d) - SAME
        among_all[block] = np.count_nonzero(target @ candidates >= least[:, None], axis=1) - 1
        own = sum((np.einsum("ij,ij->i", target, word) >= least).astype(np.int32) for word in (a, b, c))
        without_query[block] = among_all[block] - own
    return AnswerRanks(among_all, without_query)


def score_kind(questions: QuestionSet, ranks: AnswerRanks, *, exclude_query: bool = False, k: int = 5) -> KindScore:
    """Counts the questions whose answer is among the ``k`` nearest words."""
    nearer = ranks.without_query if exclude_query else ranks.among_all
    return KindScore(
        group=questions.group,
        kind=questions.kind,
        in_paper=questions.in_paper,
        num_possible=questions.num_possible,
        num_questions=len(questions),
        num_correct=int(np.count_nonzero(nearer < k)),
    )


def score_analogies(
    embedding: Embedding,
    *,
    exclude_query: bool = False,
    k: int = 5,
    questions: Sequence[QuestionSet] | None = None,
) -> list[KindScore]:
    """Asks all analogy questions that the embedding's vocabulary allows.

    Args:
        embedding: The vectors.
        exclude_query: Leave a, b and c out of the nearest words, as word2vec's tool does; the original doesn't, and
            the published numbers are without.
        k: The answer must be among as many nearest words.
        questions: Ask these rather than all.

    Returns:
        One score a kind, in the order of the paper's table; kinds without questions are there too.

    Raises:
        InputError: ``k`` is below 1.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    if k < 1:
        raise InputError(f"k is {k}; expected 1 or more")
    asked = generate_questions(embedding.vocabulary) if questions is None else questions
    return [score_kind(kind, rank_answers(embedding, kind.rows), exclude_query=exclude_query, k=k) for kind in asked]


def score_groups(scores: Sequence[KindScore]) -> list[GroupScore]:
    """The columns of the paper's table: correct over asked, all questions of the kinds in the paper together."""
    groups = []
    for group in GROUPS:
        kinds = [score for score in scores if score.group == group and score.in_paper]
        num_questions = sum(kind.num_questions for kind in kinds)
        num_correct = sum(kind.num_correct for kind in kinds)
        groups.append(GroupScore(group, num_questions, num_correct, PUBLISHED_ANALOGIES[group]))
    return groups
