"""Compares ways to give a predicted log-ratio an interval, on launches held out.

All are around the same answers, those of a head, and are fitted on its training launches alone. Kernels held out say
how far a model errs near what it knows. Groups held out, suites, or clusters of like code where there are too few of
these, say how far it errs on what is as strange to it as another source of kernels.

References: Vovk et al. 2005 (split and Mondrian conformal prediction); Rasmussen and Williams 2006, section 8.3.4
(variance of a projected process); Lakshminarayanan et al. 2017 (ensembles); Guo et al. 2017 (calibration, temperature).
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtr

from ncc.arrays import Floats
from ncc.learning.heads.figures import calibration_error
from ncc.tasks.devices.features import CODE
from ncc.tasks.devices.fit import NOISE, FoldPrediction, LaunchSamples, Model, OutOfFold, predict_held_out
from ncc.tasks.devices.head import (
    COVARIANCES,
    INTERVAL,
    LEVELS,
    Expert,
    GaussianProcess,
    TimesHead,
    compress_ratio,
    covariance_of,
    expand_ratio,
    predict_targets,
    sign_probability,
)
from ncc.tasks.devices.prediction import DevicePrediction
from ncc_lab.figures import selective_accuracy

_PERCENTS = (100, 75, 50, 25)
_BINS = 10
_GROUPS = 5
_CLUSTERS = 4
_MIN_SUITES = 4
_MAX_SAMPLE = 500


class Claims(NamedTuple):
    """Claims about n launches: the log ratio, both ends of its 80 % interval, and the probability of its sign."""

    ratio: Floats
    low: Floats
    high: Floats
    sure: Floats


def score_claims(claims: Claims, measured: Floats) -> dict[str, Any]:
    """Score claims by the log ratios that were measured, (n,)."""
    right = (claims.ratio > 0) == (measured > 0)
    surest = selective_accuracy(right, claims.sure, _PERCENTS)
    return {
        "coverage": round(float(((claims.low <= measured) & (measured <= claims.high)).mean()), 4),
        "width": round(float(np.median(claims.high - claims.low)), 4),
        "calibration_error": round(calibration_error(claims.sure, right, _BINS, 0.5), 4),
        "confidence": round(float(claims.sure.mean()), 4),
        "surest": {f"{percent}%": round(one, 4) for percent, one in zip(_PERCENTS, surest, strict=True)},
    }


def group_trials(samples: LaunchSamples, trials: OutOfFold, kind: Model, seed: int) -> list[FoldPrediction]:
    """Suites held out, or where there are fewer than four of them, clusters of kernels of like code."""
    from sklearn.cluster import KMeans

    if len(trials.suites) >= _MIN_SUITES:
        return trials.suites
    kernels, owner = np.unique(samples.columns[:, CODE], axis=0, return_inverse=True)
    number = min(_CLUSTERS, len(kernels))
    found = KMeans(number, n_init=4, random_state=seed).fit_predict(kernels)[owner.ravel()]
    splits = [(np.flatnonzero(found != one), np.flatnonzero(found == one)) for one in range(number)]
    return [predict_held_out(samples, *split, kind, seed) for split in splits if min(map(len, split)) >= 10]


class _Errors(NamedTuple):
    """Launches that were held out: what was said, what was measured, and how far they are from training."""

    said: Floats
    measured: Floats
    distance: Floats

    @property
    def size(self) -> Floats:
        return np.abs(self.said - self.measured)


def _errors_of(head: TimesHead, trials: Sequence[FoldPrediction], physics: Floats | None) -> _Errors:
    """Errors of answers, constants' say included."""
    expert = head.experts[0]
    said, measured = [], []
    for one in trials:
        others = None if physics is None else head.machine_model_errors
        errors = [expert.errors_at(distance, others) for distance in one.distance.tolist()]
        constants = None if physics is None else physics[one.row]
        said.append(expert.blend_prediction(one.predicted, one.distance, errors, constants)[:, 1:].max(axis=1))
        measured.append(one.targets[:, 1:].max(axis=1))
    return _Errors(np.concatenate(said), np.concatenate(measured), np.concatenate([one.distance for one in trials]))


