"""Controls of thread coarsening, and Magni et al.'s cascade."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import (
    BestConstant,
    CoarseningMethod,
    MagniCascade,
    Majority,
    ThreadCoarsening,
    constant_factor,
    evaluate,
    forest,
)
from lab.tests.rooms import coarsening_labels_of as labels_of
from lab.tests.rooms import coarsening_standard_controls as standard_controls
from ncc.errors import InputError
from tests.rooms import DEVICES, FACTORS, CoarseningSamples

SMALL = 10


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def rows(samples: CoarseningSamples, *kernels: str) -> NDArray[np.int64]:
    return np.flatnonzero(np.isin(samples.kernel, kernels))


def test_constants(toy: CoarseningSamples) -> None:
    assert constant_factor(8).predict(toy, np.arange(3)).tolist() == [[0, 0, 0, 1, 0, 0]] * 3
    with pytest.raises(InputError, match="no factor 3; expected one of 1, 2, 4, 8, 16, 32"):
        constant_factor(3)


def test_majority_goes_by_counts(toy: CoarseningSamples) -> None:
    method = Majority(labels_of)
    method.fit(toy, rows(toy, "k0", "k2", "k1"), rng())
    assert method.predict(toy, np.array([4]))[0].argmax() == 0
    method.fit(toy, rows(toy, "k1", "k3", "k0"), rng())
    np.testing.assert_allclose(method.predict(toy, np.array([0]))[0], [1 / 3, 0, 2 / 3, 0, 0, 0])


def test_best_constant_goes_by_speedups(toy: CoarseningSamples) -> None:
    method = BestConstant(per_device=False)
    method.fit(toy, rows(toy, "k0", "k1"), rng())
    predicted = method.predict(toy, np.array([8, 9]))
    np.testing.assert_allclose(predicted[:, :3], [[1, 1, 1.05]] * 2)


def test_best_constant_of_a_device(toy: CoarseningSamples) -> None:
    runtime = toy.runtime.copy()
    runtime[toy.device == "Kepler", 1] /= 10
    changed = dataclasses.replace(toy, runtime=runtime)
    method = BestConstant(per_device=True)
    method.fit(changed, rows(changed, "k1", "k3"), rng())
    assert method.predict(changed, np.arange(4)).argmax(axis=1).tolist() == [2, 1, 2, 2]
    method.fit(changed, np.flatnonzero(changed.device == "Fermi"), rng())
    both = method.predict(changed, np.arange(2))
    np.testing.assert_array_equal(both[0], both[1])  # Kepler was not in training: all there is stands for it


@pytest.mark.parametrize("target", ["label", "log_speedup"])
def test_forests_learn_what_features_tell(
    toy: CoarseningSamples, toy_features: NDArray[np.float64], target: str
) -> None:
    method = forest("forest", toy_features[:, 1:2], target, 50)  # type: ignore[arg-type]
    assert method.name == f"forest ({target})"
    score = evaluate(ThreadCoarsening(toy), method, "kernel")
    assert score.metrics.accuracy.value > 0.9


def random_vectors(num_trees: int = SMALL) -> CoarseningMethod:
    name = "random vector per kernel (label)"
    return next(method for method in standard_controls(num_trees=num_trees) if method.name == name)


def test_random_vectors_recognise_a_kernel_and_tell_nothing_of_others(toy: CoarseningSamples) -> None:
    by_pair = evaluate(ThreadCoarsening(toy), random_vectors(), "pair")
    by_kernel = evaluate(ThreadCoarsening(toy), random_vectors(), "kernel")
    assert by_pair.metrics.accuracy.value > by_kernel.metrics.accuracy.value + 0.3


def test_features_of_a_wrong_shape_are_refused(toy: CoarseningSamples) -> None:
    with pytest.raises(InputError, match=r"features: expected \(32, k\), found \(3, 2\)"):
        forest("wrong", np.zeros((3, 2))).fit(toy, np.arange(8), rng())
    with pytest.raises(InputError, match="num_trees: expected at least 1, found 0"):
        standard_controls(num_trees=0)


def test_cascade_follows_its_decisions(toy: CoarseningSamples) -> None:
    # the first component says how much coarsening is left to do, as the network has to learn
    components = toy.components.copy()
    components[:, :, 0] = 4 * (toy.best[:, None] - np.arange(len(FACTORS)) - 0.5)
    components[:, :, 1:] = np.where(np.isnan(components[:, :, 1:]), np.nan, 0.0)
    told = dataclasses.replace(toy, components=components)
    score = evaluate(ThreadCoarsening(told), MagniCascade(hidden=16, max_steps=400), "kernel")
    assert score.metrics.accuracy.value > 0.9


def test_cascade_ends_where_the_kernel_can_not_be_coarsened_further(toy: CoarseningSamples) -> None:
    always_further = dataclasses.replace(toy, runtime=np.tile(1000.0 / np.arange(1, 7), (len(toy), 1)))
    components = toy.components.copy()
    components[:, 5] = 0.0
    components[4:8, 3:] = np.nan  # k1
    method = MagniCascade(max_steps=20)
    known = dataclasses.replace(always_further, components=components)
    method.fit(known, rows(toy, "k1"), rng())
    assert method.predict(known, rows(toy, "k1", "k2")).argmax(axis=1).tolist() == [2] * 4 + [5] * 4


def test_cascade_has_a_model_for_each_device(toy: CoarseningSamples) -> None:
    method = MagniCascade(max_steps=5)
    method.fit(toy, np.flatnonzero(toy.device == "Fermi"), rng())
    with pytest.raises(InputError, match="no model for device 'Kepler'; expected one of Fermi"):
        method.predict(toy, np.array([DEVICES.index("Kepler")]))


def test_all_controls_are_there_and_have_names_of_their_own(toy_features: NDArray[np.float64]) -> None:
    controls: tuple[CoarseningMethod, ...] = standard_controls(toy_features, SMALL)
    names = [method.name for method in controls]
    assert names == [
        "always 1", "always 2", "always 4", "always 8", "always 16", "always 32",
        "majority", "best constant", "best constant per device",
        "random vector per kernel (label)", "random vector per kernel (log_speedup)",
        "opcode histogram (label)", "opcode histogram (log_speedup)",
    ]  # fmt: skip
    assert [method.name for method in standard_controls()] == names[:-2]


@pytest.mark.full
def test_published_controls(published: CoarseningSamples) -> None:
    best = evaluate(ThreadCoarsening(published), BestConstant(per_device=False), "kernel").metrics
    assert best.mean_speedup.value == pytest.approx(1.1515, abs=5e-5)  # factor 4 in every fold
    majority = evaluate(ThreadCoarsening(published), Majority(labels_of), "kernel").metrics
    assert majority.mean_speedup.value == 1  # most pairs are best left alone
    by_pair = evaluate(ThreadCoarsening(published), random_vectors(50), "pair").metrics
    by_kernel = evaluate(ThreadCoarsening(published), random_vectors(50), "kernel").metrics
    assert by_pair.mean_speedup.value > by_kernel.mean_speedup.value + 0.1
