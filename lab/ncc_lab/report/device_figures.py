"""Figures for device mapping on one platform; the text on how to read them is in the report's template."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.learning.heads.figures import Estimate
from ncc.tasks.devices.published import DeviceMappingSamples
from ncc_lab.devices.task import DeviceScore
from ncc_lab.report.drawing import (
    INK,
    LOOKS,
    Dot,
    Heat,
    Picture,
    clipped,
    draw_dots,
    draw_heat,
    draw_panels,
    draw_scores,
)
from ncc_lab.report.kinds import KIND_TITLES, SHORT_TITLES, best_of_kinds, by_protocol
from ncc_lab.report.regret import draw_regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_RELIABILITIES = 4
_NUM_BINS = 10
_STYLES = ("-", "--", "-.", ":")


def device_figures(scores: Sequence[DeviceScore], samples: DeviceMappingSamples) -> dict[str, Picture]:
    """Return all pictures of a platform by name; those of calibration only where a method states how sure it is."""
    protocols = by_protocol(scores)
    best = {protocol: best_of_kinds(some, accuracy) for protocol, some in protocols.items()}
    oracle = {protocol: some[0].oracle.geomean_speedup.value for protocol, some in protocols.items()}
    return {
        "accuracy": draw_scores(protocols, "Accuracy", accuracy, "{:.1%}", percent=True),
        "speedup": draw_scores(protocols, "Geometric-mean speedup", _speedup, "{:.2f}×", lines=oracle, base=1.0),
        "suites": _draw_suites(protocols, samples),
        "confusion": _draw_confusion(protocols, samples),
        **_draw_calibration(protocols, samples),
        "regret": draw_regret(protocols, lambda score: _slowdown(score, samples), best, "the faster device"),
    }


def accuracy(score: DeviceScore) -> Estimate:
    """Return what methods are ranked by."""
    return score.metrics.accuracy


def _speedup(score: DeviceScore) -> Estimate:
    return score.metrics.geomean_speedup


def _draw_suites(protocols: dict[str, list[DeviceScore]], samples: DeviceMappingSamples) -> Picture:
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
    alt = (
        f"Heat map of the accuracy of {len(methods)} methods on {len(names)} suites, by protocol; the largest suite is "
        f"{names[order[0]]} with {counts[order[0]]} of {len(samples)} rows."
    )
    return replace(draw_heat(panels, "accuracy"), alt=alt)


def _right(score: DeviceScore, samples: DeviceMappingSamples) -> Bools:
    """Whether the chosen device is the faster one, (seeds, n) bool."""
    return (score.predicted[:, :, 0] > 0) == samples.is_gpu


def _draw_confusion(protocols: dict[str, list[DeviceScore]], samples: DeviceMappingSamples) -> Picture:
    panels, said = {}, []
    kinds = [kind for kind in KIND_TITLES if any(s.kind == kind for some in protocols.values() for s in some)]
    for protocol, some in protocols.items():
        best = best_of_kinds(some, accuracy)
        for kind in kinds:
            if kind not in best:
                continue
            score = best[kind]
            chosen = score.predicted[:, :, 0] > 0
            counts = np.array(
                [
                    [(answer & (samples.is_gpu == truth)).sum(axis=1).mean() for answer in (~chosen, chosen)]
                    for truth in (False, True)
                ]
            )
            share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            texts = [
                [f"{count:.0f} rows\n{100 * part:.0f}%" for count, part in zip(*pair, strict=True)]
                for pair in zip(counts, share, strict=True)
            ]
            title = f"{protocol}, {SHORT_TITLES[kind]}:\n{clipped(score.method, 32)}"
            panels[title] = Heat(["CPU is faster", "GPU is faster"], ["CPU chosen", "GPU chosen"], share, texts)
            said.append(
                f"{protocol}, {score.method}: {share[0, 0]:.0%} of CPU rows and {share[1, 1]:.0%} of GPU rows right"
            )
    picture = draw_heat(panels, "share of the row", columns=len(kinds), row_in=0.42)
    return replace(picture, alt=f"Confusion matrices of the most accurate method of each kind. {'; '.join(said)}.")


def _draw_calibration(protocols: dict[str, list[DeviceScore]], samples: DeviceMappingSamples) -> dict[str, Picture]:
    sure = {
        protocol: [score for score in some if score.predicted.shape[2] == 4] for protocol, some in protocols.items()
    }
    sure = {protocol: some for protocol, some in sure.items() if some}
    pictures = {"reliability": _draw_reliability(sure, samples)} if sure else {}
    panels = {
        protocol: [Dot(score.method, score.kind, score.metrics.coverage) for score in some if score.metrics.coverage]
        for protocol, some in protocols.items()
    }
    panels = {protocol: dots for protocol, dots in panels.items() if dots}
    if panels:
        picture = draw_dots(panels, "coverage", lines=dict.fromkeys(panels, 0.8), percent=True, band=(0.75, 0.85))
        said = "; ".join(
            f"{protocol}, {dot.label}: {dot.estimate.value:.1%}" for protocol, dots in panels.items() for dot in dots
        )
        alt = f"Share of the rows that lie in their predicted interval. {said}."
        pictures["coverage"] = replace(picture, alt=alt)
    return pictures


def reliability(probability: Floats, is_gpu: Bools) -> tuple[Floats, Floats, Ints]:
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


def _draw_reliability(protocols: dict[str, list[DeviceScore]], samples: DeviceMappingSamples) -> Picture:
    titles = list(protocols)
    said = []

    def paint(axes: "Axes", number: int) -> None:
        some = sorted(protocols[titles[number]], key=lambda score: -accuracy(score).value)[:_MOST_RELIABILITIES]
        axes.plot([0, 1], [0, 1], color=INK, linewidth=0.8)
        for style, score in zip(_STYLES, some, strict=False):
            stated, share, num = reliability(score.predicted[:, :, 3], samples.is_gpu)
            color, shape = LOOKS[score.kind]
            axes.plot(stated, share, color=color, linestyle=style, linewidth=1.4, label=clipped(score.method, 26))
            axes.scatter(stated, share, s=120 * num / num.max() + 6, color=color, marker=shape, alpha=0.7, linewidths=0)
            off = float((np.abs(stated - share) * num).sum() / num.sum())
            said.append(f"{titles[number]}, {score.method}: {off:.1%} from the diagonal on average")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("stated probability of the GPU")
        axes.set_ylabel("GPU was faster")
        axes.grid(alpha=0.18, linewidth=0.6)
        axes.legend(loc="upper left", frameon=False)

    picture = draw_panels(titles, paint, height_in=3.4)
    return replace(picture, alt=f"Stated probability against what happened. {'; '.join(said)}.")


def _slowdown(score: DeviceScore, samples: DeviceMappingSamples) -> Floats:
    """Time on the chosen device / time on the faster one, seeds pooled, (seeds · n,) float64."""
    return np.where(_right(score, samples), 1.0, np.exp(np.abs(samples.log_ratio))).ravel()
