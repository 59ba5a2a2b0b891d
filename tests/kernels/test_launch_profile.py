"""What kernels do at a launch: counts, trips of loops, guessed arguments, and what is refused."""

import gc
from pathlib import Path

import pytest

import ncc
from ncc.errors import InputError
from tests.rooms import Execution
from tests.support.refuses import refuses

_CUDA = ncc.CompileOptions(language="cuda")
_LAUNCHES, _CONDITIONS = (Path(__file__).parent / name for name in ("launches.cu", "conditions.cu"))


def _profile(kernel, grid=(1024,), block=(256,), **arguments):
    (found,) = ncc.profile(_LAUNCHES, grid=grid, block=block, kernel=kernel, arguments=arguments)
    return found


def test_nothing_of_a_kernel_is_kept_once_it_is_counted():
    """The values of its threads take tens of megabytes."""
    ncc.profile(_LAUNCHES, grid=(4,), block=(64,), kernel="pairs")
    gc.collect()
    assert not any(type(one) is Execution for one in gc.get_objects())


def test_a_loop_over_the_grid_runs_as_often_as_the_argument_says():
    found = _profile("strided", n=2**20)
    assert found.per_thread["global_load"] == pytest.approx(4)
    assert found.per_thread["global_bytes"] == pytest.approx(32)
    (loop,) = found.loops
    assert loop.trip_count == pytest.approx(4)
    unknown = _profile("strided")  # which runs over more than the grid
    assert not unknown.inferred_arguments
    assert [loop.reason for loop in unknown.data_dependent_loops] == ["trip count depends on n (--arg n=N)"]


def test_an_argument_follows_from_what_threads_are_compared_with():
    found = _profile("pairs", grid=(4,))
    assert found.inferred_arguments == {"n": 1024}
    assert found.per_thread["flops"] == pytest.approx(2048)
    assert _profile("pairs", grid=(4,), n=512).per_thread["flops"] == pytest.approx(512)


def test_a_tree_runs_the_logarithm_of_the_block():
    found = _profile("tree")
    assert [loop.trip_count for loop in found.loops] == [8]
    assert found.per_thread["barrier"] == 8
    assert found.per_thread["global_store"] == pytest.approx(1 / 256)


@pytest.mark.parametrize(
    ("end", "trips"),
    [
        ("min(n, 64)", 64),
        ("max(n, 64)", 100),
        ("clamp(n, 0, 32)", 32),
        ("(int)min((uint)n, (uint)get_local_size(0) / 4)", 16),
        ("abs(-n)", 100),
        ("popcount(n)", None),
        ("sub(n, 1)", None),
    ],
)
def test_builtins_of_opencl_say_how_often_a_loop_runs(end, trips):
    source = f"""__attribute__((noinline)) int sub(int n, int m) {{ return n % 2 ? m : n; }}
    kernel void sum(global float *a, int n) {{ for (int i = 0; i < {end}; i++) a[i] += 1; }}"""
    (found,) = ncc.profile(
        source, grid=(16,), block=(64,), arguments={"n": 100}, options=ncc.CompileOptions(language="opencl")
    )
    assert [loop.trip_count for loop in found.loops] == [trips]


def test_kernels_go_by_name_and_template_arguments():
    assert _profile("scale<double, 300>").loops[0].trip_count == 300
    assert _profile("_Z5scaleIfLi3EEvPT_").name == "_Z5scaleIfLi3EEvPT_"
    assert _profile("void scale<float, (int)3>(T1 *)").summary().subject == "void scale<float, 3>(float*)"
    found = ncc.profile(_LAUNCHES, grid=(1,), block=(32,), kernel="scale")
    assert [one.loops[0].trip_count for one in found] == [3, 300]


