"""Splits of labelled programs into training, validation and test 3:1:1, with copies of a program on one side.

Reference: Ben-Nun et al. 2018, section 6.1, splits at random 3:1:1 and lets copies fall on both sides.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Bools, Ints
from ncc.errors import InputError
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import ProgramTable

_SEED = 204
_SHARES = (3, 1, 1)


@dataclass(frozen=True, eq=False)
class ProgramSplit:
    """Rows of a split, int64 each.

    Attributes:
        train: Rows to learn from.
        valid: Rows to choose and to calibrate by.
        test: Rows to measure on.
        group: (n,) int64 group of near-duplicates of each program.
    """

    train: Ints
    valid: Ints
    test: Ints
    group: Ints

    @property
    def has_duplicate(self) -> Bools:
        """(len(test),) bool, whether a test program has a near-duplicate among `train` or `valid`."""
        return np.isin(self.group[self.test], self.group[np.concatenate([self.train, self.valid])])


def split_samples(samples: ProgramSamples, *, is_grouped: bool = True) -> ProgramSplit:
    """Split programs; near-duplicates are found at the first level.

    Raises:
        InputError: A part of the split is empty.
    """
    group = near_duplicates(next(iter(samples.views.values())))
    split = split_programs(samples.label, group, _SEED, is_grouped=is_grouped)
    if not min(len(split.train), len(split.valid), len(split.test)):
        raise InputError(f"{len(samples)} programs of {len(samples.classes)} classes are too few to be split 3:1:1")
    return split


def near_duplicates(table: ProgramTable) -> Ints:
    """Number the groups of programs with the same abstracted statements in the same order, (n,) int64.

    Names, constants and comments are then all that differs between programs of a group.
    """
    groups: dict[bytes, int] = {}
    return np.array(
        [
            groups.setdefault(hashlib.sha256(table.text_id[start:end].tobytes()).digest(), len(groups))
            for start, end in zip(table.start[:-1].tolist(), table.start[1:].tolist(), strict=True)
        ],
        np.int64,
    )


def split_programs(label: Ints, group: Ints, seed: int, *, is_grouped: bool = True) -> ProgramSplit:
    """Split each class 3:1:1.

    Args:
        label: (n,) int64 class of each program.
        group: (n,) int64 group of near-duplicates of each program.
        seed: Random seed.
        is_grouped: Keep a group on one side, that of its first program if it spans classes.
    """
    rng = np.random.default_rng(seed)
    unit = group if is_grouped else np.arange(len(label))
    side = np.full(len(label), -1)
    side_of_unit: dict[int, int] = {}
    for index in range(int(label.max()) + 1):
        rows = np.flatnonzero(label == index)
        quota = len(rows) * np.array(_SHARES) / sum(_SHARES)
        units: dict[int, list[int]] = {}
        for row in rows[rng.permutation(len(rows))].tolist():
            units.setdefault(int(unit[row]), []).append(row)
        filled = np.zeros(len(_SHARES))
        # large groups first, or they would find no side with room; among equals the order stays drawn
        for key, members in sorted(units.items(), key=lambda item: -len(item[1])):
            chosen = side_of_unit.setdefault(key, int(np.argmax((quota - filled) / quota)))
            side[members] = chosen
            filled[chosen] += len(members)
    train, valid, test = (np.flatnonzero(side == index) for index in range(len(_SHARES)))
    return ProgramSplit(train, valid, test, group)
