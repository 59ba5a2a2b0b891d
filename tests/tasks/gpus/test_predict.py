"""Predicted launches: what an answer holds, how it goes with sizes, and what is refused."""

import json
from pathlib import Path

import pytest

import ncc
from tests.support.verbs import run_here

_SAMPLE = Path(__file__).parents[3] / "datasets" / "gpu" / "diffusion.cu"
_BOUNDS = Path(__file__).parent / "bounds.cu"


def test_more_work_takes_longer():
    times = [
        ncc.predict_gpu(_SAMPLE, kernel="roots", grid=[65536], block=[256], arguments={"times": times})[0]
        for times in (10, 1000, 100000)
    ]
    assert [answer.bound for answer in times[1:]] == ["compute", "compute"]
    assert times[0].time_ms * 3 < times[1].time_ms < times[2].time_ms / 3
    assert times[2].interval_ms[0] >= times[2].lower_bounds_ms["compute"] * (1 - 1e-9) > 1


def _predict(kernel, grid, block=(256,), **arguments):
    (answer,) = ncc.predict_gpu(_BOUNDS, kernel=kernel, grid=grid, block=block, arguments=arguments)
    return answer


def test_a_stream_takes_no_less_than_the_bandwidth_allows():
    answer = _predict("triad", [2**20], n=2**28)
    least = 3 * 8 * 2**28
    assert answer.traffic_bytes >= least
    assert answer.lower_bounds_ms["bandwidth"] == pytest.approx(least / 760e9 * 1e3, rel=0.01)
    assert answer.time_ms >= answer.interval_ms[0] >= answer.lower_bounds_ms["bandwidth"] * (1 - 1e-9)
    assert answer.interval_ms[1] > answer.time_ms


def test_what_the_sizes_tell_limits_the_time_alone():
    answer, known = _predict("triad", [2**20]), _predict("triad", [2**20], n=2**28)
    assert answer.lower_bounds_ms["bandwidth"] == 0
    assert answer.assumed_lower_bounds_ms == known.lower_bounds_ms == known.assumed_lower_bounds_ms
    assert answer.interval_ms[0] < known.interval_ms[0] < answer.interval_ms[1]
    assert answer.time_ms >= known.lower_bounds_ms["bandwidth"] * (1 - 1e-9)
    assert answer.traffic_bytes >= 3 * 8 * 2**28


def test_addresses_that_threads_share_count_once():
    again = _predict("again", [2**18], n=2**26)
    assert again.lower_bounds_ms["bandwidth"] == pytest.approx((4 * 2**26 - 5 * 2**20) / 760e9 * 1e3)  # the stores
    product = _predict("product", [256, 256], (16, 16), n=4096)
    assert product.lower_bounds_ms["bandwidth"] == pytest.approx((12 * 2**24 - 5 * 2**20) / 760e9 * 1e3)
    assert product.lower_bounds_ms["compute"] == pytest.approx(2 * 4096**3 / 29.8e12 * 1e3)


def test_one_thread_takes_no_less_than_its_chain_of_operations():
    answer = _predict("alone", [16384], n=2**22)
    assert answer.lower_bounds_ms["chain"] == pytest.approx(4 * 2**22 / 1.71e9 * 1e3, rel=1e-3)
    assert (answer.bound, answer.raised_to, answer.familiar) == ("chain", "chain", False)
    assert answer.interval_ms[0] == pytest.approx(answer.lower_bounds_ms["chain"])


def test_nothing_is_bound_by_what_a_launch_takes():
    answer = _predict("nothing", [1])
    assert answer.bound == "launch overhead"
    assert answer.interval_ms[0] >= answer.lower_bounds_ms["launch overhead"] > 0.001


@pytest.mark.parametrize(
    ("given", "noun"),
    [
        (["--arg", "n=5", "--arg", "n=6"], "--arg n"),
        (["--program-args", '4096 "x'], "quotation"),
        (["--arg", "n=nan"], "'n' is nan"),
    ],
)
def test_what_is_mistyped_is_refused(given, noun):
    finished = run_here("predict-gpu", _SAMPLE, "--grid", "4", "--block", "64", *given)
    assert finished.code != 0
    assert noun in " ".join(finished.err.split())


_LAUNCHING = """__global__ void scale(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
int main(int argc, char **argv) {
  const int n = 1 << 12;
  cudaMalloc(&x, n * sizeof(float));
  scale<<<n / 256, 256>>>(x, n);
  scale<<<atoi(argv[1]), 256>>>(x, 8);
}
"""


@pytest.mark.parametrize("verb", ["predict-gpu", "profile"])
def test_launches_come_from_host_code(tmp_path, verb):
    (tmp_path / "scale.cu").write_text(_LAUNCHING)
    finished = run_here(verb, tmp_path / "scale.cu")
    assert finished.code == 0
    assert "n = 4,096 (line 3)" in finished.out
    assert "grid = (16, 1, 1) (line 3)" in finished.out
    row = json.loads(run_here(verb, tmp_path / "scale.cu", "--json").out)
    assert [kernel["grid"] for kernel in row["kernels"]] == [[16, 1, 1]]


def test_every_launch_is_a_line(tmp_path):
    (tmp_path / "scale.cu").write_text(_LAUNCHING)
    finished = run_here("predict-gpu", tmp_path / "scale.cu", "--program-args", "40", "--json")
    assert [kernel["grid"] for kernel in json.loads(finished.out)["kernels"]] == [[16, 1, 1], [40, 1, 1]]


@pytest.mark.parametrize("verb", ["predict-gpu", "profile"])
@pytest.mark.parametrize(
    ("options", "noun"), [((), "--grid 4096 --block 256"), (("--grid", "4"), "--block"), (("--block", "4"), "--grid")]
)
def test_without_host_code_the_error_names_the_options(tmp_path, verb, options, noun):
    (tmp_path / "k.cu").write_text("__global__ void k(float *x) { *x = 1; }\n")
    finished = run_here(verb, tmp_path / "k.cu", *options)
    assert finished.code != 0
    assert noun in finished.err


def test_an_answer_says_that_nothing_was_assumed(tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void k(float *x) { *x = 1; }\n")
    assert "assumed   nothing" in run_here("predict-gpu", tmp_path / "k.cu", "--grid", "4", "--block", "32").out


def test_opencl_host_code_beside_a_kernel_is_read(tmp_path):
    host = Path(__file__).parents[2] / "kernels" / "host" / "vadd.c"
    (tmp_path / "vadd.c").write_text(host.read_text())
    kernel = "__kernel void vadd(__global const float *a, __global int *b, int n) { int i = get_global_id(0);"
    (tmp_path / "vadd.cl").write_text(kernel + " if (i < n) b[i] = a[i]; }\n")
    (row,) = json.loads(run_here("predict-gpu", tmp_path / "vadd.cl", "--json").out)["kernels"]
    assert (row["grid"], row["block"], row["arguments"]) == ([64, 2, 1], [64, 1, 1], {"n": 4095})
    assert f"n = 4,095 ({tmp_path / 'vadd.c'}:1)" in row["assumptions"]
