"""Auxiliary inputs of LSTM heads, and the mixture of Laplace distributions that their outputs are."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import laplace

from ncc.devices.lstm_head import (
    LOG_SCALE_RANGE,
    NUM_AUXILIARY,
    auxiliary_features,
    mixture_cdf,
    mixture_quantile,
    predict_mixture,
)


@pytest.mark.parametrize("number", [1, 2, 9])
def test_the_mixture_is_that_of_scipy(number):
    rng = np.random.default_rng(number)
    location, scale = rng.normal(0, 3, number), rng.uniform(0.05, 4, number)

    def cdf(x):
        return laplace.cdf(x, location, scale).mean()

    for x in (-30.0, -1.0, 0.0, 0.3, 12.0):
        assert mixture_cdf(location, scale, x) == pytest.approx(cdf(x), abs=1e-12)
    for q in (0.01, 0.1, 0.5, 0.9, 0.99):
        expected = brentq(lambda x, q=q: cdf(x) - q, -200, 200, xtol=1e-12)
        assert mixture_quantile(location, scale, q) == pytest.approx(expected, abs=1e-8)


def test_extreme_scales_neither_overflow_nor_warn():
    location, scale = np.array([0.0, 5.0]), np.array([1e-9, 1e3])
    assert mixture_cdf(location, scale, 1e6) == pytest.approx(1.0)
    assert mixture_cdf(location, scale, -1e6) == pytest.approx(0.0)
    assert mixture_quantile(location, scale, 0.5) == pytest.approx(0.0, abs=1e-2)


@pytest.mark.parametrize("members", [1, 2, 5])
def test_an_answer_does_not_contradict_itself(members):
    rng = np.random.default_rng(members)
    for _ in range(20):
        answer = predict_mixture(rng.normal(0, 1, (members, 2)).astype(np.float32))
        low, high = answer.interval
        assert low < answer.log_ratio < high
        assert 0 < answer.probability_gpu < 1
        assert (answer.probability_gpu > 0.5) == (answer.log_ratio > 0)


def test_one_member_is_one_laplace_distribution():
    answer = predict_mixture(np.array([[0.4, -0.3]]))
    scale = np.exp(-0.3)
    assert answer.log_ratio == pytest.approx(0.4, abs=1e-8)
    assert answer.interval == pytest.approx(laplace.ppf([0.1, 0.9], 0.4, scale), abs=1e-8)
    assert answer.probability_gpu == pytest.approx(laplace.sf(0, 0.4, scale), abs=1e-8)


def test_members_that_disagree_widen_the_interval():
    agreed, torn = (
        predict_mixture(np.array([[0.0, 0.0], [0.0, 0.0]])),
        predict_mixture(np.array([[-3.0, 0.0], [3.0, 0.0]])),
    )
    assert torn.log_ratio == pytest.approx(0, abs=1e-6)
    assert np.diff(torn.interval) > 2 * np.diff(agreed.interval)


@pytest.mark.parametrize(("extreme", "bound"), [(-50.0, LOG_SCALE_RANGE[0]), (50.0, LOG_SCALE_RANGE[1])])
def test_scales_are_kept_in_the_range_that_was_trained(extreme, bound):
    assert predict_mixture(np.array([[1.0, extreme]])) == predict_mixture(np.array([[1.0, bound]]))


def test_features_are_the_standardised_logarithm_and_bumps():
    values = np.array([[0.0, 10.0], [1e6, 256.0]])
    mean, std = np.array([3.0, 4.0]), np.array([2.0, 0.5])
    features = auxiliary_features(values, mean, std)
    assert features.shape == (2, NUM_AUXILIARY)
    assert features.dtype == np.float32
    half = NUM_AUXILIARY // 2
    assert features[:, [0, half]] == pytest.approx((np.log1p(values) - mean) / std, rel=1e-6)
    bumps = np.delete(features, [0, half], axis=1)
    assert bumps.min() >= 0
    assert bumps.max() <= 1
    # each bump is highest where the standardised logarithm is at its middle
    middle = auxiliary_features(np.expm1(np.array([[3.0, 4.0]])), mean, std)[0]
    assert [int(middle[1:half].argmax()), int(middle[half + 1 :].argmax())] == [4, 4]
