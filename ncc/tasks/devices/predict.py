"""Predicts whether CPU or GPU runs a kernel faster, by how much, over data sizes, and which lines decide.

Reference: Ben-Nun et al. 2018, section 6.2; Zeiler and Fergus 2014 (occlusion), here of lines of code.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.ir.reader.module import Module
from ncc.kernels.host.launches import HostLaunch
from ncc.kernels.launch import Launch, argument_names, argument_types, block_of
from ncc.kernels.reading import Kernel
from ncc.system.files.text import MAX_BYTES
from ncc.tasks.devices.features import KernelFeatures, KernelWork, check_sizes, complete_sizes, side_length
from ncc.tasks.devices.head import TimesHead
from ncc.tasks.devices.prediction import SIZES, DeviceCurve, DevicePrediction, Explanation, LineContribution

_MAX_WORK = 2**19
"""Maximum product of statements and lines to explain: about a minute and a half of work."""
_ELEMENT = 4
"""Bytes per work-item of a buffer whose size is not in host code."""
_TIMED_STEP = 8
"""Factor between sizes at which a data sheet's GPU is evaluated, each by an execution of the kernel."""

Comparison = Callable[[DevicePrediction, tuple[Module, int, Launch, HostLaunch], float], DevicePrediction]
"""Compares the CPU of an answer with a data sheet's GPU, at a launch that moves a number of bytes."""


