"""Our method: speedup as a straight line in one feature, chosen without looking at the test kernel.

Seventeen kernels bear no more. For each device and factor the speedup is `offset + slope · feature`, the slope shrunk
as in ridge regression, the device's line drawn towards that of all devices. Feature, penalty, weight of the device's
line and scale are chosen within each fold by leaving out one *training* kernel after the other (of many, a
twentieth of them) and taking what gives the highest geometric-mean speedup there. Constants are among the candidates,
and are taken where that whole choice, made without kernels that are then asked about, does not gain a standard error
more than they do. On the published table it is the fraction of statements in divergent regions, fold after fold: such
regions are copied in sequence for each work-item merged (Magni et al. 2014 name it first).

Nothing in it is random.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.tasks.coarsening.train import FACTORS, clamp_to_measured, complete_log_speedups
from ncc_lab.coarsening.samples import CoarseningSamples
from ncc_lab.frame import Method, Subset

Scale = Literal["log", "plain"]

PENALTIES = (3.0, 10.0, 30.0, float("inf"))
OWN_WEIGHTS = (0.25, 0.5, 1.0)
SCALES: tuple[Scale, ...] = ("log", "plain")

_TIE_WEIGHT = 1e-6
"""Of errors beside log speedups: of candidates that choose alike, the one that errs less is better."""
_MIN_SPEEDUP = 0.01
_MAX_PARTS = 20


class Candidate(NamedTuple):
    """Places of what was chosen in `SCALES`, `OWN_WEIGHTS`, `PENALTIES` and among the features."""

    scale: int
    own_weight: int
    penalty: int
    feature: int


@dataclass(frozen=True, eq=False)
class Lines:
    """A line for each penalty, feature and output: (penalties, features, outputs) each."""

    offset: Floats
    slope: Floats

    def at(self, features: Floats) -> Floats:
        """Return the lines' values at n samples' features, (n, k), each line at its own: (penalties, n, k, outputs)."""
        return self.offset[:, None] + self.slope[:, None] * features[None, :, :, None]


def fit_lines(features: Floats, values: Floats, penalties: Sequence[float]) -> Lines:
    """Fit a line to every output, (n, outputs), by every feature alone, (n, k)."""
    mean, center = values.mean(axis=0), features.mean(axis=0)
    deviation = features - center
    squares = (deviation**2).sum(axis=0)
    varies = squares > 1e-12 * np.maximum(1.0, (features**2).sum(axis=0))
    steep = np.zeros((features.shape[1], values.shape[1]))
    np.divide(deviation.T @ (values - mean), squares[:, None], out=steep, where=varies[:, None])
    shrink = np.array([len(features) / (len(features) + penalty) for penalty in penalties])
    slope = shrink[:, None, None] * steep
    return Lines(mean - slope * center[:, None], slope)


@dataclass(frozen=True, eq=False)
class ChosenLine:
    """Choices of a fold, and each device's lines; under "" the lines of all devices together."""

    candidate: Candidate
    lines: dict[str, Lines]

    def predict(self, devices: NDArray[np.str_], features: Floats) -> Floats:
        """Return the expected speedup at each of `FACTORS` on m devices for m rows of features, (m, 6)."""
        scale, own_weight, penalty, feature = self.candidate
        together, weight = self.lines[""], OWN_WEIGHTS[own_weight]
        own = [self.lines.get(device, together) for device in devices.tolist()]
        offset, slope = (
            (1 - weight) * whole[penalty, feature] + weight * np.stack([part[penalty, feature] for part in parts])
            for whole, parts in (
                (together.offset, [lines.offset for lines in own]),
                (together.slope, [lines.slope for lines in own]),
            )
        )
        return from_scale(offset + slope * features[:, feature, None], SCALES[scale])


def chosen_line(features: Floats) -> Method[CoarseningSamples]:
    """Return the method on features of each row, the same for all rows of a kernel, (n, k)."""

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], _rng: np.random.Generator) -> Floats:
        line = fit_chosen_line(train.table, train.rows, features)
        return line.predict(test.table.device[test.rows], features[test.rows])

    return Method("ncc", "ours", predict, features, version="3")


def fit_chosen_line(samples: CoarseningSamples, rows: Ints, features: Floats) -> ChosenLine:
    """Choose a candidate by leaving out training kernels, then fit it to all of them."""
    num_kernels = len(np.unique(samples.kernel[rows]))
    if features.ndim != 2 or len(features) != len(samples) or num_kernels < 3:
        raise InputError(
            f"expected features ({len(samples)}, k) and three kernels, found {features.shape} and {num_kernels}"
        )
    choice = _Choice(samples, features, complete_log_speedups(samples.runtime))
    line, constant = choice.best(rows)
    if line.penalty != constant.penalty and not choice.pays(rows):
        line = constant
    return ChosenLine(line, choice.fit_devices(rows, SCALES[line.scale]))


