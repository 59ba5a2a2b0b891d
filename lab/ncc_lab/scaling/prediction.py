"""A model of a training step, fitted to a sweep, that predicts more ranks, other links and larger models.

A step takes as long as its fixed part, its programs on the rank that has most to do, and what ranks send each other:

    s (a0 + a1 weights) + s b (c0 + c1 products) (1 + d sqrt(2 ln w)) + (w - 1) latency + bytes / bandwidth

with w ranks of b programs each, s processes that share a core, and of a program the multiplications of the LSTM, as
many as it has weights for each statement. Of w ranks with normally distributed work the slowest is about sqrt(2 ln w)
standard deviations d behind the mean. What other processes do to a machine only ever adds: fitted is the time that
a quarter of a run's steps stays below, of each setting's quickest run. No term is negative; they are fitted to relative
errors. Other links are asked about with the latency of trees, 2 log2 w messages.

References: Hockney 1994 ("The communication challenge for MPP"), for latency and bandwidth; Lawson and Hanson 1974
("Solving least squares problems"), chapter 23; Efron 1979 ("Bootstrap methods"), on residuals.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc_lab.scaling.scores import Spread

if TYPE_CHECKING:
    from ncc_lab.scaling.plan import Setting
    from ncc_lab.scaling.results import RunResult

_DIM = 200
"""Dimensions of the shipped embedding, which the runs' networks read."""

_RESAMPLED = 200
_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048)


@dataclass(frozen=True)
class Link:
    """What ranks are joined by.

    Attributes:
        latency_s: Of one message.
        bytes_per_s: From each rank to the next, both ways at once.
    """

    latency_s: float
    bytes_per_s: float


LINKS = {
    "nvlink": Link(5e-6, 3.6e11),
    "infiniband": Link(1e-5, 4.5e10),
    "ethernet": Link(5e-5, 2.8e9),
}
"""Assumed, not measured: NVLink 4 at 80 % of its 450 GB/s, InfiniBand NDR and 25-gigabit Ethernet at 90 % of theirs."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of some setting.

    Attributes:
        world: Ranks.
        batch: Programs of each rank.
        hidden: Units of each direction of the LSTM.
        weights: Of the model.
        payload: Bytes of what is summed over ranks.
        sharing: Processes a core.
        seconds: What it took; 0 where that is asked.
    """

    world: int
    batch: float
    hidden: int
    weights: float
    payload: float
    sharing: float = 1.0
    seconds: float = 0.0

    @classmethod
    def of_run(cls, result: "RunResult") -> Self:
        """A step of a run, as quick as where nothing else wants its core."""
        setting, run = result.run.setting, result.measured
        assert run
        world, cores = setting.world, run.hardware.get("cores") or setting.world
        on_gpu = run.precision and run.hardware.get("device", "").lower().startswith("nvidia")
        return cls(
            world=world,
            batch=setting.batch_size / world,
            hidden=setting.hidden,
            weights=run.num_weights,
            payload=max(run.bytes_sent) / run.steps * world / (2 * (world - 1)) if world > 1 else 0.0,
            sharing=1.0 if on_gpu else max(1.0, world * setting.threads / cores),
            seconds=run.quick_step_s or (run.phases.steps_s + run.phases.input_s) / run.steps,
        )

    @property
    def bytes_sent(self) -> float:
        """By each rank, in a ring."""
        return 2 * (self.world - 1) / self.world * self.payload

    def terms(self) -> list[float]:
        """What the coefficients of `StepModel` are multiplied by."""
        work, fixed = self.sharing * self.batch, self.sharing
        products = work * 8 * self.hidden * (_DIM + self.hidden)
        late = (2 * np.log(self.world)) ** 0.5
        alone = [fixed, fixed * self.weights, work, products]
        return [*alone, work * late, products * late, self.world - 1.0, self.bytes_sent]

    def resized(self, hidden: int) -> Self:
        """The same with an LSTM of another size: all its weights and those of what reads it take part in every step."""
        more = float(_num_sized(hidden) - _num_sized(self.hidden))
        return replace(self, hidden=hidden, weights=self.weights + more, payload=self.payload + 4 * more)


def _num_sized(hidden: int) -> int:
    """Weights of the classifier's network that its LSTM's size decides on."""
    from ncc.learning.encoder.config import program_encoder, program_head

    encoder, head = program_encoder(hidden), program_head()
    lstm = 8 * hidden * (_DIM + hidden + 2)
    return lstm + encoder.num_states + encoder.vector_size(_DIM) * (head.dense + 2)


@dataclass(frozen=True)
class StepModel:
    """A fitted model.

    Attributes:
        coefficients: (8,) float64 seconds, those of ranks' messages the last two.
    """

    coefficients: Floats

    @classmethod
    def fit(cls, steps: Sequence[Step]) -> Self:
        """Fits to measured steps, their relative errors alike."""
        from scipy.optimize import nnls

        terms = np.array([step.terms() for step in steps]) / np.array([[step.seconds] for step in steps])
        scale = np.maximum(terms.max(axis=0), 1e-300)
        return cls(nnls(terms / scale, np.ones(len(steps)))[0] / scale)

    def seconds(self, step: Step, link: Link | None = None) -> float:
        """Of a step, over the link that was measured or over another."""
        if link is None:
            return float(self.coefficients @ step.terms())
        alone = float(self.coefficients[:-2] @ step.terms()[:-2])
        return alone + 2 * np.log2(step.world) * link.latency_s + step.bytes_sent / link.bytes_per_s


