"""Calibration of similarities: what is counted, and functions that are compiled at several levels."""

import json
import sys

import numpy as np
import pytest
from msgspec import convert

from lab.tests.rooms import calibrate, calibration_script, fit_calibration
from ncc.errors import InputError
from tests.rooms import Calibration
from tests.support.refuses import refuses
from tests.tasks.search.conftest import write_code


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((300, 16))
    ways = [base + 0.3 * rng.standard_normal(base.shape) for _ in range(2)]
    return [np.float32(way / np.linalg.norm(way, axis=1, keepdims=True)) for way in ways]


def test_shares_are_those_that_are_counted(noisy):
    made = fit_calibration("x-1", noisy)
    alike = noisy[0] @ noisy[1].T
    of_same, of_other = np.diag(alike), [way[0] @ way[1].T for way in ((noisy[0], noisy[0]), noisy, (noisy[1],) * 2)]
    hidden = ~np.eye(300, dtype=bool)
    for row in (100, 180, 200):
        at = made.similarity[row]
        assert made.true_positive_rate[row] == pytest.approx((of_same >= at).mean(), abs=1e-6)
        found = sum((way[hidden] >= at).sum() for way in of_other)
        assert made.false_positive_rate[row] == pytest.approx(found / (3 * 300 * 299), abs=1e-5)
    assert made.about["same_pairs"] == 300
    assert made.about["other_pairs"] == 3 * 300 * 299


def test_functions_of_the_same_text_are_no_different_ones(noisy):
    text = np.arange(600).reshape(2, 300)
    text[0, 1] = text[1, 7]
    assert fit_calibration("x-1", noisy, text).about["other_pairs"] == 3 * 300 * 299 - 1
    with refuses(InputError, "two or more"):
        fit_calibration("x-1", noisy[:1])


def test_functions_at_several_levels_calibrate(tmp_path, monkeypatch, capsys):
    code = write_code(tmp_path / "code")
    (code / "bad.c").write_text("int f( {\n")
    output = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["calibration", str(code), "-o", str(output), "--levels", "0,1,2"])
    calibration_script()
    made = convert(json.loads(output.read_text()), Calibration)
    assert "9 pairs of the same function" in capsys.readouterr().out
    assert made.about["levels"] == ["0", "1", "2"]
    assert made.about["same_pairs"] == 9
    assert made.about["num_files"] == 3
    with refuses(InputError, "levels"):
        calibrate([str(code)], levels=("0", "0"))
    with refuses(InputError, "functions"):
        calibrate([str(code)], min_statements=1000)
