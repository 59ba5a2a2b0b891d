"""Fitting: what is learnt is right on programs that were held out, and what a roofline says alone is not needed."""

import numpy as np
import pytest

from lab.tests.rooms import Predictions, figures_of
from ncc.errors import InputError
from tests.rooms import Launches, fit_gpus, program_folds
from tests.support.refuses import refuses

_COLUMNS = (
    *("roofline_time", "compulsory_bytes", "work", "time_single", "time_double", "time_integer", "time_memory"),
    *("sector_bytes", "log_l2_ratio"),
)


def _launches(num=300, seed=0):
    draw = np.random.default_rng(seed)
    values = draw.uniform(-5, -1, (num, len(_COLUMNS)))
    values[:, 1] = draw.uniform(4, 9, num)
    compute = (values[:, 2] > -3).astype(float)
    return Launches(
        feature_names=_COLUMNS,
        values=values,
        program=np.array([f"p{one % 30}" for one in range(num)]),
        kernel=np.array([f"k{one}" for one in range(num)]),
        log_time=values[:, 0] + np.where(compute, 0.5, 0) + draw.normal(0, 0.05, num),
        log_traffic=values[:, 1] - 0.3,
        compute=compute,
        log_ceiling=np.full(num, np.nan),
        has_program_args=np.ones(num, bool),
    )


@pytest.fixture(scope="module")
def head():
    return fit_gpus(_launches(), "RTX 3080")


def test_a_head_knows_what_it_did_not_see(head):
    asked = _launches(seed=1)
    said = head.predict(asked.values)
    found = figures_of(asked, Predictions(said.log_time, said.balanced_probability, said.half_width))
    assert found["factor"]["value"] < 1.3
    assert found["accuracy"]["value"] > 0.95
    assert 0.7 <= found["coverage"]["value"] <= 0.95
    assert found["factor"]["low"] <= found["factor"]["value"] <= found["factor"]["high"]
    assert np.median(np.abs(said.log_traffic - asked.log_traffic)) < 0.05


def test_far_launches_are_unfamiliar(head):
    near, far = _launches().values[:20], _launches().values[:20] + 50
    assert (head.predict(near).distance <= 1).all()
    assert (head.predict(far).distance > 1).all()


def test_bound_and_traffic_may_be_unknown():
    known = _launches()
    nothing = np.full(len(known), np.nan)
    launches = Launches(
        **{**{n: getattr(known, n) for n in known.__dataclass_fields__}, "compute": nothing, "log_traffic": nothing}
    )
    said = fit_gpus(launches, "A100").predict(known.values)
    assert said.log_traffic == pytest.approx(known.values[:, 1])
    rooflines = known.values[:, 3:6].max(axis=1) > known.values[:, 6]
    assert np.mean((said.balanced_probability > 0.5) == rooflines) > 0.9


def test_a_programs_launches_are_held_out_together():
    program = _launches().program
    for train, test in program_folds(program, 4, 0):
        assert not set(program[train]) & set(program[test])
    with refuses(InputError, "3 programs", "4"):
        list(program_folds(np.array(["a", "b", "c"]), 4, 0))
