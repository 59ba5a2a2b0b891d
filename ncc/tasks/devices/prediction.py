"""Predictions for a kernel: the faster device, its speedup over sizes, and the lines that decide."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.system.files.pages import render_page
from ncc.system.files.summaries import Summarized, Summary, format_ratio, format_unknown
from ncc.system.files.text import align_columns, demangle, format_bytes, format_given_bytes, format_interval

if TYPE_CHECKING:
    from ncc.tasks.devices.predict import Question

MACHINES = {
    "amd": {"CPU": "Core i7-3820", "GPU": "Tahiti 7970"},
    "nvidia": {"CPU": "Core i7-3820", "GPU": "GTX 970"},
}
"""Devices that each head that ships was measured on."""
SIZES = np.geomspace(2.0**10, 2.0**32, 89)
"""Bytes moved at which answers for all sizes are computed."""
_MAX_REASONS = 8
_MIN_EFFECT = 1.05
_LEFT, _RIGHT, _HEIGHT, _MAX_TICKS = 60, 624, 240, 8
"""Frame of a curve in pixels, and numbers along an axis."""
_STATEMENT = re.compile(r"(?:.* = )?(?:(?:tail|musttail|notail) )?(\w+)(?:.*@([\w.$]+)\()?")
_OPCODES = {
    "memory read": "load", "memory write": "store", "comparison": "icmp fcmp", "branch": "br switch",
    "loop or choice": "phi select", "arithmetic": "fadd fsub fmul fmuladd fneg", "division": "fdiv sdiv udiv srem urem",
    "integer arithmetic": "add sub mul shl lshr ashr and or xor", "address": "getelementptr", "return": "ret",
    "conversion": "sext zext trunc sitofp uitofp fptosi fpext fptrunc bitcast extractelement insertelement",
}  # fmt: skip
_WORDS = {opcode: word for word, opcodes in _OPCODES.items() for opcode in opcodes.split()}
"""Opcode → its name in source code."""
_MINOR = ("address", "conversion", "return", "integer arithmetic")
"""Names that are listed last."""
_MAX_WORDS = 3

Ranges = tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, kw_only=True)
class DevicePrediction(Summarized):
    """Prediction of the faster device for a kernel, and of both times.

    Attributes:
        kernel: The kernel's name.
        device: "CPU" or "GPU", whichever is more probable; see ``verdict`` for whether to act on it.
        confidence: Probability that this device is the faster one, 0.5 to 1.
        speedup_gpu_over_cpu: Expected CPU time / GPU time; above 1 the GPU is faster.
        interval: (low, high) of that speedup; meant to hold the true one for 80% of kernels.
        platform: "amd", "nvidia", or the name of a custom head: the measurements behind the answer.
        transfer_bytes: Bytes moved, if given. Without bytes and work-items the answer covers sizes from 1 KiB to
            4 GiB: ``interval`` holds those of all sizes, ``crossovers`` lists where it changes; other fields are for a
            size in the middle of training.
        wgsize: Work-items per work-group, if given.
        global_size: Work-items of the launch, if given.
        times_ms: Device → expected time in ms and both ends of its 80% interval; None if no size is given.
        familiar: Whether the kernel is like those that the head was trained on; if not, measure it.
        distance: Distance to the nearest of those kernels: about the log of the factor by which their work differs.
        nearest: Names of the nearest of those kernels.
        assumptions: Derived sizes: ``transfer_bytes`` or ``global_size``, and ``integer_arguments``, the value of all.
        decided_ranges: (device, from, to) of bytes moved at which the answer is decided, if no size is given.
        crossovers: Bytes moved at which the expected speedup passes 1, if no size is given.
        devices: The two that are compared: the first of the head's, and the fastest of the others.
        machines: Device → the processor's name, if the device's name isn't one.
        host: Values read from host code, each with file and line.
        reasons: Facts that decide, such as a copy over the bus that takes longer than the CPU's whole time.
        warnings: Why the interval is wide.
        num_statements: Statements of the kernel and of its callees.
        unknown_rate: Fraction of these statements that backed off in the embedding.
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
    machines: Mapping[str, str] = field(default_factory=dict)
    host: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    _question: "Question | None" = field(default=None, repr=False, compare=False)
    _over_sizes: "DeviceCurve | None" = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_question": None}

    @property
    def verdict(self) -> str:
        """``device`` if the whole interval is on its side of 1, else "undecided": either may turn out to be faster.

        If no size is given, this holds for every size.
        """
        return "undecided" if self.interval[0] <= 1 <= self.interval[1] else self.device

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
        names = [name for name in self.__dataclass_fields__ if not name.startswith("_")]
        values = {name: getattr(self, name) for name in (*names, "verdict", "probabilities")}
        return values | {"demangled": demangle(self.kernel)}

    def summary(self) -> Summary:
        """Return the faster device, its speedup and confidence; for a range of data sizes if none is given."""
        details = [
            *(("caution", text) for text in self._cautions()),
            *(("because", text) for text in self.reasons),
            ("unknown", format_unknown(self.unknown_rate, self.num_statements)),
        ]
        compared = " against ".join(self.machines.values())
        if self._over_sizes is not None:
            curve = self._over_sizes.summary()
            assumed = "any size; pass --transfer or --global-size for a single answer"
            return replace(curve, details=[("devices", compared), *curve.details, ("assumed", assumed), *details])
        first, second = self.devices
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
            details=[
                ("devices", compared),
                ("time", ["    ".join(f"{time:<29}" for time in times)]),
                ("assumed", self._assumed()),
                *details,
            ],
        )

    def _assumed(self) -> str:
        texts = {
            "global_size": lambda value: f"{value:,.0f} work-items",
            "transfer_bytes": lambda value: f"{format_bytes(value)} transferred",
            "integer_arguments": lambda value: f"integer arguments = {value:,.0f}",
        }
        assumed = ", ".join(texts[name](value) for name, value in self.assumptions.items())
        if self.host:
            return "; ".join([assumed, *self.host])
        if self.global_size is not None:
            given = f"--global-size {self.global_size:.15g}"
        else:
            given = f"--transfer {format_given_bytes(self.transfer_bytes or 0)}"
        return f"{assumed} (from {given})" if assumed else ""

    def _cautions(self) -> tuple[str, ...]:
        if self.familiar:
            return self.warnings
        nearest = f" (nearest: {self.nearest[0].removeprefix('devmap:')})" if self.nearest else ""
        width = format_ratio(math.sqrt(self.interval[1] / self.interval[0]))
        within = f", within {width} in four cases of five" if self.crossovers is None else ""
        unfamiliar = f"no similar kernel was measured{nearest}; this is the machine model's estimate{within}. "
        return unfamiliar + "To measure: ncc calibrate", *self.warnings


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceCurve(Summarized):
    """Predictions for one kernel over data sizes.

    Attributes:
        kernel: The kernel's name.
        platform: "amd", "nvidia", or the name of a custom head.
        wgsize: Work-items per work-group, if given; None covers the range seen in training.
        transfer_bytes: (n,) float64, ascending.
        speedup_gpu_over_cpu: (n,) float64 expected CPU time / GPU time.
        low, high: (n,) float64 ends of its 80% interval.
        fastest: Faster device at each size.
        seen: (smallest, largest) transfer in training: beyond, the head extrapolates.
    """

    kernel: str
    platform: str
    wgsize: float | None
    transfer_bytes: Floats = field(repr=False)
    speedup_gpu_over_cpu: Floats = field(repr=False)
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    fastest: tuple[str, ...] = field(repr=False)
    seen: tuple[float, float]

    @property
    def is_decided(self) -> Bools:
        """(n,) whether the whole interval is on one side of 1; if not, either device may be faster."""
        return (self.low > 1) | (self.high < 1)

    @property
    def is_same(self) -> bool:
        """Whether one device is decided to be the faster one at every size."""
        return bool(self.is_decided.all()) and len(set(self.fastest)) == 1

    @property
    def decided_ranges(self) -> Ranges:
        """(device, from, to) of sizes at which the device is decided to be faster."""
        sizes = zip(self.fastest, self.is_decided.tolist(), self.transfer_bytes.tolist(), strict=True)
        groups = [(key, list(group)) for key, group in itertools.groupby(sizes, key=itemgetter(0, 1))]
        return tuple((device, group[0][2], group[-1][2]) for (device, is_decided), group in groups if is_decided)

    @property
    def crossovers(self) -> tuple[float, ...]:
        """Sizes in bytes at which the expected speedup passes 1, interpolated between the given sizes."""
        log_ratio, logs = np.log(self.speedup_gpu_over_cpu), np.log(self.transfer_bytes)
        turns = np.flatnonzero((log_ratio[:-1] > 0) != (log_ratio[1:] > 0))
        fraction = log_ratio[turns] / (log_ratio[turns] - log_ratio[turns + 1])
        return tuple(np.exp(logs[turns] + fraction * (logs[turns + 1] - logs[turns])).tolist())

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "crossovers", "is_decided")}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def summary(self) -> Summary:
        """Return the sizes at which each device is faster."""
        first, last = map(format_bytes, self.transfer_bytes[[0, -1]].tolist())
        ranges = [f"{name} from {format_bytes(low)} to {format_bytes(high)}" for name, low, high in self.decided_ranges]
        sizes = f"{', '.join(ranges)}, undecided elsewhere" if ranges else "undecided at every size"
        return Summary(
            verdict=f"{self.fastest[0]} faster" if self.is_same else "undecided",
            interval=f"{first} to {last}",
            subject=demangle(self.kernel),
            details=[("sizes", "" if self.is_same else sizes)],
        )

    def to_svg(self) -> str:
        """Draw the curve as SVG text, with its interval, its crossovers and the sizes beyond those of training."""
        return draw_curves([self])


