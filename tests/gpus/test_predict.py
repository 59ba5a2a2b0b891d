"""Predicted launches: what an answer holds, how it goes with sizes, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ncc
from ncc.cli import app
from ncc.errors import AssetError, InputError

_SAMPLE = Path(__file__).parents[2] / "datasets" / "gpu" / "diffusion.cu"


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
    assert step.buffers_bytes == {"from": 4 * 4096**2, "to": 4 * 4096**2}
    assert step.traffic_bytes == pytest.approx(8 * 4096**2, rel=1)
    assert step.flops == pytest.approx(7 * 4096**2, rel=0.2)
    assert not step.extrapolated
    assert "n = 4096" in step.explanation()
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
    ir = Path(__file__).parents[1] / "data" / "ir" / "saxpy.clang14.ll"
    answers = ncc.predict_gpu(ir, grid=[1024], block=[256])
    assert all(not one.buffers_bytes for one in answers)


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


def test_a_file_without_kernels_is_said(tmp_path):
    (tmp_path / "host.cu").write_text("int main() { return 0; }\n")
    with pytest.raises(InputError, match="expected device code"):
        ncc.predict_gpu(tmp_path / "host.cu", grid=[1], block=[1])


def test_a_damaged_head_is_refused(tmp_path):
    head = ncc.load_gpu_head()
    ncc.save_gpu_head(head, tmp_path)
    again = ncc.load_gpu_head(tmp_path)
    rows = np.zeros((1, len(head.columns)))
    assert again.answer(rows).log_time == head.answer(rows).log_time
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps({**card, "columns": card["columns"][:-1]}))
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
