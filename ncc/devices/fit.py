"""Our device mapper: fits `MapperHead`, as a method for `evaluate` and for shipping.

What was tried before it, by the same folds: extremely randomised trees and gradient boosting on every one of its
inputs, LSTM ensembles on the embedding (`LSTMMethod`), linear models, weights against large applications, trip counts
for loop weights, and each process alone. Trees win where the size of the data is known from other kernels of the same
program, Gaussian processes wherever it is not; so the trees are asked only then.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.ensemble import ExtraTreesRegressor

from ncc.devices.folds import balanced_folds
from ncc.devices.head import (
    REFERENCE_ROWS,
    Blocks,
    Calibration,
    KernelInputs,
    MapperHead,
    Process,
    Term,
    describe_kernel,
    sample_sizes,
    standardise,
    summarise,
)
from ncc.devices.samples import DeviceMappingSamples, Unit, load_legacy_ir
from ncc.embedding import Embedding
from ncc.errors import InputError
from ncc.ir import read_module

__all__ = ["ABLATIONS", "MEMBERS", "MapperConfig", "MapperMethod", "Member", "load_inputs"]

Array = NDArray[np.float64]

_SAME_SIZE = 0.02
"""How close a data size, in log units, must be to one in training to count as known."""


@dataclass(frozen=True)
class Member:
    """A Gaussian process of the mixture.

    Args:
        name: For ablations.
        terms: Of its covariance.
        noise: Variance of the measured values.
        bend: What is learnt of a log ratio r: "tanh" (its sign and little more), or "clip" (r itself, to ±3).
        only_known: Asked only for data sizes that training knows.
    """

    name: str
    terms: tuple[Term, ...]
    noise: float
    bend: Literal["tanh", "clip"] = "tanh"
    only_known: bool = False


MEMBERS = (
    Member(
        "profile and opcodes",
        (Term(1.0, {"profile": 1.0}, 2.0), Term(1.0, {"opcodes": 0.95, "data": 0.05}, 1.0)),
        0.1,
        "clip",
    ),
    Member(
        "profile and embedding",
        (Term(1.0, {"profile": 1.0}, 2.0), Term(1.0, {"embedding": 0.83, "data": 0.17}, 1.0)),
        0.1,
    ),
    Member(
        "data and profile",
        (
            Term(1.0, {"data": 0.5, "shape": 0.5}, 0.2),
            Term(1.0, {"data": 1.0}, 0.05),
            Term(1.0, {"profile": 1.0}, 2.0),
        ),
        0.1,
        only_known=True,
    ),
)


@dataclass(frozen=True, kw_only=True)
class MapperConfig:
    """What the mixture is made of.

    Args:
        members: Its Gaussian processes.
        num_trees: Trees for data sizes that training knows; 0 for none.
        tree_blocks: What they look at.
        inner_folds: Folds of the training rows that calibrate it.
        inner_trees: Trees in each of these.
    """

    members: tuple[Member, ...] = MEMBERS
    num_trees: int = 100
    tree_blocks: tuple[str, ...] = ("data", "shape", "growth")
    inner_folds: int = 5
    inner_trees: int = 30

    def __post_init__(self) -> None:
        """Checks that something is left to average, and to calibrate it on.

        Raises:
            InputError: No member answers for every kernel, or a number is out of range.
        """
        if all(member.only_known for member in self.members):
            raise InputError("members: expected at least one that is asked about every kernel")
        if min(self.num_trees, self.inner_trees) < 0 or self.inner_folds < 2:
            raise InputError(
                f"expected 0 trees or more and 2 folds or more; found num_trees {self.num_trees}, "
                f"inner_trees {self.inner_trees}, inner_folds {self.inner_folds}"
            )


def _without(*blocks: str) -> tuple[Member, ...]:
    """The members without some blocks of columns in their covariances, and without those of which nothing is left."""
    members = []
    for member in MEMBERS:
        kept = [
            (term, {name: share for name, share in term.weights.items() if name not in blocks}) for term in member.terms
        ]
        terms = tuple(replace(term, weights=weights) for term, weights in kept if weights)
        if terms:
            members.append(replace(member, terms=terms))
    return tuple(members)


ABLATIONS: dict[str, MapperConfig] = {
    "profile": MapperConfig(members=_without("profile", "shape"), tree_blocks=("data",)),
    "opcodes": MapperConfig(members=_without("opcodes")),
    "embedding": MapperConfig(members=_without("embedding")),
    "code": MapperConfig(members=_without("profile", "shape", "opcodes", "embedding"), tree_blocks=("data",)),
    "known sizes": MapperConfig(members=tuple(member for member in MEMBERS if not member.only_known), num_trees=0),
}
"""What is left of the mixture without a part of it, by the part's name."""


