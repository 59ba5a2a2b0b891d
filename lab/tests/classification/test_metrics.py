"""Scores of classifiers, on tables small enough to count by hand."""

import numpy as np
import pytest

from lab.tests.rooms import classification_measure as measure


def test_scores_of_five_programs():
    probability = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    label = np.array([0, 1, 1, 2, 2])
    twins = np.array([True, False, False, False, True])
    found = measure(probability[None], label, np.arange(5), twins)
    assert found.accuracy.value == pytest.approx(3 / 5)
    assert found.accuracy_without_twins.value == pytest.approx(2 / 3)
    assert found.num_twins == 2
    assert found.top5.value == 1.0
    assert found.confusion.tolist() == [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
    assert found.macro_f1 == pytest.approx((2 / 4 + 2 / 3 + 2 / 3) / 3)
    # bins of a fifteenth: 0.8, 0.7 twice and 0.5, 0.6 apart from each other
    gaps = [abs(0.8 - 1), abs(1.4 - 2), abs(0.5 - 0), abs(0.6 - 0)]
    assert found.calibration_error == pytest.approx(sum(gaps) / 5)
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high


def test_top_five_counts_ranks():
    probability = np.tile(np.arange(7, 0, -1) / 28, (2, 1))
    found = measure(probability[None], np.array([4, 5]), np.arange(2), np.zeros(2, bool))
    assert found.top5.value == 0.5
    assert found.accuracy.value == 0.0
