"""Splits of programs into training, validation and test 3:1:1, with copies of a program on one side.

Reference: Ben-Nun et al. 2018, section 6.1, splits at random 3:1:1 and lets copies fall on both sides.
"""

import hashlib
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Bools, Ints
from ncc.errors import InputError
from ncc.learning.programs.table import ProgramTable

PROTOCOLS = ("grouped", "published")
_SHARES = (3, 1, 1)


@dataclass(frozen=True, eq=False)
class ProgramSplit:
    """Rows of a split, int64 each.

    Attributes:
        train: Rows to learn from.
        valid: Rows to choose and to calibrate by.
        test: Rows to measure on.
        twins: (len(test),) bool, whether a test program has a near-duplicate among `train` or `valid`.
    """

    train: Ints
    valid: Ints
    test: Ints
    twins: Bools


def near_duplicates(table: ProgramTable) -> Ints:
    """Numbers of groups of programs whose abstracted statements are the same, in the same order: (n,) int64.

    Names, constants and comments are then all that differs between programs of a group.
    """
    known: dict[bytes, int] = {}
    groups = [
        known.setdefault(hashlib.sha256(table.text_id[begin:end].tobytes()).digest(), len(known))
        for begin, end in zip(table.start[:-1].tolist(), table.start[1:].tolist(), strict=True)
    ]
    return np.array(groups, np.int64)


def split_programs(label: Ints, group: Ints, protocol: str, seed: int) -> ProgramSplit:
    """Splits each class 3:1:1.

    Args:
        label: (n,) int64 class of each program.
        group: (n,) int64 group of near-duplicates of each program.
        protocol: "grouped" keeps a group on one side, that of its first program where it spans classes; "published"
            draws programs one by one.
        seed: Of the draw.

    Raises:
        InputError: The protocol is unknown.
    """
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol is {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
    rng = np.random.default_rng(seed)
    unit = group if protocol == "grouped" else np.arange(len(label))
    side = np.full(len(label), -1)
    of_unit: dict[int, int] = {}
    for number in range(int(label.max()) + 1):
        rows = np.flatnonzero(label == number)
        quota = len(rows) * np.array(_SHARES) / sum(_SHARES)
        units: dict[int, list[int]] = {}
        for row in rows[rng.permutation(len(rows))].tolist():
            units.setdefault(int(unit[row]), []).append(row)
        filled = np.zeros(len(_SHARES))
        # large groups first, or they would find no side with room; among equals the order stays drawn
        for key, members in sorted(units.items(), key=lambda item: -len(item[1])):
            place = of_unit.setdefault(key, int(np.argmax((quota - filled) / quota)))
            side[members] = place
            filled[place] += len(members)
    train, valid, test = (np.flatnonzero(side == place) for place in range(len(_SHARES)))
    return ProgramSplit(train, valid, test, np.isin(group[test], group[np.concatenate([train, valid])]))
