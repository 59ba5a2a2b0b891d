"""Features of kernels, by small kernels of which all is known."""

from fractions import Fraction

import numpy as np
import pytest

from lab.tests.rooms import FEATURE_NAMES, coarsening_features
from tests.rooms import read_module
from tests.support.text import cases

DECLARED = """
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z15get_global_sizej(i32)
declare void @_Z7barrierj(i32)
declare float @_Z3expf(float)
"""
STRAIGHT = """
define spir_kernel void @straight(ptr %a, ptr %b) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  %j = call i64 @_Z13get_global_idj(i32 1)
  %s = shl i64 %i, 4
  %p = getelementptr float, ptr %a, i64 %i
  %q = getelementptr float, ptr %a, i64 %s
  %r = getelementptr float, ptr %b, i64 %j
  %x = load float, ptr %p
  %y = load float, ptr %q
  %z = load float, ptr %r
  call void @_Z7barrierj(i32 1)
  %u = fadd float %x, %y
  %v = call float @_Z3expf(float %z)
  store float %u, ptr %p
  ret void
}
"""
OTHER_LOOP = "threads leave the loop at different times"


def features(kernel: str) -> dict[str, float]:
    found = coarsening_features(read_module((DECLARED + kernel).encode()))
    assert found.shape == (len(FEATURE_NAMES),)
    return dict(zip(FEATURE_NAMES, found.tolist(), strict=True))


def test_accesses_by_what_neighbours_do() -> None:
    found = features(STRAIGHT)
    assert found["memory_share"] == pytest.approx(4 / 14)
    assert found["coalesced_access_share"] == pytest.approx(2 / 4)
    assert found["strided_access_share"] == found["uniform_access_share"] == pytest.approx(1 / 4)
    assert found["irregular_access_share"] == 0
    assert found["uniform_share"] == pytest.approx(4 / 13)  # %j, %r, %z, %v
    assert found["float_share"] == found["special_share"] == pytest.approx(1 / 14)
    assert (found["has_barrier"], found["is_two_dimensional"]) == (1, 1)
    assert (found["has_loop"], found["loop_depth"], found["divergent_share"]) == (0, 0, 0)
    assert found["log_statements"] == pytest.approx(np.log(14))


@pytest.mark.parametrize(("name", "kernel", "share"), [(case.id, *case.values) for case in cases("divergence.txt")])
def test_regions_and_loops_that_threads_run_differently(name: str, kernel: str, share: str) -> None:
    found = features(kernel)
    assert found["divergent_share"] == pytest.approx(float(Fraction(share)))
    assert found["divergent_loop_share"] == (found["divergent_share"] if name == OTHER_LOOP else 0)
    assert (found["has_loop"], found["loop_depth"]) == (("loop" in name,) * 2)
    assert (found["has_barrier"], found["is_two_dimensional"]) == (0, 0)
