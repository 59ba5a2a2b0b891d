"""Pictures of a comparison on device mapping, one platform at a time, each with words on how to read it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ncc.devices.samples import DeviceMappingSamples
from ncc.study.bootstrap import Estimate
from ncc.study.devices.evaluation import DeviceMappingScore
from ncc.study.report.drawing import INK, LOOKS, Dot, Heat, clipped, draw_dots, draw_heat, draw_panels
from ncc.study.report.kinds import KIND_TITLES, SHORT_TITLES, best_of_kinds, by_protocol, device_kind, highest
from ncc.study.report.markup import Html, figure
from ncc.study.report.regret import regret_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["device_figures", "reliability"]

Score = DeviceMappingScore
Array = NDArray[np.float64]

_MOST_RELIABILITIES = 4
_NUM_BINS = 10
_STYLES = ("-", "--", "-.", ":")


def device_figures(scores: Sequence[Score], samples: DeviceMappingSamples) -> list[Html]:
    """Return all pictures of a platform.

    Args:
        scores: Of one platform.
        samples: Its samples.

    Raises:
        InputError: Matplotlib is not installed.
    """
    protocols = by_protocol(scores)
    best = {protocol: best_of_kinds(some, device_kind, accuracy) for protocol, some in protocols.items()}
    return [
        _dots(
            protocols,
            "Accuracy",
            accuracy,
            "Share of the rows given to their faster device, with 95 % intervals. Compare a method with the grey "
            "squares of its own panel, which are the controls, not with the same method in another panel: from panel "
            "to panel the task gets harder. Where two intervals overlap widely, these data can't tell the methods "
            "apart.",
        ),
        _dots(
            protocols,
            "Geometric-mean speedup",
            lambda score: score.metrics.geomean_speedup,
            f"How much faster the rows run on the chosen device than on the best static choice, which is always the "
            f"{scores[0].static_choice} here. Left of the full line at 1, a method does more harm than good. The "
            "broken line is a perfect choice.",
        ),
        _suites(protocols, samples),
        _confusion(protocols, samples),
        *_calibration(protocols, samples),
        regret_figure(
            {
                protocol: {score.method: _slowdown(score, samples) for score in some}
                for protocol, some in protocols.items()
            },
            best,
            device_kind,
            "the faster device",
        ),
    ]


def accuracy(score: Score) -> Estimate:
    """Return what methods are ranked by."""
    return score.metrics.accuracy


def _dots(protocols: dict[str, list[Score]], title: str, pick: Callable[[Score], Estimate], reading: str) -> Html:
    percent = title == "Accuracy"
    panels = {
        protocol: [Dot(score.method, device_kind(score.method), pick(score)) for score in some]
        for protocol, some in protocols.items()
    }
    oracle = {protocol: some[0].oracle.geomean_speedup.value for protocol, some in protocols.items()}
    picture = draw_dots(
        panels, title.lower(), lines=None if percent else oracle, percent=percent, base=None if percent else 1.0
    )
    best = {protocol: highest(some, pick) for protocol, some in protocols.items()}
    said = "; ".join(
        f"{protocol}: highest {score.method} with "
        + (f"{pick(score).value:.1%}" if percent else f"{pick(score).value:.2f}×")
        for protocol, score in best.items()
    )
    legend = "Squares are controls, circles published methods run again, diamonds ours."
    return figure(picture, title, f"{title} of every method, by protocol. {said}.", reading, legend)


def _suites(protocols: dict[str, list[Score]], samples: DeviceMappingSamples) -> Html:
    names, counts = np.unique(samples.suite, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    columns = [f"{clipped(str(names[at]), 16)} ({counts[at]})" for at in order]
    methods = list(dict.fromkeys(score.method for some in protocols.values() for score in some))
    panels = {}
    for protocol, some in protocols.items():
        of_method = {score.method: score for score in some}
        values = np.full((len(methods), len(names)), np.nan)
        for row, method in enumerate(methods):
            if method in of_method:
                right = _right(of_method[method], samples)
                values[row] = [right[:, samples.suite == names[at]].mean() for at in order]
        texts = [["" if np.isnan(value) else f"{100 * value:.0f}" for value in line] for line in values]
        panels[protocol] = Heat(methods, columns, values, texts)
    return figure(
        draw_heat(panels, "accuracy"),
        "Accuracy by benchmark suite",
        f"Heat map of the accuracy of {len(methods)} methods on {len(names)} suites, by protocol; the largest suite is "
        f"{names[order[0]]} with {counts[order[0]]} of {len(samples)} rows.",
        "Each cell is the accuracy in percent of one method on the rows of one suite; bright is good. The number of "
        "rows stands behind the suite's name: where it is small, a single row moves the cell by many percent, and the "
        "largest suite all but decides the overall accuracy.",
    )


def _right(score: Score, samples: DeviceMappingSamples) -> NDArray[np.bool_]:
    """Whether the chosen device is the faster one, (seeds, n) bool."""
    return (score.log_ratio > 0) == samples.is_gpu


def _confusion(protocols: dict[str, list[Score]], samples: DeviceMappingSamples) -> Html:
    panels, said = {}, []
    kinds = [
        kind for kind in KIND_TITLES if any(device_kind(s.method) == kind for some in protocols.values() for s in some)
    ]
    for protocol, some in protocols.items():
        best = best_of_kinds(some, device_kind, accuracy)
        for kind in kinds:
            if kind not in best:
                continue
            score = best[kind]
            chosen = score.log_ratio > 0
            counts = np.array(
                [
                    [(answer & (samples.is_gpu == truth)).sum(axis=1).mean() for answer in (~chosen, chosen)]
                    for truth in (False, True)
                ]
            )
            share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            texts = [
                [f"{count:.0f} rows\n{100 * part:.0f} %" for count, part in zip(*pair, strict=True)]
                for pair in zip(counts, share, strict=True)
            ]
            title = f"{protocol}, {SHORT_TITLES[kind]}:\n{clipped(score.method, 32)}"
            panels[title] = Heat(["CPU is faster", "GPU is faster"], ["CPU chosen", "GPU chosen"], share, texts)
            said.append(
                f"{protocol}, {score.method}: {share[0, 0]:.0%} of CPU rows and {share[1, 1]:.0%} of GPU rows right"
            )
    return figure(
        draw_heat(panels, "share of the row", columns=len(kinds), row_in=0.42),
        "Confusion",
        f"Confusion matrices of the most accurate method of each kind. {'; '.join(said)}.",
        "Above: rows that the CPU runs faster; below: those that the GPU does. The diagonal from the upper left has "
        "the right answers. A method that is good at only one of the two has learnt which device mostly wins. "
        "Numbers of rows are means over the seeds.",
    )


def _calibration(protocols: dict[str, list[Score]], samples: DeviceMappingSamples) -> list[Html]:
    parts = []
    sure = {
        protocol: [score for score in some if score.predicted.shape[2] == 4] for protocol, some in protocols.items()
    }
    if any(sure.values()):
        parts.append(_reliability({protocol: some for protocol, some in sure.items() if some}, samples))
    panels = {
        protocol: [Dot(score.method, device_kind(score.method), score.coverage) for score in some if score.coverage]
        for protocol, some in protocols.items()
    }
    panels = {protocol: dots for protocol, dots in panels.items() if dots}
    if panels:
        said = "; ".join(
            f"{protocol}, {dot.label}: {dot.estimate.value:.1%}" for protocol, dots in panels.items() for dot in dots
        )
        parts.append(
            figure(
                draw_dots(panels, "coverage", lines=dict.fromkeys(panels, 0.8), percent=True, band=(0.75, 0.85)),
                "Coverage of the 80 % interval",
                f"Share of the rows that lie in their predicted interval. {said}.",
                "A method that gives intervals says: in 80 of 100 rows, the measured ratio of the two times lies in "
                "this range. Here is in how many it did. Left of the shaded band the method is too sure of itself, "
                "right of it too careful.",
            )
        )
    return parts


def reliability(probability: Array, is_gpu: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.int64]]:
    """Group predictions by the probability that they state, and count how often they came true.

    Args:
        probability: Stated probability that the GPU is faster, (seeds, n) float64.
        is_gpu: Whether it is, (n,) bool.

    Returns:
        Of each tenth of the scale that has predictions: mean stated probability, share of rows with the GPU faster,
        number of predictions, seeds pooled; (k,) each.
    """
    truth = np.broadcast_to(is_gpu, probability.shape).ravel()
    stated = probability.ravel()
    bins = np.minimum((stated * _NUM_BINS).astype(np.int64), _NUM_BINS - 1)
    number = np.bincount(bins, minlength=_NUM_BINS)
    there = number > 0
    mean = np.bincount(bins, stated, minlength=_NUM_BINS)[there] / number[there]
    share = np.bincount(bins, truth, minlength=_NUM_BINS)[there] / number[there]
    return mean, share, number[there]


def _reliability(protocols: dict[str, list[Score]], samples: DeviceMappingSamples) -> Html:
    titles = list(protocols)
    said = []

    def paint(axes: "Axes", number: int) -> None:
        some = sorted(protocols[titles[number]], key=lambda score: -accuracy(score).value)[:_MOST_RELIABILITIES]
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8)
        for style, score in zip(_STYLES, some, strict=False):
            stated, share, num = reliability(score.predicted[:, :, 3], samples.is_gpu)
            color, shape = LOOKS[device_kind(score.method)]
            axes.plot(stated, share, color=color, linestyle=style, linewidth=1.4, label=clipped(score.method, 26))
            axes.scatter(stated, share, s=120 * num / num.max() + 6, color=color, marker=shape, alpha=0.7, linewidths=0)
            off = float((np.abs(stated - share) * num).sum() / num.sum())
            said.append(f"{titles[number]}, {score.method}: {off:.1%} from the diagonal on average")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("stated probability of the GPU")
        axes.set_ylabel("GPU was faster")
        axes.grid(alpha=0.18, linewidth=0.6)
        axes.legend(loc="upper left", frameon=False)

    picture = draw_panels(titles, paint, height_in=3.4)
    return figure(
        picture,
        "Reliability",
        f"Stated probability against what happened. {'; '.join(said)}.",
        "Predictions are grouped by the probability that they state, in tenths. Of those that say 70 %, the GPU should "
        "be the faster device in 70 of 100: points on the diagonal. Large marks stand for many predictions. Below the "
        "diagonal, the GPU was promised too often; above it, too rarely. Methods that state no probability are missing"
        f"; the {_MOST_RELIABILITIES} most accurate ones are shown where there are more.",
    )


def _slowdown(score: Score, samples: DeviceMappingSamples) -> Array:
    """Time on the chosen device / time on the faster one, seeds pooled, (seeds · n,) float64."""
    return np.where(_right(score, samples), 1.0, np.exp(np.abs(samples.log_ratio))).ravel()
