"""Folds of groups: rows of one kernel or application stay together, and folds are about equally large."""

from collections.abc import Iterator

import numpy as np

from ncc.arrays import Split
from ncc.errors import InputError


def balanced_folds(groups: np.ndarray, num_folds: int, seed: int) -> Iterator[Split]:
    """Folds of similar numbers of rows that keep the rows of a group together."""
    # Not GroupKFold: shuffled, it balances the number of groups only, so that several of NPB's large
    # applications could share a fold; unshuffled, it takes no seed, and its older releases sort
    # groups of one size in an order that depends on the processor.
    names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    check_folds(len(names), num_folds, "groups")
    shuffled = np.random.default_rng(seed).permutation(len(names))
    fold_of_group, fold_sizes = np.empty(len(names), dtype=np.int64), np.zeros(num_folds, dtype=np.int64)
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:  # largest first
        lightest = int(np.argmin(fold_sizes))
        fold_of_group[group] = lightest
        fold_sizes[lightest] += sizes[group]
    fold_of_row = fold_of_group[codes]
    return ((np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)) for fold in range(num_folds))


def check_folds(found: int, wanted: int, what: str) -> None:
    """Refuse more folds than groups."""
    if wanted < 2 or found < wanted:
        raise InputError(f"can't make {wanted} folds: expected at least {max(2, wanted)} {what}, found {found}")
