"""How the answer, CPU or GPU, depends on the data size, and where it flips."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.arrays import Bools, Floats
from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.reading import Kernel, Source, read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.system.files.pages import html_table
from ncc.system.files.pictures import check_picture, save_picture
from ncc.system.files.quantities import readable_bytes
from ncc.system.files.text import printable, source_name
from ncc.tasks.devices.devices_head import TimesHead
from ncc.tasks.devices.predict import SIZES, choose_head, find_flips

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_GPU, _CPU, _INK = "#0072B2", "#D55E00", "#222222"


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceCurve:
    """Predictions for one kernel over sizes of its data.

    Attributes:
        kernel: The kernel's name.
        platform: "amd", "nvidia", or that of a head of one's own.
        wgsize: As given; None was answered by covering the range seen in training.
        transfer_bytes: (n,) float64, ascending.
        speedup_gpu_over_cpu: (n,) float64 expected CPU time / GPU time.
        low, high: (n,) float64 ends of its 80 % interval.
        flips: Sizes in bytes at which the expected speedup passes 1, between those asked for.
        seen: (smallest, largest) transfer in training: beyond, the head extrapolates.
    """

    kernel: str
    platform: str
    wgsize: float | None
    transfer_bytes: Floats
    speedup_gpu_over_cpu: Floats
    low: Floats
    high: Floats
    flips: tuple[float, ...]
    seen: tuple[float, float]

    def __repr__(self) -> str:
        first, last = map(readable_bytes, self.transfer_bytes[[0, -1]].tolist())
        sizes = f"{len(self.transfer_bytes)} sizes from {first} to {last}"
        flips = ", ".join(map(readable_bytes, self.flips)) or "none"
        return f"DeviceCurve({self.kernel!r} on {self.platform}: {sizes}, flips at {flips})"

    @property
    def decided(self) -> Bools:
        """(n,) whether the whole interval speaks for one device; where it doesn't, either may turn out to be faster."""
        return (self.low > 1) | (self.high < 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        values = {name: getattr(self, name) for name in (*self.__dataclass_fields__, "decided")}
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}

    def _repr_html_(self) -> str:
        names = ("transfer", "GPU over CPU", "80 % interval", "")
        rows = [
            (readable_bytes(size), f"{ratio:.2f}×", f"{low:.2f}× to {high:.2f}×", "" if decided else "undecided")
            for size, ratio, low, high, decided in zip(
                self.transfer_bytes, self.speedup_gpu_over_cpu, self.low, self.high, self.decided, strict=True
            )
        ]
        caption = f"{source_name(self.kernel)} on {self.platform}"
        return html_table(caption, names, rows[:: max(1, len(rows) // 16)])

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: "Axes | None" = None) -> None:
        """Draws the curve into a file (.png, .svg or .pdf) or into axes of matplotlib.

        Raises:
            InputError: Neither or both are given, or the extension is none of these.
            OutputError: The file can't be written.
        """
        if (path is None) == (axes is None):
            raise InputError("plot takes a path or axes, one of them")
        if axes is not None:
            _draw(self, axes)
        elif path is not None:
            plot_curves([self], path)


def predict_device_curve(
    source: Source,
    *,
    transfer_bytes: Sequence[float] | None = None,
    wgsize: float | None = None,
    platform: str | None = None,
    options: CompileOptions | None = None,
    language: str | None = None,
    head: TimesHead | str | os.PathLike[str] | None = None,
    embedding: AnyEmbedding | None = None,
) -> tuple[DeviceCurve, ...]:
    """Predicts the speedup of the GPU over the CPU for every kernel of a file, over sizes of the data.

    Args:
        source: As for `predict_device`.
        transfer_bytes: Sizes to ask for, above 0 and ascending; default 1 KiB to 4 GiB.
        wgsize: Work-items a work-group.
        platform: As for `predict_device`.
        options: How source is compiled.
        language: As for `ncc.embed`.
        head: A head or its folder; default the one that ships with ncc for the platform.
        embedding: The one that it was trained on, or its folder; default the one that ships with ncc.

    Returns:
        One curve a kernel, in the order of the file.

    Raises:
        InputError: As for `predict_device`, or sizes that are not ascending or not above 0.
        CompileError, IRError, AssetError: As for `predict_device`.
    """
    sizes = SIZES if transfer_bytes is None else np.asarray(transfer_bytes, np.float64)
    if sizes.ndim != 1 or len(sizes) < 2 or not (sizes > 0).all() or not (np.diff(sizes) > 0).all():
        raise InputError("transfer_bytes: expected two sizes or more above 0, in ascending order")
    head = choose_head(platform, head)
    kernels = read_kernels(source, load_embedding(embedding), head.embedding_id, CompileOptions.of(options, language))
    return tuple(_curve(kernel, head, sizes, wgsize) for kernel in kernels)


def _curve(kernel: Kernel, head: TimesHead, sizes: Floats, wgsize: float | None) -> DeviceCurve:
    answers = head.answers(kernel, sizes.tolist(), wgsize)
    ratio = np.array([answer.log_ratio for answer in answers])
    return DeviceCurve(
        kernel=kernel.name,
        platform=head.platform,
        wgsize=wgsize,
        transfer_bytes=sizes,
        speedup_gpu_over_cpu=np.exp(ratio),
        low=np.exp([answer.interval[0] for answer in answers]),
        high=np.exp([answer.interval[1] for answer in answers]),
        flips=find_flips(sizes, ratio),
        seen=head.transfer_range,
    )


def plot_curves(curves: Sequence[DeviceCurve], path: str | os.PathLike[str]) -> None:
    """Draws the curves of a file's kernels one above the other.

    Raises:
        InputError: The extension is none of .png, .svg and .pdf.
        OutputError: The file can't be written.
    """
    path = check_picture(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2 * len(curves)), dpi=150, facecolor="white", layout="constrained")
    for number, curve in enumerate(curves, 1):
        _draw(curve, figure.add_subplot(len(curves), 1, number))
    save_picture(figure, path)


def _draw(curve: DeviceCurve, axes: "Axes") -> None:
    from matplotlib.ticker import NullLocator

    sizes = curve.transfer_bytes
    axes.fill_between(sizes, curve.low, curve.high, color=_GPU, alpha=0.15, linewidth=0, label="80 % interval")
    decided = np.where(curve.decided, curve.speedup_gpu_over_cpu, np.nan)
    axes.plot(sizes, curve.speedup_gpu_over_cpu, ":", color=_GPU, linewidth=2, label="expected, undecided")
    axes.plot(sizes, decided, color=_GPU, linewidth=2, label="expected, decided")
    axes.axhline(1, color=_INK, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0], sizes[-1])
    bottom, top = axes.get_ylim()
    axes.set_ylim(min(bottom, 0.5), max(top, 2))
    for number, flip in enumerate(curve.flips):
        axes.axvline(flip, color=_CPU, linestyle="--", linewidth=1)
        axes.annotate(
            readable_bytes(flip),
            (flip, 1),
            textcoords="offset points",
            xytext=(4, 6 + 11 * (number % 4)),
            color=_CPU,
            fontsize=9,
        )
    for edge, outside in ((curve.seen[0], (sizes[0], curve.seen[0])), (curve.seen[1], (curve.seen[1], sizes[-1]))):
        if sizes[0] < edge < sizes[-1]:
            axes.axvspan(*outside, color="#888888", alpha=0.1, linewidth=0)
    axes.set_xticks(ticks := _size_ticks(sizes[0], sizes[-1]), map(readable_bytes, ticks))
    axes.set_yticks(ticks := _ratio_ticks(*axes.get_ylim()), [f"{tick:g}×" for tick in ticks])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    group = "" if curve.wgsize is None else f", work-groups of {curve.wgsize:g}"
    title = printable(f"{source_name(curve.kernel)} on {curve.platform}{group}", lines=False)
    axes.set_title(title, loc="left", fontsize=11, color=_INK, parse_math=False)
    axes.set_xlabel("bytes moved between host and device (grey: beyond what training saw)")
    axes.set_ylabel("CPU time / GPU time")
    axes.text(0.995, 0.97, "GPU faster", transform=axes.transAxes, ha="right", va="top", color=_GPU, fontsize=9)
    axes.text(0.995, 0.03, "CPU faster", transform=axes.transAxes, ha="right", va="bottom", color=_CPU, fontsize=9)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _size_ticks(low: float, high: float) -> Floats:
    """Where an axis of bytes has labels: at powers of 2 as far apart as there is room for, three at least."""
    octaves = np.log2(high / low)
    if octaves < 4:
        return np.geomspace(low, high, 3)
    step = next(step for step in (1, 2, 5, 10, octaves) if octaves / step <= 8)
    return 2.0 ** np.arange(np.ceil(np.log2(low) / step) * step, np.log2(high) + 1e-9, step)


def _ratio_ticks(low: float, high: float) -> Floats:
    """Where an axis of ratios has labels: at 1, 2 and 5 times powers of 10, or at the powers where there are many."""
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = powers if len(powers) > 4 else np.outer(powers, (1, 2, 5)).ravel()
    return ticks[(low <= ticks) & (ticks <= high)]
