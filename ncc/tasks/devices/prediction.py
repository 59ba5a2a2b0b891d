"""What is predicted of a kernel: which device should be faster, by how much, and how sure that is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ncc.system.files.pages import html_table
from ncc.system.files.text import demangle, format_bytes, format_interval

SIZES = np.geomspace(2.0**10, 2.0**32, 89)
"""Bytes moved that stand for all sizes."""


@dataclass(frozen=True, kw_only=True)
class DevicePrediction:
    """Which device should run a kernel faster, and by how much.

    Attributes:
        kernel: The kernel's name.
        device: "CPU" or "GPU", whichever is the more probable; see ``verdict`` for whether that is worth acting on.
        confidence: Probability that this device is the faster one, 0.5 to 1.
        speedup_gpu_over_cpu: Expected CPU time / GPU time; above 1 the GPU is faster.
        interval: (low, high) of that speedup; meant to hold the true one for 80 % of kernels.
        platform: "amd", "nvidia", or the name of your own head: the measurements behind the answer.
        transfer_bytes, wgsize, global_size: As given. Without bytes and work-items the answer covers the sizes from
            1 KiB to 4 GiB: ``crossovers`` says where it changes, the rest is of a size amid those of training.
        times_ms: Device → expected time in ms and both ends of its 80 % interval; None if no size is given.
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
    decided_ranges: tuple[tuple[str, float, float], ...] = ()
    assumptions: Mapping[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ("CPU", "GPU")
    fastest_at_smallest: str | None = None

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

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "verdict", "probabilities")}
        return values | {"demangled": demangle(self.kernel)}

    def __str__(self) -> str:
        if self.crossovers is not None:
            answer = self._by_size(self.crossovers)
        elif self.verdict == "undecided":
            odds = " ".join(f"{device} {probability:.0%}" for device, probability in self.probabilities.items())
            answer = f"undecided ({odds})"
        else:
            answer = f"{self.device} (confidence {self.confidence:.0%})"
        if not self.familiar:
            like = f" (nearest: {self.nearest[0]})" if self.nearest else ""
            answer += f", mostly from the machines' constants: nothing like it was measured{like}, so measure it"
        if self.crossovers is not None:
            return f"{answer}; say --transfer or --global-size for an answer"
        if self.times_ms is not None:
            answer += "; " + ", ".join(f"{name} {format_interval(*time)}" for name, time in self.times_ms.items())
        answer += f"; {self.devices[1]} over {self.devices[0]} {self.speedup_gpu_over_cpu:.2f}x, "
        answer += "80 % interval {:.2f}x to {:.2f}x".format(*self.interval)
        texts = {
            "global_size": lambda value: f"{value:,.0f} work-items",
            "transfer_bytes": lambda value: f"{format_bytes(value)} transferred",
            "integer_arguments": lambda value: f"integer arguments of {value:,.0f}",
        }
        assumed = " and ".join(texts[name](value) for name, value in self.assumptions.items())
        return answer + (f"; assuming {assumed}" if assumed else "")

    def _by_size(self, crossovers: tuple[float, ...]) -> str:
        """Which device is faster at which sizes, and which is the likelier one elsewhere."""
        first = self.fastest_at_smallest or self.devices[0]
        second = next(name for name in self.devices if name != first)
        sizes = [format_bytes(size) for size in crossovers]
        turns = [f"{(second, first)[index % 2]} from {size}" for index, size in enumerate(sizes)]
        leaning = ", ".join([f"{first} below {sizes[0]}", *turns] if sizes else [first])
        ranges = [f"{name} from {format_bytes(low)} to {format_bytes(high)}" for name, low, high in self.decided_ranges]
        if not ranges:
            return f"undecided at every size from 1 KiB to 4 GiB; leaning {leaning}"
        everywhere = [each[1:] for each in self.decided_ranges] == [(SIZES[0], SIZES[-1])]
        return ", ".join(ranges) + ("" if everywhere else f"; undecided elsewhere, leaning {leaning}")

    def _repr_html_(self) -> str:
        first, second = self.devices
        heading = ("faster", first, second, f"{second} over {first}", "80 % interval", "statements unknown")
        row = (
            self.verdict if self.familiar else "measure it",
            *(f"{probability:.0%}" for probability in self.probabilities.values()),
            f"{self.speedup_gpu_over_cpu:.2f}×",
            "{:.2f}× to {:.2f}×".format(*self.interval),
            f"{self.unknown_rate:.1%} of {self.num_statements}",
        )
        return html_table(f"{demangle(self.kernel)} on {self.platform}", heading, [row])
