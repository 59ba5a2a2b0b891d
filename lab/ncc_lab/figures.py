"""Figures over groups of rows, with bootstrap intervals: whole groups are drawn again and again.

A figure is a function of drawn sums over rows, so that all draws together cost one matrix product a column.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Ints
from ncc.system.files.text import align_columns, escape_control

Columns = Mapping[str, NDArray[Any]]
"""What is known of each row, by name, (n,) each."""

DRAWS = 2000
SEED = 204
"""Seed of the published folds and draws, and the first seed of every comparison."""
_LEVEL = 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A figure with its interval.

    Attributes:
        value: Mean over the seeds.
        low, high: Ends of the bootstrap interval; with few groups take both as an indication only.
        per_seed: The figure of each seed, (seeds,) float64.
    """

    value: float
    low: float
    high: float
    per_seed: Floats


@dataclass(frozen=True, eq=False)
class Draws:
    """Groups of rows, and how often each is drawn.

    Attributes:
        codes: (n,) int64 group of each row.
        counts: (draws, groups) times that each group is drawn.
    """

    codes: Ints
    counts: NDArray[Any]

    def sum(self, column: NDArray[Any]) -> Floats:
        """Sum a column over the drawn rows: from (n,) to (draws,), from (n, k) to (draws, k)."""
        columns = np.asarray(column, np.float64).reshape(len(self.codes), -1)
        sums = np.zeros((self.counts.shape[1], columns.shape[1]))
        np.add.at(sums, self.codes, columns)
        total: Floats = self.counts @ sums
        return total if np.ndim(column) > 1 else total[:, 0]

    @property
    def size(self) -> Floats:
        """The number of drawn rows, (draws,) float64."""
        return self.sum(np.ones(len(self.codes)))


@dataclass(frozen=True)
class Figure:
    """A figure of a task.

    Attributes:
        of: From drawn groups and the rows' columns to a number a draw, (draws,).
        unit: "%" for a fraction, "×" for a ratio, or empty.
        places: Decimal places that are shown.
        is_better_high: Whether the highest is the best; None if no order is meant.
    """

    of: Callable[[Draws, Columns], Floats]
    unit: str = "%"
    places: int = 1
    is_better_high: bool | None = True

    def show(self, value: float, low: float | None = None, high: float | None = None) -> str:
        """Return the figure as text, with its interval if there is one; a dash stands for none."""
        return show(value, low, high, unit=self.unit, places=self.places)


def show(
    value: float | None, low: float | None = None, high: float | None = None, *, unit: str = "", places: int = 1
) -> str:
    """Return a figure as text.

    >>> show(0.5, unit="%"), show(1.234, 1.1, 1.3, unit="×", places=2), show(None)
    ('50.0%', '1.23× (1.10–1.30)', '–')
    """
    if value is None or not np.isfinite(value):
        return "–"
    factor = 100 if unit == "%" else 1
    text = f"{factor * value:,.{places}f}{unit}"
    if low is None or high is None:
        return text
    return f"{text} ({factor * low:,.{places}f}–{factor * high:,.{places}f})"


def table(caption: str, rows: Mapping[str, Sequence[str]], columns: Sequence[str]) -> str:
    """Return texts in columns, below a caption and the columns' names; rows begin with their names."""
    lines = [["", *columns], *([name, *cells] for name, cells in rows.items())]
    printable = [[escape_control(cell, lines=False) for cell in line] for line in lines]
    return "\n".join([caption, *align_columns(printable, left={0})])


def mean(column: str, unit: str = "%", places: int = 1, *, is_better_high: bool | None = True) -> Figure:
    """Return the arithmetic mean of a column; NaN if a method lacks the column."""
    return Figure(lambda draws, columns: _mean(draws, columns, column), unit, places, is_better_high)


def geomean(log_column: str, unit: str = "×", places: int = 2) -> Figure:
    """Return the geometric mean of what a column holds the logarithms of."""
    return Figure(lambda draws, columns: np.exp(_mean(draws, columns, log_column)), unit, places)


def mean_where(column: str, condition: str, unit: str = "%", places: int = 1) -> Figure:
    """Return the mean over the rows that meet a condition; 0 if none does."""

    def of(draws: Draws, columns: Columns) -> Floats:
        chosen = columns[condition]
        return draws.sum(columns[column] * chosen) / np.maximum(draws.sum(chosen), 1)

    return Figure(of, unit, places)


def macro_f1(true: str, predicted: str, unit: str = "%", places: int = 1) -> Figure:
    """Return the mean of the classes' F1; a class that is neither true nor predicted in a draw scores 0."""

    def of(draws: Draws, columns: Columns) -> Floats:
        classes = np.unique(columns[true])
        is_true, is_predicted = (columns[name][:, None] == classes for name in (true, predicted))
        right = draws.sum(is_true & is_predicted)
        scores: Floats = 2 * right / np.maximum(draws.sum(is_true) + draws.sum(is_predicted), 1)
        return scores.mean(axis=1)

    return Figure(of, unit, places)


def calibration_error(confidence: str, right: str, bins: int = 15) -> Figure:
    """Return the mean distance between confidence and accuracy in bins of equal width.

    Reference: Naeini, Cooper, Hauskrecht 2015 ("Obtaining well calibrated probabilities using Bayesian binning").
    """

    def of(draws: Draws, columns: Columns) -> Floats:
        stated = columns[confidence]
        bin_of = np.minimum((stated * bins).astype(np.int64), bins - 1)
        gap = (stated - columns[right])[:, None] * (bin_of[:, None] == np.arange(bins))
        error: Floats = np.abs(draws.sum(gap)).sum(axis=1) / draws.size
        return error

    return Figure(of, "%", 2, is_better_high=None)


def _mean(draws: Draws, columns: Columns, name: str) -> Floats:
    if name not in columns:
        return np.full(len(draws.counts), np.nan)
    return draws.sum(columns[name]) / draws.size


def estimate(
    columns: Sequence[Columns],
    figures: Mapping[str, Figure],
    groups: NDArray[Any],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, Estimate]:
    """Put intervals on figures.

    They express which groups happen to be in the table, not the variance of training, which ``per_seed`` shows.

    Args:
        columns: The rows' columns, a mapping for each seed.
        figures: Name → figure.
        groups: (n,) name of each row's group.
        draws: Number of draws.
        seed: Seed of the draws.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    num = int(codes.max()) + 1
    drawn = Draws(codes, np.random.default_rng(seed).multinomial(num, np.full(num, 1 / num), size=draws))
    once = Draws(codes, np.ones((1, num)))
    tail = (1 - _LEVEL) / 2
    estimates = {}
    for name, figure in figures.items():
        per_seed = np.array([figure.of(once, rows)[0] for rows in columns])
        low, high = np.quantile(np.mean([figure.of(drawn, rows) for rows in columns], axis=0), (tail, 1 - tail))
        estimates[name] = Estimate(value=float(per_seed.mean()), low=float(low), high=float(high), per_seed=per_seed)
    return estimates


def selective_accuracy(right: Bools, confidence: Floats, percents: Sequence[int]) -> list[float]:
    """Return the accuracy on the most confident rows, for each percentage of all rows (at least one row)."""
    order = np.argsort(-confidence, kind="stable")
    return [float(right[order[: max(len(order) * percent // 100, 1)]].mean()) for percent in percents]
