"""All intrinsic scores of an embedding, as numbers and as a table next to the published ones.

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ncc.learning.embedding.embedding import AnyEmbedding, Neighbors, load_embedding
from ncc_lab.embedding.analogies import Answered, GroupScore, KindScore, score_analogies, score_groups
from ncc_lab.embedding.distance import DistanceScore, score_distance
from ncc_lab.figures import show
from ncc_lab.tables import Table, Tabular, table

DEFAULT_STATEMENTS = (
    "<%ID> = add nsw i32 <%ID>, <INT>",
    "<%ID> = fmul float <%ID>, <%ID>",
    "<%ID> = icmp slt i32 <%ID>, <%ID>",
    "<%ID> = load i32, ptr <%ID>, align 4",
    "store float <%ID>, ptr <%ID>, align 4",
    "br i1 <%ID>, label <LABEL>, label <LABEL>",
)
"""Everyday statements whose neighbors are shown."""


@dataclass(frozen=True)
class IntrinsicScores(Tabular):
    """Intrinsic scores of one embedding.

    Attributes:
        k: The answer of an analogy must be among as many nearest words.
        analogies: A score a kind.
        distance: The semantic distance test.
        neighbors: Of some statements.
    """

    k: int
    analogies: tuple[KindScore, ...]
    distance: DistanceScore
    neighbors: tuple[Neighbors, ...]

    @property
    def groups(self) -> list[GroupScore]:
        """The columns of the paper's table."""
        return score_groups(self.analogies)

    def to_card(self) -> dict[str, float | None]:
        """The groups' scores and that of the distance test in percent, for the card of an embedding."""
        scores = {group.group: _rounded(group.percent) for group in self.groups}
        return scores | {"semantic distance": _rounded(self.distance.percent)}

    def to_dict(self) -> dict[str, Any]:
        """Numbers and texts only, for JSON; scores in percent with one decimal, None where nothing was asked."""
        categories = self.distance.categories
        return {
            "k": self.k,
            "groups": [_answered_dict(group) for group in self.groups],
            "kinds": [_answered_dict(kind) for kind in self.analogies],
            "distance": {
                "percent": _rounded(self.distance.percent),
                "published_percent": self.distance.published_percent,
                "categories": [asdict(category) | {"percent": _rounded(category.percent)} for category in categories],
            },
            "neighbors": [vars(near) | {"neighbors": [asdict(one) for one in near]} for near in self.neighbors],
        }

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {show(percent)} %" for name, percent in self.to_card().items())
        return f"IntrinsicScores({scores})"

    def parts(self) -> list[Table | str]:
        """Tables for people: analogies by group and kind, the distance test, neighbors."""
        notes = (
            "* not in the paper, and not in the score of the group\n"
            "published: the best of the paper, 5 nearest words, on the questions of its own vocabulary"
        )
        return [self._analogies(), notes, self._distances(), *map(_neighbors_text, self.neighbors)]

    def _analogies(self) -> Table:
        rows = {}
        for group in self.groups:
            rows[group.group] = _cells(group, f"{group.published_percent:.1f}")
            for kind in (kind for kind in self.analogies if kind.group == group.group):
                sampled = f" (of {kind.num_possible:,})" if kind.num_possible > kind.num_questions else ""
                rows[f"  {kind.kind}{'' if kind.in_paper else ' *'}"] = _cells(kind, note=sampled)
        columns = ["questions", "right %", "a, b, c left out %", "published %"]
        return table(f"Analogies: the answer is among the {self.k} nearest words", rows, columns)

    def _distances(self) -> Table:
        counted = [category for category in self.distance.categories if category.percent is not None]
        mean = f"mean of {len(counted)} of {len(self.distance.categories)} categories"
        num_words = sum(category.num_words for category in counted)
        rows = {mean: [str(num_words), show(self.distance.percent), f"{self.distance.published_percent:.1f}"]}
        rows |= {f"  {one.category}": [str(one.num_words), show(one.percent), ""] for one in self.distance.categories}
        caption = "Semantic distance test: pairs within a category are nearer than words outside it"
        return table(caption, rows, ["words", "right %", "published %"])


def _answered_dict(score: Answered) -> dict[str, Any]:
    figures = asdict(score)
    del figures["num_correct_excluding_query"]
    percents = (_rounded(score.percent), _rounded(score.percent_excluding_query))
    return figures | dict(zip(("percent", "percent_excluding_query"), percents, strict=True))


def _cells(score: Answered, published: str = "", *, note: str = "") -> list[str]:
    return [f"{score.num_questions:,}{note}", show(score.percent), show(score.percent_excluding_query), published]


def _neighbors_text(near: Neighbors) -> str:
    stands = "" if near.level == "exact" else f"  (by {near.level}: {near.word})"
    lines = [f"  {neighbor.similarity:6.3f}  {neighbor.text}" for neighbor in near]
    return "\n".join([f"Nearest to {near.text}{stands}", *lines])


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else round(percent, 1)


def evaluate_embedding(
    embedding: AnyEmbedding | None = None, *, nearest: Sequence[str] | None = None, k: int = 5
) -> IntrinsicScores:
    """Runs the inst2vec paper's analogies and semantic distance test on an embedding.

    Args:
        embedding: Default the one that ships with ncc.
        nearest: Abstracted statements whose neighbors are wanted; default a few everyday ones.
        k: Number of nearest words among which an answer must be.

    Returns:
        Scores of each kind of analogy and of the distance test, in percent, and neighbors.

    Raises:
        InputError: ``k`` is below 1, or one of ``nearest`` is not a statement.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    embedding = load_embedding(embedding)
    neighbors = tuple(embedding.nearest(text, k) for text in nearest or DEFAULT_STATEMENTS)
    return IntrinsicScores(
        k=k,
        analogies=tuple(score_analogies(embedding, k=k)),
        distance=score_distance(embedding),
        neighbors=neighbors,
    )
