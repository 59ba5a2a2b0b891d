"""The device mapper of the published table: its parts, what it learns, and what it must not see."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from lab.tests.rooms import MapperInputs, MapperMethod, Process, ScoreCalibration, Term, blocks_of, standardise
from ncc.errors import InputError
from tests.rooms import FEATURE_NAMES, OPCODES, WORK_WIDTH, DeviceMappingSamples, KernelFeatures

SMALL = {"num_trees": 10, "inner_trees": 5, "inner_folds": 3}
TEST = np.arange(90, 120)
TRAIN = np.arange(90)


def make_inputs(num_kernels: int, repeat: int) -> MapperInputs:
    """Kernels of random features, each for as many rows; the first opcode's count is 0 or 40."""
    rng = np.random.default_rng(0)
    profile = rng.uniform(0, 3, (num_kernels, len(FEATURE_NAMES)))
    opcodes = rng.poisson(4, (num_kernels, len(OPCODES))).astype(np.float64)
    opcodes[:, 0] = 40 * (np.arange(num_kernels) % 2)
    profile[:, FEATURE_NAMES.index("dimensions")] = 1 + opcodes[:, 0] / 40
    vectors = rng.normal(size=(num_kernels, 6)) + opcodes[:, :1] / 10
    work = np.zeros((num_kernels, WORK_WIDTH))
    blocks = profile, opcodes, work, np.empty(num_kernels, object)
    features = KernelFeatures(*(np.repeat(block, repeat, axis=0) for block in blocks))
    return MapperInputs(features, np.repeat(vectors, repeat, axis=0))


