"""Our method: lines in one feature, chosen inside each fold; what is measured of it, and by chance."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import FEATURE_NAMES, chosen_line, dealt_features, fit_chosen_line, fit_lines
from ncc.errors import InputError
from ncc_lab import compare, thread_coarsening
from tests.rooms import CoarseningSamples, fit_line
from tests.support.refuses import refuses

Array = NDArray[np.float64]


def test_lines_are_least_squares_shrunk_towards_the_mean() -> None:
    features = np.array([[0.0, 5], [1, 5], [2, 5], [5, 5]])
    values = np.stack([3 * features[:, 0] + 1, np.ones(4)], axis=1)
    lines = fit_lines(features, values, (0.0, 4.0, np.inf))
    np.testing.assert_allclose(lines.slope[:, 0, 0], [3, 1.5, 0])
    np.testing.assert_allclose(lines.slope[:, 1], 0)  # a feature that never varies
    np.testing.assert_allclose(lines.slope[:, :, 1], 0, atol=1e-12)
    np.testing.assert_allclose(lines.at(np.array([[2.0, 5]]))[:, 0, 0, 0], 7)  # all go through the mean
    np.testing.assert_allclose(lines.at(np.array([[10.0, 5]]))[:, 0, 0, 0], [31, 19, 7])


def test_the_feature_that_tells_is_chosen_and_factors_follow(toy: CoarseningSamples, toy_features: Array) -> None:
    chance = dealt_features(toy_features)
    found = compare(thread_coarsening(toy), [chosen_line(toy_features), chance], ["kernel"], range(4))
    assert found.value("ncc", "accuracy") == 1
    assert found.value("ncc", "mean_speedup") == pytest.approx(1.3)
    assert found.value(chance.name, "mean_speedup") < 1.15
    assert fit_chosen_line(toy, np.arange(len(toy)), toy_features).candidate.feature == 1


def test_features_that_foretell_nothing_leave_a_constant() -> None:
    rng = np.random.default_rng(7)
    kernels, features = np.repeat([f"k{number}" for number in range(40)], 2), rng.normal(size=(40, 30)).repeat(2, 0)
    samples = CoarseningSamples(
        kernel=kernels,
        device=np.tile(["A", "B"], 40),
        source=kernels.astype(object),
        components=np.full((80, 6, 0), np.nan),
        runtime=np.exp(rng.normal([0, 0.1, 0.1, 0.2, 0.3, 0.4], 0.3, (80, 6))),
    )
    line = fit_chosen_line(samples, np.arange(80), features)
    assert (line.lines[""].slope[line.candidate.penalty] == 0).all()
    assert (line.predict(samples.device, features).argmax(axis=1) == 0).all()


def test_devices_have_lines_of_their_own(toy: CoarseningSamples, toy_features: Array) -> None:
    runtime = toy.runtime.copy()
    odd = np.array([int(name[1:]) % 2 for name in toy.kernel]) == 1
    runtime[(toy.device == "Tahiti") & odd, 1] /= 4
    changed = dataclasses.replace(toy, runtime=runtime)
    line = fit_chosen_line(changed, np.arange(len(toy)), toy_features)
    predicted = line.predict(changed.device[4:8], toy_features[4:8])
    assert predicted.argmax(axis=1).tolist() == [2, 2, 2, 1]
    unknown = line.predict(np.array(["another"]), toy_features[4:5])
    assert predicted[0, 1] < unknown[0, 1] < predicted[3, 1]


def test_wrong_use_is_refused(toy: CoarseningSamples, toy_features: Array) -> None:
    with refuses(InputError, "features (32, k)", "(31, 3)"):
        fit_chosen_line(toy, np.arange(32), toy_features[1:])
    with refuses(InputError, "three kernels", "2"):
        fit_chosen_line(toy, np.arange(8), toy_features)


def test_every_published_fold_chooses_divergence_and_all_kernels_the_line_that_ships(
    published: CoarseningSamples, published_features: Array, published_ir: dict[str, bytes]
) -> None:
    for kernel in np.unique(published.kernel)[::4]:
        line = fit_chosen_line(published, np.flatnonzero(published.kernel != kernel), published_features)
        assert FEATURE_NAMES[line.candidate.feature].startswith("divergent")
    rows = np.arange(len(published))
    line = fit_chosen_line(published, rows, published_features)
    shares = published_features[:, FEATURE_NAMES.index("divergent_share")]
    head = fit_line(published, shares, rows)
    shipped = [head.speedups(share, device) for share, device in zip(shares, published.device, strict=True)]
    np.testing.assert_allclose(line.predict(published.device, published_features), np.stack(shipped), rtol=1e-9)
