"""What heads are told of a kernel."""

import numpy as np
import pytest

from tests.rooms import FEATURE_NAMES, OPCODES, KernelWork, count_work, kernel_features, read_module

MODULE = b"""
declare i64 @get_global_id(i32)
define float @twice(float %x) {
  %y = fadd float %x, %x
  ret float %y
}
define float @unused(float %x) {
  %y = fdiv float %x, 3.0
  ret float %y
}
define spir_kernel void @k(float addrspace(1)* %a, i32 %n) {
  %i = call i64 @get_global_id(i32 0)
  %p = getelementptr float, float addrspace(1)* %a, i64 %i
  %v = load float, float addrspace(1)* %p
  %w = call float @twice(float %v)
  store float %w, float addrspace(1)* %p
  ret void
}
"""


@pytest.fixture
def module():
    return read_module(MODULE)


def test_a_kernel_is_described_with_what_it_calls(module):
    vectors = np.arange(module.num_statements)[:, None] * np.array([[1.0, -2.0]])
    inputs = kernel_features(module, 2, vectors)
    assert len(inputs) == 1
    assert np.array_equal(inputs.profile[0], count_work(module, 2).features())
    counts = dict(zip(OPCODES, inputs.opcodes[0].tolist(), strict=True))
    assert (counts["fadd"], counts["fdiv"], counts["load"], counts["ret"], counts["call"]) == (1, 0, 1, 2, 2)
    used = [0, 1, 2, *range(6, 13)]  # the function that is not called lies between
    assert np.array_equal(inputs.sequences[0], vectors[used])


def test_statements_that_are_left_out_are_not_described(module):
    vectors = np.eye(module.num_statements)
    work = KernelWork(module, 2)
    whole, rest, again = (work.features(vectors, excluding) for excluding in ((), {1}, ()))
    for name in ("profile", "opcodes"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    assert whole.sequences[0][:, 1].any()
    assert not rest.sequences[0][:, 1].any()
    gone = whole.opcodes[0] - rest.opcodes[0]
    assert [(OPCODES[i], gone[i]) for i in np.flatnonzero(gone)] == [("fadd", 1)]
    flops = FEATURE_NAMES.index("static_flops")
    assert whole.profile[0, flops] == pytest.approx(np.log1p(1))
    assert rest.profile[0, flops] == 0
