"""What kernels do at a launch: counts, trips of loops, guessed arguments, and what is refused."""

import gc

import pytest

import ncc
from ncc.errors import InputError
from ncc.kernels.frequencies import FunctionRuns

_SOURCE = b"""
__global__ void strided(int n, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * x[i];
}
__global__ void pairs(int n, const float4 *p, float *f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < n; j++) sum += p[j].x * p[i].x;
  f[i] = sum;
}
__global__ void rows(const int *start, const float *x, float *y) {
  float sum = 0;
  for (int k = start[threadIdx.x]; k < start[threadIdx.x + 1]; k++) sum += x[k];
  y[threadIdx.x] = sum;
}
__global__ void tree(float *x) {
  __shared__ float part[256];
  part[threadIdx.x] = x[threadIdx.x];
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) x[blockIdx.x] = part[0];
}
template <typename T, int times> __global__ void scale(T *x) {
  for (int i = 0; i < times; i++) x[threadIdx.x + i * 3] *= times;
}
template __global__ void scale<float, 3>(float *);
template __global__ void scale<double, 300>(double *);
"""
_CUDA = ncc.CompileOptions(language="cuda")


def _profile(kernel, grid=(1024,), block=(256,), **arguments):
    (found,) = ncc.profile(_SOURCE, grid=grid, block=block, kernel=kernel, arguments=arguments, options=_CUDA)
    return found


def _kept() -> int:
    gc.collect()
    return sum(type(one) is FunctionRuns for one in gc.get_objects())


def test_nothing_of_a_kernel_is_kept_once_it_is_counted():
    """The values of its threads take tens of megabytes."""
    source, before = b"__global__ void negated(float *x) { x[threadIdx.x] = -x[threadIdx.x]; }", _kept()
    ncc.profile(source, grid=(4,), block=(64,), options=_CUDA)
    assert _kept() == before


def test_a_loop_over_the_grid_runs_as_often_as_the_argument_says():
    found = _profile("strided", n=2**20)
    assert found.per_thread["global_load"] == pytest.approx(4)
    assert found.per_thread["global_bytes"] == pytest.approx(32)
    (loop,) = found.loops
    assert loop.trips == pytest.approx(4)
    assert loop.formula == "(n - ((blockIdx.x * blockDim.x) + threadIdx.x)) / (gridDim.x * blockDim.x)"


def test_a_loop_over_more_than_the_grid_does_not_tell_its_end():
    found = _profile("strided")
    assert not found.guessed
    assert [loop.formula != "" for loop in found.unbounded] == [True]


def test_an_argument_follows_from_what_threads_are_compared_with():
    found = _profile("pairs", grid=(4,))
    assert found.guessed == {"n": 1024}
    assert found.per_thread["flops"] == pytest.approx(2048)
    assert _profile("pairs", grid=(4,), n=512).per_thread["flops"] == pytest.approx(512)


def test_what_memory_decides_on_is_said_to_be_unknown():
    found = _profile("rows", grid=(1,))
    assert [loop.formula for loop in found.unbounded] == [""]
    assert found.to_dict()["unbounded"] == 1


def test_a_tree_runs_the_logarithm_of_the_block():
    found = _profile("tree")
    assert [loop.trips for loop in found.loops] == [8]
    assert found.per_thread["barrier"] == 8
    assert found.per_thread["global_store"] == pytest.approx(1 / 256)


def test_kernels_go_by_name_and_template_arguments():
    assert _profile("scale<double, 300>").loops[0].trips == 300
    assert _profile("_Z5scaleIfLi3EEvPT_").name == "_Z5scaleIfLi3EEvPT_"
    assert str(_profile("void scale<float, (int)3>(T1 *)")) == "void scale<float, 3>(float*)"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"kernel": "stride"}, r"no kernel is called 'stride'; it has strided\(int, float const\*, float\*\), "),
        ({"kernel": "tree", "n": 3}, r"tree\(float\*\) has no argument 'n'; it has x"),
        ({"kernel": "tree", "grid": (0,)}, "grid size x is 0; expected 1 to 2,147,483,647"),
        ({"kernel": "tree", "block": (64, 64)}, "a block of 4,096 threads; a card takes up to 1,024"),
        ({"kernel": "tree", "block": ()}, "block has 0 sizes; expected 1 to 3"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(how, message):
    with pytest.raises(InputError, match=message):
        _profile(**how)


def test_a_file_of_the_host_alone_has_no_kernel():
    with pytest.raises(InputError, match="has no kernel; expected device code of CUDA, HIP or OpenCL"):
        ncc.profile(b"int f() { return 1; }", grid=(1,), block=(1,), options=_CUDA)


def test_a_loop_in_a_loop_is_counted_over_all_trips_of_both():
    source = b"""__global__ void triangle(float *x) {
      float sum = 0;
      for (int i = 0; i < 100; i++)
        for (int j = 0; j < i; j++) sum += x[i * 100 + j] * x[j];
      x[threadIdx.x] = sum;
    }"""
    (found,) = ncc.profile(source, grid=(2,), block=(64,), options=_CUDA)
    assert found.per_thread["flops"] == pytest.approx(2 * 4950, rel=0.02)


def test_additions_of_a_warp_to_one_number_in_shared_memory_wait_for_each_other():
    source = b"""__global__ void total(float *x) {
      __shared__ float sum;
      atomicAdd(&sum, x[threadIdx.x]);
    }"""
    (found,) = ncc.profile(source, grid=(2,), block=(64,), options=_CUDA)
    assert found.per_thread["single_flops"] == 16.5


def test_a_sign_counts_where_nothing_takes_it_along():
    source = b"__global__ void signs(float *x, float *y) { x[threadIdx.x] = -y[0]; x[1] = y[1] * -y[2] - x[3]; }"
    (found,) = ncc.profile(source, grid=(2,), block=(64,), options=_CUDA)
    assert found.per_thread["flops"] == 3
