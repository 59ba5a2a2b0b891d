"""A roofline picture: kernels as points under a card's peaks."""

import os
from collections.abc import Sequence

import numpy as np

from ncc.kernels.reading import plain_kernel_name
from ncc.system.files.pictures import check_picture, save_picture
from ncc.system.files.text import printable
from ncc.tasks.gpus.cards import find_card
from ncc.tasks.gpus.predict import GpuPrediction

_COLOURS = {"bandwidth": "#0072B2", "compute": "#D55E00"}
_NEITHER = "#777777"


def plot_roofline(answers: Sequence[GpuPrediction], path: str | os.PathLike[str]) -> None:
    """Draws kernels by operational intensity and speed, under the card's roofline.

    Kernels without floating-point operations have no place there, and are named below.

    Raises:
        InputError: The extension is none of .png, .svg and .pdf.
        OutputError: The file can't be written.
    """
    path = check_picture(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), dpi=150, facecolor="white", layout="constrained")
    axes = figure.add_subplot()
    card = find_card(answers[0].gpu)
    shown = [one for one in answers if one.flops > 0]
    left = [one.flops / one.traffic_bytes for one in shown]
    low, high = min([0.05, *left]) / 2, max([200.0, *left]) * 2
    intensity = np.geomspace(low, high, 200)
    for name, peak in (("single", card.single), ("double", card.double)):
        axes.plot(intensity, np.minimum(peak, intensity * card.bandwidth), color="#222222", linewidth=1.2)
        axes.annotate(f"{name} precision, {peak / 1e12:.3g} TFLOP/s", (high, peak), ha="right", va="bottom", fontsize=8)
    for one, place in zip(shown, left, strict=True):
        speed, (fast, slow) = one.flops / one.time_ms * 1e3, one.interval_ms
        ends = [[speed - one.flops / slow * 1e3], [one.flops / fast * 1e3 - speed]]
        axes.errorbar(
            [place], [speed], yerr=ends, fmt="o", color=_COLOURS.get(one.bound, _NEITHER), capsize=3, linewidth=1
        )
        name = printable(plain_kernel_name(one.kernel), lines=False)
        axes.annotate(name, (place, speed), textcoords="offset points", xytext=(6, 5), fontsize=8, parse_math=False)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operational intensity (FLOP per byte of DRAM traffic)")
    axes.set_ylabel("FLOP/s")
    without = [printable(plain_kernel_name(one.kernel), lines=False) for one in answers if one.flops <= 0]
    below = f"\nno floating-point operations: {', '.join(without)}" if without else ""
    title = f"{card.name}, bars: 80 % interval; blue: bound by bandwidth, red: by compute, grey: by neither{below}"
    axes.set_title(title, loc="left", fontsize=9, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    save_picture(figure, path)