def load_inputs(samples: DeviceMappingSamples, embedding: Embedding, folder: str | None = None) -> KernelInputs:
    """Describes every row's kernel, from the legacy IR.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    known: dict[str, KernelInputs] = {}
    for name in {samples.ir_name(row) for row in range(len(samples))}:
        module = read_module(legacy[name], name=name, abstraction=embedding.abstraction)
        words, _ = embedding.vocabulary.encode(module.texts)
        vectors = embedding.vectors[words[module.text_id]]
        known[name] = describe_kernel(module, module.first_kernel, vectors)
    rows = [known[samples.ir_name(row)] for row in range(len(samples))]
    return KernelInputs(
        *(np.concatenate([getattr(row, name) for row in rows]) for name in KernelInputs.__annotations__)
    )


class MapperMethod:
    """The mapper as a method that `evaluate` can measure.

    Args:
        inputs: Of the samples, in their order; see `load_inputs`.
        config: What the mixture is made of.
        name: Name for tables.
    """

    name = "ncc mapper"
    kind: Final = "ours"
    slow = False
    version = "1"

    def __init__(self, inputs: KernelInputs, config: MapperConfig | None = None, name: str = name) -> None:
        """Keeps what is known of the kernels; nothing is fitted before `fit`."""
        self.name = name
        self.config = config or MapperConfig()
        self._inputs = inputs
        self._fitted: tuple[_Mixture, Calibration, Calibration] | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """Options and inputs."""
        return (repr(self.config), self._inputs.profile, self._inputs.opcodes, self._inputs.vectors)

    def fit(self, samples: DeviceMappingSamples, train_idx: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Fits the mixture to some rows, and calibrates it on folds of them, forgetting what was there before."""
        seed = int(rng.integers(2**31))
        ratio = samples.log_ratio[train_idx]
        same, known = self._held_out(samples, train_idx, "kernel", seed)
        other, known_of_other = self._held_out(samples, train_idx, "application", seed)
        scale = np.maximum(np.sqrt((same**2).mean(axis=1)), 1e-9)
        mixture = replace(_fit_mixture(self._inputs, samples, train_idx, self.config, seed), scale=scale)
        self._fitted = (
            mixture,
            _calibrate(mixture.combine(same, known), ratio, known),
            _calibrate(mixture.combine(other, known_of_other), ratio, ~known_of_other),
        )

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64]) -> Array:
        """Expected log(CPU time / GPU time), both ends of its 80 % interval, probability of the GPU: (m, 4).

        Raises:
            InputError: Nothing was fitted yet.
        """
        if self._fitted is None:
            raise InputError("fit the method before predicting")
        mixture, of_known, of_new = self._fitted
        outputs, known = mixture.outputs(self._inputs, samples, test_idx)
        score = mixture.combine(outputs, known)
        answers = np.zeros((len(test_idx), 4))
        for rows, calibration in ((known, of_known), (~known, of_new)):
            location, drawn = calibration.apply(score[rows])
            found = [summarise(float(value), around) for value, around in zip(location, drawn, strict=True)]
            answers[rows] = np.array([(a.log_ratio, *a.interval, a.probability_gpu) for a in found]).reshape(-1, 4)
        return answers

    def to_head(self, samples: DeviceMappingSamples, embedding: Embedding, about: dict[str, Any]) -> MapperHead:
        """What was fitted, as far as it serves kernels of other programs; it was fitted on all samples.

        Raises:
            InputError: Nothing was fitted yet.
        """
        if self._fitted is None:
            raise InputError("fit the method before shipping it")
        mixture, _, of_new = self._fitted
        num = sum(not member.only_known for member in self.config.members)
        values = np.stack([samples.transfer_bytes, samples.wgsize], axis=1)
        return MapperHead(
            mean=mixture.mean,
            scale=mixture.block_scale,
            training=mixture.training,
            processes=mixture.processes[:num],
            process_scale=mixture.scale[:num],
            calibration=of_new,
            reference=sample_sizes(values),
            embedding_id=embedding.fingerprint,
            platform=samples.platform,
            about=about,
        )

    def _held_out(
        self, samples: DeviceMappingSamples, rows: NDArray[np.int64], unit: Unit, seed: int
    ) -> tuple[Array, NDArray[np.bool_]]:
        """What the members say of training rows that they were not fitted to, and whose sizes they knew.

        Returns:
            (members, n) float64 outputs and (n,) bool.
        """
        outputs = np.zeros((len(self.config.members) + bool(self.config.num_trees), len(rows)))
        known = np.zeros(len(rows), bool)
        groups = samples.groups(unit)[rows]
        config = replace(self.config, num_trees=min(self.config.inner_trees, self.config.num_trees))
        for train, test in balanced_folds(groups, min(config.inner_folds, len(np.unique(groups))), seed):
            mixture = _fit_mixture(self._inputs, samples, rows[train], config, seed)
            outputs[:, test], known[test] = mixture.outputs(self._inputs, samples, rows[test])
        return outputs, known


