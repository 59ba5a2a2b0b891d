"""The device side of CUDA to IR, with neither a toolkit nor a GPU."""

import re

import pytest

from tests.rooms import CompileOptions, compile_source
from tests.support.clangs import CLANGS


@pytest.mark.parametrize("clang", CLANGS)
@pytest.mark.parametrize(
    ("name", "num_kernels"),
    [("vector_add.cu", 1), ("reduction.cu", 1), ("matrix.cu", 2), ("no_includes.cu", 1)],
)
def test_compiles_without_warnings(sources, clang, name, num_kernels):
    compiled = compile_source(sources / name, CompileOptions(clang=clang))
    assert compiled.warnings == ""
    assert b'target triple = "nvptx64-nvidia-cuda"' in compiled.ir
    assert len(re.findall(rb"^define .*@_Z", compiled.ir, re.MULTILINE)) == num_kernels
    assert b"@main" not in compiled.ir


@pytest.mark.parametrize(
    ("name", "held"),
    [
        (
            "reduction.cu",
            [
                "define dso_local ptx_kernel void @_Z9block_sumPKfPfj", "@llvm.nvvm.read.ptx.sreg.tid.x()",
                "@llvm.nvvm.barrier", "@llvm.nvvm.shfl.sync.down.i32(", "atomicrmw fadd", "addrspace(3)",
            ],
        ),
        ("matrix.cu", ["@expf(float", "@llvm.sqrt.f32(", "@llvm.fma.f64("]),  # mathematics is named as on a CPU
        ("scale.hip", ["define dso_local ptx_kernel void @_Z5scalePffi", "@llvm.nvvm.read.ptx.sreg.ctaid.x()"]),
    ],
)  # fmt: skip
def test_kernels_hold_what_llvm_calls_it(sources, name, held):
    ir = compile_source(sources / name).ir.decode()
    assert [text for text in held if text not in ir] == []
    assert "@main" not in ir


@pytest.mark.parametrize("clang", CLANGS)
@pytest.mark.parametrize("include", [b"", b"#include <new>\n#include <vector>\n"])
def test_objects_are_made_in_memory_that_is_there(include, clang):
    source = (
        include
        + b"""
    struct Point { int x; };
    __host__ __device__ void place(Point *p) { new (p) Point{7}; }
    __global__ void kernel(Point *p) { place(p + threadIdx.x); }
    void host(Point *p) { place(p); delete new Point; }
    """
    )
    ir = compile_source(source, CompileOptions(language="cuda", clang=clang)).ir.decode()
    assert re.search(r"store i32 7, (ptr|i32\*) ", ir)


def test_barriers_have_numbers():
    source = b"__global__ void k(int *x) { __barrier_sync(1); x[0] = 1; __barrier_sync_count(2, 64); x[1] = x[0]; }"
    ir = compile_source(source, CompileOptions(language="cuda")).ir
    assert ir.count(b"call void @llvm.nvvm.barrier") == 2


@pytest.mark.parametrize("name", ["cuda", "hip"])
def test_host_code_may_call_whatever_the_runtime_has(name, monkeypatch):
    monkeypatch.setattr("ncc.ir.frontend.compile.compile_device_code", lambda *_: None)  # nothing is left out
    text = """
    __global__ void k(float *p) { p[0] = 1; }
    int main() {
      NAMEStream_t stream; NAMEEvent_t event; NAMEGraph_t graph; float *p; int least, most, blocks;
      if (NAMEStreamQuery(stream) == NAMEErrorNotReady || NAMEEventQuery(event) != NAMESuccess) return 1;
      NAMEDeviceGetStreamPriorityRange(&least, &most);
      NAMEStreamCreateWithPriority(&stream, 1, most);
      NAMEMallocAsync((void **)&p, 4, stream);
      NAMEOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 64, 0);
      NAMEGraphCreate(&graph, 0);
      k<<<1, 1, 0, stream>>>(p);
      return NAMERuntimeGetVersion(&least) == NAMEErrorIllegalAddress;
    }
    """.replace("NAME", name)
    header = "#include <hip/hip_runtime.h>\n" if name == "hip" else ""
    assert b"ptx_kernel" in compile_source((header + text).encode(), CompileOptions(language="cuda")).ir
