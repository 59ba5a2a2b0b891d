"""Predictions for a kernel: which device should be faster, by how much, over sizes, and because of which lines."""

import itertools
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.system.files.summaries import Summarized, Summary, format_ratio, format_unknown
from ncc.system.files.text import align_columns, demangle, format_bytes, format_given_bytes, format_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ncc.tasks.devices.predict import Question

MACHINES = {"amd": "Tahiti 7970", "nvidia": "GTX 970"}
"""GPU that each head that ships was measured on, beside an Intel Core i7-3820."""
SIZES = np.geomspace(2.0**10, 2.0**32, 89)
"""Bytes moved that stand for all sizes."""
_MAX_REASONS = 8
_MIN_EFFECT = 1.05
_STATEMENT = re.compile(r"(?:.* = )?(?:(?:tail|musttail|notail) )?(\w+)(?:.*@([\w.$]+)\()?")

Ranges = tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, kw_only=True)
class DevicePrediction(Summarized):
    """Which device should run a kernel faster, and by how much.

    Attributes:
        kernel: The kernel's name.
        device: "CPU" or "GPU", whichever is the more probable; see ``verdict`` for whether that is worth acting on.
        confidence: Probability that this device is the faster one, 0.5 to 1.
        speedup_gpu_over_cpu: Expected CPU time / GPU time; above 1 the GPU is faster.
        interval: (low, high) of that speedup; meant to hold the true one for 80% of kernels.
        platform: "amd", "nvidia", or the name of a custom head: the measurements behind the answer.
        transfer_bytes, wgsize, global_size: As given. Without bytes and work-items the answer covers the sizes from
            1 KiB to 4 GiB: ``crossovers`` says where it changes, the rest is of a size amid those of training.
        times_ms: Device → expected time in ms and both ends of its 80% interval; None if no size is given.
        familiar: Whether the kernel is like those that the head was trained on; if not, measure it.
        distance: From the nearest of them, about the factor in log units by which what they do differs.
        nearest: Names of the nearest of them.
        assumptions: About the launch: ``transfer_bytes`` or ``global_size``, of which one follows from the
            other, and ``integer_arguments``, the value of each of them.
        decided_ranges: (device, from, to) of bytes moved in which the whole interval is on one side of 1, if no size is
            given.
        crossovers: Bytes moved at which the expected speedup passes 1, if no size is given.
        devices: The two that are compared: the first of the head's, and the fastest of the others.
        fastest_at_smallest: The one that is faster at the smallest size, if no size is given.
        num_statements: Statements of the kernel and of its callees.
        unknown_rate: Share of them that backed off.
    """

    kernel: str = ""
    device: str
    confidence: float
    speedup_gpu_over_cpu: float
    interval: tuple[float, float]
    platform: str
    transfer_bytes: float | None = None
    wgsize: float | None = None
    num_statements: int = 0
    unknown_rate: float = 0.0
    global_size: float | None = None
    times_ms: Mapping[str, tuple[float, ...]] | None = None
    familiar: bool = True
    distance: float | None = None
    nearest: tuple[str, ...] = ()
    crossovers: tuple[float, ...] | None = None
    decided_ranges: Ranges = ()
    assumptions: Mapping[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ("CPU", "GPU")
    fastest_at_smallest: str | None = None
    _question: "Question | None" = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_question": None}

    @property
    def verdict(self) -> str:
        """``device`` if the whole interval is on its side of 1, else "undecided": either may turn out to be faster."""
        return "undecided" if self.interval[0] < 1 < self.interval[1] else self.device

    @property
    def probabilities(self) -> dict[str, float]:
        """Device → probability that it is the faster one."""
        return {name: self.confidence if name == self.device else 1 - self.confidence for name in self.devices}

    @property
    def log_ratio(self) -> float:
        """Log(CPU time / GPU time)."""
        return math.log(self.speedup_gpu_over_cpu)

    def curve(self, transfer: Sequence[float] | None = None) -> "DeviceCurve":
        """Predict the speedup of the GPU over the CPU for the same kernel and work-group size, over sizes of the data.

        Args:
            transfer: Sizes in bytes, above 0 and ascending; default 1 KiB to 4 GiB.

        Raises:
            InputError: Sizes are not ascending or not above 0, or this prediction is a copy.
        """
        sizes = SIZES if transfer is None else np.asarray(transfer, np.float64)
        if sizes.ndim != 1 or len(sizes) < 2 or not (sizes > 0).all() or not (np.diff(sizes) > 0).all():
            raise InputError("transfer: expected two sizes or more above 0, in ascending order")
        return self._asked().curve(sizes)

    def explain(self) -> "Explanation":
        """Find the lines of the kernel that drove this answer.

        Lines are known if source was compiled, or if the IR has debug information. Every statement is removed by itself
        if there is none, or if all of them are on one line.

        Raises:
            InputError: The kernel is too large, or this prediction is a copy.
        """
        return self._asked().explain()

    def _asked(self) -> "Question":
        if self._question is None:
            raise InputError("a copy of a prediction has no kernel any more; call predict_device again")
        return self._question

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        names = [name for name in self.__dataclass_fields__ if name != "_question"]
        values = {name: getattr(self, name) for name in (*names, "verdict", "probabilities")}
        return values | {"demangled": demangle(self.kernel)}

    def summary(self) -> Summary:
        """Return the faster device, by how much and how sure; over sizes of the data if none is given."""
        details = [("caution", self._caution()), ("unknown", format_unknown(self.unknown_rate, self.num_statements))]
        first, second = self.devices
        if self.crossovers is not None:
            smallest = self.fastest_at_smallest or first
            other = second if smallest == first else first
            over_sizes = _summarize_sizes(self.kernel, SIZES, self.decided_ranges, self.crossovers, smallest, other)
            assumed = "any size; pass --transfer or --global-size for a single answer"
            return over_sizes.add(("assumed", self._on_machine(assumed)), *details)
        low, high = self.interval
        if self.verdict == "undecided":
            interval = f"{first} {format_ratio(1 / low)} to {second} {format_ratio(high)}"
            verdict, confidence = "undecided", f"{self.confidence:.0%} {self.device}"
        else:
            ratio, confidence = self.speedup_gpu_over_cpu, f"{self.confidence:.0%} sure"
            if self.device == first:
                ratio, low, high = 1 / ratio, 1 / high, 1 / low
            interval = f"{format_ratio(low)} to {format_ratio(high)}"
            verdict = f"{self.device} {format_ratio(ratio)} faster"
        times = (f"{name} {format_interval(*time)}" for name, time in (self.times_ms or {}).items())
        return Summary(
            verdict=verdict,
            interval=f"80%: {interval}",
            confidence=confidence,
            subject=demangle(self.kernel),
            details=[("time", ["    ".join(f"{time:<29}" for time in times)]), ("assumed", self._assumed()), *details],
        )

    def _assumed(self) -> str:
        texts = {
            "global_size": lambda value: f"{value:,.0f} work-items",
            "transfer_bytes": lambda value: f"{format_bytes(value)} transferred",
            "integer_arguments": lambda value: f"integer arguments = {value:,.0f}",
        }
        assumed = ", ".join(texts[name](value) for name, value in self.assumptions.items())
        if self.global_size is not None:
            given = f"--global-size {self.global_size:.15g}"
        else:
            given = f"--transfer {format_given_bytes(self.transfer_bytes or 0)}"
        return self._on_machine(f"{assumed} (from {given})" if assumed else "")

    def _on_machine(self, assumed: str) -> str:
        return "; ".join(filter(None, (MACHINES.get(self.platform), assumed)))

    def _caution(self) -> str:
        if self.familiar:
            return ""
        nearest = f" (nearest: {self.nearest[0].removeprefix('devmap:')})" if self.nearest else ""
        width = format_ratio(math.sqrt(self.interval[1] / self.interval[0]))
        within = f", within {width} in four cases of five" if self.crossovers is None else ""
        return (
            f"no similar kernel was measured{nearest}; this is the machine model's estimate{within}. "
            "To measure: ncc calibrate"
        )


def group_decided(devices: Sequence[str | None], sizes: Floats) -> Ranges:
    """Ranges of ascending sizes with the same device; None if neither is decided on."""
    groups = itertools.groupby(zip(devices, sizes.tolist(), strict=True), key=itemgetter(0))
    ranges = [(device, [size for _, size in group]) for device, group in groups]
    return tuple((device, sizes[0], sizes[-1]) for device, sizes in ranges if device is not None)


def _summarize_sizes(
    kernel: str, sizes: Floats, ranges: Ranges, crossovers: Sequence[float], smallest: str, other: str
) -> Summary:
    first, last = sizes[[0, -1]].tolist()
    everywhere = [each[1:] for each in ranges] == [(first, last)]
    verdict = f"{ranges[0][0]} faster" if everywhere else "depends on size" if ranges else "undecided"
    held = ", ".join(f"{name} from {format_bytes(low)} to {format_bytes(high)}" for name, low, high in ranges)
    points = [format_bytes(size) for size in crossovers]
    turns = [f"{(other, smallest)[index % 2]} from {point}" for index, point in enumerate(points)]
    flips = ", ".join(
        [f"{smallest} below {points[0]}", *turns] if points else [f"never; {smallest} is the likelier one"]
    )
    return Summary(
        verdict=verdict,
        interval=f"{format_bytes(first)} to {format_bytes(last)}",
        subject=demangle(kernel),
        details=[
            ("sizes", "" if everywhere or not ranges else f"{held}, undecided elsewhere"),
            ("flips", "" if everywhere else flips),
        ],
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceCurve(Summarized):
    """Predictions for one kernel over data sizes.

    Attributes:
        kernel: The kernel's name.
        platform: "amd", "nvidia", or the name of a custom head.
        wgsize: As given; None was answered by covering the range seen in training.
        transfer_bytes: (n,) float64, ascending.
        speedup_gpu_over_cpu: (n,) float64 expected CPU time / GPU time.
        low, high: (n,) float64 ends of its 80% interval.
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
        """Return plain Python values by name."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "is_decided")}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def summary(self) -> Summary:
        """Return at which sizes either device is faster."""
        devices = ["GPU" if ratio > 1 else "CPU" for ratio in self.speedup_gpu_over_cpu]
        decided = [device if sure else None for device, sure in zip(devices, self.is_decided, strict=True)]
        ranges = group_decided(decided, self.transfer_bytes)
        other = "CPU" if devices[0] == "GPU" else "GPU"
        return _summarize_sizes(self.kernel, self.transfer_bytes, ranges, self.crossovers, devices[0], other)

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
class Explanation(Summarized):
    """Evidence for the answer about one kernel.

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name."""
        return asdict(self)

    def summary(self) -> Summary:
        """Return the lines that move the ratio of the times most, each with the factor by which it does."""
        rows = []
        for line in self.lines[:_MAX_REASONS]:
            if (effect := math.exp(abs(line.log_ratio_change))) >= _MIN_EFFECT:
                match = _STATEMENT.match(line.statements[0])
                name = (match[2] or match[1]) if match else line.statements[0]
                more = f" and {len(line.statements) - 1} more" if len(line.statements) > 1 else ""
                location = f"line {line.line}" if line.line else "statement"
                rows.append((location, f"{name}{more}", f"{effect:.2f}x towards {line.favors}"))
        reasons = align_columns(rows, left=(0, 1, 2)) if rows else f"no line moves the answer by {_MIN_EFFECT}x or more"
        device = "GPU" if self.log_ratio > 0 else "CPU"
        return Summary(
            verdict=f"{len(self.lines)} lines",
            interval=f"expected: {device} {format_ratio(math.exp(abs(self.log_ratio)))} faster",
            subject=demangle(self.kernel),
            details=[("because", reasons)],
        )