@dataclass(frozen=True, kw_only=True)
class LineContribution:
    """Contribution of one source line, or of one statement if lines don't tell statements apart.

    Attributes:
        line: Line of the source, or 0.
        statements: Abstracted texts of its statements, each once.
        log_ratio_change: Change of log(CPU time / GPU time) through these statements; positive favors the GPU.
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
    lines: tuple[LineContribution, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name."""
        return asdict(self)

    def summary(self) -> Summary:
        """Return the lines with the largest effect on the ratio of times, each with its factor."""
        rows = []
        for line in self.lines[:_MAX_REASONS]:
            if (effect := math.exp(abs(line.log_ratio_change))) >= _MIN_EFFECT:
                matches = filter(None, map(_STATEMENT.match, line.statements))
                names = ((match[2] or "").removeprefix("llvm.").partition(".")[0] or match[1] for match in matches)
                words = dict.fromkeys(_WORDS.get(demangle(name), name) for name in names)
                shown = ", ".join(sorted(words, key=_MINOR.__contains__)[:_MAX_WORDS])
                location = f"line {line.line}" if line.line else "statement"
                rows.append((location, shown, f"{effect:.2f}x towards {line.favors}"))
        reasons = align_columns(rows, left=(0, 1, 2)) if rows else f"no line moves the answer by {_MIN_EFFECT}x or more"
        device = "GPU" if self.log_ratio > 0 else "CPU"
        return Summary(
            verdict=f"{len(self.lines)} lines",
            interval=f"expected: {device} {format_ratio(math.exp(abs(self.log_ratio)))} faster",
            subject=demangle(self.kernel),
            details=[("because", reasons)],
        )


