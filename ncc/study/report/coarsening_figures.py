"""Pictures of a comparison on thread coarsening, each with words on how to read it."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ncc.coarsening.samples import FACTORS, CoarseningSamples, clamp_to_measured
from ncc.study.bootstrap import Estimate
from ncc.study.coarsening.evaluation import CoarseningScore
from ncc.study.coarsening.metrics import measure
from ncc.study.report.drawing import Dot, Heat, clipped, draw_dots, draw_heat
from ncc.study.report.kinds import SHORT_TITLES, Kind, best_of_kinds, by_protocol, coarsening_kind, highest
from ncc.study.report.markup import Html, figure
from ncc.study.report.regret import regret_figure

__all__ = ["coarsening_figures", "mean_speedup"]

Score = CoarseningScore
Array = NDArray[np.float64]


def coarsening_figures(scores: Sequence[Score], samples: CoarseningSamples) -> list[Html]:
    """Return all pictures; kernel by kernel those of the first protocol alone.

    Args:
        scores: Protocol by protocol.
        samples: The samples that they were measured on.

    Raises:
        InputError: Matplotlib is not installed.
    """
    protocols = by_protocol(scores)
    best = {protocol: best_of_kinds(some, coarsening_kind, mean_speedup) for protocol, some in protocols.items()}
    first = next(iter(protocols))
    slowdowns = {
        protocol: {score.method: _slowdown(score, samples) for score in some} for protocol, some in protocols.items()
    }
    return [
        _dots(protocols, "Mean speedup", mean_speedup),
        _dots(protocols, "Geometric-mean speedup", lambda score: score.metrics.geomean_speedup),
        _choices(first, best[first], samples),
        _kernels(first, best[first], samples),
        regret_figure(slowdowns, best, coarsening_kind, "the best factor"),
    ]


def mean_speedup(score: Score) -> Estimate:
    """Return what methods are ranked by."""
    return score.metrics.mean_speedup


def _dots(protocols: Mapping[str, Sequence[Score]], title: str, pick: Callable[[Score], Estimate]) -> Html:
    panels = {
        protocol: [Dot(score.method, coarsening_kind(score.method), pick(score)) for score in some]
        for protocol, some in protocols.items()
    }
    oracle = {
        protocol: getattr(some[0].oracle, "mean_speedup" if title == "Mean speedup" else "geomean_speedup").value
        for protocol, some in protocols.items()
    }
    best = {protocol: highest(some, pick) for protocol, some in protocols.items()}
    said = "; ".join(
        f"{protocol}: highest {score.method} with {pick(score).value:.3f}×" for protocol, score in best.items()
    )
    return figure(
        draw_dots(panels, title.lower(), lines=oracle, base=1.0),
        title,
        f"{title} of every method, by protocol. {said}.",
        "Speedup over no coarsening, with 95 % intervals. Left of the full line at 1, a method does more harm than "
        "good; the broken line is a perfect choice. Compare a method with the grey squares of its own panel, which are "
        "the controls. Where two intervals overlap widely, these data can't tell the methods apart.",
        "Squares are controls, circles published methods run again, diamonds ours.",
    )


def _usual(score: Score) -> NDArray[np.int64]:
    """What most seeds choose of each row, the smaller factor in a tie, (n,) int64 indices."""
    votes = np.stack([(score.chosen == factor).sum(axis=0) for factor in range(len(FACTORS))])
    return np.argmax(votes, axis=0)


def _choices(protocol: str, best: Mapping[Kind, Score], samples: CoarseningSamples) -> Html:
    kernels = list(dict.fromkeys(samples.kernel.tolist()))
    devices = list(dict.fromkeys(samples.device.tolist()))
    at = {(str(samples.kernel[row]), str(samples.device[row])): row for row in range(len(samples))}

    def heat(chosen: NDArray[np.int64]) -> Heat:
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
    return figure(
        draw_heat(panels, "share of the best speedup", low=0.4),
        f"Chosen factors, {protocol}",
        f"Heat maps of the factor chosen for {len(kernels)} kernels on {len(devices)} devices. {'; '.join(said)}.",
        "The number in a cell is the factor chosen for a kernel on a device, by most seeds; the first panel has the "
        "best one. The colour says what the choice is worth: bright is as fast as the best factor, dark much slower. "
        "A wrong number in a bright cell costs next to nothing. Shown are the methods of highest mean speedup of each "
        "kind.",
    )


def _kernels(protocol: str, best: Mapping[Kind, Score], samples: CoarseningSamples) -> Html:
    panels: dict[str, list[Dot]] = {}
    said = []
    for kind, score in best.items():
        dots = []
        for kernel in dict.fromkeys(samples.kernel.tolist()):
            rows = np.flatnonzero(samples.kernel == kernel)
            runtime, devices = samples.runtime[rows], samples.device[rows]
            found = measure(runtime, score.chosen[:, rows], devices).geomean_speedup
            limit = measure(runtime, samples.best[None, rows], devices).geomean_speedup.value
            dots.append(Dot(kernel, kind, found, limit))
        panels[f"{SHORT_TITLES[kind]}: {clipped(score.method, 34)}"] = dots
        worse = sum(dot.estimate.value < 1 for dot in dots)
        said.append(f"{score.method} makes {worse} of {len(dots)} kernels slower than without coarsening")
    return figure(
        draw_dots(panels, "geometric-mean speedup over the devices", base=1.0, bars=True),
        f"Speedup of each kernel, {protocol}",
        f"Speedup of each kernel with the most successful method of each kind. {'; '.join(said)}.",
        "A bar to the right is a gain over no coarsening, one to the left a loss; the upright tick is what the best "
        "factor of each device would give. Lines are 95 % intervals from drawing the kernel's devices: with so few "
        "devices, take them as a hint at how much the devices differ.",
    )


def _slowdown(score: Score, samples: CoarseningSamples) -> Array:
    """Time at the chosen factor / time at the best one, seeds pooled, (seeds · n,) float64."""
    rows = np.arange(len(samples))
    used = clamp_to_measured(samples.runtime, score.chosen)
    return (samples.runtime[rows, used] / samples.runtime[rows, samples.best]).ravel()
