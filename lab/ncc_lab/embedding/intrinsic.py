"""Intrinsic scores of an embedding beside the published ones: analogies, and the semantic distance test.

Is d among the words nearest to c + b - a? Are statements that do the same nearer to each other than to all others?

Reference: Ben-Nun et al. 2018, section 5.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ncc.arrays import Floats32, Ints32
from ncc.errors import check_positive
from ncc.learning.embedding.backoff import opcode_of
from ncc.learning.embedding.embedding import Embedding, l2_normalize
from ncc_lab.embedding.questions import QuestionSet, generate_questions
from ncc_lab.embedding.statements import exact_rows
from ncc_lab.figures import show, table

PUBLISHED_ANALOGIES = {"types": 40.4, "options": 84.9, "conversions": 8.9, "data structures": 87.5}
"""Percentages of the paper's best embedding (context width 2), on the questions that its own vocabulary allowed."""
PUBLISHED_DISTANCE = 79.1
"""Percentage of the same embedding."""
CATEGORIES = {
    **{opcode: (opcode,) for opcode in ("add", "fadd", "sub", "fsub", "mul", "fmul", "fdiv", "udiv", "sdiv", "ret")},
    "bitwise binary": ("and", "or", "xor", "shl", "lshr", "ashr"),
}
"""The paper's categories by their opcodes. The original finds "add" by its letters, and addrspacecast with it."""

_TIE = 1e-6
"""Similarities that differ by less are the same: words that share a vector differ only by rounding."""
_BLOCK = 512


def rank_answers(embedding: Embedding, questions: Ints32) -> Ints32:
    """Count the words with a count above 0 that are as near to c + b - a as the right answer, or nearer, by cosine.

    Words that share the answer's vector count as nearer: an embedding that can't tell words apart can't answer.
    Questions are (n, 4) rows a, b, c, d. The first of (n, 2) counts is with the question's own words, as the paper
    counts; the second without a, b and c, as word2vec's tool does.
    """
    vectors = l2_normalize(embedding.vectors)
    candidates = np.ascontiguousarray(vectors[embedding.vocabulary.counts > 0].T)
    ranks = np.zeros((len(questions), 2), np.int32)
    for start in range(0, len(questions), _BLOCK):
        block = slice(start, start + _BLOCK)
        a, b, c, d = vectors[questions[block].T]
        target = l2_normalize(c + b - a)
        least = np.einsum("ij,ij->i", target, d) - _TIE
        ranks[block] = np.count_nonzero(target @ candidates >= least[:, None], axis=1)[:, None] - 1
        ranks[block, 1] -= sum(np.einsum("ij,ij->i", target, word) >= least for word in (a, b, c))
    return ranks


def score_analogies(
    embedding: Embedding, *, k: int = 5, questions: Sequence[QuestionSet] | None = None
) -> pd.DataFrame:
    """Ask all analogy questions that the vocabulary allows; a row a kind, in the order of the paper's table."""
    check_positive(k=k)
    rows = []
    for kind, asked, num_possible in generate_questions(embedding.vocabulary) if questions is None else questions:
        ranks = rank_answers(embedding, asked)
        rows.append(
            {
                "group": kind.group,
                "kind": kind.name,
                "in_paper": kind.in_paper,
                "num_possible": num_possible,
                "num_questions": len(asked),
                "num_correct": int(np.count_nonzero(ranks[:, 0] < k)),
                "num_correct_excluding_query": int(np.count_nonzero(ranks[:, 1] < k)),
            }
        )
    return pd.DataFrame(rows)


