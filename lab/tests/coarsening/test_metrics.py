"""Scores of chosen factors."""

import numpy as np
import pytest

from lab.tests.rooms import BestConstant, Bootstrap, Constant, ThreadCoarsening, constant_factor, evaluate
from lab.tests.rooms import coarsening_measure as measure
from ncc.errors import InputError
from tests.rooms import FACTORS, CoarseningSamples, clamp_to_measured

NAN = np.nan
RUNTIME = np.array([[8.0, 4, 2, 1, NAN, NAN], [1, 2, 4, NAN, 8, NAN]])
GROUPS = np.array(["a", "b"])


def test_factors_that_were_not_measured_count_as_the_largest_that_was() -> None:
    every = np.arange(6)[:, None].repeat(2, axis=1)
    assert clamp_to_measured(RUNTIME, every).T.tolist() == [[0, 1, 2, 3, 3, 3], [0, 1, 2, 2, 4, 4]]


def test_figures() -> None:
    found = measure(RUNTIME, np.array([[3, 1], [5, 0]]), GROUPS)
    assert found.mean_speedup.per_seed.tolist() == [(8 + 0.5) / 2, (8 + 1) / 2]
    np.testing.assert_allclose(found.geomean_speedup.per_seed, [2, np.sqrt(8)])
    np.testing.assert_allclose(found.share_of_oracle.per_seed, [np.sqrt(0.5), 1])
    assert found.accuracy.per_seed.tolist() == [0.5, 1]
    assert found.share_unmeasured == 0.25
    assert found.mean_speedup.value == 4.375
    assert found.mean_speedup.low == pytest.approx(0.75)  # both draws of the second row
    assert found.mean_speedup.high == 8


@pytest.mark.parametrize(
    ("runtime", "chosen", "message"),
    [
        (RUNTIME, np.array([0, 1]), r"choices \(2,\)"),
        (RUNTIME, np.array([[0, 6]]), "all from 0 to 5"),
        (RUNTIME, np.array([[0, -1]]), "all from 0 to 5"),
        (RUNTIME[:, :5], np.array([[0, 1]]), r"runtimes \(2, 5\)"),
        (RUNTIME * np.array([[1], [NAN]]), np.array([[0, 1]]), "were answers hidden"),
        (RUNTIME, np.zeros((0, 2), int), "expected one choice or more"),
    ],
)
def test_malformed_choices_are_refused(runtime: np.ndarray, chosen: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        measure(runtime, chosen, GROUPS)


def test_scores_of_the_published_table(published: CoarseningSamples) -> None:
    score = evaluate(ThreadCoarsening(published), constant_factor(4), "kernel")
    assert score.metrics.mean_speedup.value == pytest.approx(1.1515, abs=5e-5)
    assert score.metrics.geomean_speedup.value == pytest.approx(1.0153, abs=5e-5)
    assert score.oracle.mean_speedup.value == pytest.approx(1.3563, abs=5e-5)
    assert score.oracle.share_of_oracle.value == score.oracle.accuracy.value == 1
    assert (score.num_samples, score.num_groups) == (68, 17)
    mean = np.mean([of_device.mean_speedup.value for of_device in score.parts.values()])
    assert mean == pytest.approx(score.metrics.mean_speedup.value)
    constant_32 = evaluate(ThreadCoarsening(published), constant_factor(32), "kernel").metrics
    assert constant_32.share_unmeasured == pytest.approx(48 / 68)


def test_a_method_must_give_a_number_for_each_factor(toy: CoarseningSamples) -> None:
    with pytest.raises(InputError, match=r"'always 2': expected 6 numbers for each row, found \[3\]"):
        evaluate(ThreadCoarsening(toy), Constant("always 2", [0, 1, 0]), "kernel")
    with pytest.raises(InputError, match="at least one seed"):
        evaluate(ThreadCoarsening(toy), constant_factor(1), "kernel", seeds=())


def test_oracle_of_the_toy(toy: CoarseningSamples) -> None:
    score = evaluate(
        ThreadCoarsening(toy), BestConstant(per_device=False), "kernel", bootstrap=Bootstrap(num_resamples=10)
    )
    assert score.oracle.mean_speedup.value == pytest.approx(1.3)
    assert score.predicted.shape == (1, 32, len(FACTORS))
