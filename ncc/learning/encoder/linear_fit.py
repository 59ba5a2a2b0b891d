"""Fits the linear encoder to classes of programs, and to builds of the same functions.

References: Hastie, Buja, Tibshirani 1995 (discriminants by ridge regression on indicators); Halko, Martinsson, Tropp
2011 (randomized singular values); Hatch et al. 2006 (within-class covariance).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.covariance import shrunk_covariance
from sklearn.linear_model import Ridge
from sklearn.utils.extmath import randomized_svd

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import InputError
from ncc.learning.embedding.embedding import l2_normalize
from ncc.learning.encoder.config import EncoderTraining
from ncc.learning.encoder.linear import Level, LinearEncoder, pattern_values
from ncc.learning.encoder.patterns import BITS, PatternCounts

# Chosen by cross-validation on classes 1 to 80 of POJ-104; the test classes 81 to 104 were not used.
_MAX_DOCUMENT_FREQUENCY = 0.9
_RIDGE_PENALTY = 8.0
_MAX_GRADIENT_STEPS, _RIDGE_TOLERANCE = 40, 3e-3
_NUM_SINGULAR_VECTORS = 1200
_SHRINKAGE = 0.02
_LEVEL_NORMS: dict[Level, float] = {"module": 0.93, "function": 0.3}
_COMMON_COMPONENT_WEIGHT, _SHARPNESS = 0.2, 10.0

_OVERSAMPLED, _NUM_POWER_ITERATIONS = 30, 2
_MAX_WEIGHT = 127


@dataclass(frozen=True, eq=False)
class LabelledPatterns:
    """Bags of patterns, and the (n,) class, or number of the function, of each."""

    counts: PatternCounts
    label: Ints

    @classmethod
    def joined(cls, parts: Iterable[tuple[PatternCounts, list[int]]]) -> Self:
        """All bags, concatenated."""
        bags = list(parts)
        labels = [label for _, part in bags for label in part]
        return cls(PatternCounts.joined([counts for counts, _ in bags]), np.array(labels, np.int64))


@dataclass(frozen=True, eq=False)
class _FunctionPart:
    """The part of an encoder that is fitted to builds of functions: (m,) patterns, (m, k) weights, (k,) center."""

    pattern_ids: NDArray[np.uint32]
    idf: Floats32
    weights: Floats32
    center: Floats32
    card: Mapping[str, Any]


def fit_encoder(
    programs: LabelledPatterns,
    functions: LabelledPatterns | LinearEncoder,
    training: EncoderTraining,
    *,
    card: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> LinearEncoder:
    """Fit an encoder; the result depends only on data and seed."""
    classes = len(np.unique(programs.label))
    if classes < 2:
        raise InputError("expected programs of at least two classes")
    if isinstance(functions, LinearEncoder):
        part = _part_of(functions, programs.counts, training.min_df)
    else:
        part = _fit_functions(functions, programs.counts, training.dim - classes + 1, training)
    progress(f"{part.weights.shape[1]} directions tell functions apart, by {len(part.pattern_ids)} patterns")
    bags = _rows(programs.counts, part.pattern_ids, part.idf)
    by_class = _class_directions(bags, programs.label)
    progress(f"{by_class.shape[1]} directions tell {classes} classes apart, of {len(programs.label)} programs")
    center = bags.mean(axis=0) @ by_class
    anchors = _class_means((bags @ by_class - center).astype(np.float64), programs.label)[0]
    weights = np.concatenate([by_class, part.weights], axis=1)
    scale = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _MAX_WEIGHT
    return LinearEncoder(
        pattern_ids=part.pattern_ids,
        idf=part.idf,
        weights=np.round(weights / scale[:, None]).astype(np.int8),
        scale=scale.astype(np.float32),
        center=np.concatenate([center, part.center]).astype(np.float32),
        anchors=l2_normalize(anchors.astype(np.float32)),
        num_classes=by_class.shape[1],
        common_component_weight=_COMMON_COMPONENT_WEIGHT,
        sharpness=_SHARPNESS,
        level_norms=_LEVEL_NORMS,
        card={
            **(card or {}),
            "training": {"dim": training.dim, "min_df": training.min_df},
            "seed": training.seed,
            "programs": len(programs.label),
            "classes": classes,
            "patterns": len(part.pattern_ids),
            **part.card,
        },
    )


def _part_of(encoder: LinearEncoder, programs: PatternCounts, min_df: int) -> _FunctionPart:
    """The function part of an encoder with unchanged weights, and 0 for kinds of patterns that it lacks."""
    first = encoder.num_classes
    pattern_ids, idf = _frequent_patterns([programs], min_df)
    more = ~np.isin(pattern_ids >> BITS, encoder.pattern_ids >> BITS)
    all_ids = np.concatenate([encoder.pattern_ids, pattern_ids[more]])
    order = np.argsort(all_ids)
    weights = np.zeros((len(order), encoder.dim - first), np.float32)
    weights[: len(encoder.pattern_ids)] = encoder.weights[:, first:] * encoder.scale[:, None]
    card: dict[str, Any] = {name: encoder.card[name] for name in ("functions", "builds") if name in encoder.card}
    card["functions_from"] = encoder.card.get("functions_from", encoder.card.get("command", encoder.fingerprint))
    all_idf = np.concatenate([encoder.idf, idf[more]])
    return _FunctionPart(all_ids[order], all_idf[order], weights[order], encoder.center[first:], card)


def _fit_functions(
    functions: LabelledPatterns, programs: PatternCounts, num: int, training: EncoderTraining
) -> _FunctionPart:
    """Directions in which functions vary most, relative to how much their builds do."""
    num_functions, num_builds = len(np.unique(functions.label)), len(functions.label)
    if num_functions < 2:
        raise InputError("expected builds of at least two functions")
    pattern_ids, idf = _frequent_patterns([programs, functions.counts], training.min_df)
    if len(pattern_ids) < training.dim:
        raise InputError(
            f"{len(pattern_ids)} patterns are in {training.min_df} bags or more; expected at least {training.dim}"
        )
    rows = _rows(functions.counts, pattern_ids, idf)
    size = min(_NUM_SINGULAR_VECTORS, min(rows.shape) - _OVERSAMPLED - 1)
    if size < 1:
        raise InputError(f"expected more than {_OVERSAMPLED + 1} builds of functions, found {num_builds}")
    options = {"n_oversamples": _OVERSAMPLED, "n_iter": _NUM_POWER_ITERATIONS, "random_state": training.seed}
    basis = randomized_svd(rows, size, **options)[2].T  # (m, size) right singular vectors
    places = (rows @ basis).astype(np.float64)
    whitening = _whitening(places, functions.label, _SHRINKAGE)
    _, turn = np.linalg.eigh(np.cov((places @ whitening).T))
    weights = (basis @ (whitening @ turn[:, ::-1][:, :num])).astype(np.float32)
    card = {"functions": num_functions, "builds": num_builds}
    return _FunctionPart(pattern_ids, idf, weights, rows.mean(axis=0) @ weights, card)


def _frequent_patterns(counts: Sequence[PatternCounts], min_df: int) -> tuple[NDArray[np.uint32], Floats32]:
    """Patterns in enough bags, but not in nearly all, and their inverse document frequency (log)."""
    num_bags = sum(len(bags.start) - 1 for bags in counts)
    pattern_ids, frequency = np.unique(np.concatenate([bags.key for bags in counts]), return_counts=True)
    mask = (frequency >= min_df) & (frequency <= _MAX_DOCUMENT_FREQUENCY * num_bags)
    return pattern_ids[mask], np.log((1 + num_bags) / (1 + frequency[mask])).astype(np.float32)


def _rows(counts: PatternCounts, pattern_ids: NDArray[np.uint32], idf: Floats32) -> csr_array:
    """(n, m) float32 values of bags."""
    start, column, value = pattern_values(counts, pattern_ids, idf)
    return csr_array((value, column, start), shape=(len(start) - 1, len(pattern_ids)))


def _class_directions(rows: csr_array, label: Ints) -> Floats32:
    """(m, num_classes - 1) discriminant directions by ridge regression, whitened within the classes."""
    indicator = (label[:, None] == np.unique(label)).astype(np.float32)
    ridge = Ridge(_RIDGE_PENALTY, solver="sparse_cg", max_iter=_MAX_GRADIENT_STEPS, tol=_RIDGE_TOLERANCE)
    outputs = ridge.fit(rows, indicator).predict(rows).astype(np.float64)
    whitening = _whitening(outputs, label, 0.001)
    means = _class_means(outputs @ whitening, label)[0]
    _, turn = np.linalg.eigh(np.cov(means.T))
    return (ridge.coef_.T @ (whitening @ turn[:, :0:-1])).astype(np.float32)


def _class_means(values: Floats, label: Ints) -> tuple[Floats, Ints]:
    """Means of the classes, and the row of each value's class among them."""
    _, index, size = np.unique(label, return_inverse=True, return_counts=True)
    sums = np.zeros((len(size), values.shape[1]))
    np.add.at(sums, index, values)
    return sums / size[:, None], index


def _whitening(values: Floats, label: Ints, shrinkage: float) -> Floats:
    """The linear map under which values have equal variance in all directions within their classes."""
    means, index = _class_means(values, label)
    within = values - means[index]
    variance, turn = np.linalg.eigh(shrunk_covariance(within.T @ within / len(values), shrinkage))
    floor = max(float(variance[-1]), np.finfo(np.float64).tiny) * 1e-9
    return np.asarray(turn / np.sqrt(np.maximum(variance, floor)))
