"""Which methods are controls, which are published ones run again, and which are ours."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Literal, Protocol, TypeVar

import numpy as np

from ncc.study.bootstrap import Estimate
from ncc.study.coarsening import controls as coarsening_controls
from ncc.study.devices import controls as device_controls

__all__ = [
    "KIND_TITLES",
    "SHORT_TITLES",
    "Kind",
    "Scored",
    "best_of_kinds",
    "by_protocol",
    "coarsening_kind",
    "device_kind",
    "highest",
]

Kind = Literal["control", "published", "ours"]

KIND_TITLES: dict[Kind, str] = {
    "control": "control",
    "published": "published method, run again",
    "ours": "ours",
}
"""What the kinds are called in tables and legends, in the order in which they are shown."""

SHORT_TITLES: dict[Kind, str] = {"control": "best control", "published": "best peer", "ours": "best of ours"}
"""What the best method of each kind is called above a picture, where there is little room."""

_PUBLISHED = ("Grewe et al.", "DeepTune", "inst2vec", "IR2Vec", "Magni et al.")
_NO_HISTOGRAMS = np.zeros((0, 1))  # the control that needs them is made for its name alone


class Scored(Protocol):
    """A score, as far as it has to be found among others."""

    @property
    def method(self) -> str:
        """Name of the method."""

    @property
    def protocol(self) -> str:
        """Name of the protocol."""


S = TypeVar("S", bound=Scored)


def device_kind(method: str) -> Kind:
    """Return the kind of a method of device mapping, by its name."""
    return _kind(method, _device_controls())


def coarsening_kind(method: str) -> Kind:
    """Return the kind of a method of thread coarsening, by its name."""
    return _kind(method, _coarsening_controls())


def _kind(method: str, controls: frozenset[str]) -> Kind:
    if method in controls:
        return "control"
    return "published" if method.startswith(_PUBLISHED) else "ours"


@cache
def _device_controls() -> frozenset[str]:
    return frozenset(control.name for control in device_controls.standard_controls(_NO_HISTOGRAMS))


@cache
def _coarsening_controls() -> frozenset[str]:
    return frozenset(control.name for control in coarsening_controls.standard_controls(_NO_HISTOGRAMS))


def by_protocol(scores: Sequence[S]) -> dict[str, list[S]]:
    """Return protocol → its scores, both in order of appearance."""
    found: dict[str, list[S]] = {}
    for score in scores:
        found.setdefault(score.protocol, []).append(score)
    return found


def highest(scores: Iterable[S], figure: Callable[[S], Estimate]) -> S:
    """Return the score whose figure is the highest, the first of equal ones."""
    return max(scores, key=lambda score: figure(score).value)


def best_of_kinds(
    scores: Iterable[S], kind_of: Callable[[str], Kind], figure: Callable[[S], Estimate]
) -> dict[Kind, S]:
    """Return the best score of each kind that occurs, in the order of `KIND_TITLES`.

    Args:
        scores: Of one protocol.
        kind_of: From the name of a method to its kind.
        figure: What the best has most of.
    """
    of_kind: dict[Kind, list[S]] = {kind: [] for kind in KIND_TITLES}
    for score in scores:
        of_kind[kind_of(score.method)].append(score)
    return {kind: highest(some, figure) for kind, some in of_kind.items() if some}
