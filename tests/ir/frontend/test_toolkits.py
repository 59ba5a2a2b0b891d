"""Headers of CUDA toolkits: where they come from, and what is none."""

import pytest

from ncc.errors import InputError
from tests.rooms import CompileOptions, compile_source
from tests.support.refuses import refuses

_SOURCE = b"""
#include <cuda_runtime.h>
#include <cufft.h>
__global__ void twice(cufftReal *x) { x[threadIdx.x] *= CUFFT_TWO; }
"""


@pytest.fixture
def toolkit(tmp_path):
    include = tmp_path / "toolkit" / "include"
    include.mkdir(parents=True)
    (include / "cuda.h").write_text("#define CUDA_VERSION 12040\n")
    (include / "vector_types.h").write_text("#if !defined(__VECTOR_TYPES_H__)\nstruct float4 { float x; };\n#endif\n")
    (include / "cufft.h").write_text('#include "vector_types.h"\ntypedef float cufftReal;\n#define CUFFT_TWO 2\n')
    return tmp_path / "toolkit"


def test_a_toolkit_has_the_headers_that_ours_lack(toolkit):
    found = compile_source(_SOURCE, CompileOptions(language="cuda", cuda_path=str(toolkit)))
    assert b"_Z5twicePf" in found.ir
    assert not found.empty_headers


def test_the_environment_names_a_toolkit(toolkit, monkeypatch):
    monkeypatch.setenv("NCC_CUDA_PATH", str(toolkit))
    assert b"_Z5twicePf" in compile_source(_SOURCE, CompileOptions(language="cuda")).ir
    monkeypatch.setenv("NCC_CUDA_PATH", str(toolkit / "include"))
    with refuses(InputError, "NCC_CUDA_PATH", toolkit / "include", "CUDA toolkit"):
        compile_source(_SOURCE, CompileOptions(language="cuda"))


@pytest.mark.parametrize(
    ("text", "version"), [("#define CUDA_VERSION 99010\n", "version 99"), ("nothing", "an unknown version")]
)
def test_a_toolkit_of_an_unknown_version_is_refused(toolkit, text, version):
    (toolkit / "include" / "cuda.h").write_text(text)
    with refuses(InputError, version, "9 to 13"):
        compile_source(_SOURCE, CompileOptions(language="cuda", cuda_path=str(toolkit)))


def test_where_a_toolkits_headers_break_ours_alone_are_taken(toolkit):
    (toolkit / "include" / "cufft.h").write_text("this is not a header\n")
    source = b"#include <cufft.h>\n__global__ void one(float *x) { x[0] = 1; }\n"
    found = compile_source(source, CompileOptions(language="cuda", cuda_path=str(toolkit)))
    assert found.empty_headers == ("cufft.h",)


def test_what_is_left_of_a_file_has_the_toolkits_headers_too(toolkit):
    host = b"#include <nowhere.h>\nvoid host() { nowhere::call(); }\n"
    found = compile_source(host + _SOURCE, CompileOptions(language="cuda", cuda_path=str(toolkit)))
    assert b"_Z5twicePf" in found.ir
    assert found.empty_headers == ("nowhere.h",)


def test_a_way_that_leaves_less_out_is_taken(toolkit):
    (toolkit / "include" / "cufft.h").write_text("typedef float cufftReal;\n")
    source = b"""
    #include <nowhere.h>
    #if __has_include(<cufft.h>)
    #include <cufft.h>
    __global__ void other(float *x) { x[0] = nothing; }
    #else
    __global__ void other(float *x) { x[0] = 2; }
    #endif
    __global__ void one(float *x) { x[0] = 1; }
    """
    found = compile_source(source, CompileOptions(language="cuda", cuda_path=str(toolkit)))
    assert found.ir.count(b"ptx_kernel") >= 2
    assert not found.skipped_functions


@pytest.mark.full
def test_extensions_of_pytorch_need_no_headers_of_python():
    source = b"""
    #include <torch/extension.h>
    template <class T> __global__ void twice(T *x) { x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x]; }
    void run(torch::Tensor x) {
      TORCH_CHECK(x.is_cuda(), "no CUDA tensor");
      twice<<<1, x.numel()>>>(x.data_ptr<float>());
    }
    PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run, "Twice", py::arg("x")); }
    """
    found = compile_source(source, CompileOptions(language="cuda"))
    assert b"ptx_kernel void @_Z5twiceIfEvPT_" in found.ir


def test_kernels_of_pytorchs_extensions_find_its_headers():
    source = b"""
    #include <torch/headeronly/util/Half.h>
    #include <c10/util/BFloat16.h>
    #include <torch/csrc/of/another/version.h>
    template <class T> __global__ void same(const T *x, const T *y, bool *out) { out[threadIdx.x] = x[0] == y[0]; }
    void launch() { same<c10::Half><<<1, 2>>>(0, 0, 0); same<c10::BFloat16><<<1, 2>>>(0, 0, 0); }
    """
    found = compile_source(source, CompileOptions(language="cuda"))
    assert found.ir.count(b"define dso_local ptx_kernel void @_Z4sameI") == 2
    assert "torch/csrc/of/another/version.h" in found.empty_headers
    assert not any("c10/util" in name for name in found.empty_headers)


def test_numbers_of_other_libraries_are_no_operands_of_half():
    source = b"""
    #include <cuda_fp16.h>
    struct Own { operator float() const; operator __half() const; };
    __global__ void kernel(Own *x, __half *y, __half2 *z, bool *out) {
      z[0] = __hmax2(make_half2(y[0], y[1]), __shfl_xor_sync(~0u, z[1], 16));
      out[0] = x[0] == x[1];
      y[0] = y[1] * y[2] + __half(3) - __half(1.5f);
      out[1] = y[0] <= y[3];
      y[4] += -y[5];
      y[6] = __short_as_half(__half_as_short(y[7]));
    }
    """
    assert compile_source(source, CompileOptions(language="cuda")).skipped_functions == ()
