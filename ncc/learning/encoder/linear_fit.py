"""Fits the linear encoder to classes of programs, and to builds of the same functions.

References: Hastie, Buja, Tibshirani 1995 (discriminants by ridge regression on indicators); Halko, Martinsson, Tropp
2011 (randomized singular values); Hatch et al. 2006 (within-class covariance).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import InputError
from ncc.learning.encoder.linear import Level, LinearEncoder, pattern_values, unit_rows
from ncc.learning.encoder.patterns import BITS, PatternCounts

_MOST_OFTEN = 0.9
_LARGEST = 127
_OVERSAMPLED = 30


@dataclass(frozen=True, kw_only=True)
class LinearEncoderTraining:
    """How an encoder is fitted.

    Attributes:
        dim: Number of dimensions of its vectors.
        least: Bags that a pattern is in at least, to be known.
        penalty: Of squared weights in the regression on classes.
        directions: Of greatest variance of functions, within which those that tell them apart are looked for.
        shrinkage: Share of the mean variance in that within a function's builds.
        class_share: Level → length of the part of a vector that tells classes apart.
        repulsion: Share of the nearest classes' mean that is taken off a vector.
        sharpness: How much more a class counts in that mean the nearer it is.
    """

    dim: int = 256
    least: int = 60
    penalty: float = 8.0
    directions: int = 1200
    shrinkage: float = 0.02
    class_share: tuple[tuple[Level, float], ...] = (("module", 0.93), ("function", 0.3))
    repulsion: float = 0.2
    sharpness: float = 10.0


@dataclass(frozen=True, eq=False)
class LabelledPatterns:
    """Bags of patterns, and what each is one of.

    Attributes:
        counts: Of n bags.
        label: (n,) class, or number of the function, of each.
    """

    counts: PatternCounts
    label: Ints


def fit_encoder(
    programs: LabelledPatterns,
    functions: LabelledPatterns | LinearEncoder,
    training: LinearEncoderTraining | None = None,
    *,
    about: Mapping[str, Any] | None = None,
    seed: int = 204,
    progress: Callable[[str], None] | None = None,
) -> LinearEncoder:
    """Fit an encoder, the same for the same data and seed."""
    training, tell = training or LinearEncoderTraining(), progress or (lambda _: None)
    classes = len(np.unique(programs.label))
    if classes < 2:
        raise InputError("expected programs of two classes or more")
    num = training.dim - classes + 1
    if isinstance(functions, LinearEncoder):
        part = _part_of(functions, programs.counts, training.least)
    else:
        part = _fit_functions(functions, programs.counts, num, training, np.random.default_rng(seed))
    tell(f"{part.weights.shape[1]} directions tell functions apart, by {len(part.keys)} patterns")
    bags = _rows(programs.counts, part.keys, part.rarity)
    by_class = _class_directions(bags, programs.label, training.penalty)
    tell(f"{by_class.shape[1]} directions tell {classes} classes apart, of {len(programs.label)} programs")
    centre = _mean(bags) @ by_class
    anchors = _class_means((bags @ by_class - centre).astype(np.float64), programs.label)[0]
    weights = np.concatenate([by_class, part.weights], axis=1)
    scale = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _LARGEST
    return LinearEncoder(
        keys=part.keys,
        rarity=part.rarity,
        weights=np.round(weights / scale[:, None]).astype(np.int8),
        scale=scale.astype(np.float32),
        centre=np.concatenate([centre, part.centre]).astype(np.float32),
        anchors=unit_rows(anchors.astype(np.float32)),
        num_classes=by_class.shape[1],
        repulsion=training.repulsion,
        sharpness=training.sharpness,
        share=dict(training.class_share),
        about={
            **(about or {}),
            "training": asdict(training),
            "seed": seed,
            "programs": len(programs.label),
            "classes": classes,
            "patterns": len(part.keys),
            **part.about,
        },
    )


@dataclass(frozen=True, eq=False)
class _FunctionPart:
    """What an encoder learns from builds of functions.

    Attributes:
        keys: (m,) uint32 patterns that it knows.
        rarity: (m,) float32.
        weights: (m, k) float32 directions.
        centre: (k,) float32 mean of the functions in these.
        about: For the card.
    """

    keys: NDArray[np.uint32]
    rarity: Floats32
    weights: Floats32
    centre: Floats32
    about: Mapping[str, Any]


def _part_of(encoder: LinearEncoder, programs: PatternCounts, least: int) -> _FunctionPart:
    """The part that an encoder has learnt from functions, and patterns of kinds that it does not know, which get none.

    Its weights have been rounded, and stay so.
    """
    first = encoder.num_classes
    keys, rarity = _known_patterns([programs], least)
    more = ~np.isin(keys >> BITS, encoder.keys >> BITS)
    all_keys = np.concatenate([encoder.keys, keys[more]])
    order = np.argsort(all_keys)
    weights = np.zeros((len(order), encoder.dim - first), np.float32)
    weights[: len(encoder.keys)] = encoder.weights[:, first:] * encoder.scale[:, None]
    kept = {name: encoder.about[name] for name in ("functions", "builds") if name in encoder.about}
    return _FunctionPart(
        all_keys[order],
        np.concatenate([encoder.rarity, rarity[more]])[order],
        weights[order],
        encoder.centre[first:],
        {**kept, "functions_of": encoder.about.get("functions_of", encoder.about.get("command", encoder.fingerprint))},
    )


def _fit_functions(
    functions: LabelledPatterns,
    programs: PatternCounts,
    num: int,
    training: LinearEncoderTraining,
    rng: np.random.Generator,
) -> _FunctionPart:
    if len(np.unique(functions.label)) < 2:
        raise InputError("expected builds of two functions or more")
    keys, rarity = _known_patterns([programs, functions.counts], training.least)
    if len(keys) < training.dim:
        raise InputError(f"{len(keys)} patterns are in {training.least} bags or more; expected {training.dim} at least")
    builds = _rows(functions.counts, keys, rarity)
    weights = _function_directions(builds, functions.label, min(num, training.directions), training, rng)
    about = {"functions": len(np.unique(functions.label)), "builds": len(functions.label)}
    return _FunctionPart(keys, rarity, weights, _mean(builds) @ weights, about)


def _known_patterns(counts: Sequence[PatternCounts], least: int) -> tuple[NDArray[np.uint32], Floats32]:
    """Patterns that are in enough bags, and not in nearly all, and the logarithm of how rare each is."""
    num_bags = sum(len(one.start) - 1 for one in counts)
    keys, bags = np.unique(np.concatenate([one.key for one in counts]), return_counts=True)
    kept = (bags >= least) & (bags <= _MOST_OFTEN * num_bags)
    return keys[kept], np.log((1 + num_bags) / (1 + bags[kept])).astype(np.float32)


def _rows(counts: PatternCounts, keys: NDArray[np.uint32], rarity: Floats32) -> csr_array:
    """(n, m) float32 values of bags."""
    start, column, value = pattern_values(counts, keys, rarity)
    return csr_array((value, column, start), shape=(len(start) - 1, len(keys)))


def _mean(rows: csr_array) -> Floats32:
    return np.asarray(rows.sum(axis=0) / rows.shape[0]).ravel().astype(np.float32)


def _class_directions(rows: csr_array, label: Ints, penalty: float, steps: int = 40) -> Floats32:
    """(m, num_classes - 1) directions of programs in which classes are far apart and alike in themselves.

    Ridge regression on indicators of the classes, by conjugate gradients; its outputs are whitened within the classes.
    """
    mean = _mean(rows)
    across = rows.T.tocsr()
    indicator = (label[:, None] == np.unique(label)[None, :]).astype(np.float32)
    indicator -= indicator.mean(axis=0)

    def back(values: Floats32) -> Floats32:
        return across @ values - mean[:, None] * values.sum(axis=0)

    residual = back(indicator)
    weights, direction = np.zeros_like(residual), residual.copy()
    squared = first = (residual**2).sum(axis=0)
    for _ in range(steps):
        product = back(rows @ direction - mean @ direction) + penalty * direction
        step = squared / (direction * product).sum(axis=0)
        weights += step * direction
        residual -= step * product
        before, squared = squared, (residual**2).sum(axis=0)
        if (squared < 1e-5 * first).all():
            break
        direction = residual + squared / before * direction
    outputs = (rows @ weights - mean @ weights).astype(np.float64)
    whitening = _whitening(outputs, label, 0.001)
    means = _class_means(outputs @ whitening, label)[0]
    _, turn = np.linalg.eigh(np.cov(means.T))
    return (weights @ (whitening @ turn[:, :0:-1])).astype(np.float32)


def _function_directions(
    rows: csr_array, label: Ints, num: int, training: LinearEncoderTraining, rng: np.random.Generator
) -> Floats32:
    """(m, num) directions in which functions vary most, measured by how much their builds do."""
    basis = _singular_vectors(rows, min(training.directions, min(rows.shape) - _OVERSAMPLED - 1), rng)
    places = (rows @ basis).astype(np.float64)
    whitening = _whitening(places, label, training.shrinkage)
    _, turn = np.linalg.eigh(np.cov((places @ whitening).T))
    return (basis @ (whitening @ turn[:, ::-1][:, :num])).astype(np.float32)


def _singular_vectors(rows: csr_array, num: int, rng: np.random.Generator) -> Floats32:
    """(m, num) right singular vectors of the greatest singular values."""
    if num < 1:
        raise InputError(f"expected more than {_OVERSAMPLED + 1} builds of functions, found {rows.shape[0]}")
    across = rows.T.tocsr()
    basis = rng.standard_normal((rows.shape[1], num + _OVERSAMPLED)).astype(np.float32)
    for _ in range(2):
        basis, _ = np.linalg.qr(across @ np.linalg.qr(rows @ basis)[0])
    _, _, turn = np.linalg.svd(rows @ basis, full_matrices=False)
    return (basis @ turn[:num].T).astype(np.float32)


def _class_means(values: Floats, label: Ints) -> tuple[Floats, Ints]:
    """Means of the classes, and the number of each row's class among them."""
    _, number, size = np.unique(label, return_inverse=True, return_counts=True)
    sums = np.zeros((len(size), values.shape[1]))
    np.add.at(sums, number, values)
    return sums / size[:, None], number


def _whitening(values: Floats, label: Ints, shrinkage: float) -> Floats:
    """The map under which values vary equally in all directions within their classes."""
    means, number = _class_means(values, label)
    within = values - means[number]
    covariance = within.T @ within / len(values)
    size = len(covariance)
    covariance = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / size * np.eye(size)
    variance, turn = np.linalg.eigh(covariance)
    floor = max(float(variance[-1]), np.finfo(np.float64).tiny) * 1e-9
    return np.asarray(turn / np.sqrt(np.maximum(variance, floor)))
