"""Features of kernels, by small kernels of which all is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import FEATURE_NAMES, coarsening_features
from tests.rooms import CoarseningSamples, read_module

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
GUARDED = """
define spir_kernel void @guarded(ptr %a, i64 %n) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  %inside = icmp ult i64 %i, %n
  br i1 %inside, label %body, label %end
body:
  %p = getelementptr float, ptr %a, i64 %i
  store float 0.0, ptr %p
  br label %end
end:
  ret void
}
"""
# how often the loop runs depends on the thread
GRID_STRIDE = """
define spir_kernel void @stride(ptr %a, i64 %n) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  %size = call i64 @_Z15get_global_sizej(i32 0)
  br label %loop
loop:
  %k = phi i64 [ %i, %entry ], [ %next, %loop ]
  %p = getelementptr float, ptr %a, i64 %k
  store float 0.0, ptr %p
  %next = add i64 %k, %size
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""
# how often the loop runs does not, though the loop has a branch inside that does
UNIFORM_LOOP = """
define spir_kernel void @uniform(ptr %a, i64 %n) {
entry:
  %i = call i64 @_Z13get_global_idj(i32 0)
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %latch ]
  %low = icmp ult i64 %i, %k
  br i1 %low, label %some, label %latch
some:
  %p = getelementptr float, ptr %a, i64 %i
  store float 0.0, ptr %p
  br label %latch
latch:
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


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


def test_a_guard_makes_a_divergent_region() -> None:
    found = features(GUARDED)
    assert found["divergent_share"] == pytest.approx(3 / 7)
    assert found["divergent_loop_share"] == 0
    assert (found["has_barrier"], found["is_two_dimensional"]) == (0, 0)


def test_a_guard_that_all_threads_agree_on_makes_none() -> None:
    assert features(GUARDED.replace("ult i64 %i,", "ult i64 7,"))["divergent_share"] == 0


def test_a_loop_diverges_if_threads_leave_it_at_different_times() -> None:
    found = features(GRID_STRIDE)
    share = 6 * 10 / (6 * 10 + 4)
    assert found["divergent_loop_share"] == pytest.approx(share)
    assert found["divergent_share"] == pytest.approx(share)
    assert (found["has_loop"], found["loop_depth"]) == (1, 1)


def test_a_branch_inside_a_loop_makes_a_region_and_no_divergent_loop() -> None:
    found = features(UNIFORM_LOOP)
    assert found["divergent_loop_share"] == 0
    assert found["divergent_share"] == pytest.approx(3 * 10 / (9 * 10 + 3))


def test_published_kernels(published: CoarseningSamples, published_features: NDArray[np.float64]) -> None:
    assert published_features.shape == (68, 16)
    assert np.isfinite(published_features).all()
    shares = [i for i, name in enumerate(FEATURE_NAMES) if name.endswith("_share")]
    assert (published_features[:, shares] >= 0).all()
    assert (published_features[:, shares] <= 1).all()
    loop = published_features[:, FEATURE_NAMES.index("divergent_loop_share")]
    # rows of a sparse matrix of different lengths; a row summed up by a group; a loop over all data by few threads
    assert set(published.kernel[loop > 0.1]) >= {"spmv", "mvCoal", "blackscholes"}
    assert not set(published.kernel[loop > 0.1]) & {"sgemm", "mriQ", "nbody", "mt", "reduce"}
