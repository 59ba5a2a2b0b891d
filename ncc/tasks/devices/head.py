"""Models of times, in NumPy: on columns of launches, and some that also read statements."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Floats32, Ints
from ncc.learning.encoder.network_numpy import Ensemble
from ncc.learning.heads.trees import Boosted
from ncc.tasks.devices.columns import CODE, LAUNCH, NUM_PUBLISHED, OPCODE_COLUMNS, PROFILE_COLUMNS, scaled_distances

_BEND, _MOST_BENT = 3.0, 5.5
_FARTHEST = 5.0
LONGEST_READ = 128
"""Statements of a kernel that networks read, the first ones."""
_CODE_AND_LAUNCH = np.r_[0 : CODE.stop, LAUNCH[LAUNCH >= NUM_PUBLISHED]]


@dataclass(frozen=True)
class _Term:
    """variance × exp(-distance / length), over some of the columns that a process looks at."""

    columns: Ints
    variance: float
    length: float


_OPCODES = _Term(OPCODE_COLUMNS, 1.0, 1.0)
COVARIANCES: Mapping[str, tuple[Ints, tuple[_Term, ...]]] = {
    "code": (np.arange(CODE.stop), (_Term(PROFILE_COLUMNS, 1.0, 2.0), _OPCODES)),
    "launch": (
        _CODE_AND_LAUNCH,
        (_Term(np.flatnonzero(np.isin(_CODE_AND_LAUNCH, LAUNCH)), 2.0, 3.0), _OPCODES),
    ),
}
"""Name → columns that a process looks at, and the terms of its covariance: what a thread would do at any launch, or
what it does at this one; and opcodes."""


def bent(ratio: Floats) -> Floats:
    """Log ratios as smooth models learn them: their sign counts more, and large ones less."""
    return np.arcsinh(_BEND * ratio)


def unbent(learnt: Floats) -> Floats:
    """Log ratios of what `bent` made of them."""
    return np.sinh(np.clip(learnt, -_MOST_BENT, _MOST_BENT)) / _BEND


@dataclass(frozen=True, eq=False)
class Smooth:
    """A Gaussian process for each target, all of one covariance.

    Attributes:
        mean, scale: (k,) float64 of the columns in training; scale 0 where one was constant.
        points: (m, k) float64 standardised rows that stand for the training.
        weights: (m, targets) float64.
        base: (targets,) float64 far from all of them.
        covariance: Name in `COVARIANCES`.
    """

    mean: Floats
    scale: Floats
    points: Floats
    weights: Floats
    base: Floats
    covariance: str = "code"

    def standardise(self, columns: Floats) -> Floats:
        """The columns that count in units of their spread, cut where a line would leave the world."""
        chosen = columns[:, COVARIANCES[self.covariance][0]]
        return _standard(chosen, self.mean, self.scale)

    def predict(self, columns: Floats) -> Floats:
        """(n, targets) float64."""
        learnt = smooth_covariance(self.standardise(columns), self.points, self.covariance) @ self.weights
        result: Floats = self.base + learnt
        result[:, 1:] = unbent(result[:, 1:])
        return result


def smooth_covariance(a: Floats, b: Floats, name: str = "code") -> Floats:
    """(n, m) float64 between standardised rows."""
    parts = (
        term.variance * np.exp(-scaled_distances(a[:, term.columns], b[:, term.columns]) / term.length)
        for term in COVARIANCES[name][1]
    )
    return sum(parts, start=np.zeros((len(a), len(b))))


def _standard(columns: Floats, mean: Floats, scale: Floats) -> Floats:
    return np.clip((columns - mean) / np.where(scale > 0, scale, np.inf), -_FARTHEST, _FARTHEST)


@dataclass(frozen=True, eq=False)
class LSTMTimes:
    """LSTMs that read a kernel's statements, and take sizes and what a thread does at the launch beside.

    Attributes:
        ensemble: The networks; their outputs are the targets, ratios bent.
        mean, scale: (len(LAUNCH),) float64 of those columns in training; scale 0 where one was constant.
    """

    ensemble: Ensemble
    mean: Floats
    scale: Floats

    def auxiliary(self, columns: Floats) -> Floats32:
        """(n, len(LAUNCH)) float32 of what the networks take beside statements."""
        return _standard(columns[:, LAUNCH], self.mean, self.scale).astype(np.float32)

    def predict(self, columns: Floats, sequences: NDArray[np.object_]) -> Floats:
        """(n, targets) float64.

        Args:
            columns: (n, NUM_COLUMNS) float64.
            sequences: (n,) of (time, dim) float32 vectors of statements.
        """
        auxiliary = self.auxiliary(columns)
        result = np.empty((len(columns), self.ensemble.members[0].head.num_outputs))
        kernels, owner = distinct_kernels(sequences)
        for number, kernel in enumerate(kernels):
            rows = np.flatnonzero(owner == number)
            # a kernel all of whose statements are taken to do nothing has none
            encoded = self.ensemble.encode(kernel if len(kernel) else np.zeros((1, kernel.shape[1]), np.float32))
            result[rows] = self.ensemble.outputs(encoded, auxiliary[rows]).mean(axis=0)
        result[:, 1:] = unbent(result[:, 1:])
        return result


def distinct_kernels(sequences: NDArray[np.object_]) -> tuple[list[Floats32], Ints]:
    """The different ones among sequences, cut to what is read, and the number of each one's equal, (n,).

    Kernels that differ in constants alone, as NPB's by the size of their data, are equal.
    """
    found: dict[bytes, int] = {}
    kernels: list[Floats32] = []
    known: dict[int, int] = {}
    for sequence in sequences:
        if id(sequence) not in known:
            kernel = sequence[:LONGEST_READ]
            number = known[id(sequence)] = found.setdefault(kernel.tobytes(), len(kernels))
            if number == len(kernels):
                kernels.append(kernel)
    return kernels, np.array([known[id(sequence)] for sequence in sequences])


TimesModel = Boosted | Smooth | LSTMTimes


def predict_targets(model: TimesModel, columns: Floats, sequences: NDArray[np.object_]) -> Floats:
    """(n, targets) float64 of any model; see `LSTMTimes.predict`."""
    return model.predict(columns, sequences) if isinstance(model, LSTMTimes) else model.predict(columns)
