"""Figures of a sweep: speedups over ranks and model sizes, where the time went, accuracy over time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ncc_lab.plots import INK, clip, draw_panels
from ncc_lab.scaling.plan import Setting
from ncc_lab.scaling.results import PHASES
from ncc_lab.scaling.scores import SettingScore
from ncc_lab.scaling.sweep import ScalingSweep
from ncc_lab.tables import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = ("#3b8bd4", "#dd6b20", "#8a8f96", "#2f9e6e", "#b35fb0", "#c4a000", "#d6455d", "#6b7fd7")
_SHAPES = "oDs^vPX*"


def draw_sweep(sweep: ScalingSweep) -> dict[str, Picture]:
    """Return all pictures by name; none where all runs failed, and none over sizes where one rank ran alone."""
    if sweep.num_failed == len(sweep.results):
        return {}
    sizes = {"Speedup over the size of the model": _draw_sizes(sweep)} if sweep.break_even else {}
    return {
        "Speedup over ranks": _draw_speedups(sweep),
        **sizes,
        "Seconds by phase": _draw_phases(sweep),
        "Accuracy on the validation programs over time": _draw_accuracy(sweep),
    }


def _draw_speedups(sweep: ScalingSweep) -> Picture:
    """End-to-end speedups over ranks, a panel for each size of the model, with the line of full efficiency."""
    sizes = sorted({score.setting.hidden for score in sweep.scores})
    worlds = sorted(set(sweep.config.worlds))

    def paint(axes: "Axes", number: int) -> None:
        axes.plot(worlds, worlds, color=INK, linewidth=0.8, linestyle="--", label="full efficiency")
        some = [score for score in sweep.scores if score.setting.hidden == sizes[number]]
        _paint_lines(axes, sweep, some, lambda score: score.setting.world)
        axes.set_xticks(worlds)
        axes.set_xlabel("ranks")

    picture = draw_panels([f"hidden {size}" for size in sizes], paint, height_in=3.2, share="y")
    return replace(picture, alt="Curves of speedup over the number of ranks.")


def _draw_sizes(sweep: ScalingSweep) -> Picture:
    """End-to-end speedups over sizes of the model, a panel for each number of ranks above 1."""
    worlds = sorted({score.setting.world for score in sweep.scores} - {1})

    def paint(axes: "Axes", number: int) -> None:
        some = [score for score in sweep.scores if score.setting.world == worlds[number]]
        _paint_lines(axes, sweep, some, lambda score: (score.num_weights or 0) / 1e6)
        axes.set_xlabel("million weights")

    picture = draw_panels([f"{world} ranks" for world in worlds], paint, height_in=3.2, share="y")
    return replace(picture, alt="Curves of speedup over the number of weights.")


def _paint_lines(
    axes: "Axes", sweep: ScalingSweep, scores: Sequence[SettingScore], across: Callable[[SettingScore], float]
) -> None:
    """A line with ranges for each way of training; all panels give a way the same color and shape."""
    ways = list(dict.fromkeys(_way(sweep, score.setting) for score in sweep.scores))
    axes.axhline(1, color=INK, linewidth=0.8)
    for number, way in enumerate(ways):
        some = [(score, score.speedup) for score in scores if _way(sweep, score.setting) == way]
        points = sorted((across(score), found.median, found.low, found.high) for score, found in some if found)
        if points:
            x, y, low, high = zip(*points, strict=True)
            below = [middle - end for middle, end in zip(y, low, strict=True)]
            above = [end - middle for middle, end in zip(y, high, strict=True)]
            axes.errorbar(
                x, y, yerr=(below, above), **_look(number), markersize=4.5, linewidth=1.2, capsize=3, label=clip(way)
            )
    axes.set_ylabel("speedup, end to end")
    axes.grid(alpha=0.18, linewidth=0.6)
    axes.legend(loc="best", frameon=False)


def _draw_phases(sweep: ScalingSweep) -> Picture:
    """Median seconds of each phase, a bar for each setting."""
    scores = [score for score in sweep.scores if score.seconds]
    seconds = {phase: [sweep.phase_seconds(phase, score) or 0.0 for score in scores] for phase in PHASES}

    def paint(axes: "Axes", _: int) -> None:
        left = [0.0] * len(scores)
        for number, (phase, some) in enumerate(seconds.items()):
            hatch = "" if number < len(_COLORS) else "////"
            color = _COLORS[number % len(_COLORS)]
            axes.barh(range(len(scores)), some, left=left, color=color, hatch=hatch, label=phase.removesuffix("_s"))
            left = [before + more for before, more in zip(left, some, strict=True)]
        axes.set_yticks(range(len(scores)), [clip(score.setting.to_text(), 52) for score in scores])
        axes.invert_yaxis()
        axes.set_xlabel("seconds of the first rank")
        whole = axes.get_figure()
        assert whole is not None
        whole.legend(loc="outside lower center", ncols=6, frameon=False)

    picture = draw_panels(["Where the time went"], paint, height_in=1.4 + 0.26 * len(scores), columns=1)
    return replace(picture, alt="A bar for each setting, made of phases.")


def _draw_accuracy(sweep: ScalingSweep) -> Picture:
    """Accuracy on the validation programs over end-to-end seconds, a line for each run, a panel for each model size."""
    sizes = sorted({result.run.setting.hidden for result in sweep.results})
    settings = [replace(result.run.setting, hidden=0) for result in sweep.results]
    numbers = {setting: number for number, setting in enumerate(dict.fromkeys(settings))}

    def paint(axes: "Axes", number: int) -> None:
        for result in sweep.results:
            setting = result.run.setting
            if result.measured and setting.hidden == sizes[number]:
                label = clip(setting.to_text().rpartition(",")[0])
                if label in axes.get_legend_handles_labels()[1]:
                    label = ""
                seconds = [epoch.seconds for epoch in result.measured.epochs]
                accuracy = [epoch.accuracy for epoch in result.measured.epochs]
                look = _look(numbers[replace(setting, hidden=0)])
                axes.plot(seconds, accuracy, **look, markersize=3.5, linewidth=1, label=label)
        if sweep.config.target is not None:
            axes.axhline(sweep.config.target, color=INK, linewidth=0.8, linestyle="--")
        axes.set_xlabel("seconds, end to end")
        axes.set_ylabel("accuracy on validation programs")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        axes.grid(alpha=0.18, linewidth=0.6)
        if axes.get_legend_handles_labels()[1]:
            axes.legend(loc="lower right", frameon=False)

    picture = draw_panels([f"hidden {size}" for size in sizes], paint, height_in=3.4, share="y")
    return replace(picture, alt="Curves of accuracy over seconds.")


def _look(number: int) -> dict[str, Any]:
    return {"color": _COLORS[number % len(_COLORS)], "marker": _SHAPES[number % len(_SHAPES)]}


def _way(sweep: ScalingSweep, setting: Setting) -> str:
    """What a line of points has in common."""
    if sweep.config.scaling == "weak":
        return f"{setting.way}, batch {setting.batch_size // setting.world} a rank"
    return f"{setting.way}, batch {setting.batch_size}"
