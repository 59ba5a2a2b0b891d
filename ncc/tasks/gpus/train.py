"""Fits `GpuHead`: boosted trees on the roofline's residuals, with errors from programs held out of each model."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError
from ncc.learning.heads.trees import trees_of
from ncc.tasks.gpus.head import TARGETS, GpuHead, nearest_distance, physics_of, spread_of, standardised
from ncc.tasks.gpus.measured import Launches

_FOLDS = 4
_MEMBERS = 3
_INTERVAL = 0.8
_LEAST_ERROR = 0.02
_FAMILIAR = 0.9
_TREES: dict[str, Any] = {
    "max_iter": 150, "learning_rate": 0.05, "max_leaf_nodes": 8, "l2_regularization": 5.0, "max_features": 0.2,
    "early_stopping": False,
}  # fmt: skip
_FEWEST_IN_LEAF = 20


def program_folds(program: NDArray[np.str_], number: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Rows of training and of testing, a program's all on one side.

    Raises:
        InputError: There are fewer programs than folds.
    """
    names = np.unique(program)
    if len(names) < number:
        raise InputError(f"{len(names)} programs; expected at least {number} to hold some out")
    fold = dict(
        zip(np.random.default_rng(seed).permutation(names).tolist(), np.arange(len(names)) % number, strict=True)
    )
    of_row = np.array([fold[name] for name in program.tolist()])
    for one in range(number):
        yield np.flatnonzero(of_row != one), np.flatnonzero(of_row == one)


def fit_gpus(launches: Launches, card: str, *, seed: int = 204, about: dict[str, Any] | None = None) -> GpuHead:
    """Fits a head to measured launches.

    Where no row says what it is bound by, the roofline's own view of the counts stands in for that; where none says
    what it moved, the distinct bytes do.

    Raises:
        InputError: There are fewer than four programs.
    """
    values = launches.values
    roofline, moved = physics_of(values, launches.columns)
    kept = np.flatnonzero(np.ptp(values, axis=0) > 0)
    rest = launches.log_time - roofline
    compute = np.where(np.isnan(launches.compute), _seems_compute(launches), launches.compute) > 0
    traffic = np.where(np.isnan(launches.log_traffic), 0, launches.log_traffic - moved)
    said, odds = np.zeros(len(values)), np.zeros(len(values))
    folds = list(program_folds(launches.program, _FOLDS, seed))
    for train, test in folds:
        said[test] = _fit_values(values[np.ix_(train, kept)], rest[train], seed).predict(values[np.ix_(test, kept)])
        odds[test] = _fit_odds(values[np.ix_(train, kept)], compute[train], seed, values[np.ix_(test, kept)])
    errors = np.abs(rest - said)
    log_error = np.log(errors + _LEAST_ERROR)
    spread = np.zeros(len(values))
    for train, test in folds:
        model = _fit_values(values[np.ix_(train, kept)], log_error[train], seed, squared=True)
        spread[test] = model.predict(values[np.ix_(test, kept)])
    fitted: list[tuple[int, Any, float]] = []
    for member in range(_MEMBERS):
        for name, target in (("time", rest), ("spread", log_error), ("traffic", traffic)):
            model = _fit_values(values[:, kept], target, seed + member, squared=name == "spread")
            fitted.append((TARGETS.index(name), model, 1 / _MEMBERS))
        if len(np.unique(compute)) == 2:
            model = _classifier(values[:, kept], compute, seed + member)
            fitted.append((TARGETS.index("compute"), model, 1 / _MEMBERS))
    told = launches.rows(np.unique(values, axis=0, return_index=True)[1])
    middle, scale = told.values.mean(axis=0), told.values.std(axis=0)
    points = standardised(told.values, middle, np.where(scale > _LEAST_ERROR, scale, 0))
    share = float(np.clip(compute.mean(), 0.01, 0.99))
    return GpuHead(
        card=card,
        columns=launches.columns,
        trees=trees_of(fitted, kept, len(TARGETS)),
        width=max(float(np.quantile(errors / spread_of(spread), _INTERVAL)), _LEAST_ERROR),
        odds=_calibrated(odds, compute),
        common=float(np.log(share / (1 - share))),
        middle=middle,
        scale=np.where(scale > _LEAST_ERROR, scale, 0),
        points=points,
        familiar=_familiar(points, told.program, folds=list(program_folds(told.program, _FOLDS, seed))),
        about=about or {},
    )


def _seems_compute(launches: Launches) -> Floats:
    """Whether the roofline says that operations take longer than bytes."""
    operations = np.max([launches.column(f"time_{name}") for name in ("single", "double", "integer")], axis=0)
    return (operations > launches.column("time_memory")).astype(float)


def _fit_values(columns: Floats, target: Floats, seed: int, squared: bool = False) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    loss = "squared_error" if squared else "absolute_error"
    return HistGradientBoostingRegressor(
        loss=loss, random_state=seed, min_samples_leaf=_in_leaf(columns), **_TREES
    ).fit(columns, target)


def _in_leaf(columns: Floats) -> int:
    """Fewest rows of a leaf: less where rows are few."""
    return int(np.clip(len(columns) // _FEWEST_IN_LEAF, 2, _FEWEST_IN_LEAF))


def _classifier(columns: Floats, compute: Bools, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    share = compute.mean()
    weight = np.where(compute, 0.5 / share, 0.5 / (1 - share))
    return HistGradientBoostingClassifier(random_state=seed, **_TREES).fit(columns, compute, sample_weight=weight)


def _fit_odds(columns: Floats, compute: Bools, seed: int, asked: Floats) -> Floats:
    """Log odds that trees say of rows that they were not trained on."""
    if len(np.unique(compute)) < 2:
        return np.zeros(len(asked))
    return _classifier(columns, compute, seed).decision_function(asked)


def _calibrated(odds: Floats, compute: Bools) -> Floats:
    """Slope and offset of log odds that fit what was held out, both classes weighing the same.

    Reference: Platt 1999.
    """
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(compute)) < 2:
        return np.array([1.0, 0.0])
    fitted = LogisticRegression(class_weight="balanced", C=1e3).fit(odds[:, None], compute)
    return np.array([max(float(fitted.coef_[0, 0]), 0.05), float(fitted.intercept_[0])])


def _familiar(points: Floats, program: NDArray[np.str_], folds: list[tuple[Ints, Ints]]) -> float:
    """Distance within which nine in ten launches have one of another program."""
    assert len(points) == len(program)
    far = [nearest_distance(points[test], points[train]) for train, test in folds]
    return max(float(np.quantile(np.concatenate(far), _FAMILIAR)), _LEAST_ERROR)