@pytest.mark.parametrize(
    ("how", "nouns"),
    [
        ({"kernel": "stride"}, ("'stride'", "strided(int, float const*, float*)")),
        ({"kernel": "tree", "n": 3}, ("tree(float*)", "argument 'n'", "has x")),
        ({"kernel": "tree", "block": (64, 64)}, ("4,096 threads", "1,024")),
        ({"kernel": "tree", "block": ()}, ("block is ()", "1 to 3")),
        ({"kernel": "pairs", "n": 1.5}, ("argument 'n' is 1.5", "whole number of i32")),
        ({"kernel": "pairs", "n": "5"}, ("argument 'n' is '5'", "a number")),
        ({"kernel": "pairs", "n": 10**400}, ("argument 'n' is 1000", "a number")),
        ({"kernel": "pairs", "n": 2**32}, ("argument 'n' is 4.29497e+09", "whole number of i32")),
        ({"kernel": "pairs", "n": 5, "0": 5}, ("argument 0", "'n'", "'0'")),
    ],
)
def test_bad_input_is_refused_in_a_sentence(how, nouns):
    with refuses(InputError, *nouns):
        _profile(**how)


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        (  # a loop in a loop is counted over all trips of both
            b"""__global__ void triangle(float *x) {
              float sum = 0;
              for (int i = 0; i < 100; i++)
                for (int j = 0; j < i; j++) sum += x[i * 100 + j] * x[j];
              x[threadIdx.x] = sum;
            }""",
            "flops",
            pytest.approx(2 * 4950, rel=0.02),
        ),
        (  # additions of a warp to one number in shared memory wait for each other
            b"""__global__ void total(float *x) {
              __shared__ float sum;
              atomicAdd(&sum, x[threadIdx.x]);
            }""",
            "single_flops",
            16.5,
        ),
        (  # a sign counts where nothing takes it along
            b"__global__ void signs(float *x, float *y) { x[threadIdx.x] = -y[0]; x[1] = y[1] * -y[2] - x[3]; }",
            "flops",
            3,
        ),
        (  # neighbors within limits still access memory in one piece
            b"""__global__ void clamped(const float *x, float *y) {
              int i = blockIdx.x * blockDim.x + threadIdx.x;
              y[i] = x[min(max(i - 1, 0), 255)];
            }""",
            "global_coalesced",
            2,
        ),
    ],
)
def test_kernels_counted_by_hand(source, kind, expected):
    (found,) = ncc.profile(source, grid=(2,), block=(64,), options=_CUDA)
    assert found.per_thread[kind] == expected


def _blocks(kernel, grid, block=(256,), **arguments):
    (found,) = ncc.profile(_CONDITIONS, grid=grid, block=block, kernel=kernel, arguments=arguments)
    return found


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "arguments", "flops"),
    [
        *(("twice", (1024,), (256,), {"n": n}, n / 2**18) for n in (1, 65536, 100000, 150000, 190000, 2**18)),
        ("twice", (2**31 - 1,), (256,), {"n": 10**9}, 10**9 / (2**31 - 1) / 256),
        ("seventh", (1024,), (256,), {"n": 1000}, 1000 / 1024),
        ("seventh", (100000,), (1024,), {"n": 1000}, 1000 / 100000),
        ("first", (1024,), (1024,), {}, 2**-20),
        ("odd", (3,), (256,), {}, 1 / 3),
        ("triangle", (1024,), (256,), {}, (2**18 - 1) / 2),
        ("picture", (63, 63), (16, 16), {"w": 1000, "h": 777}, 777000 / (63 * 63 * 256)),
    ],
)
def test_counts_are_those_of_all_threads_where_conditions_are_linear(kernel, grid, block, arguments, flops):
    found = _blocks(kernel, grid, block, **arguments)
    assert found.per_thread["single_flops"] == pytest.approx(flops, rel=1e-9)
    assert not found.num_sampled_blocks


def test_blocks_that_take_turns_are_estimated_and_that_is_said():
    found = _blocks("odd", (3 * 4096,))
    assert found.per_thread["single_flops"] == pytest.approx(0.5, rel=0.05)
    assert found.to_dict()["num_sampled_blocks"] == found.num_sampled_blocks == 64


def test_tensor_cores_are_said_not_to_be_counted():
    source = b"""#include <mma.h>
    using namespace nvcuda;
    __global__ void product(const half *a, const half *b, float *c) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> B;
      wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
      wmma::load_matrix_sync(A, a, 16); wmma::load_matrix_sync(B, b, 16); wmma::fill_fragment(C, 0.f);
      for (int k = 0; k < 64; k++) wmma::mma_sync(C, A, B, C);
      wmma::store_matrix_sync(c, C, 16, wmma::mem_row_major);
    }"""
    (found,) = ncc.profile(source, grid=(2,), block=(32,), options=_CUDA)
    assert found.per_thread["tensor_operation"] == 64
    assert found.to_dict()["uncounted_operations"] == ["tensor-core operations (wmma, mma)"]


def test_loops_of_headers_are_named_by_their_file(tmp_path):
    (tmp_path / "sums.cuh").write_text(
        "\n\n__device__ inline float sum(const float *x, int n) { float s = 0;\n"
        "  for (int j = 0; j < n; j++) s += x[j];\n  return s; }\n"
    )
    (tmp_path / "own.cu").write_text(
        '#include "sums.cuh"\n__global__ void own(float *x, int n) {\n'
        "  for (int i = 0; i < n; i++) x[i] *= 2;\n  x[n] = sum(x, n);\n}\n"
    )
    (found,) = ncc.profile(tmp_path / "own.cu", grid=(1,), block=(32,))
    assert {loop.location for loop in found.loops} == {"line 3", "line 4 of sums.cuh"}
