"""Scores of a sweep: speedups over the best single-process runs, efficiency, time to accuracy, break-even.

Reference: Hoefler and Belli 2015, rules 1 (the base case of a speedup), 5 and 6 (spread of what is not deterministic).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ncc_lab.scaling.plan import Setting, SweepConfig
from ncc_lab.scaling.results import RunResult


@dataclass(frozen=True)
class Spread:
    """A figure of several runs.

    Attributes:
        median: Of them.
        low: The lowest.
        high: The highest.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """The spread of one value or more."""
        return cls(median(values), min(values), max(values))

    def over(self, base: "Spread") -> "Spread":
        """This one's ratio to another: of the medians, and the worst and the best that the runs allow."""
        return Spread(self.median / base.median, self.low / base.high, self.high / base.low)

    @property
    def value(self) -> float:
        """The median, as what a table shows of a figure with a range."""
        return self.median

    def to_text(self) -> str:
        """Median, and lowest to highest where they differ."""
        low, high = f"{self.low:.2f}", f"{self.high:.2f}"
        return f"{self.median:.2f}" + (f" ({low}–{high})" if low != high else "")


@dataclass(frozen=True, kw_only=True)
class SettingScore:
    """The runs of a setting together; what none of them measured is None.

    Attributes:
        setting: What was run.
        num_runs: How often.
        num_failed: How many of them failed.
        num_reached: How many reached the target.
        num_weights: Of the model.
        wall_s: From the start of the first process to the end of the last.
        seconds: The same without evaluations: end to end.
        training_s: Training alone.
        end_to_end_rate: Programs trained on, by the second, end to end.
        training_rate: The same, of training alone.
        seconds_to_target: End to end, until an epoch ends with the target, over the runs that reach it.
        accuracy: On the test programs.
        bytes_sent: By the rank that sends most.
        speedup: Ratio of end-to-end rates to that of the best single process with a model of that size.
        training_speedup: The same for training alone.
        target_speedup: The same for the time to the target; with strong scaling, and where all runs reach it.
        efficiency: Speedup by core; 1 where each is as good as those of the best single process.
        lost_s: Rank's seconds of steps beyond its share of what one process takes at the same batch size (with weak
            scaling: of a rank): exchange, ranks that wait for each other, a machine that they share.
        is_baseline: Whether end-to-end speedups are against it.
    """

    setting: Setting
    num_runs: int
    num_failed: int
    num_reached: int
    num_weights: int | None = None
    wall_s: Spread | None = None
    seconds: Spread | None = None
    training_s: Spread | None = None
    end_to_end_rate: Spread | None = None
    training_rate: Spread | None = None
    seconds_to_target: Spread | None = None
    accuracy: Spread | None = None
    bytes_sent: Spread | None = None
    speedup: Spread | None = None
    training_speedup: Spread | None = None
    target_speedup: Spread | None = None
    efficiency: float | None = None
    lost_s: float | None = None
    is_baseline: bool = False


Runs = dict[Setting, list[RunResult]]


def score_settings(config: SweepConfig, results: Sequence[RunResult]) -> list[SettingScore]:
    """Scores of all settings that were run, in order of appearance."""
    runs: Runs = {}
    for result in results:
        runs.setdefault(result.run.setting, []).append(result)
    plain = [_alone(config, some) for some in runs.values()]
    return [_compared(config, score, plain, runs) for score in plain]


def _alone(config: SweepConfig, results: Sequence[RunResult]) -> SettingScore:
    """What the runs of a setting say without the others."""
    good = [(result, result.measured) for result in results if result.measured]
    times = [seconds for _, run in good if (seconds := run.seconds_to(config.target)) is not None]
    score = SettingScore(
        setting=results[0].run.setting,
        num_runs=len(results),
        num_failed=len(results) - len(good),
        num_reached=len(times),
    )
    if not good:
        return score
    return replace(
        score,
        num_weights=good[0][1].num_weights,
        wall_s=Spread.of([result.wall_s for result, _ in good]),
        seconds=Spread.of([result.seconds for result, _ in good]),
        training_s=Spread.of([run.training_s for _, run in good]),
        end_to_end_rate=Spread.of([run.samples / result.seconds for result, run in good]),
        training_rate=Spread.of([run.samples / run.training_s for _, run in good]),
        seconds_to_target=Spread.of(times) if times else None,
        accuracy=Spread.of([run.test_accuracy for _, run in good]),
        bytes_sent=Spread.of([float(max(run.bytes_sent)) for _, run in good]),
    )


