"""Regret: how much slower rows run than with a perfect choice, as cumulative distributions for all methods."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ncc.arrays import Floats
from ncc_lab.report.drawing import Curve, Picture, draw_curves
from ncc_lab.report.kinds import S
from ncc_lab.runs import Kind

_TICKS = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
_MOST_TICKS = 9
_NUM_POINTS = 100


def share_within(slowdown: Floats, limits: Floats) -> Floats:
    """Return the share of rows that are slowed down by at most each limit, (k,) float64.

    Args:
        slowdown: Time with the choice made / time with the best one, (n,) float64.
        limits: Limits, (k,) float64.
    """
    # a choice as good as the best may differ from it in the last digit
    return np.searchsorted(np.sort(slowdown), limits * (1 + 1e-12), side="right") / len(slowdown)


def draw_regret(
    protocols: Mapping[str, Sequence[S]],
    slowdown: Callable[[S], Floats],
    chosen: Mapping[str, Mapping[Kind, S]],
    best: str,
) -> Picture:
    """Draw all methods' regret.

    Args:
        protocols: Protocol → its scores.
        slowdown: From a score to time with the choice made / time with the best one, (m,) float64, seeds pooled.
        chosen: Protocol → the methods to be told apart; the others are drawn in the background.
        best: What the best choice is, for the axis.
    """
    slowdowns = {protocol: [slowdown(score) for score in some] for protocol, some in protocols.items()}
    most = max(float(rows.max()) for some in slowdowns.values() for rows in some)
    limits = np.geomspace(1, max(most, 1.1), _NUM_POINTS)
    panels, said = {}, []
    for protocol, some in protocols.items():
        told = {score.method for score in chosen[protocol].values()}
        curves = []
        for score, rows in zip(some, slowdowns[protocol], strict=True):
            name = score.method if score.method in told else ""
            curves.append(Curve(name, score.kind, limits, share_within(rows, limits)))
            if name:
                within = share_within(rows, np.array([1.1, 2.0]))
                said.append(f"{protocol}, {name}: {within[0]:.0%} of the rows within 1.1×, {within[1]:.0%} within 2×")
        panels[protocol] = curves
    picture = draw_curves(panels, f"time over that of {best}", "share of the rows", ticks=_ticks(limits[-1]))
    alt = f"Cumulative distribution of the slowdown against a perfect choice. {'; '.join(sorted(said))}."
    return replace(picture, alt=alt)


def _ticks(most: float) -> list[float]:
    """Some factors up to the largest, far enough from each other for their labels."""
    apart = np.log(most) / _MOST_TICKS
    ticks = [_TICKS[0]]
    for tick in _TICKS[1:]:
        if tick <= most and np.log(tick / ticks[-1]) >= apart:
            ticks.append(tick)
    return ticks
