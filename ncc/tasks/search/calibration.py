"""How likely similar functions are copies, measured on functions known to be the same or different.

Of pairs of the same function, compiled at two levels, and of pairs of different ones it is counted how many are at
least so alike. In a code base of n functions of which each has, on average, a given number of true partners, the share
of true pairs among those that alike follows by Bayes' rule; it never falls where similarity rises.
"""

import json
import os
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import ValidationError, convert

from ncc.arrays import Floats
from ncc.errors import AssetError, InputError
from ncc.system.files.models import read_json, write_atomically

FORMAT_VERSION = 1
PARTNERS = 0.1
"""True partners of a function, on average, where nothing is known: one function in ten has one."""
RELATIVES = 400
"""Functions that a code base counts as having at least. What is like a function is near it: of what is alike by 0.86
or more in mbedTLS 2.28 and LZ4 1.9, half lies in the same file, among 25 functions; a small code base is no safer."""
_ASSETS = Path(__file__).parents[2] / "assets" / "search"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How likely similar functions are copies, for vectors of one kind.

    Attributes:
        pooler_id: Of what makes the vectors.
        similarity: Grid, rising.
        same: Share of the pairs of the same function that are at least so alike, for each of these.
        other: The same of different functions.
        about: How many of what were compared, and by which command.
    """

    pooler_id: str
    similarity: tuple[float, ...]
    same: tuple[float, ...]
    other: tuple[float, ...]
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the table."""
        table = [np.array(column) for column in (self.similarity, self.same, self.other)]
        if len({len(column) for column in table}) != 1 or len(table[0]) < 2 or not (np.diff(table[0]) > 0).all():
            raise InputError("a calibration needs three columns of one length, of which the first rises")
        if not all(np.isfinite(column).all() for column in table) or min(map(np.min, table[1:])) < 0:
            raise InputError("shares of a calibration are not all finite, 0 or more")

    def shares(self, num_functions: int, partners: float = PARTNERS) -> Floats:
        """The share of true pairs among those at least so alike, for each similarity of the grid.

        Args:
            num_functions: In the code base.
            partners: True partners of a function, on average.
        """
        true = partners * np.array(self.same)
        false = max(num_functions - 1, 1) * np.array(self.other)
        return np.maximum.accumulate(true / np.maximum(true + false, 1e-300))

    def share(self, similarity: float, num_functions: int) -> float:
        """The share of true pairs among those at least so alike, to three digits, in a project of that size."""
        return round(float(np.interp(similarity, self.similarity, self._shares(num_functions))), 3)

    def threshold(self, share: float, num_functions: int) -> float | None:
        """The least similarity of the grid with that share of true pairs; None where there is none."""
        enough = np.flatnonzero(self._shares(num_functions) >= share)
        return round(self.similarity[int(enough[0])], 4) if len(enough) else None

    @cached_property
    def _known(self) -> dict[int, Floats]:
        return {}

    def _shares(self, num_functions: int) -> Floats:
        counted = max(num_functions, RELATIVES)
        if counted not in self._known:
            self._known[counted] = self.shares(counted)
        return self._known[counted]


def save_calibration(calibration: Calibration, path: Path) -> None:
    """Writes a calibration as JSON.

    Raises:
        OutputError: The file can't be written.
    """
    write_atomically(path, (json.dumps({"format_version": FORMAT_VERSION, **vars(calibration)}) + "\n").encode())


@lru_cache(maxsize=4)
def shipped_calibration(pooler_id: str) -> Calibration | None:
    """The calibration of vectors of a kind that ships with ncc; None where there is none.

    Raises:
        AssetError: It is damaged.
    """
    path = _ASSETS / f"{pooler_id}.json"
    return load_calibration(path) if re.fullmatch(r"[\w-]+", pooler_id) and path.is_file() else None


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Reads a calibration of similarities.

    Args:
        path: File that ``ncc_lab.retrieval.calibration`` made.

    Raises:
        AssetError: It is missing, damaged or of another format version.
    """
    path = Path(path)
    about = read_json(path, FORMAT_VERSION)
    about.pop("format_version")
    try:
        return convert(about, Calibration)
    except (ValidationError, InputError) as error:
        raise AssetError(f"{path}: is damaged ({error})") from error
