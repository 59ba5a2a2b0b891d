"""Our method: speedup as a straight line in one feature, chosen without looking at the test kernel.

Seventeen kernels bear no more. For each device and factor the speedup is predicted as `offset + slope · feature`, the
slope shrunk as in ridge regression, the device's own line drawn towards that of all devices together. Which feature,
how much to shrink, how far to pool devices, and whether to average speedups or their logarithms is decided anew in
each fold by leaving out one *training* kernel after the other (of many, a twentieth of them) and taking what gives the
highest geometric-mean speedup there. Constants are among the candidates, and answer alone where that whole choice,
made without kernels that are then asked about, gains less for these than a standard error more than they do. On the
published table it is the share of statements in divergent regions, fold after fold, weighted by loop depth: such
regions are copied one after the other for each work-item merged, so there is little to gain (Magni et al. 2014 name it
first).

What was tried beside it, and what it hangs on, stands in ``benchmarks/README.md``.

Nothing in it is random: all seeds give the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples, clamp_to_measured, complete_log_speedups

Scale = Literal["log", "plain"]
Place = tuple[int, int, int, int]

_TRIFLE = 1e-6
_LEAST_SPEEDUP = 0.01
_PARTS = 20


@dataclass(frozen=True, kw_only=True)
class LineGrid:
    """What is chosen from, beside the features."""

    penalties: tuple[float, ...] = (3.0, 10.0, 30.0, float("inf"))
    own_shares: tuple[float, ...] = (0.25, 0.5, 1.0)
    scales: tuple[Scale, ...] = ("log", "plain")

    def __post_init__(self) -> None:
        if not (self.penalties and self.own_shares and self.scales):
            raise InputError("expected one value or more of each, found none of one")
        if min(self.penalties) < 0 or not 0 <= min(self.own_shares) <= max(self.own_shares) <= 1:
            raise InputError(f"expected penalties of 0 or more and shares from 0 to 1, found {self}")
        if wrong := set(self.scales) - set(get_args(Scale)):
            raise InputError(f"no scale {sorted(wrong)}; expected some of {', '.join(get_args(Scale))}")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """What a fold chose."""

    feature: int
    penalty: float
    own_share: float
    scale: Scale


@dataclass(frozen=True, eq=False)
class Lines:
    """A line for each penalty, feature and output."""

    offset: Floats
    slope: Floats

    def at(self, features: Floats) -> Floats:
        """Return the lines' values at n samples' features, (n, k), each line at its own: (penalties, n, k, outputs)."""
        return self.offset[:, None] + self.slope[:, None] * features[None, :, :, None]


def fit_lines(features: Floats, values: Floats, penalties: Sequence[float]) -> Lines:
    """Fit a line to every output by every feature alone.

    Features are standardised first, so that a penalty means the same for all: it stands beside the number of samples,
    and a slope becomes n / (n + penalty) of what it is by least squares. A feature that never varies has no slope.

    Args:
        features: (n, k) float64.
        values: (n, outputs) float64.
        penalties: 0 or more each; infinity leaves the mean alone.
    """
    mean, centre = values.mean(axis=0), features.mean(axis=0)
    deviation = features - centre
    squares = (deviation**2).sum(axis=0)
    varies = squares > 1e-12 * np.maximum(1.0, (features**2).sum(axis=0))
    steep = np.zeros((features.shape[1], values.shape[1]))
    np.divide(deviation.T @ (values - mean), squares[:, None], out=steep, where=varies[:, None])
    shrink = np.array([len(features) / (len(features) + penalty) for penalty in penalties])
    slope = shrink[:, None, None] * steep
    return Lines(mean - slope * centre[:, None], slope)


class ChosenLine:
    """The method; see the module.

    Args:
        features: One row of features per sample, the same for all rows of a kernel, (n, k) float64.
        grid: What is chosen from; None for the defaults.
        name: Name for tables.

    Attributes:
        candidate: What the last `fit` chose; None before.
    """

    kind: Final = "ours"
    slow = False
    version = "2"

    def __init__(self, features: Floats, grid: LineGrid | None = None, name: str = "ncc") -> None:
        self.name = name
        self._features = np.asarray(features, dtype=np.float64)
        self._grid = grid or LineGrid()
        self.candidate: Candidate | None = None
        self._lines: dict[str, Lines] = {}

    @property
    def identity(self) -> Any:
        """The features and the grid."""
        return self._features, asdict(self._grid)

    def fit(self, samples: CoarseningSamples, train_idx: Ints, _rng: np.random.Generator, /) -> None:
        """Choose a candidate by leaving out training kernels, then fit it to all of them."""
        kernels = list(dict.fromkeys(samples.kernel[train_idx].tolist()))
        if self._features.ndim != 2 or len(self._features) != len(samples) or len(kernels) < 3:
            raise InputError(
                f"expected features ({len(samples)}, k) and three kernels, found {self._features.shape} and "
                f"{len(kernels)}"
            )
        curves = complete_log_speedups(samples.runtime)
        chosen = self._choose(samples, curves, train_idx)
        grid = self._grid
        scale, share, penalty, feature = chosen.line
        if chosen.constant and penalty != chosen.constant[2] and not self._pays(samples, curves, train_idx):
            scale, share, penalty, feature = chosen.constant
        self.candidate = Candidate(
            feature=feature,
            penalty=grid.penalties[penalty],
            own_share=grid.own_shares[share],
            scale=grid.scales[scale],
        )
        self._lines = self._fit_devices(samples, curves, train_idx, self.candidate.scale)

    def predict(self, samples: CoarseningSamples, test_idx: Ints, /) -> Floats:
        """Return the expected speedup at each of `FACTORS`, (m, 6) float64."""
        offset, slope = zip(*(self.line(device) for device in samples.device[test_idx].tolist()), strict=True)
        assert self.candidate is not None
        values = np.stack(offset) + np.stack(slope) * self._features[test_idx, self.candidate.feature, None]
        return from_scale(values, self.candidate.scale)

    def line(self, device: str | None) -> tuple[Floats, Floats]:
        """Return a device's offsets and slopes, on the candidate's scale, (6,) float64 each."""
        if self.candidate is None:
            raise InputError("fit the method before predicting")
        at = self._grid.penalties.index(self.candidate.penalty), self.candidate.feature
        together = self._lines[""]
        own = self._lines.get(device or "", together)
        share = self.candidate.own_share
        return (
            (1 - share) * together.offset[at] + share * own.offset[at],
            (1 - share) * together.slope[at] + share * own.slope[at],
        )

    def _fit_devices(self, samples: CoarseningSamples, curves: Floats, rows: Ints, *scales: Scale) -> dict[str, Lines]:
        """Lines of each device, and under "" those of all together, each kernel counting once; scale after scale."""
        values = np.hstack([to_scale(curves[rows], scale) for scale in scales])
        kernels, first, owner = np.unique(samples.kernel[rows], return_index=True, return_inverse=True)
        together = np.zeros((len(kernels), values.shape[1]))
        np.add.at(together, owner, values)
        together /= np.bincount(owner)[:, None]
        lines = {"": fit_lines(self._features[rows[first]], together, self._grid.penalties)}
        for device in dict.fromkeys(samples.device[rows].tolist()):
            on = samples.device[rows] == device
            lines[device] = fit_lines(self._features[rows[on]], values[on], self._grid.penalties)
        return lines

    def _choose(self, samples: CoarseningSamples, curves: Floats, rows: Ints) -> "_Chosen":
        """What is worth most for kernels that are held out of some rows."""
        worth = np.sum([self._worth(samples, curves, *split) for split in _parts(samples, rows)], axis=0)
        flat = [number for number, penalty in enumerate(self._grid.penalties) if np.isinf(penalty)]
        if not flat:
            return _Chosen(_best(worth), None)
        level = np.full_like(worth, -np.inf)
        level[:, :, flat] = worth[:, :, flat]
        return _Chosen(_best(worth), _best(level))

    def _pays(self, samples: CoarseningSamples, curves: Floats, rows: Ints) -> bool:
        """Whether lines, chosen anew without kernels that are then asked about, gain more there than constants.

        The best of hundreds of candidates looks better than a constant on the kernels that it was chosen by, even where
        features say nothing; so they are asked about kernels that had no say, and must gain more than a standard error.

        Reference: Breiman et al. 1984, section 3.4.3 (the rule of one standard error).
        """
        gains = []
        for train, test in _parts(samples, rows):
            chosen = self._choose(samples, curves, train)
            worth = self._worth(samples, curves, train, test)
            gains.append(worth[chosen.line] - worth[chosen.constant])
        return bool(np.sum(gains) > np.std(gains, ddof=1) * np.sqrt(len(gains)))

    def _worth(self, samples: CoarseningSamples, curves: Floats, train: Ints, test: Ints) -> Floats:
        """Sum of the log speedups of each candidate's choice, (scales, own shares, penalties, features).

        A kernel counts once, whatever it was measured on. Where candidates choose alike, the one that is less wrong
        about the speedups is worth a trifle more.
        """
        grid = self._grid
        _, owner, times = np.unique(samples.kernel[test], return_inverse=True, return_counts=True)
        weight = 1 / times[owner]
        last = clamp_to_measured(samples.runtime[test], np.tile(np.arange(len(FACTORS))[:, None], len(test)))
        worth = np.zeros((len(grid.scales), len(grid.own_shares), len(grid.penalties), self._features.shape[1]))
        lines = self._fit_devices(samples, curves, train, *grid.scales)
        all_together = lines[""].at(self._features[test])
        all_own = all_together.copy()
        for device in lines.keys() - {""}:
            on = samples.device[test] == device
            all_own[:, on] = lines[device].at(self._features[test[on]])
        for i, scale in enumerate(grid.scales):
            outputs = slice(i * len(FACTORS), (i + 1) * len(FACTORS))
            together, own = all_together[..., outputs], all_own[..., outputs]
            for j, share in enumerate(grid.own_shares):
                predicted = np.log(from_scale((1 - share) * together + share * own, scale))
                each = np.arange(len(test))[:, None]
                gained = curves[test][each, last.T[each, predicted.argmax(axis=-1)]]
                error = np.abs(predicted - curves[test][:, None]).mean(axis=-1)
                worth[i, j] = np.einsum("r,prk->pk", weight, gained - _TRIFLE * error)
        return worth


class _Chosen(NamedTuple):
    """Candidates by their places in the grid: the best, and the best that knows no feature, if there are such."""

    line: Place
    constant: Place | None


def _best(worth: Floats) -> Place:
    scale, share, penalty, feature = (int(i) for i in np.unravel_index(np.argmax(worth), worth.shape))
    return scale, share, penalty, feature


def _parts(samples: CoarseningSamples, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Some rows without a kernel, and that kernel's; of more kernels several at a time."""
    kernels = list(dict.fromkeys(samples.kernel[rows].tolist()))
    for number in range(min(_PARTS, len(kernels))):
        held = np.isin(samples.kernel[rows], kernels[number::_PARTS])
        yield rows[~held], rows[held]


def to_scale(log_speedup: Floats, scale: Scale) -> Floats:
    """Return what is averaged on a scale."""
    return log_speedup if scale == "log" else np.exp(log_speedup)


def from_scale(value: Floats, scale: Scale) -> Floats:
    """Return speedups; a straight line can leave what is possible, so none is below 0.01."""
    return np.maximum(np.exp(value) if scale == "log" else value, _LEAST_SPEEDUP)
