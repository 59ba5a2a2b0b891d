"""The kernels that ship: enough of them, of many kinds, and all worth timing."""

import pytest

from ncc.errors import InputError
from tests.rooms import SHIPPED_KERNELS, Pool, TimingRequest, choose_devices, find_kernels, time_launch


@pytest.fixture(scope="module")
def kernels():
    found, failed = find_kernels([str(SHIPPED_KERNELS)])
    assert not failed
    return found


def test_there_are_many_of_many_families(kernels):
    assert len(kernels) >= 120
    assert len({kernel.family for kernel in kernels}) >= 30
    assert len({kernel.name for kernel in kernels}) == len(kernels)


def test_each_has_sizes_that_work_groups_fit_into(kernels):
    for kernel in kernels:
        assert kernel.group(16384, 64), kernel.name


@pytest.mark.full
@pytest.mark.timeout(900)
def test_all_of_them_pass_the_checks(kernels, pocl):
    refused, [device] = [], choose_devices(pocl[1:])
    with Pool(1, 8 * 2**30) as workers:
        for kernel in kernels:
            request = TimingRequest(kernel, device, 16384, 64, measurement_time=0.001)
            try:
                assert workers.call(kernel.name, time_launch, request).time_ms > 0
            except InputError as error:
                refused.append(f"{kernel.name}: {error}")
    assert not refused
