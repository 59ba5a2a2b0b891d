"""Controls of device mapping and the loop that evaluates any method."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from ncc.errors import InputError
from ncc.tasks.device_mapping import (
    PROTOCOLS,
    Bootstrap,
    Constant,
    DeviceMappingSamples,
    DeviceMethod,
    Majority,
    Protocol,
    TreeConfig,
    auxiliary_trees,
    evaluate,
    numeric_trees,
    opcode_forest,
    random_vector_forest,
    standard_controls,
)

SMALL = TreeConfig(num_trees=20)
FEW = Bootstrap(num_resamples=50)
TRAIN, TEST = np.arange(16), np.arange(16, 24)
Published = Callable[[str], DeviceMappingSamples]


def fit_rows(
    method: DeviceMethod, samples: DeviceMappingSamples, train: np.ndarray, test: np.ndarray, seed: int = 0
) -> np.ndarray:
    method.fit(samples, train, np.random.default_rng(seed))
    return method.predict_log_ratio(samples, test)


def fit_predict(method: DeviceMethod, samples: DeviceMappingSamples, seed: int = 0) -> np.ndarray:
    hidden = samples.without_answers(TEST)
    return fit_rows(method, hidden, TRAIN, TEST, seed)


@pytest.fixture
def histograms(toy: DeviceMappingSamples) -> np.ndarray:
    return np.random.default_rng(5).poisson(3.0, size=(len(toy), 6)).astype(np.float64)


def test_constants(toy: DeviceMappingSamples) -> None:
    assert (fit_predict(Constant(is_gpu=True), toy) > 0).all()
    assert (fit_predict(Constant(is_gpu=False), toy) < 0).all()


def test_majority_counts_training_rows_only(toy: DeviceMappingSamples) -> None:
    gpu_rows = np.flatnonzero(toy.is_gpu)
    method = Majority()
    assert (fit_rows(method, toy, gpu_rows[:3], TEST) > 0).all()
    assert (fit_rows(method, toy, np.flatnonzero(~toy.is_gpu)[:3], TEST) < 0).all()
    assert (fit_rows(method, toy, np.array([0, 1]), TEST) == 0).all()  # a tie: CPU


@pytest.mark.parametrize("target", ["label", "log_ratio"])
def test_trees_learn_what_their_features_tell(toy: DeviceMappingSamples, histograms: np.ndarray, target: str) -> None:
    methods = (
        auxiliary_trees(SMALL, target),  # type: ignore[arg-type]
        numeric_trees(SMALL, target),  # type: ignore[arg-type]
        opcode_forest(histograms, SMALL, target),  # type: ignore[arg-type]
        random_vector_forest(8, SMALL, target),  # type: ignore[arg-type]
    )
    for method in methods:
        predicted = fit_predict(method, toy)
        assert predicted.shape == TEST.shape
        assert predicted.dtype == np.float64
        # Transfer size decides in the toy, and every one of the four knows it.
        assert ((predicted > 0) == toy.is_gpu[TEST]).mean() >= 0.75, method.name


def test_regression_predicts_log_ratios(toy: DeviceMappingSamples) -> None:
    predicted = fit_predict(auxiliary_trees(SMALL, "log_ratio"), toy)
    np.testing.assert_allclose(predicted, toy.log_ratio[TEST], atol=0.1)


def test_one_class_in_training(toy: DeviceMappingSamples) -> None:
    for label in (True, False):
        rows = np.flatnonzero(toy.is_gpu == label)[:4]
        assert ((fit_rows(auxiliary_trees(SMALL), toy, rows, TEST) > 0) == label).all()


def test_random_vectors_depend_on_kernel_and_seed(toy: DeviceMappingSamples) -> None:
    # Nothing but the kernel tells these labels, so only a vector per kernel can recall them.
    flat = dataclasses.replace(toy, transfer_bytes=np.ones(24), is_gpu=np.arange(24) // 2 % 2 == 0)
    known = np.arange(0, 24, 2)
    recalled = fit_rows(random_vector_forest(8, SMALL), flat, known, known + 1)
    assert ((recalled > 0) == flat.is_gpu[known + 1]).mean() >= 0.9
    blind = fit_rows(auxiliary_trees(SMALL), flat, known, known + 1)
    assert np.ptp(blind) == 0
    first, again, other = (fit_predict(random_vector_forest(8, SMALL), toy, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_random_vectors_are_drawn_anew_for_every_seed(toy: DeviceMappingSamples) -> None:
    features = random_vector_forest(8)._features
    first, again, other = (features(toy, seed)[:, :8] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.isclose(first, other).any()
    assert np.array_equal(first[0], first[1])  # one kernel at two sizes


def test_histograms_must_match(toy: DeviceMappingSamples, histograms: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"histograms: expected \(24, k\), found \(23, 6\)"):
        fit_predict(opcode_forest(histograms[1:], SMALL), toy)
    with pytest.raises(InputError, match="num_trees: expected at least 1, found 0"):
        TreeConfig(num_trees=0)


def test_standard_controls_have_distinct_names(histograms: np.ndarray) -> None:
    names = [method.name for method in standard_controls(histograms)]
    assert len(names) == len(set(names)) == 11
    assert len(standard_controls()) == 9


class Cheat:
    """Reads the answers of the rows that it is tested on."""

    name = "cheat"

    def fit(self, samples: DeviceMappingSamples, train_idx: np.ndarray, rng: np.random.Generator) -> None:
        pass

    def predict_log_ratio(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
        return np.where(samples.is_gpu[test_idx], 1.0, -1.0)


class Recorder(Constant):
    """Remembers the rows and random numbers that it was given."""

    def __init__(self) -> None:
        super().__init__(is_gpu=True)
        self.seen: list[tuple[int, float]] = []

    def fit(self, samples: DeviceMappingSamples, train_idx: np.ndarray, rng: np.random.Generator) -> None:
        assert np.isfinite(samples.log_ratio[train_idx]).all()
        assert np.isnan(samples.log_ratio).sum() == len(samples) - len(train_idx)
        self.seen.append((len(train_idx), rng.random()))


def test_peeking_does_not_pay(toy: DeviceMappingSamples) -> None:
    score = evaluate(toy, Cheat(), "suite", bootstrap=FEW)
    assert score.metrics.accuracy.value == pytest.approx(1 - toy.is_gpu.mean())  # all it sees is "CPU"

    class Greedy(Cheat):
        def predict_log_ratio(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
            return np.asarray(samples.log_ratio[test_idx])

    with pytest.raises(InputError, match=r"method 'cheat', fold 0: expected 8 finite numbers, .* 8 not finite"):
        evaluate(toy, Greedy(), "suite", bootstrap=FEW)


def test_score_tells_how_it_was_made(toy: DeviceMappingSamples) -> None:
    method = Recorder()
    score = evaluate(toy, method, "suite", (1, 2), bootstrap=FEW)
    assert (score.method, score.protocol, score.platform) == ("always GPU", "suite", "toy")
    assert (score.seeds, score.num_samples, score.interval_unit, score.num_groups) == ((1, 2), 24, "suite", 3)
    assert score.static_choice == "CPU"  # 12 of 24 rows: a tie
    assert score.log_ratio.shape == (2, 24)
    assert score.oracle.accuracy.value == 1
    assert score.oracle.geomean_speedup.value == pytest.approx(np.exp(0.35))
    assert [rows for rows, _ in method.seen] == [16] * 6
    assert len({number for _, number in method.seen}) == 6  # each seed and fold has its own
    assert score.seconds > 0


def test_undecided_means_cpu(toy: DeviceMappingSamples) -> None:
    class Undecided(Cheat):
        def predict_log_ratio(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
            return np.zeros(len(test_idx))

    score = evaluate(toy, Undecided(), "suite", bootstrap=FEW)
    assert score.metrics.geomean_speedup.value == 1  # over the CPU, the toy's static choice
    assert score.metrics.accuracy.value == 1 - toy.is_gpu.mean()


def test_split_seed_none_gives_every_run_its_own_folds(toy: DeviceMappingSamples) -> None:
    uneven = dataclasses.replace(toy, is_gpu=np.arange(24) // 2 % 3 == 0)

    def run(seed: int, split_seed: int | None) -> list[float]:
        score = evaluate(uneven, Majority(), "kernel", (seed,), split_seed=split_seed, bootstrap=FEW)
        predicted: list[float] = score.log_ratio[0].tolist()
        return predicted

    assert run(1, 204) == run(2, 204)
    assert run(1, None) == run(1, None) != run(2, None)


def test_evaluation_is_deterministic(toy: DeviceMappingSamples) -> None:
    first, again, other = (
        evaluate(toy, numeric_trees(SMALL, "log_ratio"), "suite", (seed,), bootstrap=FEW) for seed in (3, 3, 4)
    )
    assert np.array_equal(first.log_ratio, again.log_ratio)
    assert not np.array_equal(first.log_ratio, other.log_ratio)


def test_no_seeds_or_a_wrong_shape_is_refused(toy: DeviceMappingSamples) -> None:
    with pytest.raises(InputError, match="at least one seed"):
        evaluate(toy, Majority(), "suite", ())

    class Short(Cheat):
        def predict_log_ratio(self, samples: DeviceMappingSamples, test_idx: np.ndarray) -> np.ndarray:
            return np.zeros(len(test_idx) - 1)

    with pytest.raises(InputError, match=r"expected 8 finite numbers, found shape \(7,\)"):
        evaluate(toy, Short(), "suite")


@pytest.mark.parametrize(("platform", "majority", "auxiliary"), [("amd", 58.8, 88.5), ("nvidia", 56.9, 81.0)])
def test_published_figures(published: Published, platform: str, majority: float, auxiliary: float) -> None:
    samples = published(platform)
    score = evaluate(samples, Majority(), "published", bootstrap=FEW)
    assert round(100 * score.metrics.accuracy.value, 1) == majority
    assert score.metrics.geomean_speedup.value == 1
    trees = TreeConfig(num_trees=40)
    by_protocol: dict[Protocol, float] = {
        protocol: 100 * evaluate(samples, auxiliary_trees(trees), protocol, bootstrap=FEW).metrics.accuracy.value
        for protocol in PROTOCOLS
    }
    assert by_protocol["published"] == pytest.approx(auxiliary, abs=2)
    # What rows of the same kernels or applications give away is gone once a whole suite is left out.
    assert by_protocol["published"] > by_protocol["application"] + 8 > by_protocol["suite"]
