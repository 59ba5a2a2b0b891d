"""Our mapper for the published table: learns only log(CPU time / GPU time), and what known data sizes reveal.

Gaussian processes, each with another measure of similarity between kernels. A data size seen in training probably
belongs to a program whose other kernels were seen: there trees on sizes count too. None of that helps with kernels of
other programs, so what ships predicts times instead (`ncc.tasks.devices.fit`).

Reference: Rasmussen and Williams 2006, chapter 2 (Gaussian processes). Inputs, mixture and calibration are ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.ensemble import ExtraTreesRegressor

from ncc.arrays import Bools, Floats, Ints
from ncc.learning.heads.folds import balanced_folds
from ncc.tasks.devices.features import KernelFeatures, code_columns
from ncc.tasks.devices.head import INTERVAL
from ncc_lab.devices.samples import DeviceMappingSamples, MappingUnit
from ncc_lab.frame import Method, Subset

Blocks = dict[str, Floats]
"""Name of a block of columns → (n, k) float64."""
_NOISE = 0.1
_SAME_SIZE = 0.02
"""How close a data size, in log units, must be to one in training to count as known."""
_MIN_ROWS, _MIN_NEIGHBORS = 64, 30
_EVEN = 0.5 + 1e-6
_TREE_BLOCKS = ("data", "shape", "growth")


class Term(NamedTuple):
    """A term of a covariance: exp(-distance / length)."""

    weights: Mapping[str, float]
    length: float

    def covariance(self, a: Blocks, b: Blocks) -> Floats:
        """(n, m) float64 between the rows of standardised blocks."""
        squared = sum(weight * _squared_distance(a[name], b[name]) for name, weight in self.weights.items())
        return np.exp(-np.sqrt(squared) / self.length)


_PROFILE = Term({"profile": 1.0}, 2.0)
_CLIPPED = (_PROFILE, Term({"opcodes": 0.95, "data": 0.05}, 1.0))
"""Learns the log ratio up to ±3; the others learn its sign and little more."""
_SIGNED = (_PROFILE, Term({"embedding": 0.83, "data": 0.17}, 1.0))
_OF_KNOWN = (Term({"data": 0.5, "shape": 0.5}, 0.2), Term({"data": 1.0}, 0.05), _PROFILE)
"""Asked only for data sizes that training knows, as the trees are."""
_NUM_GENERAL = 2


def _squared_distance(a: Floats, b: Floats) -> Floats:
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.maximum(squared, 0) / a.shape[1]


class Process(NamedTuple):
    """A Gaussian process that was fitted: terms of its covariance, what it says far from all rows, their weights."""

    terms: tuple[Term, ...]
    mean: float
    weights: Floats

    @classmethod
    def fit(cls, terms: tuple[Term, ...], training: Blocks, target: Floats) -> "Process":
        """Fits standardised rows."""
        covariance = sum(term.covariance(training, training) for term in terms)
        mean = float(target.mean())
        return cls(terms, mean, cho_solve(cho_factor(covariance + _NOISE * np.eye(len(target))), target - mean))

    def predict(self, rows: Blocks, training: Blocks) -> Floats:
        """(n,) float64."""
        covariance = sum(term.covariance(rows, training) for term in self.terms)
        return self.mean + covariance @ self.weights


class ScoreCalibration(NamedTuple):
    """Measured log ratios by score, for kernels that were not trained on.

    Attributes:
        score: (k,) float64, ascending.
        log_ratio: (k,) float64 what was measured.
        slope: Log ratio for each unit of score.
    """

    score: Floats
    log_ratio: Floats
    slope: float

    @classmethod
    def fit(cls, score: Floats, log_ratio: Floats, chosen: Bools) -> "ScoreCalibration":
        """From held-out rows of one kind; from all where that kind is too rare."""
        rows = np.flatnonzero(chosen) if np.count_nonzero(chosen) >= _MIN_ROWS else np.arange(len(score))
        rows = rows[np.argsort(score[rows], kind="stable")]
        score, log_ratio = score[rows], log_ratio[rows]
        # the slope with the least absolute error through zero: a median, weighted by the scores
        ratio, weight = log_ratio / np.where(score == 0, 1e-9, score), np.abs(score)
        order = np.argsort(ratio)
        middle = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
        return cls(score, log_ratio, max(float(ratio[order][min(middle, len(order) - 1)]), 1e-3))

    def apply(self, score: Floats) -> Floats:
        """Expected log ratio of each score, both ends of its 80% interval, probability above 0: (n, 4) float64."""
        location = self.slope * score
        size = min(len(self.score), max(_MIN_NEIGHBORS, len(self.score) // 5))
        start = np.clip(np.searchsorted(self.score, score) - size // 2, 0, len(self.score) - size)
        errors = self.log_ratio - self.slope * self.score
        drawn = location[:, None] + errors[start[:, None] + np.arange(size)]
        tail = (1 - INTERVAL) / 2
        low, high = np.quantile(drawn, (tail, 1 - tail), axis=1)
        sure = ((drawn > 0).sum(axis=1) + 1) / (size + 2)
        # the device named is that of the expected ratio; where errors lean the other way there is nothing to choose
        sure = np.where(location > 0, np.maximum(sure, _EVEN), np.minimum(sure, 1 - _EVEN))
        return np.stack([location, np.minimum(low, location), np.maximum(high, location), sure], axis=1)


def mapper(
    features: KernelFeatures, vectors: Floats, *, num_trees: int = 100, inner_folds: int = 5, inner_trees: int = 30
) -> Method[DeviceMappingSamples]:
    """Return the mapper, of the samples' kernels and the means of their statements' vectors, (n, dim)."""

    def predict(
        train: Subset[DeviceMappingSamples], test: Subset[DeviceMappingSamples], rng: np.random.Generator
    ) -> Floats:
        samples, seed = train.table, int(rng.integers(2**31))
        blocks = blocks_of(features, vectors, samples.transfer_bytes, samples.wgsize)
        ratio = samples.log_ratio[train.rows]

        def fit(rows: Ints, trees: int) -> Mixture:
            return Mixture.fit(select(blocks, rows), samples.log_ratio[rows], trees, seed)

        def held_out(unit: MappingUnit) -> tuple[Floats, Bools]:
            """Return what members predict of training rows held out, and whether they knew their sizes."""
            outputs, known = np.zeros((_NUM_GENERAL + 2, len(train))), np.zeros(len(train), bool)
            groups = samples.groups(unit)[train.rows]
            for inner, held in balanced_folds(groups, min(inner_folds, len(np.unique(groups))), seed):
                mixture = fit(train.rows[inner], min(inner_trees, num_trees))
                outputs[:, held], known[held] = mixture.outputs(select(blocks, train.rows[held]))
            return outputs, known

        same, known = held_out("kernel")
        other, known_of_other = held_out("application")
        scale = np.maximum(np.sqrt((same**2).mean(axis=1)), 1e-9)
        mixture = replace(fit(train.rows, num_trees), scale=scale)
        of_known = ScoreCalibration.fit(mixture.combine(same, known), ratio, known)
        of_new = ScoreCalibration.fit(mixture.combine(other, known_of_other), ratio, ~known_of_other)
        outputs, is_known = mixture.outputs(select(blocks, test.rows))
        score = mixture.combine(outputs, is_known)
        return np.where(is_known[:, None], of_known.apply(score), of_new.apply(score))

    key = ((num_trees, inner_folds, inner_trees), features.profile, features.opcodes, vectors)
    return Method("ncc mapper", "ours", predict, key, version="3")


def blocks_of(features: KernelFeatures, vectors: Floats, transfer_bytes: Floats, wgsize: Floats) -> Blocks:
    """Return the blocks of columns that members look at, of n kernels with vectors, (n, dim), and sizes, (n,) each."""
    transfer, group = np.log1p(transfer_bytes), np.log1p(wgsize)
    dims, depth, open_depth = (features.feature(name) for name in ("dimensions", "depth", "open_depth"))
    opcodes = np.log1p(features.opcodes)
    code = code_columns(features)[:, : -opcodes.shape[1]]
    growth = [dims * transfer, (dims + depth) * transfer, (dims + open_depth) * transfer]
    return {
        "data": np.stack([transfer, group], axis=1),
        "shape": np.stack([dims, depth], axis=1),
        "growth": np.stack([dims + depth, (dims + depth) * transfer], axis=1),
        "profile": np.column_stack([transfer, group, code, *growth, transfer + features.feature("dynamic_flops")]),
        "opcodes": opcodes,
        "embedding": vectors,
    }


def select(blocks: Blocks, rows: Ints) -> Blocks:
    """Return some rows of every block."""
    return {name: columns[rows] for name, columns in blocks.items()}


@dataclass(frozen=True, eq=False)
class Mixture:
    """Members that were fitted: processes, first those for every kernel, and trees."""

    mean: Blocks
    std: Blocks
    training: Blocks
    processes: tuple[Process, ...]
    trees: ExtraTreesRegressor
    data: Floats
    scale: Floats

    @classmethod
    def fit(cls, raw: Blocks, ratio: Floats, num_trees: int, seed: int) -> "Mixture":
        """Fit all members to rows and their log ratios, (n,)."""
        mean = {name: columns.mean(axis=0) for name, columns in raw.items()}
        std = {name: np.where(np.ptp(columns, axis=0) > 0, columns.std(axis=0), 0.0) for name, columns in raw.items()}
        training = standardize(raw, mean, std)
        targets = ((_CLIPPED, np.clip(ratio, -3, 3)), (_SIGNED, np.tanh(ratio)), (_OF_KNOWN, np.tanh(ratio)))
        trees = ExtraTreesRegressor(num_trees, random_state=seed, n_jobs=1)
        return cls(
            mean=mean,
            std=std,
            training=training,
            processes=tuple(Process.fit(terms, training, target) for terms, target in targets),
            trees=trees.fit(np.hstack([raw[name] for name in _TREE_BLOCKS]), np.sign(ratio)),
            data=raw["data"],
            scale=np.ones(_NUM_GENERAL + 2),
        )

    def outputs(self, raw: Blocks) -> tuple[Floats, Bools]:
        """Return what each member predicts of m rows, (members, m), and whether their sizes are known, (m,)."""
        blocks = standardize(raw, self.mean, self.std)
        predicted = [process.predict(blocks, self.training) for process in self.processes]
        predicted.append(self.trees.predict(np.hstack([raw[name] for name in _TREE_BLOCKS])))
        nearest = np.abs(raw["data"][:, None, :] - self.data[None, :, :]).sum(axis=2).min(axis=1)
        return np.stack(predicted), nearest < _SAME_SIZE

    def combine(self, outputs: Floats, known: Bools) -> Floats:
        """Return the score of each row, (m,)."""
        scaled = outputs / self.scale[:, None]
        return scaled[:_NUM_GENERAL].mean(axis=0) + known * scaled[_NUM_GENERAL:].mean(axis=0)


def standardize(blocks: Blocks, mean: Blocks, std: Blocks) -> Blocks:
    """Return columns less their mean in units of their standard deviation; those of 0 become 0."""
    return {
        name: (columns - mean[name]) / np.where(std[name] > 0, std[name], np.inf) for name, columns in blocks.items()
    }
