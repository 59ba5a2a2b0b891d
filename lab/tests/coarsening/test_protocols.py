"""Splits of thread coarsening, and what they let through."""

import numpy as np
import pytest

from lab.tests.rooms import COARSENING_INDEPENDENT_UNITS as INDEPENDENT_UNITS
from lab.tests.rooms import COARSENING_PROTOCOLS as PROTOCOLS
from lab.tests.rooms import coarsening_audit_leakage as audit_leakage
from lab.tests.rooms import coarsening_splits as splits
from ncc.errors import InputError
from tests.rooms import CoarseningSamples


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_row_is_tested_once_and_never_trained_on(toy: CoarseningSamples, protocol: str) -> None:
    folds = splits(toy, protocol)
    tested = np.concatenate([test for _, test in folds])
    assert sorted(tested.tolist()) == list(range(len(toy)))
    assert all(not np.isin(test, train).any() for train, test in folds)


def test_what_is_left_out(toy: CoarseningSamples) -> None:
    assert [len(splits(toy, protocol)) for protocol in PROTOCOLS] == [8, 7, 32, 32]
    for train, test in splits(toy, "kernel"):
        assert len(set(toy.kernel[test])) == 1
        assert len(train) == 28
    for train, test in splits(toy, "device"):
        assert set(toy.device[train]) == set(toy.device[test])
        assert len(train) == 7


def test_leakage(toy: CoarseningSamples) -> None:
    by_kernel, by_source, by_pair, by_device = (audit_leakage(toy, protocol) for protocol in PROTOCOLS)
    assert (by_kernel.shared["kernel"], by_kernel.shared["source"]) == (0, 8)  # k0 and k1
    assert (by_source.shared["kernel"], by_source.shared["source"]) == (0, 0)
    assert by_pair.shared["kernel"] == by_pair.num_test_rows == 32
    assert (by_device.shared["kernel"], by_device.shared["source"]) == (0, 8)
    assert "ir" not in by_kernel.shared


def test_published_leakage(published: CoarseningSamples, published_ir: dict[str, bytes]) -> None:
    by_kernel, by_source, by_pair, _ = (audit_leakage(published, protocol, published_ir) for protocol in PROTOCOLS)
    assert (by_kernel.num_folds, by_kernel.shared["kernel"]) == (17, 0)
    assert (by_kernel.shared["source"], by_kernel.shared["ir"]) == (8, 8)  # mt and mtLocal
    assert (by_source.num_folds, by_source.shared["source"], by_source.shared["ir"]) == (16, 0, 0)
    assert (by_pair.num_folds, by_pair.shared["kernel"]) == (68, 68)


def test_intervals_draw_what_is_independent() -> None:
    assert list(INDEPENDENT_UNITS.values()) == ["kernel", "source", "kernel", "kernel"]


def test_wrong_protocols_are_refused(toy: CoarseningSamples) -> None:
    with pytest.raises(InputError, match="no protocol 'suite'; expected one of kernel, source, pair, device"):
        splits(toy, "suite")
    alone = CoarseningSamples(**{name: column[:4] for name, column in vars(toy).items()})
    with pytest.raises(InputError, match="no training rows; expected two kernels or more"):
        splits(alone, "kernel")
