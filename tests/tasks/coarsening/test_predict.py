"""Thread coarsening by the head that ships: answers for kernels of a file, from the API and the command line."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import InputError
from tests.rooms import LineHead, load_coarsening_head, save_coarsening_head

OPTIONS = ncc.CompileOptions(language="opencl")
STRAIGHT = """
__kernel void scale(__global float *x) { x[get_global_id(0)] *= 2.0f; }
"""
DIVERGENT = """
__kernel void climb(__global float *x, int n) {
  int i = get_global_id(0);
  if (i % 3 == 0) {
    for (int k = 0; k < n; k++)
      x[i] = x[i] * x[i] + sqrt(x[i]);
  } else {
    for (int k = 0; k < i; k++)
      x[i] = x[i] / (x[i] + k);
  }
}
"""


@pytest.mark.parametrize("device", [None, *load_coarsening_head().devices])
def test_the_factor_is_the_one_of_highest_expected_speedup(device):
    (answer,) = ncc.predict_coarsening(STRAIGHT.encode(), device=device, options=OPTIONS)
    assert answer.kernel == "scale"
    assert answer.device == device
    assert list(answer.speedups) == [1, 2, 4, 8, 16, 32]
    assert answer.speedups[1] == 1
    assert answer.speedup == max(answer.speedups.values()) == answer.speedups[answer.factor]
    assert answer.interval[0] <= answer.interval[1]
    assert all(math.isfinite(speedup) and speedup > 0 for speedup in answer.speedups.values())


def test_divergence_speaks_against_coarsening():
    (straight,) = ncc.predict_coarsening(STRAIGHT.encode(), options=OPTIONS)
    (divergent,) = ncc.predict_coarsening(DIVERGENT.encode(), options=OPTIONS)
    assert divergent.speedups[4] < straight.speedups[4]
    assert divergent.factor < straight.factor


def test_kernels_that_the_head_can_not_tell_apart_are_said_to_be_so():
    other = STRAIGHT.replace("scale", "shift").replace(
        "*= 2.0f", "= x[get_global_id(0) + 1] + sqrt(x[get_global_id(0)])"
    )
    (one,), (same,), (divergent,) = (
        ncc.predict_coarsening(text.encode(), options=OPTIONS) for text in (STRAIGHT, other, DIVERGENT)
    )
    assert one.speedups == same.speedups != divergent.speedups
    assert one.features_used == same.features_used == {"divergent_share": 0.0}
    assert divergent.features_used["divergent_share"] > 0
    assert one.warnings == ("based on divergent_share = 0 only; kernels with the same value get the same answer",)
    assert one.to_dict()["features_used"] == one.features_used
    assert one.warnings[0] in one._repr_html_()


def test_a_constant_says_that_it_is_one(tmp_path):
    shipped = load_coarsening_head()
    assert isinstance(shipped, LineHead)
    save_coarsening_head(dataclasses.replace(shipped, slope=np.zeros_like(shipped.slope)), tmp_path / "flat")
    for text in (STRAIGHT, DIVERGENT):
        (answer,) = ncc.predict_coarsening(text.encode(), options=OPTIONS, head=tmp_path / "flat")
        assert answer.is_constant
        assert answer.features_used == {}
        assert answer.warnings == ("the best constant, the same for any kernel",)
        assert answer.to_dict()["is_constant"]


def test_every_kernel_of_a_file_has_its_answer():
    answers = ncc.predict_coarsening((STRAIGHT + DIVERGENT).encode(), options=OPTIONS)
    assert [answer.kernel for answer in answers] == ["scale", "climb"]
    assert json.loads(json.dumps(answers[0].to_dict()))["factor"] == answers[0].factor


def test_what_can_not_be_answered_says_why():
    with pytest.raises(InputError, match="no device 'Pascal'; expected one of Fermi"):
        ncc.predict_coarsening(STRAIGHT.encode(), device="Pascal", options=OPTIONS)
    with pytest.raises(InputError, match="no kernel among its 1 function"):
        ncc.predict_coarsening(b"float f(float x) { return x; }", options=OPTIONS)


def test_the_head_that_ships_says_how_it_was_measured():
    about = load_coarsening_head().card
    assert about["command"].startswith("ncc train coarsening")
    assert about["num_samples"] == 68
    assert about["mean_speedup_interval"][0] < about["mean_speedup"] < about["mean_speedup_interval"][1]


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    path = tmp_path / "kernels.cl"
    path.write_text(STRAIGHT + DIVERGENT)
    return path


def test_the_command_line_gives_the_same(kernels):
    from typer.testing import CliRunner

    from tests.rooms import app

    first, _ = ncc.predict_coarsening(kernels, device="Tahiti")
    found = CliRunner().invoke(app, ["predict-coarsening", str(kernels), "--device", "Tahiti", "--json"])
    assert found.exit_code == 0, found.output
    answer = json.loads(found.stdout)
    assert (answer["ok"], answer["error"], answer["factor"]) == (True, None, first.factor)
    assert answer["speedup"] == pytest.approx(first.speedup)
    assert [kernel["kernel"] for kernel in answer["kernels"]] == ["scale", "climb"]
    _, climb = ncc.predict_coarsening(kernels)
    text = CliRunner().invoke(app, ["predict-coarsening", str(kernels)]).stdout
    assert f"climb: factor {climb.factor}, {climb.speedup:.2f}x" in text
    wrong = CliRunner().invoke(app, ["predict-coarsening", str(kernels), "--device", "Pascal"])
    assert wrong.exit_code == 2
    assert "expected one of Fermi" in wrong.output
