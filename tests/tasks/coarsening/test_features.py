"""The share of divergent statements of small kernels of which all is known."""

import pytest

from tests.rooms import divergent_share, read_module

DECLARED = """
declare i64 @_Z13get_global_idj(i32)
declare i64 @_Z15get_global_sizej(i32)
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


@pytest.mark.parametrize(
    ("kernel", "share"),
    [
        (GUARDED, 3 / 7),
        (GUARDED.replace("ult i64 %i,", "ult i64 7,"), 0),  # all threads agree
        (GRID_STRIDE, 6 * 10 / (6 * 10 + 4)),  # threads leave the loop at different times
        (UNIFORM_LOOP, 3 * 10 / (9 * 10 + 3)),
    ],
)
def test_statements_that_not_all_threads_run_are_weighted_by_loops(kernel: str, share: float) -> None:
    assert divergent_share(read_module((DECLARED + kernel).encode())) == pytest.approx(share)


def test_a_kernel_among_other_functions_is_found() -> None:
    other = "define void @other() {\nentry:\n  ret void\n}\n"
    module = read_module((DECLARED + other + GUARDED).encode())
    assert divergent_share(module, 0) == 0
    assert divergent_share(module) == pytest.approx(3 / 7)