@dataclass(frozen=True, eq=False)
class _Mixture:
    """Members that were fitted: processes, first those for every kernel, and trees.

    A data size that training knows is in all likelihood that of a program whose other kernels it knows; then sizes
    tell more than code, and the trees and the processes made for that have a say too.
    """

    mean: Blocks
    block_scale: Blocks
    training: Blocks
    processes: tuple[Process, ...]
    num_general: int
    trees: ExtraTreesRegressor | None
    tree_blocks: tuple[str, ...]
    data: Array
    scale: Array

    def outputs(
        self, inputs: KernelInputs, samples: DeviceMappingSamples, rows: NDArray[np.int64]
    ) -> tuple[Array, NDArray[np.bool_]]:
        """What each member says of some rows, (members, m) float64, and whether their sizes are known, (m,) bool."""
        raw = inputs.rows(rows).blocks(samples.transfer_bytes[rows], samples.wgsize[rows])
        blocks = standardise(raw, self.mean, self.block_scale)
        said = [process.predict(blocks, self.training) for process in self.processes]
        if self.trees is not None:
            said.append(self.trees.predict(np.hstack([raw[name] for name in self.tree_blocks])))
        nearest = np.abs(raw["data"][:, None, :] - self.data[None, :, :]).sum(axis=2).min(axis=1)
        return np.stack(said), nearest < _SAME_SIZE

    def combine(self, outputs: Array, known: NDArray[np.bool_]) -> Array:
        """Score of each row, (m,) float64."""
        scaled = outputs / self.scale[:, None]
        score: Array = scaled[: self.num_general].mean(axis=0)
        return score + known * scaled[self.num_general :].mean(axis=0) if len(scaled) > self.num_general else score


def _fit_mixture(
    inputs: KernelInputs, samples: DeviceMappingSamples, rows: NDArray[np.int64], config: MapperConfig, seed: int
) -> _Mixture:
    raw = inputs.rows(rows).blocks(samples.transfer_bytes[rows], samples.wgsize[rows])
    mean = {name: columns.mean(axis=0) for name, columns in raw.items()}
    scale = {name: np.where(np.ptp(columns, axis=0) > 0, columns.std(axis=0), 0.0) for name, columns in raw.items()}
    training = standardise(raw, mean, scale)
    ratio = samples.log_ratio[rows]
    members = sorted(config.members, key=lambda member: member.only_known)
    trees = ExtraTreesRegressor(config.num_trees, random_state=seed, n_jobs=1) if config.num_trees else None
    if trees is not None:
        trees.fit(np.hstack([raw[name] for name in config.tree_blocks]), np.sign(ratio))
    return _Mixture(
        mean=mean,
        block_scale=scale,
        training=training,
        processes=tuple(_fit_process(member, training, ratio) for member in members),
        num_general=sum(not member.only_known for member in members),
        trees=trees,
        tree_blocks=config.tree_blocks,
        data=raw["data"],
        scale=np.ones(len(members) + (trees is not None)),
    )


def _fit_process(member: Member, training: Blocks, log_ratio: Array) -> Process:
    target = np.tanh(log_ratio) if member.bend == "tanh" else np.clip(log_ratio, -3, 3)
    covariance = sum(term.covariance(training, training) for term in member.terms)
    factor = cho_factor(covariance + member.noise * np.eye(len(target)))
    mean = float(target.mean())
    return Process(member.terms, mean, cho_solve(factor, target - mean))


def _calibrate(score: Array, log_ratio: Array, chosen: NDArray[np.bool_]) -> Calibration:
    """From held-out rows of one kind; from all where that kind is too rare."""
    rows = np.flatnonzero(chosen) if np.count_nonzero(chosen) >= REFERENCE_ROWS else np.arange(len(score))
    rows = rows[np.argsort(score[rows], kind="stable")]
    score, log_ratio = score[rows], log_ratio[rows]
    # the slope with the least absolute error through zero: a median, weighted by the scores
    ratio, weight = log_ratio / np.where(score == 0, 1e-9, score), np.abs(score)
    order = np.argsort(ratio)
    middle = np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)
    return Calibration(score, log_ratio, max(float(ratio[order][min(middle, len(order) - 1)]), 1e-3))
