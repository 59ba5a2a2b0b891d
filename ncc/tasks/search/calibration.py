"""Copy rates of similarities, measured on functions known to be the same or different.

A file made by the lab has, for each similarity, the fraction of pairs of the same function compiled at two levels that
are at least as similar, and that of pairs of different functions. Given the average number of copies of a function in
a code base, Bayes' rule gives the fraction of copies among all such pairs, made monotonic in similarity.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import convert

from ncc.arrays import Floats
from ncc.system.files.models import read_json

FORMAT_VERSION = 1
COPIES_PER_FUNCTION = 0.1
"""Assumed average number of copies of a function: one function in ten has one."""
MIN_POOL_SIZE = 400
"""Minimum number of functions that a code base is assumed to have. Similar functions are close to each other: half of
the pairs with a similarity of at least 0.86 in mbedTLS 2.28 and LZ4 1.9 are in the same file, among 25 functions, so a
small code base has no fewer of them."""
_ASSETS = Path(__file__).parents[2] / "assets" / "search"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Copy rate at each similarity, for vectors of one kind.

    Attributes:
        pooler_id: ID of the pooler of the vectors.
        similarity: Ascending grid of n similarities, -1 to 1; the rates have n values, too.
        true_positive_rate: Fraction of pairs of copies with at least that similarity.
        false_positive_rate: Fraction of pairs of different functions with at least that similarity.
        about: Numbers of pairs, and the command.
    """

    pooler_id: str
    similarity: tuple[float, ...]
    true_positive_rate: tuple[float, ...]
    false_positive_rate: tuple[float, ...]
    about: dict[str, Any] = field(default_factory=dict)

    def copy_rate_curve(self, num_functions: int) -> Floats:
        """Compute the fraction of copies among pairs with at least each similarity of the grid.

        Args:
            num_functions: Size of the code base, counted as at least `MIN_POOL_SIZE`.
        """
        true = COPIES_PER_FUNCTION * np.array(self.true_positive_rate)
        false = (max(num_functions, MIN_POOL_SIZE) - 1) * np.array(self.false_positive_rate)
        return np.maximum.accumulate(true / np.maximum(true + false, 1e-300))

    def copy_rate(self, similarity: float, num_functions: int) -> float:
        """Return the fraction of copies among pairs with at least this similarity, to three digits."""
        return round(float(np.interp(similarity, self.similarity, self.copy_rate_curve(num_functions))), 3)

    def threshold(self, copy_rate: float, num_functions: int) -> float | None:
        """Return the lowest similarity of the grid with at least that copy rate, or None."""
        enough = np.flatnonzero(self.copy_rate_curve(num_functions) >= copy_rate)
        return round(self.similarity[int(enough[0])], 4) if len(enough) else None


@lru_cache(maxsize=4)
def shipped_calibration(pooler_id: str) -> Calibration | None:
    """The calibration that ships with ncc for vectors of a kind; None if there is none."""
    path = _ASSETS / f"{pooler_id}.json"
    if not re.fullmatch(r"[\w-]{1,80}", pooler_id) or not path.is_file():  # may be any text in a forged index
        return None
    return convert(read_json(path, FORMAT_VERSION), Calibration)