@dataclass(frozen=True)
class SpeedupPoint:
    """A prediction.

    Attributes:
        world: Ranks.
        hidden: Units of each direction of the LSTM.
        weights: Of the model.
        speedup: Of training alone against one rank, in programs a second: as fitted, and where 80 % of the fits to
            resampled residuals lie.
    """

    world: int
    hidden: int
    weights: int
    speedup: Spread


@dataclass(frozen=True)
class Prediction:
    """What a sweep says of what was not run.

    Attributes:
        link: What ranks are joined by.
        num_settings: That the model was fitted to.
        errors: Relative error of each setting's step time as predicted from the others alone, by the setting's words.
        points: Sizes of the model that were run, with the numbers of ranks that were asked for.
        curve: Two ranks, over sizes of the model.
    """

    link: str
    num_settings: int
    errors: dict[str, float]
    points: tuple[SpeedupPoint, ...]
    curve: tuple[SpeedupPoint, ...]

    def to_text(self) -> list[str]:
        """In a few sentences."""
        found = sorted(self.errors.items(), key=lambda pair: abs(pair[1]))
        middle, (worst, most) = float(np.median([abs(error) for _, error in found])), found[-1]
        return [
            f"prediction over {self.link}: a model of a step, fitted to {self.num_settings} settings; of one that it "
            f"did not see the step time is {middle:.0%} off (median), at most {most:+.0%}, of {worst}",
            "training alone, in programs a second; 80 % intervals; the link's speed is assumed, not measured",
            f"two ranks, by units of the LSTM: {_row(self.curve)}",
            self._break_even(),
        ]

    def _break_even(self) -> str:
        pays = _from_on(self.curve, [point.speedup.median > 1 for point in self.curve])
        surely = _from_on(self.curve, [point.speedup.low > 1 for point in self.curve])
        return f"over {self.link} a second rank pays {pays} (as fitted), {surely} (by the intervals)"


def _from_on(points: Sequence[SpeedupPoint], holds: Sequence[bool]) -> str:
    """From which size on it holds for all larger ones."""
    last = max((number for number, one in enumerate(holds) if not one), default=-1)
    return f"from {points[last + 1].hidden} units on" if last + 1 < len(points) else "at no size from which on it would"


def _row(points: Sequence[SpeedupPoint]) -> str:
    return ", ".join(f"{point.hidden}: {point.speedup.to_text()}×" for point in points)


def predict_scaling(
    results: Sequence["RunResult"], worlds: Sequence[int], link: str, *, strong: bool, seed: int = 204
) -> Prediction:
    """Predicts speedups from the runs of mirrored ranks without compression, and of single processes."""
    measured = [result for result in results if result.measured and result.run.setting.compression == "none"]
    measured = [result for result in measured if result.run.setting.strategy == "mirrored"]
    quickest: dict[Setting, Step] = {}
    for result in measured:
        step, setting = Step.of_run(result), result.run.setting
        quickest[setting] = min(step, quickest.get(setting, step), key=lambda one: one.seconds)
    steps, settings = list(quickest.values()), list(quickest)
    if len({step.world for step in steps}) < 3:
        raise InputError("too few runs of 1, 2 and more mirrored ranks went well to predict others from")
    model = StepModel.fit(steps)
    rest = [[step for step, setting in zip(steps, settings, strict=True) if setting != own] for own in settings]
    errors = {
        setting.to_text(): StepModel.fit(others).seconds(step) / step.seconds - 1
        for step, setting, others in zip(steps, settings, rest, strict=True)
    }
    ratios = np.array([step.seconds / model.seconds(step) for step in steps])
    rng = np.random.default_rng(seed)
    drawn = [
        StepModel.fit(
            [replace(step, seconds=model.seconds(step) * ratio) for step, ratio in zip(steps, some, strict=True)]
        )
        for some in rng.choice(ratios, (_RESAMPLED, len(ratios)))
    ]
    shared = {step.hidden: step for step in steps if step.world > 1}

    def point(world: int, step: Step) -> SpeedupPoint:
        found = [_speedup(one, step, world, LINKS[link], strong=strong) for one in (model, *drawn)]
        low, high = np.quantile(found, (0.1, 0.9))
        return SpeedupPoint(world, step.hidden, round(step.weights), Spread(found[0], float(low), float(high)))

    nearest = shared[max(shared)]
    return Prediction(
        link,
        len(settings),
        errors,
        tuple(point(world, step) for step in shared.values() for world in worlds),
        tuple(point(2, nearest.resized(hidden)) for hidden in _SIZES),
    )


def _speedup(model: StepModel, step: Step, world: int, link: Link, *, strong: bool) -> float:
    """Programs a second of some ranks with a core or a GPU each, over those of one."""
    together = step.batch * step.world
    alone = replace(step, world=1, batch=together, sharing=1.0)
    shared = replace(step, world=world, batch=max(1.0, together / world) if strong else together, sharing=1.0)
    if not strong:
        shared = replace(shared, payload=4 * step.weights)
    rate = 1.0 if strong else world
    return rate * model.seconds(alone) / model.seconds(shared, link)