def score_groups(kinds: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the paper's table as rows: all questions of the kinds in the paper counted alike."""
    counts = ["num_questions", "num_correct", "num_correct_excluding_query"]
    groups = kinds[kinds.in_paper].groupby("group", sort=False)[counts].sum()
    groups = groups.reindex(list(PUBLISHED_ANALOGIES), fill_value=0)
    return groups.assign(published_percent=pd.Series(PUBLISHED_ANALOGIES)).rename_axis("group").reset_index()


def score_distance(embedding: Embedding) -> pd.DataFrame:
    """Compare distances within and out of every category, exactly: a row a category."""
    rows = exact_rows(embedding.vocabulary)
    vectors = l2_normalize(embedding.vectors[rows])
    opcodes = [opcode_of(embedding.vocabulary.words[row]) for row in rows.tolist()]
    scores = []
    for category, members in CATEGORIES.items():
        is_member = np.array([opcode in members for opcode in opcodes], bool)
        inside, outside = vectors[is_member], vectors[~is_member]
        num_comparisons = len(inside) * (len(inside) - 1) * len(outside)
        percent = 100 * _num_nearer(inside, outside) / num_comparisons if num_comparisons else None
        scores.append((category, len(inside), num_comparisons, percent))
    return pd.DataFrame(scores, columns=["category", "num_words", "num_comparisons", "percent"], dtype=object)


def _num_nearer(inside: Floats32, outside: Floats32) -> int:
    nearer = 0
    for start in range(0, len(inside), _BLOCK):
        block = inside[start : start + _BLOCK]
        pairs = block @ inside.T - _TIE
        others = np.sort(block @ outside.T, axis=1)
        for index in range(len(block)):
            farther = np.searchsorted(others[index], pairs[index], side="left")
            nearer += int(farther.sum() - farther[start + index])
    return nearer


@dataclass(frozen=True, eq=False)
class IntrinsicScores:
    """Intrinsic scores of one embedding."""

    num_words: int
    k: int
    analogies: pd.DataFrame
    distance: pd.DataFrame

    @property
    def distance_percent(self) -> float | None:
        """Mean over the categories that have words to compare; None where none has."""
        percents = self.distance.percent.dropna()
        return float(percents.mean()) if len(percents) else None

    def to_card(self) -> dict[str, float | None]:
        """Return the groups' scores and that of the distance test in percent, for the card of an embedding."""
        scores = {row["group"]: row["percent"] for row in _answers(score_groups(self.analogies))}
        return scores | {"semantic distance": _round(self.distance_percent)}

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and texts only, for JSON; scores in percent with one decimal, None where nothing was asked."""
        categories = self.distance.to_dict("records")
        return {
            "num_words": self.num_words,
            "k": self.k,
            "groups": _answers(score_groups(self.analogies)),
            "kinds": _answers(self.analogies),
            "distance": {
                "percent": _round(self.distance_percent),
                "published_percent": PUBLISHED_DISTANCE,
                "categories": [row | {"percent": _round(row["percent"])} for row in categories],
            },
        }

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {show(percent)} %" for name, percent in self.to_card().items())
        return f"IntrinsicScores({scores})"

    def to_text(self) -> str:
        """Return tables for people: analogies by group and kind, and the distance test."""
        notes = (
            "* not in the paper, and not in the score of the group\n"
            "published: the best of the paper, 5 nearest words, on the questions of its own vocabulary"
        )
        return "\n\n".join([self._analogies(), notes, self._distances()])

    def _analogies(self) -> str:
        rows = {}
        kinds = _answers(self.analogies)
        for group in _answers(score_groups(self.analogies)):
            rows[group["group"]] = [*_cells(group), f"{group['published_percent']:.1f}"]
            for kind in (kind for kind in kinds if kind["group"] == group["group"]):
                rows[f"  {kind['kind']}{'' if kind['in_paper'] else ' *'}"] = [*_cells(kind), ""]
        columns = ["questions", "right %", "a, b, c left out %", "published %"]
        return table(f"Analogies: the answer is among the {self.k} nearest words", rows, columns)

    def _distances(self) -> str:
        counted = self.distance.dropna()
        mean = f"mean of {len(counted)} of {len(self.distance)} categories"
        rows = {mean: [str(counted.num_words.sum()), show(self.distance_percent), f"{PUBLISHED_DISTANCE:.1f}"]}
        for row in self.distance.itertuples():
            rows[f"  {row.category}"] = [str(row.num_words), show(row.percent), ""]
        caption = "Semantic distance test: pairs within a category are nearer than words outside it"
        return table(caption, rows, ["words", "right %", "published %"])


def _answers(scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows with percentages right in place of what they count without the query."""
    rows = scores.astype(object).to_dict("records")
    for row in rows:
        counts = row["num_correct"], row.pop("num_correct_excluding_query")
        percents = (_round(100 * count / row["num_questions"]) if row["num_questions"] else None for count in counts)
        row["percent"], row["percent_excluding_query"] = percents
    return rows


def _cells(row: dict[str, Any]) -> list[str]:
    is_sampled = row.get("num_possible", 0) > row["num_questions"]
    note = f" (of {row['num_possible']:,})" if is_sampled else ""
    return [f"{row['num_questions']:,}{note}", show(row["percent"]), show(row["percent_excluding_query"])]


def _round(percent: float | None) -> float | None:
    return None if percent is None else round(percent, 1)


def score_embedding(embedding: Embedding, k: int = 5) -> IntrinsicScores:
    """Ask an embedding all questions, and compare its distances."""
    analogies = score_analogies(embedding, k=k)
    return IntrinsicScores(len(embedding.vocabulary), k, analogies, score_distance(embedding))
