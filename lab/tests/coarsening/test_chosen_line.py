"""Our method: lines in one feature, chosen inside each fold; what is measured of it, and by chance."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import COARSENING_FEATURE_NAMES as FEATURE_NAMES
from lab.tests.rooms import Candidate, ChosenLine, LineGrid, Method, compare, fit_lines, thread_coarsening
from ncc.errors import InputError
from tests.rooms import CoarseningSamples, complete_log_speedups, fit_line, load_shares

Array = NDArray[np.float64]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


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
    method = ChosenLine(toy_features)
    found = compare(thread_coarsening(toy), [Method.of(method)], ["kernel"])
    assert found.value("ncc", "accuracy") == 1
    assert found.value("ncc", "mean_speedup") == pytest.approx(1.3)
    assert method.candidate is not None
    assert method.candidate.feature == 1


def test_without_a_slope_it_is_a_constant(toy: CoarseningSamples, toy_features: Array) -> None:
    method = ChosenLine(toy_features, LineGrid(penalties=(np.inf,), scales=("plain",)))
    method.fit(toy, np.arange(len(toy)), rng())
    np.testing.assert_allclose(method.predict(toy, np.array([0, 4]))[:, :4], [[1, 1, 1.05, 0.75]] * 2)


def test_features_that_foretell_nothing_leave_a_constant() -> None:
    random = rng()
    kernels, features = np.repeat([f"k{number}" for number in range(40)], 2), random.normal(size=(40, 30)).repeat(2, 0)
    samples = CoarseningSamples(
        kernel=kernels,
        device=np.tile(["A", "B"], 40),
        source=kernels.astype(object),
        components=np.full((80, 6, 0), np.nan),
        runtime=np.exp(random.normal([0, 0.1, 0.1, 0.2, 0.3, 0.4], 0.3, (80, 6))),
    )
    method = ChosenLine(features, LineGrid(penalties=(0.0, 3.0, np.inf)))
    chosen = method._choose(samples, complete_log_speedups(samples.runtime), np.arange(80))
    assert chosen.constant is not None
    assert chosen.line[2] != chosen.constant[2]  # the best of all candidates seems to know something
    method.fit(samples, np.arange(80), rng())
    assert method.candidate is not None
    assert method.candidate.penalty == np.inf
    assert (method.predict(samples, np.arange(80)).argmax(axis=1) == 0).all()


def test_devices_have_lines_of_their_own(toy: CoarseningSamples, toy_features: Array) -> None:
    runtime = toy.runtime.copy()
    odd = np.array([int(name[1:]) % 2 for name in toy.kernel]) == 1
    runtime[(toy.device == "Tahiti") & odd, 1] /= 4
    changed = dataclasses.replace(toy, runtime=runtime)
    grid = LineGrid(penalties=(0.0,), own_shares=(1.0,), scales=("plain",))
    method = ChosenLine(toy_features, grid)
    method.fit(changed, np.arange(len(toy)), rng())
    predicted = method.predict(changed, np.arange(4, 8))
    np.testing.assert_allclose(predicted[:, 1], [1.3, 1.3, 1.3, 5.2])
    assert predicted.argmax(axis=1).tolist() == [2, 2, 2, 1]
    offset, slope = method.line(None)
    assert offset[1] == pytest.approx((3 * 1.3 + 5.2) / 4)
    assert (offset + slope)[1] == pytest.approx(0.7)


def test_shares_draw_devices_together(toy: CoarseningSamples, toy_features: Array) -> None:
    both = [ChosenLine(toy_features, LineGrid(own_shares=(share,), scales=("plain",))) for share in (0.0, 1.0)]
    drawn = ChosenLine(toy_features, LineGrid(own_shares=(0.25,), scales=("plain",)))
    runtime = toy.runtime.copy()
    runtime[toy.device == "Tahiti", 1] *= 1.5
    changed = dataclasses.replace(toy, runtime=runtime)
    for method in (*both, drawn):
        method.fit(changed, np.arange(len(toy)), rng())
        assert method.candidate is not None
        assert method.candidate.penalty == 3
    together, own, mixed = (method.predict(changed, np.arange(8)) for method in (*both, drawn))
    np.testing.assert_allclose(mixed, 0.75 * together + 0.25 * own)
    assert not np.allclose(together, own)


def test_wrong_use_is_refused(toy: CoarseningSamples, toy_features: Array) -> None:
    with pytest.raises(InputError, match=r"expected features \(32, k\) and three kernels, found \(31, 3\) and 8"):
        ChosenLine(toy_features[1:]).fit(toy, np.arange(32), rng())
    with pytest.raises(InputError, match=r"three kernels, found .* and 2"):
        ChosenLine(toy_features).fit(toy, np.arange(8), rng())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalties": ()}, "found none of one"),
        ({"penalties": (-1.0,)}, "expected penalties of 0 or more"),
        ({"own_shares": (0.5, 1.5)}, "shares from 0 to 1"),
        ({"scales": ("cubic",)}, r"no scale \['cubic'\]; expected some of log, plain"),
    ],
)
def test_wrong_grids_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        LineGrid(**options)


@pytest.mark.full
def test_published_result(published: CoarseningSamples, published_features: Array) -> None:
    method = Method.of(ChosenLine(published_features))
    found = compare(thread_coarsening(published), [method], ["kernel", "source"], (204, 205))
    for scores in (result.scores[""] for result in found.results):
        assert scores["mean_speedup"].value > 1.22
        assert scores["geomean_speedup"].value > 1.12
        assert np.ptp(scores["mean_speedup"].per_seed) == 0  # nothing is random
        assert scores["mean_speedup"].low > 1


def test_every_published_fold_chooses_divergence(published: CoarseningSamples, published_features: Array) -> None:
    method = ChosenLine(published_features)
    chosen: list[Candidate] = []
    for kernel in np.unique(published.kernel)[::4]:
        method.fit(published, np.flatnonzero(published.kernel != kernel), rng())
        assert method.candidate is not None
        chosen.append(method.candidate)
    assert {FEATURE_NAMES[candidate.feature] for candidate in chosen} <= {"divergent_share", "divergent_loop_share"}


def test_what_all_kernels_choose_is_the_line_that_ships(
    published: CoarseningSamples, published_features: Array, published_ir: dict[str, bytes]
) -> None:
    rows = np.arange(len(published))
    method = ChosenLine(published_features)
    method.fit(published, rows, rng())
    shares = load_shares(published, published_ir)
    head = fit_line(published, shares, rows)
    predicted = [head.speedups(share, device) for share, device in zip(shares, published.device, strict=True)]
    np.testing.assert_allclose(method.predict(published, rows), np.stack(predicted), rtol=1e-9)
