"""Splits of device mapping: complete, disjoint in what they promise, deterministic."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from lab.tests.rooms import DEVICES_INDEPENDENT_UNITS as INDEPENDENT_UNITS
from lab.tests.rooms import DEVICES_PROTOCOLS as PROTOCOLS
from lab.tests.rooms import devices_audit_leakage as audit_leakage
from lab.tests.rooms import devices_splits as splits
from ncc.errors import InputError
from tests.rooms import DeviceMappingSamples

NUM_FOLDS = {"published": 4, "kernel": 4, "application": 4, "suite": 3}
Published = Callable[[str], DeviceMappingSamples]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_row_is_tested_once(toy: DeviceMappingSamples, protocol: str) -> None:
    folds = list(splits(toy, protocol, num_folds=4))
    assert len(folds) == NUM_FOLDS[protocol]
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(24))
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(24))


@pytest.mark.parametrize("unit", ["kernel", "application", "suite"])
def test_groups_stay_together(toy: DeviceMappingSamples, unit: str) -> None:
    names = toy.groups(INDEPENDENT_UNITS[unit])
    for train, test in splits(toy, unit, num_folds=4):
        assert not set(names[train]) & set(names[test])


@pytest.mark.parametrize("protocol", ["published", "kernel", "application"])
def test_seed_decides(toy: DeviceMappingSamples, protocol: str) -> None:
    first, again, other = (
        [test.tolist() for _, test in splits(toy, protocol, seed, num_folds=4)] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_published_is_the_papers_split(toy: DeviceMappingSamples) -> None:
    expected = StratifiedKFold(n_splits=4, shuffle=True, random_state=204).split(toy.counts, toy.is_gpu)
    for (train, test), (train_there, test_there) in zip(splits(toy, "published", num_folds=4), expected, strict=True):
        assert np.array_equal(train, train_there)
        assert np.array_equal(test, test_there)


def test_leakage_of_the_toy(toy: DeviceMappingSamples) -> None:
    suite = audit_leakage(toy, "suite")
    assert (suite.num_test_rows, suite.shared["suite"], suite.shared["application"], suite.shared["kernel"]) == (
        24,
        0,
        0,
        0,
    )
    kernel = audit_leakage(toy, "kernel")
    assert kernel.shared["kernel"] == kernel.shared["source"] == 0
    assert (kernel.shared["application"] or 0) > 0
    assert kernel.shared["suite"] == 24
    assert (kernel.platform, kernel.seed, kernel.shared["ir"]) == ("toy", 204, None)
    twin = toy.source.copy()
    twin[8] = twin[0]  # another kernel, application and suite, the same text
    # Rows 0 and 1 have that text too: all three now have a twin in training.
    assert audit_leakage(dataclasses.replace(toy, source=twin), "suite").shared["source"] == 3


def test_leakage_of_auxiliary_values_needs_both(toy: DeviceMappingSamples) -> None:
    transfer, wgsize = np.arange(24.0), np.arange(24.0)
    transfer[[0, 8, 16]] = 99.0  # one row of each suite
    wgsize[[0, 8]] = 77.0
    report = audit_leakage(dataclasses.replace(toy, transfer_bytes=transfer, wgsize=wgsize), "suite")
    assert (report.shared["transfer"], report.shared["auxiliary"]) == (3, 2)


def test_leakage_of_ir_is_that_of_its_bytes_but_for_the_files_name(toy: DeviceMappingSamples) -> None:
    ir = [
        b"; ModuleID = 'k%d.cl'\nsource_filename = \"k%d.cl\"\ndefine void @k%d() {\n}\n" % (row, row, row)
        for row in range(24)
    ]
    assert audit_leakage(toy, "suite", ir=ir).shared["ir"] == 0
    ir[8] = ir[0].replace(b"k0.cl", b"other.cl")  # of another suite
    assert audit_leakage(toy, "suite", ir=ir).shared["ir"] == 2
    with pytest.raises(InputError, match="ir: expected one text for each of 24 rows, found 23"):
        audit_leakage(toy, "suite", ir=ir[1:])


def test_impossible_splits_are_refused(toy: DeviceMappingSamples) -> None:
    with pytest.raises(InputError, match="no protocol 'random'; expected one of published, kernel"):
        splits(toy, "random")
    with pytest.raises(InputError, match="can't make 10 folds: expected at least 10 groups, found 6"):
        splits(toy, "application")
    with pytest.raises(InputError, match="can't make 1 folds: expected at least 2"):
        splits(toy, "published", num_folds=1)


@pytest.mark.parametrize("platform", ["amd", "nvidia"])
def test_published_leakage(published: Published, platform: str) -> None:
    samples = published(platform)
    rows, kernel, application, suite = (audit_leakage(samples, protocol) for protocol in PROTOCOLS)
    assert rows.num_test_rows == 680
    shares = {name: round((rows.shared[name] or 0) / 680, 2) for name in ("source", "transfer", "auxiliary")}
    assert shares == {"source": 0.81, "transfer": 0.94, "auxiliary": 0.85}
    assert kernel.shared["kernel"] == application.shared["application"] == suite.shared["suite"] == 0
    # A few texts occur under two kernel names, even under two applications (NPB's BT and SP).
    assert (kernel.shared["source"] or 0) > 0
    assert application.shared["source"] == 50
    assert suite.shared["source"] == 0


def test_published_folds_are_balanced(published: Published) -> None:
    samples = published("amd")
    sizes = [len(test) for _, test in splits(samples, "kernel")]
    assert (min(sizes), max(sizes)) == (68, 68)
