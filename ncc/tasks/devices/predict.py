"""Predicts whether CPU or GPU runs a kernel faster, by how much, over sizes of its data, and because of which lines.

Reference: Ben-Nun et al. 2018, section 6.2; Zeiler and Fergus 2014 (occlusion), here of lines of code.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.kernels.launch import Launch, argument_types
from ncc.kernels.reading import Kernel
from ncc.system.files.summaries import format_ratio
from ncc.system.files.text import MAX_BYTES, format_duration
from ncc.tasks.devices.features import (
    KernelFeatures,
    KernelWork,
    block_of,
    check_sizes,
    complete_sizes,
    integer_arguments,
    side_length,
)
from ncc.tasks.devices.head import INTERVAL, LEVELS, TimesHead, sign_probability
from ncc.tasks.devices.prediction import (
    SIZES,
    DeviceCurve,
    DevicePrediction,
    Explanation,
    LineContribution,
)

_MAX_WORK = 2**19
"""Statements that are described, once for each line: about a minute and a half of work."""
_NUM_TIMED = 12
"""Sizes at which a GPU of a data sheet is timed, each by running the kernel."""
_QUANTILES = np.array([NormalDist().inv_cdf((1 + level) / 2) for level in (*LEVELS.tolist(), INTERVAL)])
"""Of the size of a normal error, at `LEVELS` and at the interval's level."""


@dataclass(frozen=True)
class TimeEstimate:
    """Time of a launch on a device in ms, ends of its 80% interval, and whether such launches were measured."""

    expected: float
    low: float
    high: float
    lower_bound: float
    familiar: bool


@dataclass(frozen=True)
class TimedGpu:
    """A GPU that no head knows; it times a kernel's launch, given bytes moved, and of each argument by its index."""

    name: str
    time: Callable[[Kernel, Launch, float, Mapping[int, float]], TimeEstimate]


def compare_times(cpu: TimeEstimate, gpu: TimeEstimate) -> dict[str, Any]:
    """Fields of the answer about two times whose errors are independent: their ratio, its interval, and reasons."""
    widths = {"CPU": cpu.high / cpu.expected, "GPU": gpu.high / gpu.expected}
    half = math.hypot(*map(math.log, widths.values()))
    ratio, most = math.log(cpu.expected / gpu.expected), math.log(cpu.high / gpu.lower_bound)
    sure = float(sign_probability(ratio, half * _QUANTILES[:-1] / _QUANTILES[-1]))
    wider, narrower = sorted(widths, key=lambda name: -widths[name])
    reasons = []
    if most < 0:
        sure = max(sure, 0.5 + INTERVAL / 2)
        reasons.append(
            f"start and copies alone take the GPU at least {format_duration(gpu.lower_bound)}, longer than the CPU's "
            f"whole time, at most {format_duration(cpu.high)}"
        )
    return {
        "device": "GPU" if ratio > 0 else "CPU",
        "confidence": sure,
        "speedup_gpu_over_cpu": math.exp(ratio),
        "interval": (math.exp(ratio - half), math.exp(min(ratio + half, most))),
        "times_ms": {"CPU": (cpu.expected, cpu.low, cpu.high), "GPU": (gpu.expected, gpu.low, gpu.high)},
        "familiar": cpu.familiar and gpu.familiar,
        "devices": ("CPU", "GPU"),
        "reasons": tuple(reasons),
        "warnings": (
            f"the {wider}'s time is the less certain one, within {format_ratio(widths[wider])} in four cases of five, "
            f"the {narrower}'s within {format_ratio(widths[narrower])}",
        ),
    }


