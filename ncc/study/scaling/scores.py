"""What the runs of a sweep say: speedups against the best runs of one process, efficiency, time to accuracy.

Reference: Hoefler and Belli 2015, rules 1 (the base case of a speedup), 5 and 6 (spread of what is not deterministic).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ncc.study.scaling.plan import Setting, SweepConfig
from ncc.study.scaling.results import Measured, RunResult

__all__ = ["SettingScore", "Spread", "score_settings"]


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

    def to_text(self, places: int = 2, factor: float = 1.0) -> str:
        """Median, and lowest to highest where they differ."""
        low, high = (f"{factor * value:.{places}f}" for value in (self.low, self.high))
        return f"{factor * self.median:.{places}f}" + (f" ({low}–{high})" if low != high else "")


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


def score_settings(config: SweepConfig, results: Sequence[RunResult]) -> list[SettingScore]:
    """Scores of all settings that were run, in order of appearance."""
    settings = dict.fromkeys(result.run.setting for result in results)
    runs = {setting: [result for result in results if result.run.setting == setting] for setting in settings}
    plain = [_alone(config, some) for some in runs.values()]
    return [_compared(config, score, plain, runs) for score in plain]


def _alone(config: SweepConfig, results: Sequence[RunResult]) -> SettingScore:
    """What the runs of a setting say without the others."""
    good = [(result, result.measured) for result in results if result.measured]
    reached = [measured.seconds_to(config.target) for _, measured in good] if config.target is not None else []
    times = [seconds for seconds in reached if seconds is not None]
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
        training_s=Spread.of([measured.training_s for _, measured in good]),
        end_to_end_rate=Spread.of([measured.samples / result.seconds for result, measured in good]),
        training_rate=Spread.of([measured.samples / measured.training_s for _, measured in good]),
        seconds_to_target=Spread.of(times) if times else None,
        accuracy=Spread.of([measured.test_accuracy for _, measured in good]),
        bytes_sent=Spread.of([float(max(measured.bytes_sent)) for _, measured in good]),
    )


def _compared(
    config: SweepConfig,
    score: SettingScore,
    plain: Sequence[SettingScore],
    runs: dict[Setting, list[RunResult]],
) -> SettingScore:
    """The same score beside those of single processes with a model of the same size."""
    single = [other for other in plain if other.setting.world == 1 and other.setting.hidden == score.setting.hidden]
    base, speedup = _best_ratio(score, single, lambda one: one.end_to_end_rate)
    training_speedup = _best_ratio(score, single, lambda one: one.training_rate)[1]
    target_speedup = None
    if config.scaling == "strong" and _all_reach(score):
        target_speedup = _best_ratio(score, [one for one in single if _all_reach(one)], _target_rate)[1]
    efficiency = None
    if base and speedup:
        efficiency = speedup.median * base.setting.threads / (score.setting.world * score.setting.threads)
    return replace(
        score,
        speedup=speedup,
        training_speedup=training_speedup,
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


def _all_reach(score: SettingScore) -> bool:
    return score.num_reached == score.num_runs


def _target_rate(score: SettingScore) -> Spread | None:
    seconds = score.seconds_to_target
    return Spread(1 / seconds.median, 1 / seconds.high, 1 / seconds.low) if seconds else None


def _lost_s(config: SweepConfig, setting: Setting, runs: dict[Setting, list[RunResult]]) -> float | None:
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
    own, alone = (_steps_s(runs.get(one, [])) for one in (setting, reference))
    if own is None or alone is None:
        return None
    return own - alone / (1 if config.scaling == "weak" else setting.world)


def _steps_s(results: Sequence[RunResult]) -> float | None:
    def seconds(measured: Measured) -> float:
        return measured.phases.steps_s + measured.phases.input_s

    found = [seconds(result.measured) for result in results if result.measured]
    return median(found) if found else None
