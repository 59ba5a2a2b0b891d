"""Device code of CUDA files as people write them: libraries that are not there, and host code that does not compile."""

import re

from ncc.errors import CompileError
from tests.rooms import CompileOptions, compile_device_code, compile_source, find_compiler
from tests.support.refuses import refuses

_HOST = """
#include <cublas_v2.h>
#include <thrust/device_vector.h>
template <class T, int N> __global__ void scale(T *p) { p[threadIdx.x] *= N; }
int main() {
  cublasHandle_t handle;
  cublasCreate(&handle);
  thrust::device_vector<float> d(10);
  thrust::sort(d.begin(), d.end());
  scale<float, 4><<<1, 2>>>(thrust::raw_pointer_cast(d.data()));
  scale<double, 8><<<1, 2>>>(nothing.p);
  if (cublasDestroy(handle)) return 1;
}
"""
_DEVICE = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <thrust/complex.h>
namespace cg = cooperative_groups;
texture<float, 2, cudaReadModeElementType> image;
__global__ void __launch_bounds__(256, 2) all(half2 *x, half *y, float *z, cudaTextureObject_t t) {
  extern __shared__ float dynamic[];
  auto block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<32, cg::thread_block> same = warp;
  same.sync();
  curandState s;
  curand_init(1, block.thread_rank(), 0, &s);
  typedef cub::BlockReduce<float, 256> Reduce;
  __shared__ Reduce::TempStorage storage;
  float v = __half2float(y[0]) + tex2D(image, 1.f, 2.f) + tex1Dfetch<float>(t, 3) + curand_normal(&s);
  v = Reduce(storage).Sum(v);
  dynamic[threadIdx.x] = v;
  block.sync();
  x[0] = __hfma2(x[1], x[2], __hmul2(x[3], x[4]));
  y[4] = hexp(y[5]) * (half)2.0f;
  z[0] = cg::reduce(warp, v, cg::plus<float>()) + cuCabsf(cuCmulf(make_cuComplex(1, v), make_cuComplex(v, 2)));
  thrust::complex<float> c(v, 1);
  z[1] = (c * c).real() + abs(c) + __shfl_down(v, 1) + min(threadIdx.x, 5);
  __nv_bfloat16 b = __float2bfloat16(v);
  z[2] = __bfloat162float(b * b) + dynamic[5] + __ldg(z + 7);
  if (__any_sync(~0u, v > 1)) atomicAdd(z + 3, v);
}
"""


def _kernels(ir: bytes) -> list[str]:
    return re.findall(r"^define [^\n@]*ptx_kernel [^\n@]*@(\w+)\(", ir.decode(), re.MULTILINE)


def test_host_code_that_does_not_compile_costs_no_kernel(tmp_path):
    path = tmp_path / "host.cu"
    path.write_text(_HOST)
    compiled = compile_source(path)
    assert _kernels(compiled.ir) == ["_Z5scaleIfLi4EEvPT_", "_Z5scaleIdLi8EEvPT_"]
    assert compiled.skipped_functions == ()
    assert compiled.empty_headers == ("cublas_v2.h", "thrust/device_vector.h")


def test_kernels_that_a_macro_of_unknown_tests_launches_are_instantiated(tmp_path):
    path = tmp_path / "tests.cu"
    path.write_text(
        "#include <gtest/gtest.h>\n"
        "template <class T> __global__ void twice(T *p) { p[threadIdx.x] *= 2; }\n"
        "TEST(suite, name) {\n  using type = short;\n  type *p = nullptr;\n"
        "  twice<type><<<1, 32>>>(p);\n  ASSERT_EQ(p, nullptr);\n}\n"
    )
    compiled = compile_source(path)
    assert _kernels(compiled.ir) == ["_Z5twiceIsEvPT_"]
    assert compiled.skipped_functions == ()


def test_what_kernels_use_of_nvidias_libraries_is_there(tmp_path):
    path = tmp_path / "device.cu"
    path.write_text(_DEVICE)
    compiled = compile_source(path)
    assert compiled.skipped_functions == ()
    assert len(_kernels(compiled.ir)) == 1
    assert b"__nv_tex_fetch" in compiled.ir
    assert b"load half" in compiled.ir


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


def test_what_is_left_out_leaves_whole_branches_and_classes():
    source = b"""
    #include <library.h>
    struct Policy {
      enum { SIZE = Library::SIZE, TWICE = 2 * SIZE };
      struct Inner { enum { LAST = Library::LAST }; };
    };
    __global__ void good(int *p) { p[0] = 1; }
    __attribute__((global)) __attribute__((launch_bounds(int((1) ? int(sizeof(char)) : int(sizeof((int)))))))
    void bad(int *p) { p[0] = nothing; }
    int main(int n, char **) {
      if (n == 1) n = 2;
      else if (n == 2) library::call();
      else if (library::is_three(n)) n = 4;
      else good<<<1, library::size()>>>(0);
      if (n == 5) library::call();
      else n = 6;
      return n;
    }
    """
    found = compile_source(source, CompileOptions(language="cuda"))
    assert _kernels(found.ir) == ["_Z4goodPi"]
    assert [name for name, _ in found.skipped_functions] == ["bad"]


def test_older_templates_that_nvcc_takes():
    source = b"""
    template <int N> struct Pair { template <class T> __device__ static void set(T *p) { *p = N; } };
    template <int N, class T> __device__ void set(T *p) { Pair<N>::template set(p); }
    __global__ void kernel(int *p) { set<3>(p); float s, c; sincos(1.0f, &s, &c); p[1] = (int)(s * c); }
    """
    found = compile_source(source, CompileOptions(language="cuda"))
    assert found.skipped_functions == ()
    assert b"@sincosf(float" in found.ir


def test_where_no_kernel_is_left_the_first_error_is_told(tmp_path):
    path = tmp_path / "none.cu"
    path.write_text("__global__ void bad(int *p) { p[0] = nothing; }\n")
    with refuses(CompileError, "none.cu:1:38: error: use of undeclared identifier 'nothing'"):
        compile_source(path)


def test_where_headers_are_missing_what_leaves_no_kernel_is_told():
    source = b"#include <library.h>\n__global__ void bad(int *p) { p[0] = library::value; }\n"
    with refuses(CompileError, "bad: use of undeclared identifier 'library'", "not found: library.h", "-I FOLDER"):
        compile_source(source, CompileOptions(language="cuda"))


def test_kernels_that_are_passed_to_lost_calls_are_instantiated():
    source = b"""
    #include <library.h>
    template <class T, int n> static __global__ void __launch_bounds__(32) fill(T *p) { p[threadIdx.x] = n; }
    template <class T> void run(T *p) {
      cudaLaunchConfig_t config;
      config.gridDim = 4;
      cudaLaunchKernelEx(&config, fill<T, 1>, p);
      library::launch(&config, fill<T, 2>, p);
    }
    int main() { run<float>(nullptr); }
    """
    found = compile_source(source, CompileOptions(language="cuda"))
    assert _kernels(found.ir) == ["_ZL4fillIfLi1EEvPT_", "_ZL4fillIfLi2EEvPT_"]


def test_constants_and_functions_of_the_host_that_kernels_use_are_shared(tmp_path):
    path = tmp_path / "shared.cu"
    path.write_text(
        "const float table[2] = {1, 2};\ntemplate <class T> T twice(T x) { return 2 * x; }\n"
        "__global__ void kernel(float *p) { p[0] = twice(table[threadIdx.x]); }\n"
    )
    assert compile_source(path).skipped_functions == ()


def test_host_statements_over_several_lines_give_way_to_the_kernels_that_they_launch():
    source = b"""
    template <class T> __global__ void fill(T *p) { p[threadIdx.x] = 1; }
    int main() {
      fill<
        float
      ><<<1,
          2>>>(
        nothing.p);
    }
    """
    found = compile_source(source, CompileOptions(language="cuda", debug_lines=True))
    assert b"_Z4fillIfEvPT_" in found.ir


def test_c_plus_plus_with_hips_header_is_device_code(tmp_path):
    file = tmp_path / "scale.cpp"
    file.write_text(
        "#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n#include <hip/hip_cooperative_groups.h>\n"
        "__global__ void scale(float *x) { x[hipThreadIdx_x] *= 2; }\n"
        "int main() { float *d; hipMalloc(&d, 4); hipLaunchKernelGGL(scale, dim3(1), dim3(1), 0, 0, d); }\n"
    )
    found = compile_source(file)
    assert b"ptx_kernel void @_Z5scalePf" in found.ir


def test_blocks_of_cub_and_the_rest_of_libcu_are_there():
    source = b"""
    #include <cooperative_groups.h>
    #include <cub/cub.cuh>
    #include <cuda/atomic>
    #include <cuda/pipeline>
    #include <cuda/std/limits>
    #include <cuda_fp8.h>
    template <class K> __global__ void __cluster_dims__(2, 1, 1) sort(K *keys, int *values, int *counts) {
      typedef cub::BlockRadixSort<K, 128, 4, int> Sort;
      typedef cub::BlockScan<int, 128> Scan;
      typedef cub::BlockExchange<int, 128, 4> Exchange;
      typedef cub::BlockHistogram<int, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC> Histogram;
      typedef cub::BlockDiscontinuity<int, 128> Heads;
      __shared__ union {
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
        typename Exchange::TempStorage exchange;
        typename Histogram::TempStorage histogram;
        typename Heads::TempStorage heads;
      } storage;
      K key[4];
      int value[4], heads[4], all;
      for (int i = 0; i < 4; i++) key[i] = keys[threadIdx.x * 4 + i], value[i] = i;
      Sort(storage.sort).SortDescending(key, value, 0, 12);
      Exchange(storage.exchange).BlockedToStriped(value);
      Scan(storage.scan).ExclusiveScan(value, value, 0, cub::Max(), all);
      Scan(storage.scan).InclusiveSum(value[0], value[1]);
      Histogram(storage.histogram).Histogram(value, counts);
      Heads(storage.heads).FlagHeads(heads, value, cub::Inequality());
      for (int i = 0; i < 4; i++) keys[threadIdx.x * 4 + i] = key[i], values[threadIdx.x * 4 + i] = value[i] + heads[i];
    }
    __global__ void copy(float *to, const float *from, int *count, __half2 *halves, __nv_fp8x2_storage_t *eighths) {
      __shared__ float part[256];
      auto block = cooperative_groups::this_thread_block();
      auto cluster = cooperative_groups::this_cluster();
      auto pipe = cuda::make_pipeline();
      pipe.producer_acquire();
      cuda::memcpy_async(block, part, from, cuda::aligned_size_t<16>(sizeof(part)), pipe);
      pipe.producer_commit();
      pipe.consumer_wait();
      cuda::atomic_ref<int, cuda::thread_scope_device>(*count).fetch_add(1, cuda::memory_order_relaxed);
      __shared__ cuda::atomic<unsigned, cuda::thread_scope_block> in_block;
      if (threadIdx.x == 0) in_block = 0;
      block.sync();
      count[1] = in_block++ + __half2float(halves[2].x);
      to[threadIdx.x] = *cluster.map_shared_rank(part, 1) + cuda::std::numeric_limits<float>::max();
      eighths[0] = __nv_cvt_halfraw2_to_fp8x2(__habs2(halves[0]), __NV_SATFINITE, __NV_E4M3);
      halves[1] = __nv_cvt_fp8x2_to_halfraw2(eighths[1], __NV_E4M3);
    }
    template __global__ void sort(float *, int *, int *);
    template __global__ void sort(unsigned char *, int *, int *);
    """
    found = compile_source(source, CompileOptions(language="cuda"))
    assert found.skipped_functions == ()
    assert len(_kernels(found.ir)) == 3


def test_tensor_cores_small_floats_and_numbers_in_words_are_there():
    source = b"""
    #include <cuda_fp8.h>
    #include <mma.h>
    using namespace nvcuda;
    __global__ void product(const half *a, const half *b, float *c) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
      wmma::fill_fragment(sum, 0.0f);
      wmma::load_matrix_sync(x, a, 16);
      wmma::load_matrix_sync(y, b, 16);
      wmma::mma_sync(sum, x, y, sum);
      wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
    }
    __global__ void narrow(__nv_fp8_e4m3 *p, half2 *h, unsigned int *words) {
      p[0] = __nv_fp8_e4m3(static_cast<float>(p[1]) * 2);
      words[0] = __vmaxs4(words[1], words[2]) + __hgt2_mask(h[0], h[1]);
      if (__hbge2(h[0], h[1])) h[2] = __hlt2(h[0], h[1]);
      words[3] = __vsubss4(0x80u, 0x01u) + 1000 * __vaddus2(0xfffeu, 9u);
    }
    """
    ir = compile_source(source, CompileOptions(language="cuda")).ir
    assert b"store i32 65535128," in ir  # saturated, each lane alone
    assert b"call void @ncc_mma_sync" in ir
    assert b"ptx_kernel void @_Z6narrow" in ir


def test_time_that_is_up_is_no_verdict_on_the_source() -> None:
    options = CompileOptions(timeout_s=1e-3)
    with refuses(CompileError, "source text: ", "0.001 seconds", "--timeout") as caught:
        compile_device_code(find_compiler(None), b"__global__ void k(int *p) { *p = unknown; }", options, ())
    assert isinstance(caught.value, CompileError) and caught.value.timed_out
    with refuses(CompileError, "unknown") as caught:
        compile_source(b"__global__ void k(int *p) { *p = unknown; }", CompileOptions(language="cuda"))
    assert isinstance(caught.value, CompileError) and not caught.value.timed_out


def test_kernels_may_launch_kernels():
    source = b"__global__ void child(int *p) { *p = 1; }\n__global__ void parent(int *p) { child<<<1, 32>>>(p); }\n"
    compiled = compile_source(source, CompileOptions(language="cuda"))
    assert _kernels(compiled.ir) == ["_Z5childPi", "_Z6parentPi"]
    assert compiled.skipped_functions == ()
