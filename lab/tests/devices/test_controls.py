"""Controls of device mapping: what they learn, and what tells them apart."""

import dataclasses

import numpy as np
import pytest
from joblib import hash as content_hash

from lab.tests.rooms import DeviceMethod, MajorityDevice, Trees, learned_controls
from lab.tests.rooms import devices_standard_controls as standard_controls
from ncc.errors import InputError
from tests.rooms import DeviceMappingSamples

SMALL = 20
TRAIN, TEST = np.arange(16), np.arange(16, 24)


def fit_rows(
    method: DeviceMethod, samples: DeviceMappingSamples, train: np.ndarray, test: np.ndarray, seed: int = 0
) -> np.ndarray:
    method.fit(samples, train, np.random.default_rng(seed))
    return method.predict(samples, test)


def fit_predict(method: DeviceMethod, samples: DeviceMappingSamples, seed: int = 0) -> np.ndarray:
    hidden = samples.without_answers(TEST)
    return fit_rows(method, hidden, TRAIN, TEST, seed)


def trees(name: str) -> Trees:
    learned = [*learned_controls("label", SMALL), *learned_controls("log_ratio", SMALL)]
    return next(method for method in learned if method.name == name)


@pytest.fixture
def histograms(toy: DeviceMappingSamples) -> np.ndarray:
    return np.random.default_rng(5).poisson(3.0, size=(len(toy), 6)).astype(np.float64)


def test_constants(toy: DeviceMappingSamples) -> None:
    cpu, gpu = standard_controls()[1:3]
    assert (cpu.name, gpu.name) == ("always CPU", "always GPU")
    assert (fit_predict(gpu, toy) > 0).all()
    assert (fit_predict(cpu, toy) < 0).all()


def test_majority_counts_training_rows_only(toy: DeviceMappingSamples) -> None:
    gpu_rows = np.flatnonzero(toy.is_gpu)
    method = MajorityDevice()
    assert (fit_rows(method, toy, gpu_rows[:3], TEST) > 0).all()
    assert (fit_rows(method, toy, np.flatnonzero(~toy.is_gpu)[:3], TEST) < 0).all()
    assert (fit_rows(method, toy, np.array([0, 1]), TEST) == 0).all()  # a tie: CPU


@pytest.mark.parametrize("target", ["label", "log_ratio"])
def test_trees_learn_what_their_features_tell(toy: DeviceMappingSamples, histograms: np.ndarray, target: str) -> None:
    for method in learned_controls(target, SMALL, histograms):  # type: ignore[arg-type]
        predicted = fit_predict(method, toy)
        assert predicted.shape == TEST.shape
        assert predicted.dtype == np.float64
        # Transfer size decides in the toy, and every one of the four knows it.
        assert ((predicted > 0) == toy.is_gpu[TEST]).mean() >= 0.75, method.name


def test_regression_predicts_log_ratios(toy: DeviceMappingSamples) -> None:
    predicted = fit_predict(trees("auxiliary only (log_ratio)"), toy)
    np.testing.assert_allclose(predicted, toy.log_ratio[TEST], atol=0.1)


def test_one_class_in_training(toy: DeviceMappingSamples) -> None:
    for label in (True, False):
        rows = np.flatnonzero(toy.is_gpu == label)[:4]
        assert ((fit_rows(trees("auxiliary only (label)"), toy, rows, TEST) > 0) == label).all()


def test_random_vectors_depend_on_kernel_and_seed(toy: DeviceMappingSamples) -> None:
    # Nothing but the kernel tells these labels, so only a vector per kernel can recall them.
    flat = dataclasses.replace(toy, transfer_bytes=np.ones(24), is_gpu=np.arange(24) // 2 % 2 == 0)
    known = np.arange(0, 24, 2)
    recalled = fit_rows(trees("random vector per kernel + auxiliary (label)"), flat, known, known + 1)
    assert ((recalled > 0) == flat.is_gpu[known + 1]).mean() >= 0.9
    blind = fit_rows(trees("auxiliary only (label)"), flat, known, known + 1)
    assert np.ptp(blind) == 0
    first, again, other = (
        fit_predict(trees("random vector per kernel + auxiliary (label)"), toy, seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_random_vectors_are_drawn_anew_for_every_seed(toy: DeviceMappingSamples) -> None:
    features = trees("random vector per kernel + auxiliary (label)")._features
    first, again, other = (features(toy, seed)[:, :8] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.isclose(first, other).any()
    assert np.array_equal(first[0], first[1])  # one kernel at two sizes


def test_histograms_must_match(toy: DeviceMappingSamples, histograms: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"features: expected \(24, k\), found \(23, 6\)"):
        fit_predict(learned_controls("label", SMALL, histograms[1:])[-1], toy)
    with pytest.raises(InputError, match="num_trees: expected at least 1, found 0"):
        learned_controls("label", 0)


def test_identity_tells_controls_apart(histograms: np.ndarray) -> None:
    other = histograms.copy()
    other[3, 4] += 1
    methods = (
        *standard_controls(histograms, SMALL),
        *standard_controls(None, 21)[3:],
        learned_controls("label", SMALL, other)[-1],
    )
    identities = [content_hash(method.identity) for method in methods]
    assert len(set(identities)) == len(methods)
    again = standard_controls(histograms.copy(), 20)
    assert [content_hash(method.identity) for method in again] == identities[:11]