@dataclass(frozen=True, eq=False)
class Question:
    """A query: a launch of a kernel, at all sizes if none is given."""

    head: TimesHead
    kernel: Kernel
    transfer: float | None
    wgsize: float | None
    global_size: float | None
    compare: Comparison | None = None
    hosted: tuple[Launch, HostLaunch] | None = None  # the launch in host code, if it has the sizes

    @classmethod
    def of_host(cls, head: TimesHead, kernel: Kernel, compare: Comparison | None, host: HostLaunch) -> "Question":
        """Query a launch in host code, assuming that its buffers are copied to the device and back."""
        assert host.grid and host.block  # launches with unknown sizes are skipped
        launch = Launch.of(host.grid, host.block, {})
        hosted = host.add_arguments(launch, kernel.module, kernel.function), host
        items, group = float(launch.num_threads), float(launch.block_threads)
        moved = sum(2 * host.buffers.get(index, _ELEMENT * items) for index in _pointers(kernel))
        return cls(head, kernel, moved, group, items, compare, hosted)

    @cached_property
    def work(self) -> KernelWork:
        """The kernel's counted work."""
        return KernelWork(self.kernel.module, self.kernel.function, self.hosted[0] if self.hosted else None)

    @cached_property
    def features(self) -> KernelFeatures:
        """Features of the kernel that models read."""
        return self.work.features(self.kernel.vectors)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Bytes moved and work-items, each derived from the other if missing; NaN if both are missing."""
        given = np.array([[self.transfer, self.wgsize, self.global_size]], np.float64)
        moved, _, items = complete_sizes(self.features, given)[0].tolist()
        return min(moved, MAX_BYTES), items

    def predict(self) -> DevicePrediction:
        """Predict the faster device."""
        by_size: dict[str, Any] = {}
        if math.isnan(self.sizes[0]):
            curve = self.curve(SIZES if self.compare is None else SIZES[::_TIMED_STEP])
            by_size = {name: getattr(curve, name) for name in ("crossovers", "decided_ranges")}
            interval = float(curve.low.min()), float(curve.high.max())
            by_size |= {"interval": interval, "times_ms": None, "_over_sizes": curve}
        answer = self._predict(self.features)
        if lines := self.work.data_dependent_lines:
            where = f" (line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines[0] else ""
            answer = replace(answer, warnings=(*answer.warnings, f"work depends on data{where}"))
        names = argument_names(self.kernel.module, self.kernel.function)
        return replace(
            answer,
            kernel=self.kernel.name,
            transfer_bytes=self.transfer,
            wgsize=self.wgsize,
            global_size=self.global_size,
            num_statements=len(self.kernel.statements),
            unknown_rate=self.kernel.lookup.unknown_rate,
            assumptions=self._assumptions(),
            host=self.hosted[1].assumptions(list(names.values())) if self.hosted else (),
            _question=self,
            **by_size,
        )

    def _assumptions(self) -> dict[str, float]:
        moved, items = self.sizes
        if math.isnan(moved):
            return {}
        if self.hosted is not None:
            return {"transfer_bytes": moved, "global_size": items}
        assumed = {}
        if self.global_size is None:
            assumed["global_size"] = items
        elif self.transfer is None:
            assumed["transfer_bytes"] = moved
        if self.work.integer_arguments:
            dimensions = int(self.features.feature("dimensions")[0])
            assumed["integer_arguments"] = float(round(side_length(items, dimensions)))
        return assumed

    def curve(self, sizes: Floats) -> DeviceCurve:
        """Predict at (n,) bytes moved."""
        check_sizes(float(sizes[-1]), None)
        if self.hosted is not None:
            return replace(self, hosted=None, transfer=None, global_size=None).curve(sizes)
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
        if self.compare is not None:
            raise InputError(
                "--gpu compares times, not lines; explain either half: ncc predict-gpu --explain, or no --gpu"
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
        """Predict at these sizes; without bytes and work-items, in the middle of training's range."""
        moved, (low, high) = self.sizes[0], self.head.transfer_range
        moved = math.sqrt(low * high) if math.isnan(moved) else moved
        return self._predictions(features, np.array([[moved, self.wgsize, self.global_size]], np.float64))[0]

    def _predictions(self, features: KernelFeatures, sizes: Floats) -> list[DevicePrediction]:
        answers = self.head.predict(features, sizes)
        if self.compare is None:
            return answers
        return [
            self.compare(answer, self._launch(group, items, moved), moved)
            for answer, (moved, group, items) in zip(answers, complete_sizes(features, sizes).tolist(), strict=True)
        ]

    def _launch(self, group: float, items: float, moved: float) -> tuple[Module, int, Launch, HostLaunch]:
        """The launch in host code, or the one that the answer assumes, with bytes of buffers."""
        if self.hosted is not None:
            return self.kernel.module, self.kernel.function, *self.hosted
        dimensions = int(self.features.feature("dimensions")[0])
        block = block_of(self.head.wgsize if math.isnan(group) else group, dimensions)
        side = round(side_length(items, dimensions))
        names = argument_names(self.kernel.module, self.kernel.function)
        integers = [names[node] for node in self.work.integer_arguments]
        launch = Launch.of([math.ceil(side / width) for width in block], block, dict.fromkeys(integers, float(side)))
        pointers = _pointers(self.kernel)
        buffers = dict.fromkeys(pointers, moved / 2 / max(len(pointers), 1))
        host = HostLaunch(buffers=buffers, origins=dict.fromkeys(buffers, "--transfer"))
        return self.kernel.module, self.kernel.function, launch, host


def _pointers(kernel: Kernel) -> list[int]:
    """Indices of arguments that point to global memory."""
    types = argument_types(kernel.module, kernel.function)
    return [index for index, text in enumerate(types) if text.startswith("ptr") and "addrspace(3)" not in text]


def _statement_groups(kernel: Kernel) -> Sequence[list[int]]:
    """Statements by line, or one by one if lines are missing or all the same, without headers of functions."""
    statements = kernel.statements[~np.isin(kernel.statements, kernel.module.function_start)]
    lines = kernel.module.source_line[statements]
    by_line = len(np.unique(lines)) > 1
    groups: dict[tuple[int, int], list[int]] = {}
    for statement, line in zip(statements.tolist(), lines.tolist(), strict=True):
        groups.setdefault((line, 0 if line and by_line else statement), []).append(statement)
    return [group for group in groups.values() if len(group) < len(statements)]