@dataclass(frozen=True, eq=False)
class _Choice:
    """Samples to choose from, with their features, (n, k), and log speedups, (n, 6)."""

    samples: CoarseningSamples
    features: Floats
    curves: Floats

    def fit_devices(self, rows: Ints, *scales: Scale) -> dict[str, Lines]:
        """Fit lines for each device, and under "" for all together, each kernel counting once; scale after scale."""
        values = np.hstack([np.exp(self.curves[rows]) if scale == "plain" else self.curves[rows] for scale in scales])
        kernels, first, owner = np.unique(self.samples.kernel[rows], return_index=True, return_inverse=True)
        together = np.zeros((len(kernels), values.shape[1]))
        np.add.at(together, owner, values)
        together /= np.bincount(owner)[:, None]
        lines = {"": fit_lines(self.features[rows[first]], together, PENALTIES)}
        for device in dict.fromkeys(self.samples.device[rows].tolist()):
            on = self.samples.device[rows] == device
            lines[device] = fit_lines(self.features[rows[on]], values[on], PENALTIES)
        return lines

    def best(self, rows: Ints) -> tuple[Candidate, Candidate]:
        """Return what is worth most for kernels held out of some rows, and the best without a feature."""
        worth = np.sum([self.worth(*split) for split in self.splits(rows)], axis=0)
        constants = np.full_like(worth, -np.inf)
        constants[:, :, np.isinf(PENALTIES)] = worth[:, :, np.isinf(PENALTIES)]
        best, constant = (
            Candidate(*map(int, np.unravel_index(np.argmax(table), table.shape))) for table in (worth, constants)
        )
        return best, constant

    def pays(self, rows: Ints) -> bool:
        """Return whether lines, chosen without kernels that are then asked about, gain more there than constants.

        Reference: Breiman et al. 1984, section 3.4.3 (the rule of one standard error).
        """
        gains = []
        for train, test in self.splits(rows):
            line, constant = self.best(train)
            worth = self.worth(train, test)
            gains.append(worth[line] - worth[constant])
        return bool(np.sum(gains) > np.std(gains, ddof=1) * np.sqrt(len(gains)))

    def worth(self, train: Ints, test: Ints) -> Floats:
        """Sum the log speedups of each candidate's choices: (scales, own weights, penalties, features)."""
        _, owner, times = np.unique(self.samples.kernel[test], return_inverse=True, return_counts=True)
        weight, each = 1 / times[owner], np.arange(len(test))[:, None]
        runtime, curves = self.samples.runtime[test], self.curves[test]
        used = clamp_to_measured(runtime, np.tile(np.arange(len(FACTORS))[:, None], len(test))).T
        lines = self.fit_devices(train, *SCALES)
        all_together = lines[""].at(self.features[test])
        all_own = all_together.copy()
        for device in lines.keys() - {""}:
            on = self.samples.device[test] == device
            all_own[:, on] = lines[device].at(self.features[test[on]])
        worth = np.zeros((len(SCALES), len(OWN_WEIGHTS), len(PENALTIES), self.features.shape[1]))
        for i, scale in enumerate(SCALES):
            outputs = slice(i * len(FACTORS), (i + 1) * len(FACTORS))
            for j, own_weight in enumerate(OWN_WEIGHTS):
                mixed = (1 - own_weight) * all_together[..., outputs] + own_weight * all_own[..., outputs]
                predicted = np.log(from_scale(mixed, scale))
                gained = curves[each, used[each, predicted.argmax(axis=-1)]]
                error = np.abs(predicted - curves[:, None]).mean(axis=-1)
                worth[i, j] = np.einsum("r,prk->pk", weight, gained - _TIE_WEIGHT * error)
        return worth

    def splits(self, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield some rows without a kernel, and that kernel's; of more kernels several at a time."""
        kernels = list(dict.fromkeys(self.samples.kernel[rows].tolist()))
        for part in range(min(_MAX_PARTS, len(kernels))):
            is_held = np.isin(self.samples.kernel[rows], kernels[part::_MAX_PARTS])
            yield rows[~is_held], rows[is_held]


def from_scale(value: Floats, scale: Scale) -> Floats:
    """Return speedups; a straight line can leave what is possible, so none is below 0.01."""
    return np.maximum(np.exp(value) if scale == "log" else value, _MIN_SPEEDUP)
