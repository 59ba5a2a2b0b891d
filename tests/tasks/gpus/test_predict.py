"""Predicted launches: what an answer holds, how it goes with sizes, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import ncc
from ncc.errors import AssetError, InputError
from tests.rooms import app

_SAMPLE = Path(__file__).parents[3] / "datasets" / "gpu" / "diffusion.cu"


@pytest.fixture(scope="module")
def step():
    (answer,) = ncc.predict_gpu(_SAMPLE, kernel="step", grid=[256, 256], block=[16, 16])
    return answer


def test_an_answer_says_time_bound_and_what_it_rests_on(step):
    low, high = step.interval_ms
    assert low < step.time_ms < high
    assert step.bound == "bandwidth"
    assert step.bound_probability == 1 - step.compute_probability > 0.5
    assert step.arguments["n"] == 4096
    assert step.buffer_bytes == {"from": 4 * 4096**2, "to": 4 * 4096**2}
    assert step.traffic_bytes == pytest.approx(8 * 4096**2, rel=1)
    assert step.flops == pytest.approx(7 * 4096**2, rel=0.2)
    assert not step.extrapolated
    assert "n = 4,096, rate = 0.2\n  buffers: from = 67.1 MB" in step.explanation()
    assert str(step).endswith(f"bound by bandwidth ({step.bound_probability:.0%})")
    rare = replace(step, bound="compute", bound_probability=0.45, compute_probability=0.45)
    assert str(rare).endswith("bound by compute (45%) or bandwidth (55%)")


def test_more_work_takes_longer():
    times = [
        ncc.predict_gpu(_SAMPLE, kernel="roots", grid=[65536], block=[256], arguments={"times": times})[0]
        for times in (10, 1000, 100000)
    ]
    assert [one.bound for one in times[1:]] == ["compute", "compute"]
    assert times[0].time_ms * 3 < times[1].time_ms < times[2].time_ms / 3


def test_another_card_is_extrapolated(step):
    (other,) = ncc.predict_gpu(_SAMPLE, kernel="step", grid=[256, 256], block=[16, 16], gpu="h100")
    assert other.gpu == "H100"
    assert other.extrapolated
    assert other.time_ms < step.time_ms
    assert np.divide(*other.interval_ms[::-1]) > np.divide(*step.interval_ms[::-1])


def test_ir_without_host_code_is_answered():
    ir = Path(__file__).parents[2] / "data" / "ir" / "saxpy.clang14.ll"
    answers = ncc.predict_gpu(ir, grid=[1024], block=[256])
    assert all(not one.buffer_bytes for one in answers)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kernel": "stop"}, "no kernel is called 'stop'; it has step"),
        ({"grid": [0]}, "grid size x is 0; expected 1 to"),
        ({"block": [64, 32]}, "a block of 2,048 threads; a card takes up to 1,024"),
        ({"arguments": {"m": 1}, "kernel": "step"}, "has no argument 'm'; it has n, rate, from, to"),
        ({"gpu": "H1000"}, "no card is called 'H1000'; ncc knows H100"),
    ],
)
def test_what_is_wrong_is_said(asked, message):
    with pytest.raises(InputError, match=message):
        ncc.predict_gpu(_SAMPLE, **{"grid": [1024], "block": [256], **asked})


_CODE = b"""
__global__ void triad(const double *a, const double *b, double *c, double s, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + s * b[i];
}
__global__ void nothing() {}
__global__ void alone(float *a, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) for (int i = 1; i < n; i++) a[i] = a[i - 1] * 0.5f + a[i];
}
__global__ void again(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = -4; k <= 4; k++) s += a[(i + k) % 1000];
  c[i] = s;
}
__global__ void product(const float *a, const float *b, float *c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (int k = 0; k < n; k++) s += a[y * n + k] * b[k * n + x];
  c[y * n + x] = s;
}
"""
_CUDA = ncc.CompileOptions(language="cuda")


def _asked(kernel, grid, block=(256,), **arguments):
    (answer,) = ncc.predict_gpu(_CODE, kernel=kernel, grid=grid, block=block, arguments=arguments, options=_CUDA)
    return answer


def test_a_stream_takes_no_less_than_the_bandwidth_allows():
    answer = _asked("triad", [2**20], n=2**28)
    least = 3 * 8 * 2**28
    assert answer.traffic_bytes >= least
    assert answer.lower_bounds_ms["bandwidth"] == pytest.approx(least / 760e9 * 1e3, rel=0.01)
    assert answer.time_ms >= answer.interval_ms[0] >= answer.lower_bounds_ms["bandwidth"] * (1 - 1e-9)
    assert answer.interval_ms[1] > answer.time_ms


def test_what_the_sizes_tell_limits_the_time_alone():
    answer, known = _asked("triad", [2**20]), _asked("triad", [2**20], n=2**28)
    assert answer.lower_bounds_ms["bandwidth"] == 0
    assert answer.assumed_lower_bounds_ms == known.lower_bounds_ms == known.assumed_lower_bounds_ms
    assert answer.interval_ms[0] < known.interval_ms[0] < answer.interval_ms[1]
    assert answer.time_ms >= known.lower_bounds_ms["bandwidth"] * (1 - 1e-9)
    assert answer.traffic_bytes >= 3 * 8 * 2**28
    assert "at least, as the launch's sizes tell: " in answer.explanation()
    assert "as the launch's sizes tell" not in known.explanation()


def test_addresses_that_threads_share_count_once():
    again = _asked("again", [2**18], n=2**26)
    assert again.lower_bounds_ms["bandwidth"] == pytest.approx((4 * 2**26 - 5 * 2**20) / 760e9 * 1e3)  # what is stored
    product = _asked("product", [256, 256], (16, 16), n=4096)
    assert product.lower_bounds_ms["bandwidth"] == pytest.approx((12 * 2**24 - 5 * 2**20) / 760e9 * 1e3)
    assert product.lower_bounds_ms["compute"] == pytest.approx(2 * 4096**3 / 29.8e12 * 1e3)


def test_one_thread_takes_no_less_than_its_chain_of_operations():
    answer = _asked("alone", [16384], n=2**22)
    assert answer.lower_bounds_ms["chain"] == pytest.approx(4 * 2**22 / 1.71e9 * 1e3, rel=1e-3)
    assert (answer.bound, answer.raised_to, answer.familiar) == ("chain", "chain", False)
    assert answer.interval_ms[0] == pytest.approx(answer.lower_bounds_ms["chain"])
    assert "bound by the longest chain of one thread; raised to what one thread's chain" in str(answer)


def test_operations_take_no_less_than_the_peak_allows():
    (answer,) = ncc.predict_gpu(_SAMPLE, kernel="roots", grid=[65536], block=[256], arguments={"times": 100000})
    assert answer.lower_bounds_ms["compute"] > 1
    assert answer.interval_ms[0] >= answer.lower_bounds_ms["compute"] * (1 - 1e-9)
    assert answer.bound == "compute"


def test_nothing_is_bound_by_what_a_launch_takes():
    answer = _asked("nothing", [1])
    assert answer.bound == "launch overhead"
    assert answer.interval_ms[0] >= answer.lower_bounds_ms["launch overhead"] > 0.001


def test_a_file_without_kernels_is_said(tmp_path):
    (tmp_path / "host.cu").write_text("int main() { return 0; }\n")
    with pytest.raises(InputError, match="no function is emitted"):
        ncc.predict_gpu(tmp_path / "host.cu", grid=[1], block=[1])


def test_a_damaged_head_is_refused(tmp_path):
    head = ncc.load_gpu_head()
    ncc.save_gpu_head(head, tmp_path)
    again = ncc.load_gpu_head(tmp_path)
    rows = np.zeros((1, len(head.feature_names)))
    assert again.predict(rows).log_time == head.predict(rows).log_time
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps({**card, "feature_names": card["feature_names"][:-1]}))
    with pytest.raises(AssetError, match="GPU head"):
        ncc.load_gpu_head(tmp_path)


def test_the_command_prints_and_draws(tmp_path):
    asked = ["predict-gpu", str(_SAMPLE), "--grid", "256,256", "--block", "16,16", "--program-args", "4096"]
    done = CliRunner().invoke(app, [*asked, "--json", "--plot", str(tmp_path / "roof.svg")])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [one["demangled"].partition("(")[0] for one in found["kernels"]] == ["step", "roots"]
    assert "compute" in {one["bound"] for one in found["kernels"]}
    assert (tmp_path / "roof.svg").read_text().count('<g id="text_') > 10


def test_kernels_that_neither_bounds_are_drawn(tmp_path):
    (tmp_path / "alone.cu").write_bytes(_CODE)
    asked = ["predict-gpu", str(tmp_path / "alone.cu"), "--kernel", "alone", "--grid", "16384", "--block", "256"]
    done = CliRunner().invoke(app, [*asked, "--arg", "n=4194304", "--plot", str(tmp_path / "roof.svg")])
    assert done.exit_code == 0, done.output
    assert "#777777" in (tmp_path / "roof.svg").read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--arg", "n=5", "--arg", "n=6"], "--arg n is given twice, as 5 and as 6"),
        (["--program-args", '4096 "x'], "No closing quotation"),
        (["--arg", "n=nan"], "argument 'n' is nan; expected a number"),
    ],
)
def test_what_is_mistyped_is_refused(given, message):
    done = CliRunner().invoke(app, ["predict-gpu", str(_SAMPLE), "--grid", "4", "--block", "64", *given])
    assert done.exit_code != 0
    assert message in " ".join(done.output.split())
