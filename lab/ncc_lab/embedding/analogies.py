"""Scores of the analogy questions: is d among the words nearest to c + b - a?

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Ints32
from ncc.errors import InputError
from ncc.learning.embedding.embedding import Embedding, l2_normalize
from ncc_lab.embedding.questions import GROUPS, QuestionSet, generate_questions

PUBLISHED_ANALOGIES = {"types": 40.4, "options": 84.9, "conversions": 8.9, "data structures": 87.5}
"""Percentages of the paper's best embedding (context width 2), on the questions that its own vocabulary allowed."""

SAME = 1e-6
"""Similarities that differ by less are the same: words that share a vector differ only by rounding."""

_BLOCK = 512


@dataclass(frozen=True)
class Answered:
    """How many of some questions were answered right.

    Attributes:
        num_questions: Questions asked.
        num_correct: Answered right with the question's own words among the nearest, as the paper counts.
        num_correct_excluding_query: Answered right with the question's own words left out, as word2vec's tool counts.
    """

    num_questions: int
    num_correct: int
    num_correct_excluding_query: int

    @property
    def percent(self) -> float | None:
        """Share answered right in percent, or None where nothing was asked."""
        return 100 * self.num_correct / self.num_questions if self.num_questions else None

    @property
    def percent_excluding_query(self) -> float | None:
        """The same with the question's own words left out of the nearest."""
        return 100 * self.num_correct_excluding_query / self.num_questions if self.num_questions else None


@dataclass(frozen=True)
class KindScore(Answered):
    """Questions of one kind.

    Attributes:
        group: The column of the paper's table that the kind belongs to.
        kind: What the questions are about.
        in_paper: Whether the paper asks it.
        num_possible: Questions that the vocabulary allows; more than were asked where they were sampled.
    """

    group: str
    kind: str
    in_paper: bool
    num_possible: int


@dataclass(frozen=True)
class GroupScore(Answered):
    """A column of the paper's table: all questions of the kinds in the paper counted alike."""

    group: str
    published_percent: float


@dataclass(frozen=True, eq=False)
class AnswerRanks:
    """How many other words are as near to c + b - a as the right answer, or nearer.

    Attributes:
        among_all: (num_questions,) int32, the question's own words included, as the original counts.
        without_query: (num_questions,) int32, without a, b and c, as word2vec's tool counts.
    """

    among_all: Ints32
    without_query: Ints32


def rank_answers(embedding: Embedding, questions: Ints32) -> AnswerRanks:
    """Ranks the answers of questions among all words with a count above 0, by cosine.

    Words that share the answer's vector count as nearer: an embedding that can't tell words apart can't answer.

    Args:
        embedding: The vectors.
        questions: (num_questions, 4) int32 rows a, b, c, d, distinct in each question and with counts above 0.
    """
    vectors = l2_normalize(embedding.vectors)
    candidates = np.ascontiguousarray(vectors[embedding.vocabulary.counts > 0].T)
    among_all = np.zeros(len(questions), np.int32)
    without_query = np.zeros(len(questions), np.int32)
    for start in range(0, len(questions), _BLOCK):
        block = slice(start, start + _BLOCK)
        a, b, c, d = vectors[questions[block].T]
        target = l2_normalize(c + b - a)
        least = np.einsum("ij,ij->i", target, d) - SAME
        among_all[block] = np.count_nonzero(target @ candidates >= least[:, None], axis=1) - 1
        own = sum((np.einsum("ij,ij->i", target, word) >= least).astype(np.int32) for word in (a, b, c))
        without_query[block] = among_all[block] - own
    return AnswerRanks(among_all, without_query)


def score_analogies(
    embedding: Embedding, *, k: int = 5, questions: Sequence[QuestionSet] | None = None
) -> list[KindScore]:
    """Asks all analogy questions that the embedding's vocabulary allows.

    Returns:
        One score a kind, in the order of the paper's table; kinds without questions are there too.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    if k < 1:
        raise InputError(f"k is {k}; expected 1 or more")
    scores = []
    for asked in generate_questions(embedding.vocabulary) if questions is None else questions:
        ranks = rank_answers(embedding, asked.rows)
        scores.append(
            KindScore(
                group=asked.group,
                kind=asked.kind,
                in_paper=asked.in_paper,
                num_possible=asked.num_possible,
                num_questions=len(asked),
                num_correct=int(np.count_nonzero(ranks.among_all < k)),
                num_correct_excluding_query=int(np.count_nonzero(ranks.without_query < k)),
            )
        )
    return scores


def score_groups(scores: Sequence[KindScore]) -> list[GroupScore]:
    """The columns of the paper's table: correct over asked, all questions of the kinds in the paper together."""
    groups = []
    for group in GROUPS:
        kinds = [score for score in scores if score.group == group and score.in_paper]
        counts = (
            sum(kind.num_questions for kind in kinds),
            sum(kind.num_correct for kind in kinds),
            sum(kind.num_correct_excluding_query for kind in kinds),
        )
        groups.append(GroupScore(*counts, group, PUBLISHED_ANALOGIES[group]))
    return groups
