"""Predicts how long a kernel's launch takes, and what bounds it, before its first run."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ncc.errors import InputError
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.text import demangle, format_amount, format_bytes, format_duration, format_ends
from ncc.tasks.gpus.features import OVERHEAD, ROOFLINE_PARTS, LaunchWork, launch_features, roofline_seconds, time_bounds
from ncc.tasks.gpus.head import GpuHead
from ncc.tasks.gpus.specs import GpuSpec, find_spec

_EXTRAPOLATED_WIDTH = 0.3
"""Added to the half width of the log10 interval for a GPU without measurements; only one GPU was measured."""
_CLOSE = math.log10(2)
_NUM_SHOWN = 6
_BOUNDS = ("compute", "bandwidth")
_BOUND_BY = {"compute": "compute", "bandwidth": "memory", "chain": "latency", OVERHEAD: "overhead"}
_RAISED = {
    OVERHEAD: "the shortest launch",
    "bandwidth": "the lower bound of its memory traffic",
    "compute": "the lower bound of its operations",
    "chain": "the lower bound of its dependency chain",
}


@dataclass(frozen=True, kw_only=True)
class GpuPrediction(Summarized):
    """Time of a kernel launch, and its bottleneck.

    Attributes:
        kernel: The kernel's name in the IR.
        gpu: The GPU.
        grid: Blocks of the launch.
        block: Threads of a block.
        time_ms: Expected time in milliseconds.
        interval_ms: Both ends of its 80% interval.
        bound: "compute" or "bandwidth", whichever is more probable with equal class priors; "launch overhead" if the
            whole work takes less than that, and "chain" if one thread's dependent operations take more than half of
            the time.
        bound_probability: Its probability with the priors of training (a quarter of launches are bound by "compute"),
            so it may be below 0.5 for "compute"; 1 if the bound is certain.
        compute_probability: Probability of "compute", with the same priors.
        traffic_bytes: Bytes that move between the card and its memory.
        flops: Floating-point operations of all threads, an FMA as two.
        familiar: Whether the launch resembles those of training.
        extrapolated: Whether the GPU is not that of training, and the answer was scaled by data sheets.
        arguments: Values of arguments that were given, or read from host code, by name.
        buffer_bytes: Bytes of the memory that arguments point to, read from host code, by name.
        inferred_arguments: Values of arguments inferred from the launch sizes, by name.
        assumptions: Sizes, values and buffers read from host code, each with its line, and the file if it is not the
            source.
        data_dependent_loops: Loops whose trip count is not known, assumed 8, by line, with the file if it is not the
            source, and what it depends on: data, or arguments that were not given.
        roofline_ms: Estimates of the time that each part of the work takes alone, at the GPU's peak rate for it; caches
            may shorten it, so these are no bounds.
        lower_bounds_ms: Lower bounds of the time by cause: launch overhead, bandwidth, compute and chain.
        assumed_lower_bounds_ms: Lower bounds if the inferred arguments are right: the time is not below them, but the
            interval's lower end may be.
        raised_to: The bound that the time was raised to; empty if the learned time is above all bounds.
        uncounted_operations: Operations that are not counted.
        conflicts: Launch sizes that differ from those in host code, and a note if its values were too long to follow.
        num_sampled_blocks: Number of blocks that counts were estimated from; 0 if all were counted.
    """

    kernel: str
    gpu: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    time_ms: float
    interval_ms: tuple[float, float]
    bound: str
    bound_probability: float
    compute_probability: float
    traffic_bytes: float
    flops: float
    familiar: bool
    extrapolated: bool
    arguments: Mapping[str, float]
    buffer_bytes: Mapping[str, float]
    inferred_arguments: Mapping[str, float]
    assumptions: tuple[str, ...]
    data_dependent_loops: tuple[str, ...]
    roofline_ms: Mapping[str, float]
    lower_bounds_ms: Mapping[str, float]
    assumed_lower_bounds_ms: Mapping[str, float]
    raised_to: str
    uncounted_operations: tuple[str, ...]
    conflicts: tuple[str, ...]
    num_sampled_blocks: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of JSON."""
        return {"demangled": demangle(self.kernel), **asdict(self)}

    def summary(self, *, explain: bool = False) -> Summary:
        """Return the time and what bounds it, and the evidence if an explanation is requested."""
        bound = f"{_BOUND_BY[self.bound]}-bound" + (f" {self.bound_probability:.0%}" if self.bound in _BOUNDS else "")
        rather = ""
        if self.bound_probability < 0.5:
            other = "memory" if self.bound == "compute" else "compute"
            rather = f"{_BOUND_BY[self.bound]} with equal class priors; {other} with those of the training launches"
        assumed = [*self.assumptions]
        assumed += [
            f"{name} = {format_amount(value)} (the launch's sizes)" for name, value in self.inferred_arguments.items()
        ]
        assumed += [f"{loop}; assumed 8" for loop in self.data_dependent_loops]
        cautions = [f"raised to {_RAISED[self.raised_to]}"] if self.raised_to else []
        cautions += [f"{kind} are not counted" for kind in self.uncounted_operations]
        cautions += [] if self.familiar else ["unlike the launches of training"]
        cautions += ["extrapolated from the data sheet"] if self.extrapolated else []
        return Summary(
            verdict=format_duration(self.time_ms),
            interval=f"80%: {format_ends(*self.interval_ms)}",
            confidence=f"{bound:<17}",
            subject=f"{demangle(self.kernel)} on {self.gpu}",
            details=[
                ("bound", rather),
                *(self._evidence() if explain else ()),
                ("assumed", assumed or "nothing"),
                *(("caution", text) for text in (*cautions, *self.conflicts)),
            ],
        )

    def _evidence(self) -> list[tuple[str, str]]:
        parts = dict(sorted(self.roofline_ms.items(), key=lambda part: -part[1])[:_NUM_SHOWN])
        moved = format_bytes(self.traffic_bytes, 1000)
        work = f"{format_amount(round(self.flops))} floating-point operations, about {moved} moved"
        if self.num_sampled_blocks:
            work += f"; estimated from {self.num_sampled_blocks:,} of {math.prod(self.grid):,} blocks"
        bounds = _times(self.lower_bounds_ms)
        if self.assumed_lower_bounds_ms != self.lower_bounds_ms:
            bounds += f"; if the inferred arguments are right: {_times(self.assumed_lower_bounds_ms)}"
        return [("work", work), ("estimates", _times(parts)), ("at least", bounds)]