def _compared(config: SweepConfig, score: SettingScore, plain: Sequence[SettingScore], runs: Runs) -> SettingScore:
    """The same score beside those of single processes with a model of the same size."""
    single = [other for other in plain if other.setting.world == 1 and other.setting.hidden == score.setting.hidden]
    base, speedup = _best_ratio(score, single, lambda one: one.end_to_end_rate)
    target_speedup = None
    if config.scaling == "strong" and _target_rate(score):
        target_speedup = _best_ratio(score, single, _target_rate)[1]
    efficiency = None
    if base and speedup:
        efficiency = speedup.median * base.setting.threads / (score.setting.world * score.setting.threads)
    return replace(
        score,
        speedup=speedup,
        training_speedup=_best_ratio(score, single, lambda one: one.training_rate)[1],
        target_speedup=target_speedup,
        efficiency=efficiency,
        lost_s=_lost_s(config, score.setting, runs),
        is_baseline=base is score,
    )


def _best_ratio(
    score: SettingScore, single: Sequence[SettingScore], rate: Callable[[SettingScore], Spread | None]
) -> tuple[SettingScore | None, Spread | None]:
    """The single process with the highest median rate, and the ratio of a score's rate to it."""
    rates = [(found, one) for one in single if (found := rate(one))]
    if not rates:
        return None, None
    highest, best = max(rates, key=lambda pair: pair[0].median)
    own = rate(score)
    return best, own.over(highest) if own else None


def _target_rate(score: SettingScore) -> Spread | None:
    """How often a second the target would be reached, where all runs reach it."""
    seconds = score.seconds_to_target
    if not seconds or score.num_reached < score.num_runs:
        return None
    return Spread(1 / seconds.median, 1 / seconds.high, 1 / seconds.low)


def _lost_s(config: SweepConfig, setting: Setting, runs: Runs) -> float | None:
    if setting.world == 1:
        return None
    ranks = setting.world if config.scaling == "weak" else 1
    reference = replace(
        setting,
        world=1,
        strategy="mirrored",
        compression="none",
        batch_size=setting.batch_size // ranks,
        per_class=None if setting.per_class is None else setting.per_class // ranks,
    )
    own, alone = (
        [result.phase("steps_s") + result.phase("input_s") for result in runs.get(one, []) if result.measured]
        for one in (setting, reference)
    )
    return median(own) - median(alone) * ranks / setting.world if own and alone else None


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
            sizes = ", ".join(str(point.hidden) for point in self.points)
            return (
                f"{self.world} ranks, {self.what}: no break-even among hidden {sizes}; "
                f"at most {best.speedup.to_text()}× at hidden {best.hidden}"
            )
        at = [point.hidden for point in self.points].index(self.hidden)
        point = self.points[at]
        before = ", the smallest measured: break-even lies there or below"
        if at:
            before = f"; {self.points[at - 1].speedup.to_text()}× at hidden {self.points[at - 1].hidden}"
        sure = "" if point.speedup.low > 1 else ", though not in all repeats"
        size = f"hidden {point.hidden} ({point.num_weights:,} weights)"
        return f"{self.world} ranks, {self.what}: pay from {size} on, {point.speedup.to_text()}×{sure}{before}"


def break_even(scores: Sequence[SettingScore]) -> list[BreakEven]:
    """For each number of ranks, end to end and for training alone, the size of the model from which on they pay."""
    found = []
    for world in sorted({score.setting.world for score in scores} - {1}):
        some = [score for score in scores if score.setting.world == world]
        found.append(_break_even(world, "end to end", [(score, score.speedup) for score in some]))
        found.append(_break_even(world, "training alone", [(score, score.training_speedup) for score in some]))
    return [one for one in found if one.points]


def _break_even(world: int, what: str, speedups: Sequence[tuple[SettingScore, Spread | None]]) -> BreakEven:
    best: dict[int, ModelPoint] = {}
    for score, speedup in speedups:
        hidden = score.setting.hidden
        if speedup and (hidden not in best or speedup.median > best[hidden].speedup.median):
            best[hidden] = ModelPoint(hidden, score.num_weights or 0, score.setting, speedup)
    points = [best[hidden] for hidden in sorted(best)]
    paying: int | None = None
    for point in reversed(points):
        if point.speedup.median <= 1:
            break
        paying = point.hidden
    return BreakEven(world, what, tuple(points), paying)
