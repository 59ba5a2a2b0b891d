"""The device mapper of the published table: its parts, what it learns, and what it must not see."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lab.tests.rooms import ScoreCalibration, Term, mapper
from ncc.errors import InputError
from ncc_lab import Method, Subset
from tests.rooms import FEATURE_NAMES, OPCODES, WORK_WIDTH, DeviceMappingSamples, KernelFeatures
from tests.support.refuses import refuses

SMALL: dict[str, Any] = {"num_trees": 10, "inner_trees": 5, "inner_folds": 3}
TEST = np.arange(90, 120)
TRAIN = np.arange(90)
REPEAT = 3


def make_inputs(num_kernels: int = 40) -> tuple[KernelFeatures, np.ndarray]:
    """Kernels of random features, each for three rows; the first opcode's count is 0 or 40."""
    rng = np.random.default_rng(0)
    profile = rng.uniform(0, 3, (num_kernels, len(FEATURE_NAMES)))
    opcodes = rng.poisson(4, (num_kernels, len(OPCODES))).astype(np.float64)
    opcodes[:, 0] = 40 * (np.arange(num_kernels) % 2)
    profile[:, FEATURE_NAMES.index("dimensions")] = 1 + opcodes[:, 0] / 40
    vectors = rng.normal(size=(num_kernels, 6)) + opcodes[:, :1] / 10
    work, items = np.zeros((num_kernels, WORK_WIDTH)), np.zeros((num_kernels, 2))
    blocks = profile, opcodes, work, items, np.empty(num_kernels, object)
    features = KernelFeatures(*(np.repeat(block, REPEAT, axis=0) for block in blocks))
    return features, np.repeat(vectors, REPEAT, axis=0)


