"""All intrinsic scores of an embedding in one go, as numbers and as a table beside the published ones.

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ncc.embedding.backoff import BackoffLevel
from ncc.embedding.table import Embedding, Neighbor
from ncc.errors import InputError
from ncc.runtime.columns import aligned
from ncc.study.embedding.analogies import (
    GroupScore,
    KindScore,
    rank_answers,
    score_groups,
    score_kind,
)
from ncc.study.embedding.distance import DistanceScore, score_distance
from ncc.study.embedding.questions import GROUPS, generate_questions

__all__ = ["DEFAULT_STATEMENTS", "IntrinsicScores", "StatementNeighbors", "evaluate_embedding"]

DEFAULT_STATEMENTS = (
    "<%ID> = add nsw i32 <%ID>, <INT>",
    "<%ID> = fmul float <%ID>, <%ID>",
    "<%ID> = icmp slt i32 <%ID>, <%ID>",
    "<%ID> = load i32, ptr <%ID>, align 4",
    "store float <%ID>, ptr <%ID>, align 4",
    "br i1 <%ID>, label <LABEL>, label <LABEL>",
)
"""Everyday statements whose neighbours are shown."""


@dataclass(frozen=True)
class StatementNeighbors:
    """The statements nearest to one.

    Attributes:
        text: The statement that was asked for.
        word: The word of the vocabulary that stands for it.
        level: How far it had to be generalised, by the name of the `BackoffLevel`.
        neighbors: Best first.
    """

    text: str
    word: str
    level: str
    neighbors: tuple[Neighbor, ...]


@dataclass(frozen=True)
class IntrinsicScores:
    """Intrinsic scores of one embedding.

    Attributes:
        k: The answer of an analogy must be among as many nearest words.
        analogies: A score a kind, with the question's own words among the nearest, as the paper counts.
        analogies_excluding_query: The same questions, with the question's own words left out.
        distance: The semantic distance test.
        neighbors: Of some statements.
    """

    k: int
    analogies: tuple[KindScore, ...]
    analogies_excluding_query: tuple[KindScore, ...]
    distance: DistanceScore
    neighbors: tuple[StatementNeighbors, ...]

    @property
    def groups(self) -> list[GroupScore]:
        """The columns of the paper's table."""
        return score_groups(self.analogies)

    @property
    def groups_excluding_query(self) -> list[GroupScore]:
        """The columns of the paper's table, with the question's own words left out."""
        return score_groups(self.analogies_excluding_query)

    def to_card(self) -> dict[str, float | None]:
        """The groups' scores and that of the distance test in percent, for the card of an embedding."""
        scores = {group.group: _rounded(group.percent) for group in self.groups}
        return scores | {"semantic distance": _rounded(self.distance.percent)}

    def to_dict(self) -> dict[str, Any]:
        """Numbers and texts only, for JSON; scores in percent with one decimal, None where nothing was asked."""
        return {
            "k": self.k,
            "groups": [
                {
                    "group": group.group,
                    "num_questions": group.num_questions,
                    "num_correct": group.num_correct,
                    "percent": _rounded(group.percent),
                    "percent_excluding_query": _rounded(without.percent),
                    "published_percent": group.published_percent,
                }
                for group, without in zip(self.groups, self.groups_excluding_query, strict=True)
            ],
            "kinds": [
                {
                    **asdict(kind),
                    "percent": _rounded(kind.percent),
                    "percent_excluding_query": _rounded(without.percent),
                }
                for kind, without in zip(self.analogies, self.analogies_excluding_query, strict=True)
            ],
            "distance": {
                "percent": _rounded(self.distance.percent),
                "published_percent": self.distance.published_percent,
                "categories": [
                    {**asdict(category), "percent": _rounded(category.percent)} for category in self.distance.categories
                ],
            },
            "neighbors": [asdict(near) for near in self.neighbors],
        }

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {_cell(percent)} %" for name, percent in self.to_card().items())
        return f"IntrinsicScores({scores})"

    def to_text(self) -> str:
        """A table for people: analogies by group and kind, the distance test, neighbours."""
        analogies, distance = self._analogy_rows(), self._distance_rows()
        lines = aligned([*analogies, *distance], left=(0, 5))
        return "\n".join(
            [
                f"Analogies: the answer is among the {self.k} nearest words",
                *lines[: len(analogies)],
                "  * not in the paper, and not in the score of the group",
                "  published: the best of the paper, 5 nearest words, on the questions of its own vocabulary",
                "",
                "Semantic distance test: pairs within a category are nearer than words outside it",
                *lines[len(analogies) :],
                *self._neighbor_lines(),
            ]
        )

    def _analogy_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("", "questions", "right %", "a, b, c left out %", "published %", "")]
        pairs = list(zip(self.analogies, self.analogies_excluding_query, strict=True))
        groups = zip(self.groups, self.groups_excluding_query, strict=True)
        for name, (group, without) in zip(GROUPS, groups, strict=True):
            percents = _cell(group.percent), _cell(without.percent), _cell(group.published_percent)
            rows.append((f"  {name}", f"{group.num_questions:,}", *percents, ""))
            for kind, other in pairs:
                if kind.group == name:
                    note = f"of {kind.num_possible:,}" if kind.num_possible > kind.num_questions else ""
                    label = f"    {kind.kind}{'' if kind.in_paper else ' *'}"
                    rows.append((label, f"{kind.num_questions:,}", _cell(kind.percent), _cell(other.percent), "", note))
        return rows

    def _distance_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("", "words", "right %", "", "published %", "")]
        counted = [category for category in self.distance.categories if category.percent is not None]
        mean = f"  mean of {len(counted)} of {len(self.distance.categories)} categories"
        num_words = sum(category.num_words for category in counted)
        percents = _cell(self.distance.percent), "", _cell(self.distance.published_percent)
        rows.append((mean, f"{num_words:,}", *percents, ""))
        rows += [
            (f"    {category.category}", f"{category.num_words:,}", _cell(category.percent), "", "", "")
            for category in self.distance.categories
        ]
        return rows

    def _neighbor_lines(self) -> Iterator[str]:
        for near in self.neighbors:
            stands = "" if near.level == "exact" else f"  (by {near.level}: {near.word})"
            yield f"\nNearest to {near.text}{stands}"
            yield from (f"  {neighbor.similarity:6.3f}  {neighbor.text}" for neighbor in near.neighbors)


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else round(percent, 1)


