"""Scores by protocol and kind: controls, published methods run again, and ours."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ncc.learning.heads.figures import Estimate
from ncc_lab.runs import Kind

if TYPE_CHECKING:
    from ncc_lab.evaluation import Score

KIND_TITLES: dict[Kind, str] = {
    "control": "control",
    "published": "published method, run again",
    "ours": "ours",
}
"""What the kinds are called in tables and legends, in the order in which they are shown."""

SHORT_TITLES: dict[Kind, str] = {"control": "best control", "published": "best peer", "ours": "best of ours"}
"""What the best method of each kind is called above a picture, where there is little room."""


S = TypeVar("S", bound="Score[Any]")


def by_protocol(scores: Sequence[S]) -> dict[str, list[S]]:
    """Return protocol → its scores, both in order of appearance."""
    found: dict[str, list[S]] = {}
    for score in scores:
        found.setdefault(score.protocol, []).append(score)
    return found


def highest(scores: Iterable[S], figure: Callable[[S], Estimate]) -> S:
    """Return the score whose figure is the highest, the first of equal ones."""
    return max(scores, key=lambda score: figure(score).value)


def best_of_kinds(scores: Iterable[S], figure: Callable[[S], Estimate]) -> dict[Kind, S]:
    """Return the best score of each kind that occurs, in the order of `KIND_TITLES`.

    Args:
        scores: Of one protocol.
        figure: What the best has most of.
    """
    of_kind: dict[Kind, list[S]] = {kind: [] for kind in KIND_TITLES}
    for score in scores:
        of_kind[score.kind].append(score)
    return {kind: highest(some, figure) for kind, some in of_kind.items() if some}