@pytest.fixture
def samples() -> DeviceMappingSamples:
    """Kernels at three sizes each, four kernels an application; those with the first opcode are for the GPU."""
    rng = np.random.default_rng(1)
    n = 40 * REPEAT
    kernel = np.repeat(np.arange(40), REPEAT)
    log_ratio = np.where(kernel % 2, 1.5, -1.5) + rng.normal(0, 0.3, n)
    name = np.array([f"npb-1.0-app{k // 4}-k{k}" for k in kernel])
    # each application has sizes of its own
    transfer = np.exp(8 + 2 * (np.arange(n) % REPEAT) + 0.1 * (kernel // 4) + 1e-4 * (kernel % 4))
    return DeviceMappingSamples(
        platform="toy",
        benchmark=name,
        dataset=np.array([str(i % REPEAT) for i in range(n)]),
        application=np.array([f"npb app{k // 4}" for k in kernel]),
        suite=np.full(n, "npb"),
        source=name.astype(object),
        counts=np.zeros((n, 8)),
        transfer_bytes=transfer,
        wgsize=np.full(n, 64.0),
        runtime_cpu_ms=np.exp(log_ratio),
        runtime_gpu_ms=np.ones(n),
        log_ratio=log_ratio,
        is_gpu=log_ratio > 0,
    )


def ask(
    method: Method[DeviceMappingSamples],
    samples: DeviceMappingSamples,
    test: np.ndarray = TEST,
    train: np.ndarray = TRAIN,
    seed: int = 0,
) -> np.ndarray:
    return method.predict(Subset(samples, train), Subset(samples, test), np.random.default_rng(seed))


def equal_to(expected: np.ndarray) -> Any:
    """Equal up to the last bits, which some BLAS makes depend on where arrays lie in memory."""
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_learns_which_kernels_are_for_the_gpu(samples: DeviceMappingSamples) -> None:
    location, low, high, probability = ask(mapper(*make_inputs(), **SMALL), samples).T
    assert ((location > 0) == samples.is_gpu[TEST]).all()
    assert ((low <= location) & (location <= high) & (low < high)).all()
    assert ((probability > 0.5) == (location > 0)).all()
    assert np.abs(location - samples.log_ratio[TEST]).mean() < 0.5 * np.abs(samples.log_ratio[TEST]).mean()


def test_only_training_answers_and_the_seed_decide(samples: DeviceMappingSamples) -> None:
    method = mapper(*make_inputs(), **SMALL)
    expected = ask(method, samples)
    assert ask(method, samples.without_answers(TEST)) == equal_to(expected)
    assert ask(method, samples, seed=1) != equal_to(expected)
    order = np.random.default_rng(2).permutation(len(TEST))
    assert ask(method, samples, TEST[order]) == equal_to(expected[order])
    # neither do scales and known sizes see the inputs of test rows
    features, vectors = make_inputs()
    for block in (features.profile, features.opcodes, vectors):
        block[TEST] = 100
    moved = replace(samples, transfer_bytes=np.where(np.arange(120) < 90, samples.transfer_bytes, 1e12))
    assert ask(mapper(features, vectors, **SMALL), moved, TRAIN) == equal_to(ask(method, samples, TRAIN))


def test_trees_have_a_say_only_where_sizes_are_known(samples: DeviceMappingSamples) -> None:
    # labels that trees can't learn, so that each tree says something else
    coins = np.random.default_rng(3).choice([-1.0, 1.0], len(samples))
    samples = replace(samples, log_ratio=samples.log_ratio * coins)
    few, many = (mapper(*make_inputs(), **SMALL | {"num_trees": number}) for number in (5, 80))
    # applications' sizes are 0.1 apart in log units: below the smallest of all, none but that is near
    smallest = samples.transfer_bytes[TRAIN].min()
    for step, is_known in ((0.018, True), (0.022, False)):
        transfer = np.where(np.arange(120) < 90, samples.transfer_bytes, np.exp(-step) * smallest)
        moved = replace(samples, transfer_bytes=transfer)
        assert (ask(few, moved)[:, 0] != equal_to(ask(many, moved)[:, 0])) == is_known, step


def test_rows_of_a_single_application_can_not_be_held_out(samples: DeviceMappingSamples) -> None:
    with refuses(InputError, "folds", "found 1"):
        ask(mapper(*make_inputs(), **SMALL), samples, train=np.arange(12))


def test_covariances_fall_to_one_in_e_over_a_length() -> None:
    term = Term({"a": 0.75, "b": 0.25}, 2.0)
    origin = {"a": np.zeros((1, 2)), "b": np.zeros((1, 1))}
    # (0.75 · mean(4, 0) + 0.25 · 10) = 4: a distance of 2
    other = {"a": np.array([[2.0, 0.0]]), "b": np.array([[np.sqrt(10.0)]])}
    assert term.covariance(origin, other) == pytest.approx(np.exp(-1))


def test_calibration_is_by_rows_of_one_kind_where_they_are_enough_with_the_least_absolute_error() -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=200)
    ratio = 0.7 * score + rng.laplace(0, 0.5, 200)
    for number, used in ((64, 64), (63, 200)):
        calibration = ScoreCalibration.fit(score, ratio, np.arange(200) >= 200 - number)
        assert np.array_equal(calibration.score, np.sort(score[-used:]))
    errors = np.abs(ratio - np.linspace(0.1, 2, 400)[:, None] * score).sum(axis=1)
    assert np.abs(ratio - calibration.slope * score).sum() <= errors.min() + 1e-9
    # scores that say the opposite of what was measured are not believed
    assert ScoreCalibration.fit(score, -ratio, np.ones(200, bool)).slope == 1e-3


def test_calibration_puts_the_errors_of_near_scores_around_the_expected_value() -> None:
    score = np.linspace(-1, 1, 500)
    # errors are small for the CPU and large for the GPU
    errors = np.where(np.arange(500) % 2, 1.0, -1.0) * np.where(score < 0, 0.1, 2.0)
    answers = ScoreCalibration(score, 3 * score + errors, 3.0).apply(np.array([-0.8, 0.8, 50.0, -50.0]))
    assert answers[:, 0] == pytest.approx([-2.4, 2.4, 150.0, -150.0])
    assert (answers[:, 2] - answers[:, 1]) / 2 == pytest.approx([0.1, 2.0, 2.0, 0.1], abs=0.05)
    assert ((answers[:, 3] > 0.5) == (answers[:, 0] > 0)).all()
