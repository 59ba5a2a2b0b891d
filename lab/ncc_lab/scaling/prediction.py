"""A model of a training step, fitted to a sweep, that predicts more ranks and other links.

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
from typing import Any, NamedTuple, Self

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc_lab.scaling.plan import Setting
from ncc_lab.scaling.runs import RunResult
from ncc_lab.scaling.scores import Spread

_DIM = 200
"""Dimensions of the shipped embedding, which the runs' networks read."""
_NUM_RESAMPLES = 200


class Link(NamedTuple):
    """A network between ranks: latency of a message, and bandwidth from each rank to the next, in both directions."""

    latency_s: float
    bytes_per_s: float


LINKS = {
    "nvlink": Link(5e-6, 3.6e11),
    "infiniband": Link(1e-5, 4.5e10),
    "ethernet": Link(5e-5, 2.8e9),
}
"""Assumed, not measured: NVLink 4 at 80% of its 450 GB/s, InfiniBand NDR and 25-gigabit Ethernet at 90% of theirs."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of some setting."""

    world: int
    batch: float
    hidden: int
    weights: float
    payload: float
    sharing: float = 1.0
    seconds: float = 0.0

    @classmethod
    def from_run(cls, result: RunResult) -> Self:
        """Return a step of a run, as quick as where nothing else wants its core."""
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
            seconds=run.quick_step_s or (run.phases["steps_s"] + run.phases["input_s"]) / run.steps,
        )

    @property
    def bytes_sent(self) -> float:
        """By each rank, in a ring."""
        return 2 * (self.world - 1) / self.world * self.payload

    def terms(self) -> list[float]:
        """Return what the coefficients of a model are multiplied by."""
        work, fixed = self.sharing * self.batch, self.sharing
        products = work * 8 * self.hidden * (_DIM + self.hidden)
        late = (2 * np.log(self.world)) ** 0.5
        alone = [fixed, fixed * self.weights, work, products]
        return [*alone, work * late, products * late, self.world - 1.0, self.bytes_sent]


def fit_model(steps: Sequence[Step]) -> Floats:
    """Fit coefficients, (8,) seconds, to measured steps, their relative errors alike; the last two are of messages."""
    from scipy.optimize import nnls

    terms = np.array([step.terms() for step in steps]) / np.array([[step.seconds] for step in steps])
    scale = np.maximum(terms.max(axis=0), 1e-300)
    return np.asarray(nnls(terms / scale, np.ones(len(steps)))[0] / scale)


def step_seconds(model: Floats, step: Step, link: Link | None = None) -> float:
    """Return the seconds of a step, over the link that was measured or over another."""
    terms = step.terms()
    if link is None:
        return float(model @ terms)
    alone = float(model[:-2] @ terms[:-2])
    return alone + 2 * np.log2(step.world) * link.latency_s + step.bytes_sent / link.bytes_per_s


def predict_scaling(
    results: Sequence[RunResult], worlds: Sequence[int], link: str, *, seed: int = 204
) -> dict[str, Any]:
    """Predict speedups from the runs of mirrored ranks without compression, and of single processes."""
    quickest: dict[Setting, Step] = {}
    for result in results:
        setting = result.run.setting
        if result.measured and (setting.strategy, setting.compression) == ("mirrored", "none"):
            step = Step.from_run(result)
            quickest[setting] = min(step, quickest.get(setting, step), key=lambda one: one.seconds)
    steps = list(quickest.values())
    if len({step.world for step in steps}) < 3:
        raise InputError("too few runs of 1, 2 and more mirrored ranks went well to predict others from")
    model = fit_model(steps)
    errors = {}
    for setting, step in quickest.items():
        others = fit_model([other for key, other in quickest.items() if key != setting])
        errors[setting.to_text()] = step_seconds(others, step) / step.seconds - 1
    fitted = np.array([step_seconds(model, step) for step in steps])
    ratios = np.array([step.seconds for step in steps]) / fitted
    models = [model]
    for drawn in np.random.default_rng(seed).choice(ratios, (_NUM_RESAMPLES, len(ratios))):
        seconds = (fitted * drawn).tolist()
        models.append(fit_model([replace(step, seconds=one) for step, one in zip(steps, seconds, strict=True)]))
    shared = {step.hidden: step for step in steps if step.world > 1}

    def point(world: int, step: Step) -> dict[str, Any]:
        speedups = [_speedup(one, step, world, LINKS[link]) for one in models]
        low, high = np.quantile(speedups, (0.1, 0.9))
        spread = Spread(speedups[0], float(low), float(high))
        return {"world": world, "hidden": step.hidden, "weights": round(step.weights), "speedup": spread}

    return {
        "link": link,
        "num_settings": len(steps),
        "errors": errors,
        "points": [point(world, step) for step in shared.values() for world in worlds],
        "text": _text(link, errors),
    }


def _speedup(model: Floats, step: Step, world: int, link: Link) -> float:
    """Return programs a second of some ranks with a core or a GPU each, over those of one."""
    together = step.batch * step.world
    alone = replace(step, world=1, batch=together, sharing=1.0)
    shared = replace(step, world=world, batch=max(1.0, together / world), sharing=1.0)
    return step_seconds(model, alone) / step_seconds(model, shared, link)


def _text(link: str, errors: dict[str, float]) -> list[str]:
    worst, most = max(errors.items(), key=lambda pair: abs(pair[1]))
    middle = float(np.median([abs(error) for error in errors.values()]))
    return [
        f"prediction over {link}: a model of a step, fitted to {len(errors)} settings; of one that it did not see the "
        f"step time is {middle:.0%} off (median), at most {most:+.0%}, of {worst}",
        "training alone, in programs a second; 80% intervals; the link's speed is assumed, not measured",
    ]
