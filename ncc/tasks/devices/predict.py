"""Predicts whether CPU or GPU runs a kernel faster, by how much, over sizes of its data, and because of which lines.

Reference: Ben-Nun et al. 2018, section 6.2; Zeiler and Fergus 2014 (occlusion), here of lines of code.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.kernels.reading import Kernel
from ncc.system.files.text import MAX_BYTES
from ncc.tasks.devices.features import (
    KernelFeatures,
    KernelWork,
    check_sizes,
    complete_sizes,
    integer_arguments,
    side_length,
)
from ncc.tasks.devices.head import TimesHead
from ncc.tasks.devices.prediction import (
    SIZES,
    DeviceCurve,
    DevicePrediction,
    Explanation,
    LineContribution,
)

_MAX_WORK = 2**19
"""Statements that are described, once for each line: about a minute and a half of work."""


@dataclass(frozen=True, eq=False)
class Question:
    """A launch of a kernel that a head is asked about, at all sizes if none is given."""

    head: TimesHead
    kernel: Kernel
    transfer: float | None
    wgsize: float | None
    global_size: float | None

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
            curve = self.curve(SIZES)
            by_size = {name: getattr(curve, name) for name in ("crossovers", "decided_ranges")}
            by_size |= {"times_ms": None, "fastest_at_smallest": curve.fastest[0], "_over_sizes": curve}
        return replace(
            self._predict(self.features),
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
        predictions = self.head.predict(self.features.rows(np.zeros(len(sizes), np.int64)), launches)
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
        return self.head.predict(features, np.array([[moved, self.wgsize, self.global_size]], np.float64))[0]


def _statement_groups(kernel: Kernel) -> Sequence[list[int]]:
    """Statements by line; one by one those without, and all if they share a line. Headers of functions are skipped."""
    statements = kernel.statements[~np.isin(kernel.statements, kernel.module.function_start)]
    lines = kernel.module.source_line[statements]
    by_line = len(np.unique(lines)) > 1
    groups: dict[tuple[int, int], list[int]] = {}
    for statement, line in zip(statements.tolist(), lines.tolist(), strict=True):
        groups.setdefault((line, 0 if line and by_line else statement), []).append(statement)
    return [group for group in groups.values() if len(group) < len(statements)]
