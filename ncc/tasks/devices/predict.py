"""Predicts whether CPU or GPU runs a kernel faster, and by how much."""

import itertools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.kernels.work import FEATURE_NAMES, count_work
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.pages import html_table
from ncc.system.files.quantities import LARGEST_BYTES, readable_bytes, readable_estimate
from ncc.system.files.text import source_name
from ncc.tasks.devices.columns import complete_sizes, work_items
from ncc.tasks.devices.devices_head import TimesHead
from ncc.tasks.devices.features import RatioPrediction, check_sizes, kernel_inputs
from ncc.tasks.devices.files import PLATFORMS, load_device_head
from ncc.tasks.devices.work import integer_arguments, side_of

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
        platform: "amd", "nvidia", or that of a head of one's own: the measurements behind the answer.
        transfer_bytes, wgsize, global_size: As given. Without bytes and work-items the answer covers the sizes from
            1 KiB to 4 GiB: ``flips`` says where it changes, the rest is of a size amid those of training.
        times_ms: Device → expected time in ms and both ends of its 80 % interval; None where no size is given, or of a
            head that knows no times.
        familiar: Whether the kernel is like those that the head was trained on; if not, measure it.
        distance: From the nearest of them, about the factor in log units by which what they do differs; None of a head
            that does not know.
        nearest: Names of the nearest of them.
        assumed: What was taken to be so, as it was not said: ``transfer_bytes`` or ``global_size``, of which one stands
            for the other, and ``integer_arguments``, the value of each of them.
        decided: (device, from, to) of bytes moved in which the whole interval speaks for a device, where no size is
            given.
        flips: Bytes moved at which the expected speedup passes 1, where no size is given.
        devices: The two that are compared: the first of the head's, and the fastest of the others.
        starts_with_second: Whether the second of them is the faster one at the smallest size, where no size is given.
        num_statements: Statements of the kernel and of what it calls.
        unknown_rate: Share of them that backed off.
    """

    kernel: str
    device: str
    confidence: float
    speedup_gpu_over_cpu: float
    interval: tuple[float, float]
    platform: str
    transfer_bytes: float | None
    wgsize: float | None
    num_statements: int
    unknown_rate: float
    global_size: float | None = None
    times_ms: Mapping[str, tuple[float, ...]] | None = None
    familiar: bool = True
    distance: float | None = None
    nearest: tuple[str, ...] = ()
    flips: tuple[float, ...] | None = None
    decided: tuple[tuple[str, float, float], ...] = ()
    assumed: Mapping[str, float] = field(default_factory=dict)
    devices: tuple[str, ...] = ("CPU", "GPU")
    starts_with_second: bool = False

    @property
    def verdict(self) -> str:
        """``device`` where the whole interval speaks for it, else "undecided": either may turn out to be faster."""
        return "undecided" if self.interval[0] < 1 < self.interval[1] else self.device

    @property
    def odds(self) -> dict[str, float]:
        """Device → probability that it is the faster one."""
        first, second = self.devices
        faster = self.confidence if self.device == second else 1 - self.confidence
        return {first: 1 - faster, second: faster}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "verdict", "odds")}
        return values | {"demangled": source_name(self.kernel)}

    def __str__(self) -> str:
        odds = " ".join(f"{device} {share:.0%}" for device, share in self.odds.items())
        spread = "80 % interval {:.2f}x to {:.2f}x".format(*self.interval)
        sure = f"{self.device} (confidence {self.confidence:.0%})"
        answer = f"undecided ({odds})" if self.verdict == "undecided" else sure
        if self.flips is not None:
            answer = _by_size(self)
        if not self.familiar:
            like = f" (nearest: {self.nearest[0]})" if self.nearest else ""
            answer += f", mostly from the machines' constants: nothing like it was measured{like}, so measure it"
        if self.flips is not None:
            return f"{answer}; say --transfer or --global-size for an answer"
        if self.times_ms is not None:
            each = ", ".join(f"{name} {readable_estimate(*time)}" for name, time in self.times_ms.items())
            answer += f"; {each}"
        answer += f"; {self.devices[1]} over {self.devices[0]} {self.speedup_gpu_over_cpu:.2f}x, {spread}"
        return answer + (f"; assuming {_assumptions(self.assumed)}" if self.assumed else "")

    def _repr_html_(self) -> str:
        odds = (f"{share:.0%}" for share in self.odds.values())
        low, high = self.interval
        first, second = self.devices
        heading = ("faster", first, second, f"{second} over {first}", "80 % interval", "statements unknown")
        row = (
            self.verdict if self.familiar else "measure it",
            *odds,
            f"{self.speedup_gpu_over_cpu:.2f}×",
            f"{low:.2f}× to {high:.2f}×",
        )
        caption = f"{source_name(self.kernel)} on {self.platform}"
        return html_table(caption, heading, [(*row, f"{self.unknown_rate:.1%} of {self.num_statements}")])


def choose_head(platform: str | None, head: TimesHead | str | os.PathLike[str] | None) -> TimesHead:
    """The head that was given, or its folder, or else the one that ships for the platform, by default "nvidia".

    Raises:
        InputError: There is no such platform, or the head is for another.
        AssetError: Its files are missing or damaged.
    """
    found = load_device_head(head, platform=platform or PLATFORMS[-1])
    if platform not in (None, found.platform):
        raise InputError(f"platform is {platform!r}, but the head was trained on {found.platform!r}; leave it out")
    return found


def predict_device(
    source: Source,
    *,
    transfer_bytes: float | None = None,
    wgsize: float | None = None,
    global_size: float | None = None,
    platform: str | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: TimesHead | str | os.PathLike[str] | None = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[DevicePrediction, ...]:
    """Predicts the faster device for every kernel of a file.

    Args:
        source: OpenCL C (.cl), CUDA (.cu) or IR with a kernel in it; as for `ncc.embed`.
        transfer_bytes: Bytes moved between host and device.
        wgsize: Work-items in a work-group.
        global_size: Work-items of the launch. One of it and the bytes stands for the other, at four bytes a work-item
            for each pointer argument, moved there and back.
        platform: "amd" (Tahiti 7970) or "nvidia" (GTX 970), each against the same CPU; default "nvidia", or what the
            head was trained on.
        options: How source is compiled.
        language: As for `ncc.embed`.
        head: A head or its folder; default the one that ships with ncc for the platform.
        embedding: The one that it was trained on, or its folder; default the one that ships with ncc.

    Returns:
        One prediction a kernel, in the order of the file.

    Raises:
        InputError: No kernel, an unknown platform, a size out of its range, or what `ncc.embed` raises.
        CompileError, IRError: as for `ncc.embed`.
        AssetError: The head was trained on another embedding.

    Reference: Ben-Nun et al. 2018, section 6.2; Cummins et al. 2017 (data).
    """
    head = choose_head(platform, head)
    kernels = read_kernels(source, load_embedding(embedding), head.embedding_id, CompileOptions.of(options, language))
    return tuple(_predict(kernel, head, transfer_bytes, wgsize, global_size) for kernel in kernels)


def _predict(
    kernel: Kernel, head: TimesHead, transfer: float | None, wgsize: float | None, global_size: float | None
) -> DevicePrediction:
    check_sizes(transfer, wgsize, global_size)
    moved = bytes_moved(kernel, transfer, global_size)
    asked = SIZES.tolist() if moved is None else []
    *others, answer = head.answers(kernel, [*asked, moved], wgsize, global_size=global_size)
    flips, starts = None, False
    decided: tuple[tuple[str, float, float], ...] = ()
    if others:
        curve = np.array([one.log_ratio for one in others])
        flips, starts, decided = find_flips(SIZES, curve), bool(curve[0] > 0), _decided(others)
        answer = replace(answer, times_ms=None)
    # one distribution decides both, so that they can't contradict each other
    is_second = answer.probability_gpu > 0.5
    devices = answer.devices
    return DevicePrediction(
        kernel=kernel.name,
        device=devices[1] if is_second else devices[0],
        confidence=answer.probability_gpu if is_second else 1 - answer.probability_gpu,
        speedup_gpu_over_cpu=math.exp(answer.log_ratio),
        interval=(math.exp(answer.interval[0]), math.exp(answer.interval[1])),
        platform=head.platform,
        transfer_bytes=transfer,
        wgsize=wgsize,
        num_statements=len(kernel.statements),
        unknown_rate=kernel.lookup.unknown_rate,
        global_size=global_size,
        times_ms=answer.times_ms,
        familiar=answer.familiar,
        distance=answer.distance,
        nearest=answer.nearest,
        flips=flips,
        decided=decided,
        assumed={} if moved is None else _assumed(kernel, moved, transfer, global_size),
        devices=devices,
        starts_with_second=flips is not None and starts,
    )


def bytes_moved(kernel: Kernel, transfer: float | None, global_size: float | None) -> float | None:
    """Bytes as given, or as they follow from work-items; None where neither is known."""
    if global_size is None or transfer is not None:
        return transfer
    moved = complete_sizes(kernel_inputs(kernel), np.array([[np.nan, 1, global_size]]))[0, 0]
    return min(float(moved), LARGEST_BYTES)


def find_flips(sizes: Floats, log_ratio: Floats) -> tuple[float, ...]:
    """Sizes at which a log ratio changes its sign, between those asked for."""
    turns = np.flatnonzero((log_ratio[:-1] > 0) != (log_ratio[1:] > 0))
    share = log_ratio[turns] / (log_ratio[turns] - log_ratio[turns + 1])
    logs = np.log(sizes)
    return tuple(np.exp(logs[turns] + share * (logs[turns + 1] - logs[turns])).tolist())


def _decided(answers: Sequence[RatioPrediction]) -> tuple[tuple[str, float, float], ...]:
    """Ranges of `SIZES` in which the whole interval speaks for a device."""
    speaks_for = [one.devices[one.log_ratio > 0] if one.interval[0] * one.interval[1] > 0 else None for one in answers]
    found = []
    for device, group in itertools.groupby(zip(speaks_for, SIZES.tolist(), strict=True), key=itemgetter(0)):
        if device is not None:
            sizes = [size for _, size in group]
            found.append((device, sizes[0], sizes[-1]))
    return tuple(found)


def _by_size(answer: DevicePrediction) -> str:
    """Which device is faster at which sizes, and which is the likelier one elsewhere."""
    assert answer.flips is not None
    first, second = answer.devices
    starts = second if answer.starts_with_second else first
    others = (first if starts == second else second, starts)
    known = [readable_bytes(size) for size in answer.flips]
    turns = [f"{others[number % 2]} from {size}" for number, size in enumerate(known)]
    leaning = ", ".join([f"{starts} below {known[0]}", *turns] if known else [starts])
    ranges = [f"{device} from {readable_bytes(low)} to {readable_bytes(high)}" for device, low, high in answer.decided]
    if not ranges:
        return f"undecided at every size from 1 KiB to 4 GiB; leaning {leaning}"
    whole = len(answer.decided) == 1 and answer.decided[0][1:] == (SIZES[0], SIZES[-1])
    return ", ".join(ranges) + ("" if whole else f"; undecided elsewhere, leaning {leaning}")


def _assumed(kernel: Kernel, moved: float, transfer: float | None, global_size: float | None) -> dict[str, float]:
    """What a launch was taken to be, beyond what was said of it."""
    profile = count_work(kernel.module, kernel.function).features()
    items = work_items(profile, moved) if global_size is None else global_size
    assumed = {"global_size": items} if global_size is None else {"transfer_bytes": moved} if transfer is None else {}
    if integer_arguments(kernel.module, kernel.function):
        dimensions = int(profile[FEATURE_NAMES.index("dimensions")])
        assumed["integer_arguments"] = float(int(side_of(items, dimensions)))
    return assumed


def _assumptions(assumed: Mapping[str, float]) -> str:
    texts = {
        "global_size": "{:,.0f} work-items",
        "transfer_bytes": "{} transferred",
        "integer_arguments": "integer arguments of {:,.0f}",
    }
    shown = {name: readable_bytes(value) if name == "transfer_bytes" else value for name, value in assumed.items()}
    return " and ".join(texts[name].format(value) for name, value in shown.items())
