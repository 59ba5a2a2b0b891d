"""Plots of the speedup over data sizes."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Floats
from ncc.errors import naming_extras
from ncc.system.files.pages import check_plot_path, save_plot
from ncc.system.files.text import demangle, escape_control, format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ncc.tasks.devices.prediction import DeviceCurve

_GPU, _CPU, _INK = "#0072B2", "#D55E00", "#222222"


@naming_extras()
def plot_curves(curves: Sequence["DeviceCurve"], path: str | os.PathLike[str]) -> None:
    """Draw the curves of a file's kernels one above the other into a .png, .svg or .pdf."""
    path = check_plot_path(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2 * len(curves)), dpi=150, facecolor="white", layout="constrained")
    for row, curve in enumerate(curves, 1):
        draw_curve(curve, figure.add_subplot(len(curves), 1, row))
    save_plot(figure, path)


@naming_extras()
def draw_curve(curve: "DeviceCurve", axes: "Axes") -> None:
    """Draw a curve with its interval, crossovers and what training saw."""
    from matplotlib.ticker import NullLocator

    sizes = curve.transfer_bytes
    axes.fill_between(sizes, curve.low, curve.high, color=_GPU, alpha=0.15, linewidth=0, label="80% interval")
    decided = np.where(curve.is_decided, curve.speedup_gpu_over_cpu, np.nan)
    axes.plot(sizes, curve.speedup_gpu_over_cpu, ":", color=_GPU, linewidth=2, label="expected, undecided")
    axes.plot(sizes, decided, color=_GPU, linewidth=2, label="expected, decided")
    axes.axhline(1, color=_INK, linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0], sizes[-1])
    bottom, top = axes.get_ylim()
    axes.set_ylim(min(bottom, 0.5), max(top, 2))
    for index, size in enumerate(curve.crossovers):
        axes.axvline(size, color=_CPU, linestyle="--", linewidth=1)
        offset = 4, 6 + 11 * (index % 4)
        axes.annotate(format_bytes(size), (size, 1), offset, textcoords="offset points", color=_CPU, fontsize=9)
    for edge, outside in ((curve.seen[0], (sizes[0], curve.seen[0])), (curve.seen[1], (curve.seen[1], sizes[-1]))):
        if sizes[0] < edge < sizes[-1]:
            axes.axvspan(*outside, color="#888888", alpha=0.1, linewidth=0)
    axes.set_xticks(ticks := _size_ticks(sizes[0], sizes[-1]), map(format_bytes, ticks))
    axes.set_yticks(ticks := _ratio_ticks(*axes.get_ylim()), [f"{tick:g}×" for tick in ticks])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    group = "" if curve.wgsize is None else f", work-groups of {curve.wgsize:g}"
    title = escape_control(f"{demangle(curve.kernel)} on {curve.platform}{group}", lines=False)
    axes.set_title(title, loc="left", fontsize=11, color=_INK, parse_math=False)
    axes.set_xlabel("bytes moved between host and device (grey: beyond what training saw)")
    axes.set_ylabel("CPU time / GPU time")
    axes.text(0.995, 0.97, "GPU faster", transform=axes.transAxes, ha="right", va="top", color=_GPU, fontsize=9)
    axes.text(0.995, 0.03, "CPU faster", transform=axes.transAxes, ha="right", va="bottom", color=_CPU, fontsize=9)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _size_ticks(low: float, high: float) -> Floats:
    """Ticks of an axis of bytes: powers of 2 as far apart as there is room for, at least three."""
    octaves = np.log2(high / low)
    if octaves < 4:
        return np.geomspace(low, high, 3)
    step = next(step for step in (1, 2, 5, 10, octaves) if octaves / step <= 8)
    return 2.0 ** np.arange(np.ceil(np.log2(low) / step) * step, np.log2(high) + 1e-9, step)


def _ratio_ticks(low: float, high: float) -> Floats:
    """Ticks of an axis of ratios: 1, 2 and 5 times powers of 10, or the powers if there are many."""
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = powers if len(powers) > 4 else np.outer(powers, (1, 2, 5)).ravel()
    return ticks[(low <= ticks) & (ticks <= high)]