@dataclass(frozen=True, eq=False)
class Question:
    """A launch of a kernel that a head is asked about, at all sizes if none is given."""

    head: TimesHead
    kernel: Kernel
    transfer: float | None
    wgsize: float | None
    global_size: float | None
    gpu: TimedGpu | None = None  # compared with the fastest of the head's CPUs

    @cached_property
    def work(self) -> KernelWork:
        """The kernel's counted work."""
        return KernelWork(self.kernel.module, self.kernel.function)

    @cached_property
    def features(self) -> KernelFeatures:
        """Features of the kernel that models read."""
        return self.work.features(self.kernel.vectors)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Bytes moved and work-items, one derived from the other if only that is given; NaN if neither is."""
        given = np.array([[self.transfer, self.wgsize, self.global_size]], np.float64)
        moved, _, items = complete_sizes(self.features, given)[0].tolist()
        return min(moved, MAX_BYTES), items

    def predict(self) -> DevicePrediction:
        """Predict the faster device."""
        by_size: dict[str, Any] = {}
        if math.isnan(self.sizes[0]):
            curve = self.curve(SIZES if self.gpu is None else np.geomspace(*SIZES[[0, -1]], _NUM_TIMED))
            by_size = {name: getattr(curve, name) for name in ("crossovers", "decided_ranges")}
            by_size |= {"times_ms": None, "fastest_at_smallest": curve.fastest[0], "_over_sizes": curve}
        answer = self._predict(self.features)
        if lines := self.work.data_dependent_lines:
            where = f" (line {', '.join(map(str, lines))})" if lines[0] else ""
            answer = replace(answer, warnings=(*answer.warnings, f"work depends on data{where}"))
        return replace(
            answer,
            kernel=self.kernel.name,
            transfer_bytes=self.transfer,
            wgsize=self.wgsize,
            global_size=self.global_size,
            num_statements=len(self.kernel.statements),
            unknown_rate=self.kernel.lookup.unknown_rate,
            assumptions=self._assumptions(),
            _question=self,
            **by_size,
        )

    def _assumptions(self) -> dict[str, float]:
        moved, items = self.sizes
        if math.isnan(moved):
            return {}
        assumed = {}
        if self.global_size is None:
            assumed["global_size"] = items
        elif self.transfer is None:
            assumed["transfer_bytes"] = moved
        if integer_arguments(self.kernel.module, self.kernel.function):
            dimensions = int(self.features.feature("dimensions")[0])
            assumed["integer_arguments"] = float(round(side_length(items, dimensions)))
        return assumed

    def curve(self, sizes: Floats) -> DeviceCurve:
        """Predict at (n,) bytes moved."""
        check_sizes(float(sizes[-1]), None)
        launches = np.array([[size, self.wgsize, None] for size in sizes.tolist()], np.float64)
        predictions = self._predictions(self.features.rows(np.zeros(len(sizes), np.int64)), launches)
        low, high = np.array([each.interval for each in predictions]).T
        return DeviceCurve(
            kernel=self.kernel.name,
            platform=self.head.platform,
            wgsize=self.wgsize,
            transfer_bytes=sizes,
            speedup_gpu_over_cpu=np.array([each.speedup_gpu_over_cpu for each in predictions]),
            low=low,
            high=high,
            fastest=tuple(each.device for each in predictions),
            seen=self.head.transfer_range,
        )

    def explain(self) -> Explanation:
        """Predict without each line of the kernel."""
        if self.gpu is not None:
            raise InputError(
                "no lines can be weighed in a comparison with a GPU of a data sheet: explain either half, by "
                "'ncc predict-gpu --explain', or without --gpu"
            )
        kernel, module = self.kernel, self.kernel.module
        groups = _statement_groups(kernel)
        if len(groups) * len(kernel.statements) > _MAX_WORK:
            raise InputError(
                f"{module.name}: {kernel.name} is too large to explain: it has {len(kernel.statements):,} statements "
                f"on {len(groups):,} lines, whose product may be at most {_MAX_WORK:,}"
            )
        whole = self._predict(self.features).log_ratio
        lines = [
            LineContribution(
                line=int(module.source_line[group[0]]),
                statements=tuple(dict.fromkeys(module.statement_text(statement) for statement in group)),
                log_ratio_change=whole - self._predict(self.work.features(kernel.vectors, frozenset(group))).log_ratio,
            )
            for group in groups
        ]
        lines.sort(key=lambda line: -abs(line.log_ratio_change))
        return Explanation(kernel=kernel.name, log_ratio=whole, lines=tuple(lines))

    def _predict(self, features: KernelFeatures) -> DevicePrediction:
        """Predict for a kernel at these sizes; of neither bytes nor work-items, in the middle of training's."""
        moved, (low, high) = self.sizes[0], self.head.transfer_range
        moved = math.sqrt(low * high) if math.isnan(moved) else moved
        return self._predictions(features, np.array([[moved, self.wgsize, self.global_size]], np.float64))[0]

    def _predictions(self, features: KernelFeatures, sizes: Floats) -> list[DevicePrediction]:
        answers = self.head.predict(features, sizes)
        if self.gpu is None:
            return answers
        return [
            self._against_gpu(self.gpu, answer, *launch)
            for answer, launch in zip(answers, complete_sizes(features, sizes).tolist(), strict=True)
        ]

    def _against_gpu(
        self, gpu: TimedGpu, answer: DevicePrediction, moved: float, group: float, items: float
    ) -> DevicePrediction:
        """Compare the fastest CPU of an answer with a GPU, at the launch that the answer assumes."""
        kinds, times = self.head.card.get("kinds", {}), answer.times_ms or {}
        cpus = [name for name in times if kinds.get(name, name) != "GPU"]
        if not cpus:
            raise InputError(
                f"the head knows no CPU, only {', '.join(times)}; expected one of 'ncc calibrate' with a CPU"
            )
        cpu = min(cpus, key=lambda name: times[name][0])
        dimensions = max(int(self.features.feature("dimensions")[0]), 1)
        block = block_of(self.head.wgsize if math.isnan(group) else group, dimensions)
        side = round(side_length(items, dimensions))
        types = argument_types(self.kernel.module, self.kernel.function)
        buffers = [index for index, text in enumerate(types) if text.startswith("ptr") and "addrspace(3)" not in text]
        integers = [str(index) for index, text in enumerate(types) if text.startswith(("i16", "i32", "i64"))]
        launch = Launch.of([math.ceil(side / width) for width in block], block, dict.fromkeys(integers, float(side)))
        timed = gpu.time(self.kernel, launch, moved, dict.fromkeys(buffers, moved / 2 / max(len(buffers), 1)))
        compared = compare_times(TimeEstimate(*times[cpu], lower_bound=0.0, familiar=answer.familiar), timed)
        named = self.head.card.get("name", answer.platform)
        return replace(answer, **compared, machines={"CPU": f"{cpu} (head {named})", "GPU": gpu.name})


def _statement_groups(kernel: Kernel) -> Sequence[list[int]]:
    """Statements by line; one by one those without, and all if they share a line. Headers of functions are skipped."""
    statements = kernel.statements[~np.isin(kernel.statements, kernel.module.function_start)]
    lines = kernel.module.source_line[statements]
    by_line = len(np.unique(lines)) > 1
    groups: dict[tuple[int, int], list[int]] = {}
    for statement, line in zip(statements.tolist(), lines.tolist(), strict=True):
        groups.setdefault((line, 0 if line and by_line else statement), []).append(statement)
    return [group for group in groups.values() if len(group) < len(statements)]
