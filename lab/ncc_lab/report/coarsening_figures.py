"""Figures for the thread-coarsening report; the text on how to read them is in the report's template."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.learning.heads.figures import Estimate
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples, clamp_to_measured
from ncc_lab.coarsening.metrics import CoarseningMetrics, measure
from ncc_lab.coarsening.task import CoarseningScore
from ncc_lab.report.drawing import Dot, Heat, Picture, clipped, draw_dots, draw_heat, draw_scores
from ncc_lab.report.kinds import SHORT_TITLES, best_of_kinds, by_protocol
from ncc_lab.report.regret import draw_regret
from ncc_lab.runs import Kind


def coarsening_figures(scores: Sequence[CoarseningScore], samples: CoarseningSamples) -> dict[str, Picture]:
    """Return all pictures by name; kernel by kernel those of the first protocol alone."""
    protocols = by_protocol(scores)
    best = {protocol: best_of_kinds(some, mean_speedup) for protocol, some in protocols.items()}
    first = next(iter(protocols))
    return {
        "mean": _draw_speedups(protocols, "Mean speedup", lambda metrics: metrics.mean_speedup),
        "geomean": _draw_speedups(protocols, "Geometric-mean speedup", lambda metrics: metrics.geomean_speedup),
        "choices": _draw_choices(best[first], samples),
        "kernels": _draw_kernels(best[first], samples),
        "regret": draw_regret(protocols, lambda score: _slowdown(score, samples), best, "the best factor"),
    }


def mean_speedup(score: CoarseningScore) -> Estimate:
    """Return what methods are ranked by."""
    return score.metrics.mean_speedup


def _draw_speedups(
    protocols: Mapping[str, Sequence[CoarseningScore]], title: str, pick: Callable[[CoarseningMetrics], Estimate]
) -> Picture:
    oracle = {protocol: pick(some[0].oracle).value for protocol, some in protocols.items()}
    return draw_scores(protocols, title, lambda score: pick(score.metrics), "{:.3f}×", lines=oracle, base=1.0)


def _chosen(score: CoarseningScore) -> Ints:
    """Which of the factors each seed chooses for each row, (seeds, n) int64."""
    return score.predicted.argmax(axis=2)


def _usual(score: CoarseningScore) -> Ints:
    """What most seeds choose of each row, the smaller factor in a tie, (n,) int64 indices."""
    votes = np.stack([(_chosen(score) == factor).sum(axis=0) for factor in range(len(FACTORS))])
    return np.argmax(votes, axis=0)


def _draw_choices(best: Mapping[Kind, CoarseningScore], samples: CoarseningSamples) -> Picture:
    kernels = list(dict.fromkeys(samples.kernel.tolist()))
    devices = list(dict.fromkeys(samples.device.tolist()))
    at = {(str(samples.kernel[row]), str(samples.device[row])): row for row in range(len(samples))}

    def heat(chosen: Ints) -> Heat:
        values = np.full((len(kernels), len(devices)), np.nan)
        texts = [["" for _ in devices] for _ in kernels]
        used = clamp_to_measured(samples.runtime, chosen)
        for i, kernel in enumerate(kernels):
            for j, device in enumerate(devices):
                if (row := at.get((kernel, device))) is not None:
                    fastest = samples.runtime[row, samples.best[row]]
                    values[i, j] = fastest / samples.runtime[row, used[row]]
                    texts[i][j] = str(FACTORS[chosen[row]])
        return Heat(kernels, [clipped(device, 12) for device in devices], values, texts)

    panels = {"the best factor": heat(samples.best)}
    said = []
    for kind, score in best.items():
        title = f"{SHORT_TITLES[kind]}: {clipped(score.method, 34)}"
        panels[title] = heat(_usual(score))
        said.append(f"{score.method} chooses the best factor in {score.metrics.accuracy.value:.0%} of the pairs")
    picture = draw_heat(panels, "share of the best speedup", low=0.4)
    alt = f"Heat maps of the factor chosen for {len(kernels)} kernels on {len(devices)} devices. {'; '.join(said)}."
    return replace(picture, alt=alt)


def _draw_kernels(best: Mapping[Kind, CoarseningScore], samples: CoarseningSamples) -> Picture:
    panels: dict[str, list[Dot]] = {}
    said = []
    for kind, score in best.items():
        dots = []
        for kernel in dict.fromkeys(samples.kernel.tolist()):
            rows = np.flatnonzero(samples.kernel == kernel)
            runtime, devices = samples.runtime[rows], samples.device[rows]
            found = measure(runtime, _chosen(score)[:, rows], devices).geomean_speedup
            limit = measure(runtime, samples.best[None, rows], devices).geomean_speedup.value
            dots.append(Dot(kernel, kind, found, limit))
        panels[f"{SHORT_TITLES[kind]}: {clipped(score.method, 34)}"] = dots
        worse = sum(dot.estimate.value < 1 for dot in dots)
        said.append(f"{score.method} makes {worse} of {len(dots)} kernels slower than without coarsening")
    picture = draw_dots(panels, "geometric-mean speedup over the devices", base=1.0, bars=True)
    return replace(
        picture, alt=f"Speedup of each kernel with the most successful method of each kind. {'; '.join(said)}."
    )


def _slowdown(score: CoarseningScore, samples: CoarseningSamples) -> Floats:
    """Time at the chosen factor / time at the best one, seeds pooled, (seeds · n,) float64."""
    rows = np.arange(len(samples))
    used = clamp_to_measured(samples.runtime, _chosen(score))
    return (samples.runtime[rows, used] / samples.runtime[rows, samples.best]).ravel()