def make_samples(num_kernels: int = 40, repeat: int = 3) -> tuple[DeviceMappingSamples, MapperInputs]:
    """Kernels at three sizes each, four kernels an application; those with the first opcode are for the GPU."""
    rng = np.random.default_rng(1)
    n = num_kernels * repeat
    kernel = np.repeat(np.arange(num_kernels), repeat)
    log_ratio = np.where(kernel % 2, 1.5, -1.5) + rng.normal(0, 0.3, n)
    name = np.array([f"npb-1.0-app{k // 4}-k{k}" for k in kernel])
    application = np.array([f"npb app{k // 4}" for k in kernel])
    # each application has sizes of its own
    transfer = np.exp(8 + 2 * (np.arange(n) % repeat) + 0.1 * (kernel // 4) + 1e-4 * (kernel % 4))
    samples = DeviceMappingSamples(
        platform="toy",
        benchmark=name,
        dataset=np.array([str(i % repeat) for i in range(n)]),
        application=application,
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
    return samples, make_inputs(num_kernels, repeat)


def fitted(seed: int = 0) -> tuple[MapperMethod, DeviceMappingSamples, MapperInputs]:
    samples, inputs = make_samples()
    method = MapperMethod(inputs, **SMALL)
    method.fit(samples.without_answers(TEST), TRAIN, np.random.default_rng(seed))
    return method, samples, inputs


def test_learns_which_kernels_are_for_the_gpu() -> None:
    method, samples, _ = fitted()
    location, low, high, probability = method.predict(samples, TEST).T
    assert ((location > 0) == samples.is_gpu[TEST]).all()
    assert ((low <= location) & (location <= high) & (low < high)).all()
    assert ((probability > 0.5) == (location > 0)).all()
    assert np.abs(location - samples.log_ratio[TEST]).mean() < 0.5 * np.abs(samples.log_ratio[TEST]).mean()


def equal_to(expected: np.ndarray) -> Any:
    """The same but for the last bits, which some BLAS makes depend on where arrays lie in memory."""
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_nothing_fitted_sees_the_rows_that_are_tested() -> None:
    method, samples, inputs = fitted()
    expected = method.predict(samples, TEST)
    assert method.predict(samples.without_answers(TEST), TEST) == equal_to(expected)
    wrong = replace(samples, log_ratio=samples.log_ratio.copy())
    wrong.log_ratio[TEST] *= -100
    other = MapperMethod(inputs, **SMALL)
    other.fit(wrong, TRAIN, np.random.default_rng(0))
    assert other.predict(samples, TEST) == equal_to(expected)
    # neither do scales and known sizes see their inputs
    for block in (inputs.features.profile, inputs.features.opcodes, inputs.vectors):
        block[TEST] = 1e6
    moved = replace(samples, transfer_bytes=np.where(np.arange(120) < 90, samples.transfer_bytes, 1e12))
    again = MapperMethod(inputs, **SMALL)
    again.fit(moved, TRAIN, np.random.default_rng(0))
    assert again.predict(samples, TRAIN) == equal_to(method.predict(samples, TRAIN))


def test_a_seed_gives_the_same_and_another_others() -> None:
    (one, samples, _), (two, _, _), (other, _, _) = fitted(), fitted(), fitted(seed=1)
    everything = np.arange(len(samples))
    assert one.predict(samples, everything) == equal_to(two.predict(samples, everything))
    assert one.predict(samples, everything) != equal_to(other.predict(samples, everything))


def test_the_order_of_the_rows_asked_for_does_not_matter() -> None:
    method, samples, _ = fitted()
    order = np.random.default_rng(2).permutation(TEST)
    expected = dict(zip(TEST.tolist(), method.predict(samples, TEST).tolist(), strict=True))
    for row, answer in zip(order.tolist(), method.predict(samples, order), strict=True):
        assert answer == pytest.approx(expected[row], abs=1e-9)


def test_trees_have_a_say_only_where_sizes_are_known() -> None:
    samples, inputs = make_samples()
    # labels that trees can't learn, so that each tree says something else
    coins = np.random.default_rng(3).choice([-1.0, 1.0], len(samples))
    samples = replace(samples, log_ratio=samples.log_ratio * coins)
    few, many = (MapperMethod(inputs, **SMALL | {"num_trees": number}) for number in (5, 80))
    for method in (few, many):
        method.fit(samples, TRAIN, np.random.default_rng(0))
    # applications' sizes are 0.1 apart in log units: below the smallest of all, none but that is near
    smallest = samples.transfer_bytes[TRAIN].min()
    for step, is_known in ((0.0, True), (0.018, True), (0.022, False), (0.5, False)):
        moved = replace(samples, transfer_bytes=np.full(120, np.exp(-step) * smallest))
        differ = few.predict(moved, TEST)[:, 0] != equal_to(many.predict(moved, TEST)[:, 0])
        assert differ == is_known, step
    # a work-group of another size makes a size unknown too
    moved = replace(samples, transfer_bytes=np.full(120, smallest), wgsize=np.full(120, 128.0))
    assert few.predict(moved, TEST) == equal_to(many.predict(moved, TEST))


def test_rows_of_a_single_application_can_not_be_held_out() -> None:
    samples, inputs = make_samples()
    with pytest.raises(InputError, match="can't make 1 folds: expected at least 2 groups, found 1"):
        MapperMethod(inputs, **SMALL).fit(samples, np.arange(12), np.random.default_rng(0))


@pytest.mark.parametrize("change", [{"num_trees": 11}, {"inner_folds": 4}, {"inner_trees": 6}])
def test_options_are_part_of_the_identity(change: dict[str, int]) -> None:
    inputs = make_inputs(4, 1)
    same = [MapperMethod(inputs, **SMALL).identity[0] for _ in range(2)]
    assert same[0] == same[1] != MapperMethod(inputs, **SMALL | change).identity[0]


def test_inputs_are_part_of_the_identity() -> None:
    inputs = make_inputs(4, 1)
    parts = MapperMethod(inputs, **SMALL).identity[1:]
    assert all(
        any(part is block for part in parts)
        for block in (inputs.features.profile, inputs.features.opcodes, inputs.vectors)
    )


def test_calibration_is_by_rows_of_one_kind_where_they_are_enough() -> None:
    rng = np.random.default_rng(0)
    score, ratio = rng.normal(size=200), rng.normal(size=200)
    for number, used in ((64, 64), (63, 200), (200, 200), (0, 200)):
        chosen = np.arange(200) >= 200 - number
        calibration = ScoreCalibration.fit(score, ratio, chosen)
        order = np.argsort(score[-used:])
        assert np.array_equal(calibration.score, score[-used:][order])
        assert np.array_equal(calibration.log_ratio, ratio[-used:][order])


def test_the_slope_of_a_calibration_has_the_least_absolute_error() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=150)
    ratio = 0.7 * score + rng.laplace(0, 0.5, 150)
    slope = ScoreCalibration.fit(score, ratio, np.ones(150, bool)).slope
    slopes = np.linspace(0.1, 2, 400)
    errors = np.abs(ratio - slopes[:, None] * score).sum(axis=1)
    assert np.abs(ratio - slope * score).sum() <= errors.min() + 1e-9
    # scores that say the opposite of what was measured are not believed
    assert ScoreCalibration.fit(score, -ratio, np.ones(150, bool)).slope == 1e-3


def test_sizes_known_or_not_are_calibrated_by_their_like(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, inputs = make_samples(80)
    # half of the applications have one size, that of all others among these; the rest have their own
    shared = np.arange(240) % 24 < 12
    samples = replace(samples, transfer_bytes=np.where(shared, 1e4, samples.transfer_bytes))
    masks: list[np.ndarray] = []

    fit = ScoreCalibration.fit

    def spy(score: np.ndarray, log_ratio: np.ndarray, chosen: np.ndarray) -> ScoreCalibration:
        masks.append(chosen)
        return fit(score, log_ratio, chosen)

    monkeypatch.setattr(ScoreCalibration, "fit", spy)
    MapperMethod(inputs, **SMALL).fit(samples, np.arange(240), np.random.default_rng(0))
    of_known, of_new = masks
    # with kernels held out, their applications' sizes are known; with applications held out, shared ones alone are
    assert of_known.mean() > 0.9
    assert np.array_equal(of_new, ~shared)


def test_blocks_say_how_work_grows_with_data() -> None:
    inputs = make_inputs(3, 1)
    features = inputs.features
    transfer, group = np.array([0.0, 1e3, 1e9]), np.array([1.0, 64.0, 256.0])
    blocks = blocks_of(*inputs, transfer, group)
    dims, depth = (features.profile[:, FEATURE_NAMES.index(name)] for name in ("dimensions", "depth"))
    assert np.array_equal(blocks["data"], np.log1p(np.stack([transfer, group], axis=1)))
    assert np.array_equal(blocks["shape"], np.stack([dims, depth], axis=1))
    assert blocks["growth"][:, 1] == pytest.approx((dims + depth) * np.log1p(transfer))
    assert blocks["opcodes"] == pytest.approx(np.log1p(features.opcodes))
    assert blocks["embedding"] is inputs.vectors
    assert all(len(columns) == 3 and np.isfinite(columns).all() for columns in blocks.values())


def _standard_blocks(rows: int) -> dict[str, np.ndarray]:
    raw = blocks_of(*make_inputs(rows, 1), *np.exp(np.random.default_rng(3).uniform(2, 16, (2, rows))))
    spread = {name: columns.std(axis=0) for name, columns in raw.items()}
    return standardise(raw, {name: columns.mean(axis=0) for name, columns in raw.items()}, spread)


@pytest.mark.parametrize(
    "term", [Term({"profile": 1.0}, 2.0), Term({"embedding": 0.8, "data": 0.2}, 1.0), Term({"data": 1.0}, 0.2)]
)
def test_covariances_are_symmetric_and_positive_definite(term: Term) -> None:
    blocks = _standard_blocks(40)
    covariance = term.covariance(blocks, blocks)
    assert covariance.shape == (40, 40)
    assert covariance == pytest.approx(covariance.T, abs=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0
    # rounding makes distances of 0 as large as the root of the machine's precision
    assert np.diag(covariance) == pytest.approx(1, rel=1e-5)
    assert 0 < covariance.min() <= covariance.max() <= 1


def test_covariances_fall_to_one_in_e_over_a_length() -> None:
    term = Term({"a": 0.75, "b": 0.25}, 2.0)
    origin = {"a": np.zeros((1, 2)), "b": np.zeros((1, 1))}
    # (0.75 · mean(4, 0) + 0.25 · 10) = 4: a distance of 2
    other = {"a": np.array([[2.0, 0.0]]), "b": np.array([[np.sqrt(10.0)]])}
    assert term.covariance(origin, other) == pytest.approx(np.exp(-1))


def test_a_process_solves_for_its_training_rows_and_says_their_mean_far_away() -> None:
    blocks, target = _standard_blocks(25), np.random.default_rng(0).normal(size=25)
    terms = (Term({"profile": 1.0}, 2.0), Term({"opcodes": 1.0}, 1.0))
    process = Process.fit(terms, blocks, target)
    covariance = sum(term.covariance(blocks, blocks) for term in terms)
    weights = cho_solve(cho_factor(covariance + 0.1 * np.eye(25)), target - target.mean())
    assert process.predict(blocks, blocks) == pytest.approx(target.mean() + covariance @ weights)
    far = {name: columns[:1] + 1e4 for name, columns in blocks.items()}
    assert process.predict(far, blocks) == pytest.approx([target.mean()], abs=1e-9)


def test_a_column_that_was_constant_in_training_does_not_matter() -> None:
    blocks = standardise({"a": np.array([[1.0, 7.0]])}, {"a": np.array([0.0, 3.0])}, {"a": np.array([2.0, 0.0])})
    assert blocks["a"].tolist() == [[0.5, 0.0]]


def test_calibration_puts_the_errors_of_near_scores_around_the_expected_value() -> None:
    score = np.linspace(-1, 1, 500)
    # errors are small for the CPU and large for the GPU
    errors = np.where(np.arange(500) % 2, 1.0, -1.0) * np.where(score < 0, 0.1, 2.0)
    answers = ScoreCalibration(score, 3 * score + errors, 3.0).apply(np.array([-0.8, 0.8, 50.0, -50.0]))
    assert answers[:, 0] == pytest.approx([-2.4, 2.4, 150.0, -150.0])
    assert (answers[:, 2] - answers[:, 1]) / 2 == pytest.approx([0.1, 2.0, 2.0, 0.1], abs=0.05)
    assert ((answers[:, 3] > 0.5) == (answers[:, 0] > 0)).all()


@pytest.mark.parametrize("known", [1, 29, 31, 200])
def test_calibration_does_with_as_many_scores_as_there_are(known: int) -> None:
    answers = ScoreCalibration(np.linspace(-1, 1, known), np.zeros(known), 1.0).apply(np.array([-9.0, 0.0, 0.3, 9.0]))
    assert np.isfinite(answers).all()
    assert ((answers[:, 1] <= answers[:, 0]) & (answers[:, 0] <= answers[:, 2])).all()
    assert ((answers[:, 3] > 0.5) == (answers[:, 0] > 0)).all()