def _times(parts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {format_duration(time)}" for name, time in parts.items() if time)


def predict_time(work: LaunchWork, head: GpuHead, spec: GpuSpec) -> GpuPrediction:
    """Predict how long a launch takes on a GPU, and whether compute or the memory's bandwidth bounds it."""
    measured = find_spec(head.gpu)
    features = launch_features(work, measured)
    if missing := [name for name in head.feature_names if name not in features]:
        raise InputError(f"the head needs {missing[0]!r:.60}, which this version doesn't count; train it again")
    estimate = head.predict(np.array([[features[name] for name in head.feature_names]]))
    log_time, half, balanced, prior = (
        float(values[0])
        for values in (estimate.log_time, estimate.half_width, estimate.balanced_probability, estimate.probability)
    )
    bounds, assumed = (time_bounds(bound, work.host.buffers, spec) for bound in (work.bound, work.assumed_bound))
    if spec != measured:
        log_time += launch_features(work, spec)["roofline_time"] - features["roofline_time"]
        half += _EXTRAPOLATED_WIDTH
        shift = math.log(_balance(work, spec) / _balance(work, measured))
        balanced, prior = (1 / (1 + (1 - p) / max(p, 1e-9) * math.exp(-shift)) for p in (balanced, prior))
    least, most = bounds.log_time, assumed.log_time
    raised_to, log_time = (assumed.binding_bound, most) if log_time <= most else ("", log_time)
    profile, launch = work.profile, work.launch
    roofline_ms = {name: 1e3 * time for name, time in roofline_seconds(work, spec).items() if name in ROOFLINE_PARTS}
    learned = "compute" if balanced > 0.5 else "bandwidth"
    bound = raised_to if raised_to in _BOUNDS else learned
    if assumed.binding_bound == "chain" and log_time - most < _CLOSE:
        bound = assumed.binding_bound
    elif max(roofline_ms.values()) < 1e3 * bounds.seconds[OVERHEAD]:
        bound = OVERHEAD
    names = dict(enumerate(profile.arguments))
    given = {str(index): value for index, value in work.host.values.items()} | dict(launch.arguments)
    arguments = {names.get(int(name)) if name.isdigit() else name: float(value) for name, value in given.items()}
    return GpuPrediction(
        kernel=profile.name,
        gpu=spec.name,
        grid=launch.grid,
        block=launch.block,
        time_ms=10 ** (log_time + 3),
        interval_ms=(10 ** (max(log_time - half, least) + 3), 10 ** (log_time + half + 3)),
        bound=bound,
        bound_probability=1.0 if bound != learned else prior if bound == "compute" else 1 - prior,
        compute_probability=prior,
        traffic_bytes=max(10 ** float(estimate.log_traffic[0]), assumed.num_bytes),
        flops=work.total("flops"),
        familiar=bool(estimate.distance[0] <= 1) and not profile.uncounted_operations and raised_to in ("", OVERHEAD),
        extrapolated=spec != measured,
        arguments={name: value for name, value in arguments.items() if name is not None},
        buffer_bytes={names[index]: size for index, size in work.host.buffers.items() if index in names},
        assumptions=work.host.assumptions(profile.arguments),
        inferred_arguments={**work.host.inferred, **profile.inferred_arguments},
        data_dependent_loops=tuple(f"{loop.location}: {loop.reason}" for loop in profile.data_dependent_loops),
        roofline_ms=roofline_ms,
        lower_bounds_ms={name: 1e3 * time for name, time in bounds.seconds.items()},
        assumed_lower_bounds_ms={name: 1e3 * time for name, time in assumed.seconds.items()},
        raised_to=raised_to,
        uncounted_operations=profile.uncounted_operations,
        conflicts=work.host.conflicts,
        num_sampled_blocks=profile.num_sampled_blocks,
    )


def _balance(work: LaunchWork, spec: GpuSpec) -> float:
    """Ratio of the time of operations to the time of bytes, at a GPU's peaks."""
    times = roofline_seconds(work, spec)
    operations = max(times[name] for name in ("single", "double", "integer"))
    return max(operations, 1e-15) / max(times["memory"], 1e-15)
