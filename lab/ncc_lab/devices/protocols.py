"""Evaluation protocols of device mapping as index splits, and what each leaks to the test rows."""

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

from ncc.arrays import Split
from ncc.errors import InputError
from ncc.learning.heads.folds import balanced_folds, check_folds
from ncc.tasks.devices.published import DeviceMappingSamples, MappingUnit
from ncc_lab.leakage import LeakageReport, audit

INDEPENDENT_UNITS: dict[str, MappingUnit] = {
    "published": "kernel",
    "kernel": "kernel",
    "application": "application",
    "suite": "suite",
}
"""Protocol → what may count as independent when an interval is put on its result; never rows, as a kernel's are alike.
"""
PROTOCOLS = tuple(INDEPENDENT_UNITS)

_FILE_NAME = re.compile(rb"^(?:; ModuleID|source_filename) = .*\n", re.MULTILINE)


def splits(samples: DeviceMappingSamples, protocol: str, seed: int = 204, num_folds: int = 10) -> Iterator[Split]:
    """Split samples into training and test rows, every row being tested exactly once.

    `published` is the papers' protocol: folds over rows, stratified by label, so that most test rows
    have their own kernel in training. `kernel` and `application` keep all rows of one kernel or
    application together, in folds of balanced size; `suite` leaves out one suite after the other.
    Even `application` lets a few source texts through, those that occur under two applications' names;
    see `audit_leakage`.

    Args:
        samples: The n samples.
        protocol: One of `PROTOCOLS`.
        seed: Shuffles the rows, or which groups share a fold; `suite` has nothing to shuffle. The
            papers use 204.
        num_folds: Number of folds, at least 2; `suite` has one per suite.

    Returns:
        Row indices of training and test rows, fold by fold, each (m,) int64, ascending.

    Raises:
        InputError: The protocol is unknown, or the samples are too few for so many folds.

    Reference:
        Cummins et al., PACT 2017, case study A (`published`).
    """
    if protocol == "published":
        check_folds(np.bincount(samples.is_gpu, minlength=2).min(), num_folds, "rows of either label")
        folds = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
        return iter(folds.split(samples.counts, samples.is_gpu))
    if protocol == "suite":
        check_folds(len(np.unique(samples.suite)), 2, "suites")
        return iter(LeaveOneGroupOut().split(samples.counts, groups=samples.suite))
    if protocol not in PROTOCOLS:
        raise InputError(f"no protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
    return balanced_folds(samples.groups(INDEPENDENT_UNITS[protocol]), num_folds, seed)


def audit_leakage(
    samples: DeviceMappingSamples, protocol: str, seed: int = 204, ir: Sequence[bytes] | None = None
) -> LeakageReport:
    """Count the test rows that share something telling with a training row of their fold.

    Args:
        samples: The samples.
        protocol: One of `PROTOCOLS`.
        seed: The split's seed.
        ir: Text of each row's kernel, n texts, such as the legacy IR; None leaves the IR out.

    Returns:
        Counts of rows, summed over the folds.

    Raises:
        InputError: As for `splits`, or there is not one text of IR for each row.
    """
    if ir is not None and len(ir) != len(samples):
        raise InputError(f"ir: expected one text for each of {len(samples)} rows, found {len(ir)}")
    columns: dict[str, Iterable[Hashable] | None] = {
        "kernel": samples.benchmark,
        "source": samples.source,  # kernels of different names can have one text
        "ir": None if ir is None else (_FILE_NAME.sub(b"", text) for text in ir),
        "transfer": samples.transfer_bytes,
        "auxiliary": zip(samples.transfer_bytes, samples.wgsize, strict=True),
        "application": samples.application,
        "suite": samples.suite,
    }
    folds = list(splits(samples, protocol, seed))
    return audit(protocol, folds, columns, platform=samples.platform, seed=seed)
