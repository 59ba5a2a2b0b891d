"""Pictures of a sweep: speedups over ranks and over model sizes, where the time went, accuracy over time."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ncc.study.report.drawing import INK, Picture, clipped, draw_panels
from ncc.study.scaling.plan import Setting
from ncc.study.scaling.scores import SettingScore, Spread
from ncc.study.scaling.sweep import ScalingSweep
from ncc.study.scaling.table import PHASES, phase_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_accuracy", "draw_phases", "draw_sizes", "draw_speedups"]

_COLORS = ("#3b8bd4", "#dd6b20", "#8a8f96", "#2f9e6e", "#b35fb0", "#c4a000", "#d6455d", "#6b7fd7")
_SHAPES = "oDs^vPX*"


def draw_speedups(sweep: ScalingSweep) -> Picture:
    """End-to-end speedups over ranks, a panel for each size of the model, with the line of full efficiency."""
    sizes = sorted({score.setting.hidden for score in sweep.scores})
    worlds = sorted(set(sweep.config.worlds))
    names = list(dict.fromkeys(_way(sweep, score.setting) for score in sweep.scores))

    def paint(axes: "Axes", number: int) -> None:
        axes.plot(worlds, worlds, color=INK, linewidth=0.8, linestyle="--", label="full efficiency")
        axes.axhline(1, color=INK, linewidth=0.6)
        some = [score for score in sweep.scores if score.setting.hidden == sizes[number]]
        _paint_lines(axes, sweep, some, names, lambda score: score.setting.world)
        axes.set_xticks(worlds)
        axes.set_xlabel("ranks")
        axes.set_ylabel("speedup, end to end")

    return draw_panels([f"hidden {size}" for size in sizes], paint, height_in=3.2, share="y")


def draw_sizes(sweep: ScalingSweep) -> Picture:
    """End-to-end speedups over sizes of the model, a panel for each number of ranks above 1."""
    worlds = sorted({score.setting.world for score in sweep.scores} - {1})
    names = list(dict.fromkeys(_way(sweep, score.setting) for score in sweep.scores))

    def paint(axes: "Axes", number: int) -> None:
        axes.axhline(1, color=INK, linewidth=0.8)
        some = [score for score in sweep.scores if score.setting.world == worlds[number] and score.num_weights]
        _paint_lines(axes, sweep, some, names, lambda score: (score.num_weights or 0) / 1e6)
        axes.set_xlabel("million weights")
        axes.set_ylabel("speedup, end to end")

    return draw_panels([f"{world} ranks" for world in worlds], paint, height_in=3.2, share="y")


def draw_phases(sweep: ScalingSweep) -> Picture:
    """Median seconds of each phase, a bar for each setting."""
    scores = [score for score in sweep.scores if score.seconds]
    phases = [phase for phase in PHASES if any(phase_seconds(sweep, score, phase) for score in scores)]

    def paint(axes: "Axes", _: int) -> None:
        left = [0.0] * len(scores)
        for number, phase in enumerate(phases):
            seconds = [phase_seconds(sweep, score, phase) or 0.0 for score in scores]
            hatch = "" if number < len(_COLORS) else "////"
            color = _COLORS[number % len(_COLORS)]
            axes.barh(range(len(scores)), seconds, left=left, color=color, hatch=hatch, label=PHASES[phase])
            left = [before + more for before, more in zip(left, seconds, strict=True)]
        axes.set_yticks(range(len(scores)), [clipped(score.setting.to_text(), 52) for score in scores])
        axes.invert_yaxis()
        axes.set_xlabel("seconds of the first rank")
        whole = axes.get_figure()
        assert whole is not None
        whole.legend(loc="outside lower center", ncols=6, frameon=False)

    return draw_panels(["Where the time went"], paint, height_in=1.4 + 0.26 * len(scores), columns=1)


def draw_accuracy(sweep: ScalingSweep) -> Picture:
    """Accuracy on the validation programs over end-to-end seconds, a line for each run, a panel for each model size."""
    sizes = sorted({result.run.setting.hidden for result in sweep.results})
    settings = list(dict.fromkeys(result.run.setting for result in sweep.results if result.measured))
    names = list(dict.fromkeys(_short(setting) for setting in settings))

    def paint(axes: "Axes", number: int) -> None:
        labelled = set()
        for result in sweep.results:
            if result.measured and result.run.setting.hidden == sizes[number]:
                name = _short(result.run.setting)
                seconds = [epoch.seconds for epoch in result.measured.epochs]
                accuracy = [epoch.accuracy for epoch in result.measured.epochs]
                label = "" if name in labelled else clipped(name)
                labelled.add(name)
                place = names.index(name)
                axes.plot(
                    seconds,
                    accuracy,
                    color=_COLORS[place % len(_COLORS)],
                    marker=_SHAPES[place % len(_SHAPES)],
                    markersize=3.5,
                    linewidth=1,
                    label=label,
                )
        if sweep.config.target is not None:
            axes.axhline(sweep.config.target, color=INK, linewidth=0.8, linestyle="--")
        axes.set_xlabel("seconds, end to end")
        axes.set_ylabel("accuracy on validation programs")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes.grid(alpha=0.18, linewidth=0.6)
        if labelled:
            axes.legend(loc="lower right", frameon=False)

    return draw_panels([f"hidden {size}" for size in sizes], paint, height_in=3.4, share="y")


def _paint_lines(
    axes: "Axes",
    sweep: ScalingSweep,
    scores: list[SettingScore],
    names: list[str],
    across: Callable[[SettingScore], float],
) -> None:
    """A line with ranges for each way of training that several ranks take."""
    for number, name in enumerate(names):
        points: list[tuple[float, Spread]] = []
        for score in scores:
            if score.speedup and _way(sweep, score.setting) == name:
                points.append((across(score), score.speedup))
        if not points:
            continue
        points.sort(key=lambda point: point[0])
        middle = [speedup.median for _, speedup in points]
        ranges = (
            [speedup.median - speedup.low for _, speedup in points],
            [speedup.high - speedup.median for _, speedup in points],
        )
        axes.errorbar(
            [place for place, _ in points],
            middle,
            yerr=ranges,
            color=_COLORS[number % len(_COLORS)],
            marker=_SHAPES[number % len(_SHAPES)],
            markersize=4.5,
            linewidth=1.2,
            capsize=3,
            label=clipped(name),
        )
    axes.grid(alpha=0.18, linewidth=0.6)
    axes.legend(loc="best", frameon=False)


def _way(sweep: ScalingSweep, setting: Setting) -> str:
    """What a line of points has in common."""
    batch = setting.batch_size // (setting.world if sweep.config.scaling == "weak" else 1)
    each = " a rank" if sweep.config.scaling == "weak" else ""
    return f"{_shared(setting)}, batch {batch}{each}"


def _shared(setting: Setting) -> str:
    if setting.world == 1:
        return "one process" if setting.threads == 1 else f"one process, {setting.threads} threads"
    return setting.strategy if setting.compression == "none" else f"{setting.strategy}, {setting.compression}"


def _short(setting: Setting) -> str:
    ranks = "" if setting.world == 1 else f"{setting.world} ranks, "
    return f"{ranks}{_shared(setting)}, batch {setting.batch_size}"