def draw_curves(curves: Sequence[DeviceCurve]) -> str:
    """Draw the curves of a file's kernels one above the other as SVG text."""
    return render_page("curves.svg.j2", curves=list(map(_draw_curve, curves)), left=_LEFT, right=_RIGHT, height=_HEIGHT)


def _draw_curve(curve: DeviceCurve) -> dict[str, Any]:
    """Place a curve on logarithmic axes: ticks and paths in pixels, with y downwards."""
    sizes = curve.transfer_bytes
    smallest, largest = sizes[[0, -1]].tolist()
    bottom, top = min(float(curve.low.min()), 0.5), max(float(curve.high.max()), 2.0)

    def x(size: Any) -> Any:
        return np.round(_LEFT + (_RIGHT - _LEFT) * np.log(size / smallest) / math.log(largest / smallest), 1)

    def y(ratio: Any) -> Any:
        return np.round(_HEIGHT * (1 - np.log(ratio / bottom) / math.log(top / bottom)), 1)

    def line(mask: Any, ratio: Floats) -> list[str]:
        return [f"{one} {other}" for one, other in zip(x(sizes[mask]), y(ratio[mask]), strict=True)]

    ranges = [(sizes >= low) & (sizes <= high) for _, low, high in curve.decided_ranges]
    group = "" if curve.wgsize is None else f", work-groups of {curve.wgsize:g}"
    return {
        "title": f"{demangle(curve.kernel)} on {curve.platform}{group}",
        "columns": [(x(size), format_bytes(size)) for size in _powers(2, smallest, largest)],
        "rows": [(y(ratio), f"{ratio:g}×") for ratio in _powers(10, bottom, top)],
        "unseen": [(x(low), x(high)) for low, high in ((smallest, min(curve.seen[0], largest)),
                   (max(curve.seen[1], smallest), largest)) if low < high],
        "interval": "L".join([*line(slice(None), curve.high), *reversed(line(slice(None), curve.low))]),
        "expected": "L".join(line(slice(None), curve.speedup_gpu_over_cpu)),
        "decided": ["L".join(line(mask, curve.speedup_gpu_over_cpu)) for mask in ranges],
        "even": y(1.0),
        "crossovers": [(x(size), format_bytes(size)) for size in curve.crossovers],
    }  # fmt: skip


def _powers(base: float, low: float, high: float) -> list[float]:
    """Powers of a base between two numbers, evenly spaced, and at most about eight."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    return [base**power for power in range(first, last + 1, max(1, -(-(last - first + 1) // _MAX_TICKS)))]
