"""How large a model must be before a second device pays, from a sweep over sizes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ncc.study.scaling.plan import Setting
from ncc.study.scaling.scores import SettingScore, Spread

__all__ = ["BreakEven", "ModelPoint", "break_even"]


@dataclass(frozen=True)
class ModelPoint:
    """The best that several ranks did for a model of one size.

    Attributes:
        hidden: Units of each direction of the LSTM.
        num_weights: Of the model.
        setting: The best one.
        speedup: Against the best single process.
    """

    hidden: int
    num_weights: int
    setting: Setting
    speedup: Spread


@dataclass(frozen=True)
class BreakEven:
    """How large a model must be before several ranks pay.

    Attributes:
        world: Ranks.
        what: "end to end", or "training alone".
        points: One for each size, the smallest first.
        hidden: Smallest size from which on all that were measured have a median speedup above 1; None if none.
    """

    world: int
    what: str
    points: tuple[ModelPoint, ...]
    hidden: int | None

    def to_text(self) -> str:
        """In a sentence."""
        if self.hidden is None:
            best = max(self.points, key=lambda point: point.speedup.median)
            return (
                f"{self.world} ranks, {self.what}: no break-even among hidden {self._sizes()}; "
                f"at most {best.speedup.to_text()}× at hidden {best.hidden}"
            )
        point = next(point for point in self.points if point.hidden == self.hidden)
        size = f"hidden {point.hidden} ({point.num_weights:,} weights)"
        smaller = [one for one in self.points if one.hidden < self.hidden]
        before = (
            f"; {smaller[-1].speedup.to_text()}× at hidden {smaller[-1].hidden}"
            if smaller
            else ", the smallest measured: break-even lies there or below"
        )
        sure = "" if point.speedup.low > 1 else ", though not in all repeats"
        return f"{self.world} ranks, {self.what}: pay from {size} on, {point.speedup.to_text()}×{sure}{before}"

    def _sizes(self) -> str:
        return ", ".join(str(point.hidden) for point in self.points)


def break_even(scores: Sequence[SettingScore]) -> list[BreakEven]:
    """For each number of ranks, end to end and for training alone, the size of the model from which on they pay."""
    found = []
    for world in sorted({score.setting.world for score in scores} - {1}):
        some = [score for score in scores if score.setting.world == world]
        found.append(_break_even(world, "end to end", some, lambda score: score.speedup))
        found.append(_break_even(world, "training alone", some, lambda score: score.training_speedup))
    return [one for one in found if one.points]


def _break_even(
    world: int, what: str, scores: Sequence[SettingScore], ratio: Callable[[SettingScore], Spread | None]
) -> BreakEven:
    points = []
    for hidden in sorted({score.setting.hidden for score in scores}):
        some = [
            ModelPoint(hidden, score.num_weights or 0, score.setting, speedup)
            for score in scores
            if score.setting.hidden == hidden and (speedup := ratio(score))
        ]
        if some:
            points.append(max(some, key=lambda point: point.speedup.median))
    paying: int | None = None
    for point in reversed(points):
        if point.speedup.median <= 1:
            break
        paying = point.hidden
    return BreakEven(world, what, tuple(points), paying)