def compare_intervals(
    head: TimesHead,
    samples: LaunchSamples,
    trials: tuple[OutOfFold, Sequence[FoldPrediction]],
    tested: LaunchSamples,
    answers: Sequence[DevicePrediction],
    physics: Floats | None,
) -> dict[str, Claims]:
    """What each way says of launches."""
    ratio, sure, distance = np.array([(one.log_ratio, one.confidence, one.distance or 0.0) for one in answers]).T
    low, high = np.log([one.interval for one in answers]).T
    shipped = Claims(ratio, low, high, sure)
    near = _errors_of(head, trials[0].kernels, physics)
    apart = [_errors_of(head, [one], physics) for one in trials[1]] or [near]
    groups = _Errors(*(np.concatenate(arrays) for arrays in zip(*apart, strict=True)))
    both = _Errors(*(np.concatenate(pair) for pair in zip(near, groups, strict=True)))
    split = _around(ratio, np.tile(np.quantile(near.size, LEVELS), (len(ratio), 1)))
    by_group = _around(ratio, _by_distance(both, distance))
    expert = head.experts[0]
    spread = "predictive variance" if isinstance(expert.model, GaussianProcess) else "variance of models"
    familiar = np.array([one.familiar for one in answers])
    return {
        "as answered": shipped,
        "as answered, even odds where unfamiliar": shipped._replace(sure=np.where(familiar, shipped.sure, 0.5)),
        spread: _variance(expert, samples, trials[0], tested, ratio),
        "split conformal": split,
        "conformal by distance": _around(ratio, _by_distance(near, distance)),
        "conformal by distance, groups held out": by_group,
        "tempered by distance": by_group._replace(sure=_tempered(near, both, ratio, distance)),
        "tempered for four groups in five": by_group._replace(sure=_for_most_groups(near, apart, ratio, distance)),
        "odds fitted on groups held out": by_group._replace(sure=_fitted_odds(both, ratio, distance)),
    }


def _around(ratio: Floats, errors: Floats) -> Claims:
    """Claims from quantiles of errors at `LEVELS`, (n, 39)."""
    half = np.array([np.interp(INTERVAL, LEVELS, row) for row in errors])
    sure = np.array([float(sign_probability(one, row)) for one, row in zip(ratio.tolist(), errors, strict=True)])
    return Claims(ratio, ratio - half, ratio + half, sure)


def _by_distance(errors: _Errors, distance: Floats) -> Floats:
    """(n, 39) quantiles of the errors in the group of launches that were as far from training."""
    edges = np.unique(np.quantile(errors.distance, np.arange(1, _GROUPS) / _GROUPS))
    group = np.searchsorted(edges, errors.distance, side="right")
    known = {number: np.quantile(errors.size[group == number], LEVELS) for number in np.unique(group).tolist()}
    wanted = np.searchsorted(edges, distance, side="right")
    return np.array([known[min(known, key=lambda other: abs(other - one))] for one in wanted.tolist()])


def _tempered(near: _Errors, both: _Errors, ratio: Floats, distance: Floats) -> Floats:
    """Confidence by errors of kernels held out, which falls to even odds with distance as fast as groups show."""
    errors = np.quantile(near.size, LEVELS)
    plain = sign_probability(both.said, errors)
    right = (both.said > 0) == (both.measured > 0)

    def fall(sure: Floats | float, distance: Floats, scale: float) -> Floats:
        return np.asarray(0.5 + (sure - 0.5) * np.exp(-distance / scale))

    scales = np.geomspace(0.05, 50, 61)
    bins = np.searchsorted(np.quantile(both.distance, np.arange(1, _GROUPS) / _GROUPS), both.distance)
    chosen = [bins == one for one in np.unique(bins)]
    gaps = [
        sum(rows.sum() * abs(fall(plain, both.distance, scale)[rows].mean() - right[rows].mean()) for rows in chosen)
        for scale in scales.tolist()
    ]
    return fall(sign_probability(ratio, errors), distance, float(scales[int(np.argmin(gaps))]))


