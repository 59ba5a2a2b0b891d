"""The device side of CUDA to IR, with neither a toolkit nor a GPU."""

import re
import shutil

import pytest

from ncc.errors import CompileError
from ncc.frontend import CompileOptions, compile_source

CLANGS = [None, "clang-14", "clang-16", "clang-19"]


@pytest.mark.parametrize("clang", CLANGS)
@pytest.mark.parametrize(
    ("name", "num_kernels"),
    [("vector_add.cu", 1), ("reduction.cu", 1), ("matrix.cu", 2), ("no_includes.cu", 1)],
)
def test_compiles_without_warnings(sources, clang, name, num_kernels):
    if clang is not None and shutil.which(clang) is None:
        pytest.skip(f"{clang} is not installed")
    compiled = compile_source(sources / name, CompileOptions(clang=clang))
    assert compiled.warnings == ""
    assert b'target triple = "nvptx64-nvidia-cuda"' in compiled.ir
    assert len(re.findall(rb"^define .*@_Z", compiled.ir, re.MULTILINE)) == num_kernels
    assert b"@main" not in compiled.ir


def test_kernels_use_registers_barriers_shared_memory_and_atomics(sources):
    ir = compile_source(sources / "reduction.cu").ir.decode()
    assert "define dso_local ptx_kernel void @_Z9block_sumPKfPfj" in ir
    assert "@llvm.nvvm.read.ptx.sreg.tid.x()" in ir
    assert "@llvm.nvvm.barrier" in ir
    assert "@llvm.nvvm.shfl.sync.down.i32(" in ir
    assert "atomicrmw fadd" in ir
    assert "addrspace(3)" in ir


def test_mathematics_is_named_as_on_a_cpu(sources):
    ir = compile_source(sources / "matrix.cu").ir.decode()
    assert "@expf(float" in ir
    assert "@llvm.sqrt.f32(" in ir
    assert "@llvm.fma.f64(" in ir


def test_an_installed_toolkit_is_not_asked(sources):
    command = compile_source(sources / "reduction.cu").command
    assert {"-nocudainc", "-nocudalib"} <= set(command)
    assert any(part.startswith("--cuda-path=") for part in command)


def test_kernels_of_hip_are_those_of_cuda(sources):
    ir = compile_source(sources / "scale.hip").ir.decode()
    assert "define dso_local ptx_kernel void @_Z5scalePffi" in ir
    assert "@llvm.nvvm.read.ptx.sreg.ctaid.x()" in ir
    assert "@main" not in ir


def test_an_error_is_placed_in_the_file(tmp_path):
    path = tmp_path / "bad.cu"
    path.write_text("__global__ int kernel(float *p) { return 0; }\n")
    with pytest.raises(CompileError, match=r"bad\.cu:1:\d+: error: kernel function type .* must have void return"):
        compile_source(path)
