"""Device code of CUDA files as people write them: libraries that are not there, and host code that does not compile."""

import re

import pytest

from ncc.errors import CompileError
from tests.rooms import CompileOptions, TranslationUnit, compile_device_code, compile_source, find_compiler
from tests.support.refuses import refuses


def _kernels(ir: bytes) -> list[str]:
    return re.findall(r"^define [^\n@]*ptx_kernel [^\n@]*@(\w+)\(", ir.decode(), re.MULTILINE)


def test_host_code_that_does_not_compile_costs_no_kernel(sources):
    compiled = compile_source(sources / "host_code.cu")
    assert _kernels(compiled.ir) == ["_Z5scaleIfLi4EEvPT_", "_Z5scaleIdLi8EEvPT_"]
    assert compiled.skipped_functions == ()
    assert compiled.empty_headers == ("cublas_v2.h", "thrust/device_vector.h")


INSTANTIATED = {
    "by a macro of unknown tests": (
        b"""#include <gtest/gtest.h>
        template <class T> __global__ void twice(T *p) { p[threadIdx.x] *= 2; }
        TEST(suite, name) {
          using type = short;
          type *p = nullptr;
          twice<type><<<1, 32>>>(p);
          ASSERT_EQ(p, nullptr);
        }""",
        ["_Z5twiceIsEvPT_"],
    ),
    "by lost calls that they are passed to": (
        b"""#include <library.h>
        template <class T, int n> static __global__ void __launch_bounds__(32) fill(T *p) { p[threadIdx.x] = n; }
        template <class T> void run(T *p) {
          cudaLaunchConfig_t config;
          config.gridDim = 4;
          cudaLaunchKernelEx(&config, fill<T, 1>, p);
          library::launch(&config, fill<T, 2>, p);
        }
        int main() { run<float>(nullptr); }""",
        ["_ZL4fillIfLi1EEvPT_", "_ZL4fillIfLi2EEvPT_"],
    ),
    "by statements over several lines": (
        b"""template <class T> __global__ void fill(T *p) { p[threadIdx.x] = 1; }
        int main() {
          fill<
            float
          ><<<1,
              2>>>(
            nothing.p);
        }""",
        ["_Z4fillIfEvPT_"],
    ),
    "by kernels": (
        b"""__global__ void child(int *p) { *p = 1; }
        __global__ void parent(int *p) { child<<<1, 32>>>(p); }""",
        ["_Z5childPi", "_Z6parentPi"],
    ),
    "with constants and functions of the host": (
        b"""const float table[2] = {1, 2};
        template <class T> T twice(T x) { return 2 * x; }
        __global__ void kernel(float *p) { p[0] = twice(table[threadIdx.x]); }""",
        ["_Z6kernelPf"],
    ),
    "with older templates that nvcc takes": (
        b"""template <int N> struct Pair { template <class T> __device__ static void set(T *p) { *p = N; } };
        template <int N, class T> __device__ void set(T *p) { Pair<N>::template set(p); }
        __global__ void kernel(int *p) { set<3>(p); float s, c; sincos(1.0f, &s, &c); p[1] = (int)(s * c); }""",
        ["_Z6kernelPi"],
    ),
}
"""How kernels are launched, or what they use → source, and the kernels that are instantiated."""


@pytest.mark.parametrize("how", INSTANTIATED)
def test_kernels_are_instantiated_and_nothing_is_skipped(how):
    source, kernels = INSTANTIATED[how]
    compiled = compile_source(source, CompileOptions(language="cuda", debug_lines=True))
    assert _kernels(compiled.ir) == kernels
    assert compiled.skipped_functions == ()
    assert "older" not in how or b"@sincosf(float" in compiled.ir


@pytest.mark.parametrize(
    ("name", "num_kernels", "held"),
    [
        ("libraries.cu", 1, [b"__nv_tex_fetch", b"load half"]),
        ("blocks.cu", 3, []),
        # a saturated number, each lane alone
        ("tensor_cores.cu", 2, [b"store i32 65535128,", b"call void @ncc_mma_sync", b"ptx_kernel void @_Z6narrow"]),
    ],
)
def test_what_kernels_use_of_nvidias_libraries_is_there(sources, name, num_kernels, held):
    compiled = compile_source(sources / name)
    assert compiled.skipped_functions == ()
    assert len(_kernels(compiled.ir)) == num_kernels
    assert [text for text in held if text not in compiled.ir] == []


def test_a_function_of_the_device_is_there_whole_or_left_out_with_its_reason(tmp_path, caplog):
    path = tmp_path / "part.cu"
    path.write_text(
        "__device__ int lost() { return nothing; }\n"
        "__global__ void good(int *p) { p[0] = 1; }\n"
        "__global__ void bad(int *p) { p[0] = lost(); p[1] = 2; }\n"
    )
    compiled = compile_source(path)
    assert _kernels(compiled.ir) == ["_Z4goodPi"]
    assert [name for name, _ in compiled.skipped_functions] == ["lost", "bad"]
    assert "bad does not compile, and is left out: use of undeclared identifier 'lost'" in caplog.text


def test_what_is_left_out_leaves_whole_branches_and_classes(sources):
    found = compile_source(sources / "left_out.cu")
    assert _kernels(found.ir) == ["_Z4goodPi"]
    assert [name for name, _ in found.skipped_functions] == ["bad"]


def test_where_no_kernel_is_left_the_first_error_is_told(tmp_path):
    path = tmp_path / "none.cu"
    path.write_text("__global__ void bad(int *p) { p[0] = nothing; }\n")
    with refuses(CompileError, "none.cu:1:38: error: use of undeclared identifier 'nothing'"):
        compile_source(path)


def test_where_headers_are_missing_what_leaves_no_kernel_is_told():
    source = b"#include <library.h>\n__global__ void bad(int *p) { p[0] = library::value; }\n"
    with refuses(CompileError, "bad: use of undeclared identifier 'library'", "not found: library.h", "-I FOLDER"):
        compile_source(source, CompileOptions(language="cuda"))


def test_c_plus_plus_with_hips_header_is_device_code(tmp_path):
    file = tmp_path / "scale.cpp"
    file.write_text(
        "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include <hip/hip_cooperative_groups.h>\n"
        "__global__ void scale(float *x) { x[hipThreadIdx_x] *= 2; }\n"
        "int main() { float *d; hipMalloc(&d, 4); hipLaunchKernelGGL(scale, dim3(1), dim3(1), 0, 0, d); }\n"
    )
    found = compile_source(file)
    assert b"ptx_kernel void @_Z5scalePf" in found.ir


def test_time_that_is_up_is_no_verdict_on_the_source() -> None:
    options = CompileOptions(timeout_s=1e-3)
    with refuses(CompileError, "source text: ", "0.001 seconds", "--timeout") as caught:
        text = b"__global__ void k(int *p) { *p = unknown; }"
        compile_device_code(TranslationUnit(find_compiler(None), "cuda", text), options)
    assert isinstance(caught.value, CompileError) and caught.value.timed_out
    with refuses(CompileError, "unknown") as caught:
        compile_source(b"__global__ void k(int *p) { *p = unknown; }", CompileOptions(language="cuda"))
    assert isinstance(caught.value, CompileError) and not caught.value.timed_out