def _cell(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


def evaluate_embedding(
    embedding: Embedding, *, neighbors_of: Sequence[str] = DEFAULT_STATEMENTS, k: int = 5
) -> IntrinsicScores:
    """Runs the intrinsic evaluation: analogies, the semantic distance test, and neighbours to look at.

    Args:
        embedding: The vectors.
        neighbors_of: Abstracted statements whose neighbours are wanted; by back-off where one is no word.
        k: Number of nearest words, both for the analogies and for the neighbours.

    Raises:
        InputError: ``k`` is below 1.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    if k < 1:
        raise InputError(f"k is {k}; expected 1 or more")
    plain, excluding = [], []
    for questions in generate_questions(embedding.vocabulary):
        ranks = rank_answers(embedding, questions.rows)
        plain.append(score_kind(questions, ranks, k=k))
        excluding.append(score_kind(questions, ranks, exclude_query=True, k=k))
    return IntrinsicScores(
        k=k,
        analogies=tuple(plain),
        analogies_excluding_query=tuple(excluding),
        distance=score_distance(embedding),
        neighbors=tuple(_neighbors(embedding, text, k) for text in neighbors_of),
    )


def _neighbors(embedding: Embedding, text: str, k: int) -> StatementNeighbors:
    row, level = embedding.vocabulary.find(text)
    word = embedding.vocabulary.words[row]
    return StatementNeighbors(text, word, BackoffLevel(level).name.lower(), tuple(embedding.nearest(text, k)))
