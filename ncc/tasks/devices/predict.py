"""Predicts whether CPU or GPU runs a kernel faster, by how much, over sizes of its data, and because of which lines.

Reference: Ben-Nun et al. 2018, section 6.2; Zeiler and Fergus 2014 (occlusion), here of lines of code.
"""

import itertools
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.pages import html_table
from ncc.system.files.text import MAX_BYTES, demangle, format_bytes
from ncc.tasks.devices.features import (
    KernelFeatures,
    KernelWork,
    check_sizes,
    complete_sizes,
    integer_arguments,
    side_length,
)
from ncc.tasks.devices.head import PLATFORMS, TimesHead, load_device_head
from ncc.tasks.devices.prediction import SIZES, DevicePrediction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AnyHead = TimesHead | str | os.PathLike[str] | None

_MAX_WORK = 2**19
"""Statements that are described, once for each line: about a minute and a half of work."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceCurve:
    """Predictions for one kernel over sizes of its data.

    Attributes:
        kernel: The kernel's name.
        platform: "amd", "nvidia", or the name of your own head.
        wgsize: As given; None was answered by covering the range seen in training.
        transfer_bytes: (n,) float64, ascending.
        speedup_gpu_over_cpu: (n,) float64 expected CPU time / GPU time.
        low, high: (n,) float64 ends of its 80 % interval.
        crossovers: Sizes in bytes at which the expected speedup passes 1, between those asked for.
        seen: (smallest, largest) transfer in training: beyond, the head extrapolates.
    """

    kernel: str
    platform: str
    wgsize: float | None
    transfer_bytes: Floats
    speedup_gpu_over_cpu: Floats
    low: Floats
    high: Floats
    crossovers: tuple[float, ...]
    seen: tuple[float, float]

    def __repr__(self) -> str:
        first, last = map(format_bytes, self.transfer_bytes[[0, -1]].tolist())
        sizes = f"{len(self.transfer_bytes)} sizes from {first} to {last}"
        crossovers = ", ".join(map(format_bytes, self.crossovers)) or "none"
        return f"DeviceCurve({self.kernel!r} on {self.platform}: {sizes}, crossovers at {crossovers})"

    @property
    def is_decided(self) -> Bools:
        """(n,) whether the whole interval is on one side of 1; if not, either device may turn out to be faster."""
        return (self.low > 1) | (self.high < 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "is_decided")}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def _repr_html_(self) -> str:
        columns = self.transfer_bytes, self.speedup_gpu_over_cpu, self.low, self.high, self.is_decided
        rows = [
            (format_bytes(size), f"{ratio:.2f}×", f"{low:.2f}× to {high:.2f}×", "" if decided else "undecided")
            for size, ratio, low, high, decided in zip(*columns, strict=True)
        ]
        names = ("transfer", "GPU over CPU", "80 % interval", "")
        caption = f"{demangle(self.kernel)} on {self.platform}"
        return html_table(caption, names, rows[:: max(1, len(rows) // 16)])

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: "Axes | None" = None) -> None:
        """Draw the curve into a file (.png, .svg or .pdf) or into axes of matplotlib.

        Raises:
            InputError: Neither or both are given, or the extension is none of these.
            OutputError: The file can't be written.
        """
        from ncc.tasks.devices.plot import draw_curve, plot_curves

        if (path is None) == (axes is None):
            raise InputError("plot takes a path or axes, one of them")
        if axes is not None:
            draw_curve(self, axes)
        elif path is not None:
            plot_curves([self], path)


@dataclass(frozen=True, kw_only=True)
class LineContribution:
    """Contribution of one source line, or of one statement if lines don't tell statements apart.

    Attributes:
        line: Line of the source, or 0.
        statements: Abstracted texts of its statements, each once.
        log_ratio_change: Log(CPU time / GPU time) as predicted minus that without them; positive favors the
            GPU.
    """

    line: int
    statements: tuple[str, ...]
    log_ratio_change: float

    @property
    def favors(self) -> str:
        """The device that it makes more probable."""
        return "GPU" if self.log_ratio_change > 0 else "CPU"


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What drove the answer for one kernel.

    Attributes:
        kernel: The kernel's name.
        log_ratio: Predicted log(CPU time / GPU time).
        lines: Contributions, the strongest first. They need not add up: lines that do the same share their effect.
    """

    kernel: str
    log_ratio: float
    lines: tuple[LineContribution, ...]

    def __repr__(self) -> str:
        return f"Explanation({self.kernel!r}: log_ratio={self.log_ratio:.3g}, {len(self.lines)} lines)"

    def _repr_html_(self) -> str:
        rows = [
            (
                line.line or "",
                f"{math.exp(abs(line.log_ratio_change)):.2f}× for the {line.favors}",
                "; ".join(line.statements),
            )
            for line in self.lines
        ]
        caption = f"{demangle(self.kernel)}: log(CPU time / GPU time) is {self.log_ratio:.2f}"
        return html_table(caption, ("line", "effect", "statements"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        return asdict(self) | {"lines": [asdict(line) | {"statements": list(line.statements)} for line in self.lines]}


def predict_device(
    source: Source,
    *,
    transfer: float | None = None,
    wgsize: float | None = None,
    global_size: float | None = None,
    **reading: Any,
) -> tuple[DevicePrediction, ...]:
    """Predict the faster device for every kernel of a file."""
    head, kernels = read_inputs(source, **reading)
    return tuple(predict_kernel(kernel, head, transfer, wgsize, global_size) for kernel in kernels)


def predict_device_curve(
    source: Source, *, transfer: Sequence[float] | None = None, wgsize: float | None = None, **reading: Any
) -> tuple[DeviceCurve, ...]:
    """Predict the speedup of the GPU over the CPU for every kernel of a file, over sizes of the data."""
    sizes = SIZES if transfer is None else np.asarray(transfer, np.float64)
    if sizes.ndim != 1 or len(sizes) < 2 or not (sizes > 0).all() or not (np.diff(sizes) > 0).all():
        raise InputError("transfer: expected two sizes or more above 0, in ascending order")
    head, kernels = read_inputs(source, **reading)
    return tuple(predict_curve(kernel, head, sizes, wgsize) for kernel in kernels)


def explain_device(
    source: Source,
    *,
    transfer: float | None = None,
    wgsize: float | None = None,
    global_size: float | None = None,
    options: CompileOptions | None = None,
    **reading: Any,
) -> tuple[Explanation, ...]:
    """Find the lines of each kernel that drove the answer of `predict_device`."""
    head, kernels = read_inputs(source, options=replace(options or CompileOptions(), debug_lines=True), **reading)
    return tuple(explain_kernel(kernel, head, transfer, wgsize, global_size) for kernel in kernels)


@dataclass(frozen=True, eq=False)
class DescribedKernel:
    """A kernel with its counted work, and what models read of it."""

    kernel: Kernel
    work: KernelWork
    features: KernelFeatures


def read_inputs(
    source: Source,
    *,
    platform: str | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: AnyHead = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[TimesHead, list[DescribedKernel]]:
    """Load the head that was given, or that ships for the platform, and describe the kernels of a source."""
    loaded = load_device_head(head, platform=platform or PLATFORMS[-1])
    if platform not in (None, loaded.platform):
        raise InputError(f"platform is {platform!r}, but the head was trained on {loaded.platform!r}; leave it out")
    options = CompileOptions.of(options, language)
    described = []
    for kernel in read_kernels(source, load_embedding(embedding), loaded.embedding_id, options):
        work = KernelWork(kernel.module, kernel.function)
        described.append(DescribedKernel(kernel, work, work.features(kernel.vectors)))
    return loaded, described


def predict_kernel(
    described: DescribedKernel, head: TimesHead, transfer: float | None, wgsize: float | None, global_size: float | None
) -> DevicePrediction:
    """Predict for one kernel, at all sizes if none is given."""
    check_sizes(transfer, wgsize, global_size)
    kernel, features = described.kernel, described.features
    moved = _bytes_moved(features, transfer, global_size)
    sizes = SIZES.tolist() if moved is None else []
    *others, prediction = head.predict_kernel(features, [*sizes, moved], wgsize, global_size)
    by_size: dict[str, Any] = {}
    if others:
        ratios = np.array([each.log_ratio for each in others])
        by_size = {
            "times_ms": None,
            "crossovers": find_crossovers(SIZES, ratios),
            "decided_ranges": _decided_ranges(others),
            "fastest_at_smallest": others[0].device,
        }
    return replace(
        prediction,
        kernel=kernel.name,
        transfer_bytes=transfer,
        wgsize=wgsize,
        global_size=global_size,
        num_statements=len(kernel.statements),
        unknown_rate=kernel.lookup.unknown_rate,
        assumptions={} if moved is None else _assumptions(described, moved, transfer, global_size),
        **by_size,
    )


def _bytes_moved(features: KernelFeatures, transfer: float | None, global_size: float | None) -> float | None:
    """Bytes as given, or derived from work-items; None if neither is known."""
    if global_size is None or transfer is not None:
        return transfer
    return min(float(complete_sizes(features, np.array([[np.nan, 1, global_size]]))[0, 0]), MAX_BYTES)


def _assumptions(
    described: DescribedKernel, moved: float, transfer: float | None, global_size: float | None
) -> dict[str, float]:
    features, kernel = described.features, described.kernel
    items = np.nan if global_size is None else global_size
    items = float(complete_sizes(features, np.array([[moved, 1, items]]))[0, 2])
    assumed = {"global_size": items} if global_size is None else {"transfer_bytes": moved} if transfer is None else {}
    if integer_arguments(kernel.module, kernel.function):
        assumed["integer_arguments"] = float(int(side_length(items, int(features.feature("dimensions")[0]))))
    return assumed


def find_crossovers(sizes: Floats, log_ratio: Floats) -> tuple[float, ...]:
    """Sizes at which a log ratio changes its sign, interpolated between those given."""
    turns = np.flatnonzero((log_ratio[:-1] > 0) != (log_ratio[1:] > 0))
    fraction = log_ratio[turns] / (log_ratio[turns] - log_ratio[turns + 1])
    logs = np.log(sizes)
    return tuple(np.exp(logs[turns] + fraction * (logs[turns + 1] - logs[turns])).tolist())


def _decided_ranges(predictions: Sequence[DevicePrediction]) -> tuple[tuple[str, float, float], ...]:
    """Ranges of `SIZES` in which the whole interval is on one side of 1."""
    decided = [None if each.interval[0] <= 1 <= each.interval[1] else each.device for each in predictions]
    groups = itertools.groupby(zip(decided, SIZES.tolist(), strict=True), key=itemgetter(0))
    ranges = [(device, [size for _, size in group]) for device, group in groups]
    return tuple((device, sizes[0], sizes[-1]) for device, sizes in ranges if device is not None)


def predict_curve(described: DescribedKernel, head: TimesHead, sizes: Floats, wgsize: float | None) -> DeviceCurve:
    """Predict for one kernel at (n,) bytes moved."""
    predictions = head.predict_kernel(described.features, sizes.tolist(), wgsize)
    ratio = np.array([each.log_ratio for each in predictions])
    low, high = np.array([each.interval for each in predictions]).T
    return DeviceCurve(
        kernel=described.kernel.name,
        platform=head.platform,
        wgsize=wgsize,
        transfer_bytes=sizes,
        speedup_gpu_over_cpu=np.exp(ratio),
        low=low,
        high=high,
        crossovers=find_crossovers(sizes, ratio),
        seen=head.transfer_range,
    )


def explain_kernel(
    described: DescribedKernel, head: TimesHead, transfer: float | None, wgsize: float | None, global_size: float | None
) -> Explanation:
    """Predict for one kernel without each of its lines."""
    check_sizes(transfer, wgsize, global_size)
    kernel, module = described.kernel, described.kernel.module
    moved = _bytes_moved(described.features, transfer, global_size)

    def log_ratio(features: KernelFeatures) -> float:
        return head.predict_kernel(features, [moved], wgsize, global_size)[0].log_ratio

    groups = _statement_groups(kernel)
    if len(groups) * len(kernel.statements) > _MAX_WORK:
        raise InputError(
            f"{module.name}: {kernel.name} can't be explained: its {len(kernel.statements):,} statements would be "
            f"looked at without each of {len(groups):,} lines in turn, and their product may be {_MAX_WORK:,} at most"
        )
    whole = log_ratio(described.features)
    lines = [
        LineContribution(
            line=int(module.source_line[group[0]]),
            statements=tuple(dict.fromkeys(module.statement_text(statement) for statement in group)),
            log_ratio_change=whole - log_ratio(described.work.features(kernel.vectors, frozenset(group))),
        )
        for group in groups
    ]
    lines.sort(key=lambda line: -abs(line.log_ratio_change))
    return Explanation(kernel=kernel.name, log_ratio=whole, lines=tuple(lines))


def _statement_groups(kernel: Kernel) -> list[list[int]]:
    """Statements by line; one by one those without, and all if they share a line. Headers of functions are left out."""
    statements = kernel.statements[~np.isin(kernel.statements, kernel.module.function_start)]
    lines = kernel.module.source_line[statements]
    by_line = len(np.unique(lines)) > 1
    groups: dict[tuple[int, int], list[int]] = {}
    for statement, line in zip(statements.tolist(), lines.tolist(), strict=True):
        groups.setdefault((line, 0 if line and by_line else statement), []).append(statement)
    return [group for group in groups.values() if len(group) < len(statements)]