def _for_most_groups(near: _Errors, groups: Sequence[_Errors], ratio: Floats, distance: Floats) -> Floats:
    """Confidence by errors of kernels held out; farther off, so much less that it holds for four groups in five."""
    errors = np.quantile(near.size, LEVELS)
    borne = []
    for one in groups:
        claimed = float(sign_probability(one.said, errors).mean()) - 0.5
        right = float(((one.said > 0) == (one.measured > 0)).mean()) - 0.5
        borne.append(np.clip(right / max(claimed, 1e-9), 0, 1))
    share = np.where(distance > np.quantile(near.distance, 0.9), np.quantile(borne, 1 - INTERVAL), 1.0)
    return np.asarray(0.5 + share * (sign_probability(ratio, errors) - 0.5))


def _fitted_odds(errors: _Errors, ratio: Floats, distance: Floats) -> Floats:
    """Confidence by logistic regression on the size of the ratio and the distance, at least 0.5."""
    from sklearn.linear_model import LogisticRegression

    def inputs(said: Floats, distance: Floats) -> Floats:
        size, far = np.log1p(np.abs(said)), np.log1p(distance)
        return np.stack([size, far, size * far], axis=1)

    right = (errors.said > 0) == (errors.measured > 0)
    if right.all() or not right.any():
        return np.full(len(ratio), max(float(right.mean()), 0.5))
    fitted = LogisticRegression(max_iter=1000).fit(inputs(errors.said, errors.distance), right)
    # farther than what was held out, odds are those at the farthest
    inside = np.minimum(distance, errors.distance.max())
    return np.asarray(np.maximum(fitted.predict_proba(inputs(ratio, inside))[:, 1], 0.5), np.float64)


def _variance(
    expert: Expert, samples: LaunchSamples, trials: OutOfFold, tested: LaunchSamples, ratio: Floats
) -> Claims:
    """A process's own variance, or how far models of parts of the data differ, with the error left in training."""
    model = expert.model
    if isinstance(model, GaussianProcess):
        deviation = _process_deviation(model, samples, tested)
        base = tested.base[:, 1]
        learned = compress_ratio(ratio - base)
        width = NormalDist().inv_cdf((1 + INTERVAL) / 2) * deviation
        low, high = base + expand_ratio(learned - width), base + expand_ratio(learned + width)
        return Claims(ratio, low, high, ndtr(np.abs(learned - compress_ratio(-base)) / deviation))
    models = [model, *(one.model for part in trials for one in part)]
    said = [predict_targets(one, tested.columns, tested.sequences)[:, 1] for one in models]
    some = np.random.default_rng(0).permutation(len(samples.columns))[:_MAX_SAMPLE]
    trained = predict_targets(model, samples.columns[some], samples.sequences[some])
    noise = np.mean((trained[:, 1] - (samples.targets - samples.base)[some, 1]) ** 2)
    deviation = np.sqrt(np.var(said, axis=0) + noise)
    width = NormalDist().inv_cdf((1 + INTERVAL) / 2) * deviation
    return Claims(ratio, ratio - width, ratio + width, ndtr(np.abs(ratio) / deviation))


def _process_deviation(model: GaussianProcess, samples: LaunchSamples, tested: LaunchSamples) -> Floats:
    """(n,) standard deviations of the compress_ratio ratio."""
    points, rows = model.points, model.standardize(samples.columns)
    inner, cross = (covariance_of(points, some, model.covariance) for some in (points, rows))
    asked = covariance_of(points, model.standardize(tested.columns), model.covariance)
    jitter = 1e-6 * len(rows) * np.eye(len(points))
    known = (asked * cho_solve(cho_factor(inner + 1e-6 * np.eye(len(points))), asked)).sum(axis=0)
    left = (asked * cho_solve(cho_factor(NOISE * inner + cross @ cross.T + jitter), asked)).sum(axis=0)
    learned = compress_ratio((samples.targets - samples.base)[:, 1]) - model.base[1]
    scale = float(np.mean(learned * (learned - cross.T @ model.weights[:, 1]))) / NOISE
    total = sum(variance for _, variance, _ in COVARIANCES[model.covariance][1])
    variance = np.maximum(total - known, 0) + NOISE * left + NOISE
    return np.asarray(np.sqrt(max(scale, 1e-6) * variance))
