"""Kinds of intervals: their scores by hand, and what they claim near training and far from it."""

from dataclasses import replace

import numpy as np
import pytest

from fuzz import samples as invented
from lab.tests.rooms import Claims, compare_intervals, group_trials, score_claims
from tests.rooms import KernelFeatures, LaunchSamples, LaunchTimes, cross_validate, fit_times

KERNELS, SIZES = 24, 6


def test_scores_by_hand():
    claims = Claims(
        ratio=np.array([1.0, 2.0, -1.0, 0.5]),
        low=np.array([0.0, 1.0, -2.0, 0.0]),
        high=np.array([2.0, 3.0, 0.0, 1.0]),
        sure=np.array([0.9, 0.9, 0.7, 0.6]),
    )
    score = score_claims(claims, np.array([1.5, 5.0, -0.5, -0.2]))
    assert score["coverage"] == 0.5
    assert score["width"] == 2.0
    assert score["surest"] == {"100%": 0.75, "75%": 1.0, "50%": 1.0, "25%": 1.0}
    # two of two right at 0.9, one of one at 0.7, none of one at 0.6
    assert score["calibration_error"] == pytest.approx((2 * 0.1 + 0.3 + 0.6) / 4)


@pytest.fixture(scope="module")
def launches() -> tuple[LaunchTimes, KernelFeatures]:
    """Kernels at six sizes; by how much the second device is faster follows from size and code, with noise."""
    rng = np.random.default_rng(0)
    inputs = invented.kernel_inputs(KERNELS, 1).rows(np.repeat(np.arange(KERNELS), SIZES))
    items = np.tile(4.0 ** np.arange(5, 5 + SIZES), KERNELS)
    ratio = np.log(items) / 2 - 5 + 0.3 * inputs.profile[:, 3] + rng.normal(0, 0.3, len(items))
    log_time = np.log(items) - 8
    names = np.repeat([f"k{number}" for number in range(KERNELS)], SIZES)
    table = LaunchTimes(
        devices=("CPU", "GPU"),
        file=np.full(len(items), "f"),
        kernel=names,
        family=names,
        suite=np.full(len(items), "clgen"),
        global_size=items,
        local_size=np.full(len(items), 64.0),
        transfer_bytes=items * 8,
        times_ms=np.exp(np.stack([log_time + ratio / 2, log_time - ratio / 2], axis=1)),
    )
    return table, inputs


@pytest.mark.parametrize("model", ["gp", "trees"])
def test_all_kinds_claim_about_the_same_answers(launches, model):
    table, inputs = launches
    train, test = (np.flatnonzero((np.arange(len(table)) // SIZES % 4 == 0) == one) for one in (False, True))
    trained, asked = (LaunchSamples.of(table.rows(rows), inputs.rows(rows), None) for rows in (train, test))
    trials = cross_validate(trained, model, 3)
    groups = group_trials(trained, trials, model, 3)
    assert len(groups) > 1
    held = np.concatenate([one.row for one in groups])
    assert len(train) / 2 < len(set(held.tolist())) == len(held)
    head = fit_times(trained.table, inputs.rows(train), model=model, published=True, seed=3)
    answers = head.predict(inputs.rows(test), asked.table.sizes)
    found = compare_intervals(head, trained, (trials, groups), asked, answers, None)
    measured = asked.targets[:, 1]
    for name, claims in found.items():
        assert claims.ratio == pytest.approx(found["as answered"].ratio), name
        assert (claims.low <= claims.high).all(), name
        assert ((claims.sure >= 0.5) & (claims.sure <= 1)).all(), name
        assert score_claims(claims, measured)["coverage"] > 0.4, name
    assert (found["tempered by distance"].sure <= found["split conformal"].sure + 1e-9).all()
    far = [replace(one, distance=100.0) for one in answers]
    beyond = compare_intervals(head, trained, (trials, groups), asked, far, None)
    assert beyond["tempered by distance"].sure.mean() < found["tempered by distance"].sure.mean()
    assert beyond["split conformal"].high == pytest.approx(found["split conformal"].high)
