"""Sources of OpenCL C without the kernels that are not timed."""

from tests.rooms import strip_other_kernels

_SOURCE = """#pragma OPENCL EXTENSION cl_khr_fp16 : enable
float twice(float x) { return 2 * x; } // not a __kernel { }
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void bad(__global half *a) { half8 b = { 1 };
  vstore8(b, 0, a); }
kernel void good(global float *a) { if (a[0]) { a[0] = twice(a[0]); } }
"""


def test_one_kernel_is_left_with_all_that_is_no_kernel_on_its_lines():
    kept = strip_other_kernels(_SOURCE, "good")
    was, now = _SOURCE.split("\n"), kept.split("\n")
    assert [line.strip() for line in now[2:5]] == ["", "", ""]
    assert now[5] == was[5]
    assert now[0] == was[0]
    assert now[1].startswith("float twice(float x) { return 2 * x; }")
    assert len(now) == len(was)
    assert "bad" in strip_other_kernels(_SOURCE, "bad")
    assert "void good" not in strip_other_kernels(_SOURCE, "bad")
