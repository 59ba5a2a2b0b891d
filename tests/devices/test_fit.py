"""The device mapper: what it learns, what it must not see, and what of it ships."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ncc.devices import fit as mapper
from ncc.devices.files import load_head, save_head
from ncc.devices.fit import MapperConfig, MapperMethod, _calibrate
from ncc.devices.head import Calibration, KernelInputs, MapperHead
from ncc.devices.samples import DeviceMappingSamples
from ncc.devices.work import WORK_WIDTH
from ncc.embedding import Embedding, Vocabulary
from ncc.errors import InputError
from ncc.ir import OPCODES
from ncc.kernels import FEATURE_NAMES
from ncc.study.devices import train_head
from ncc.study.devices.task import DeviceMapping
from ncc.study.evaluation import evaluate

SMALL = MapperConfig(num_trees=10, inner_trees=5, inner_folds=3)
TEST = np.arange(90, 120)
TRAIN = np.arange(90)


def make_inputs(num_kernels: int, repeat: int) -> KernelInputs:
    """Kernels of random features, each for as many rows; the first opcode's count is 0 or 40."""
    rng = np.random.default_rng(0)
    profile = rng.uniform(0, 3, (num_kernels, len(FEATURE_NAMES)))
    opcodes = rng.poisson(4, (num_kernels, len(OPCODES))).astype(np.float64)
    opcodes[:, 0] = 40 * (np.arange(num_kernels) % 2)
    profile[:, FEATURE_NAMES.index("dimensions")] = 1 + opcodes[:, 0] / 40
    vectors = rng.normal(size=(num_kernels, 6)) + opcodes[:, :1] / 10
    work = np.zeros((num_kernels, WORK_WIDTH))
    return KernelInputs(*(np.repeat(block, repeat, axis=0) for block in (profile, opcodes, vectors, work)))


def make_samples(num_kernels: int = 40, repeat: int = 3) -> tuple[DeviceMappingSamples, KernelInputs]:
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


def fitted(config: MapperConfig = SMALL, seed: int = 0) -> tuple[MapperMethod, DeviceMappingSamples, KernelInputs]:
    samples, inputs = make_samples()
    method = MapperMethod(inputs, config)
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
    other = MapperMethod(inputs, SMALL)
    other.fit(wrong, TRAIN, np.random.default_rng(0))
    assert other.predict(samples, TEST) == equal_to(expected)
    # neither do scales and known sizes see their inputs
    for block in (inputs.profile, inputs.opcodes, inputs.vectors):
        block[TEST] = 1e6
    moved = replace(samples, transfer_bytes=np.where(np.arange(120) < 90, samples.transfer_bytes, 1e12))
    again = MapperMethod(inputs, SMALL)
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
    few, many = (MapperMethod(inputs, replace(SMALL, num_trees=number)) for number in (5, 80))
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


def test_without_members_for_known_sizes_these_are_as_any() -> None:
    general = tuple(member for member in SMALL.members if not member.only_known)
    method, samples, _ = fitted(replace(SMALL, members=general, num_trees=0))
    smallest = samples.transfer_bytes[TRAIN].min()
    near, far = (
        method.predict(replace(samples, transfer_bytes=np.full(120, np.exp(-step) * smallest)), TEST)[:, 0]
        for step in (0.019, 0.021)
    )
    assert ((near > 0) == samples.is_gpu[TEST]).all()
    # one score, by two calibrations
    assert far / near == pytest.approx(np.full(30, (far / near)[0]), rel=0.02)


def test_shipping_before_fitting_is_refused() -> None:
    samples, inputs = make_samples()
    with pytest.raises(InputError, match="fit the method before shipping"):
        MapperMethod(inputs).to_head(samples, make_embedding(), {})


def test_rows_of_a_single_application_can_not_be_held_out() -> None:
    samples, inputs = make_samples()
    with pytest.raises(InputError, match="can't make 1 folds: expected at least 2 groups, found 1"):
        MapperMethod(inputs, SMALL).fit(samples, np.arange(12), np.random.default_rng(0))


@pytest.mark.parametrize(
    "change",
    [
        {"num_trees": 11},
        {"inner_folds": 4},
        {"inner_trees": 6},
        {"members": SMALL.members[:2]},
        {"members": (replace(SMALL.members[0], noise=0.2), *SMALL.members[1:])},
        {"members": (replace(SMALL.members[0], bend="tanh"), *SMALL.members[1:])},
    ],
)
def test_options_are_part_of_the_identity(change: dict[str, Any]) -> None:
    inputs = make_inputs(4, 1)
    identities = [str(MapperMethod(inputs, config).identity[0]) for config in (SMALL, replace(SMALL), SMALL)]
    assert len(set(identities)) == 1
    assert str(MapperMethod(inputs, replace(SMALL, **change)).identity[0]) != identities[0]


def test_inputs_are_part_of_the_identity() -> None:
    inputs = make_inputs(4, 1)
    parts = MapperMethod(inputs, SMALL).identity[1:]
    assert all(any(part is block for part in parts) for block in (inputs.profile, inputs.opcodes, inputs.vectors))


def test_calibration_is_by_rows_of_one_kind_where_they_are_enough() -> None:
    rng = np.random.default_rng(0)
    score, ratio = rng.normal(size=200), rng.normal(size=200)
    for number, used in ((64, 64), (63, 200), (200, 200), (0, 200)):
        chosen = np.arange(200) >= 200 - number
        calibration = _calibrate(score, ratio, chosen)
        order = np.argsort(score[-used:])
        assert np.array_equal(calibration.score, score[-used:][order])
        assert np.array_equal(calibration.log_ratio, ratio[-used:][order])


def test_the_slope_of_a_calibration_has_the_least_absolute_error() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=150)
    ratio = 0.7 * score + rng.laplace(0, 0.5, 150)
    slope = _calibrate(score, ratio, np.ones(150, bool)).slope
    slopes = np.linspace(0.1, 2, 400)
    errors = np.abs(ratio - slopes[:, None] * score).sum(axis=1)
    assert np.abs(ratio - slope * score).sum() <= errors.min() + 1e-9
    # scores that say the opposite of what was measured are not believed
    assert _calibrate(score, -ratio, np.ones(150, bool)).slope == 1e-3


def test_sizes_known_or_not_are_calibrated_by_their_like(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, inputs = make_samples(80)
    # half of the applications have one size, that of all others among these; the rest have their own
    shared = np.arange(240) % 24 < 12
    samples = replace(samples, transfer_bytes=np.where(shared, 1e4, samples.transfer_bytes))
    masks: list[np.ndarray] = []

    def spy(score: np.ndarray, log_ratio: np.ndarray, chosen: np.ndarray) -> Calibration:
        masks.append(chosen)
        return _calibrate(score, log_ratio, chosen)

    monkeypatch.setattr(mapper, "_calibrate", spy)
    MapperMethod(inputs, SMALL).fit(samples, np.arange(240), np.random.default_rng(0))
    of_known, of_new = masks
    # with kernels held out, their applications' sizes are known; with applications held out, shared ones alone are
    assert of_known.mean() > 0.9
    assert np.array_equal(of_new, ~shared)


# ---- what ships


def make_embedding() -> Embedding:
    words = tuple(f"word {i}" for i in range(9))
    return Embedding(Vocabulary(words, np.arange(9)), np.random.default_rng(0).normal(size=(9, 6)).astype(np.float32))


@pytest.fixture(scope="module")
def shipped() -> tuple[MapperHead, MapperMethod, DeviceMappingSamples, KernelInputs]:
    samples, inputs = make_samples()
    method = MapperMethod(inputs, SMALL)
    method.fit(samples, np.arange(len(samples)), np.random.default_rng(0))
    return method.to_head(samples, make_embedding(), {"platform": "toy"}), method, samples, inputs


def test_a_head_says_what_the_method_says_of_sizes_that_it_does_not_know(
    shipped: tuple[MapperHead, MapperMethod, DeviceMappingSamples, KernelInputs],
) -> None:
    head, method, samples, inputs = shipped
    elsewhere = replace(samples, transfer_bytes=np.full(120, 1e9), wgsize=np.full(120, 16.0))
    rows = np.arange(0, 120, 7)
    for row, expected in zip(rows.tolist(), method.predict(elsewhere, rows), strict=True):
        answer = head.predict(inputs.rows(np.array([row])), 1e9, 16.0)
        assert [answer.log_ratio, *answer.interval, answer.probability_gpu] == pytest.approx(expected, abs=1e-9)


def test_a_head_has_no_part_for_known_sizes(
    shipped: tuple[MapperHead, MapperMethod, DeviceMappingSamples, KernelInputs],
) -> None:
    head, _, samples, _ = shipped
    general = [member for member in SMALL.members if not member.only_known]
    assert [process.terms for process in head.processes] == [member.terms for member in general]
    assert head.process_scale.shape == (len(general),)
    assert (head.embedding_id, head.about) == (make_embedding().fingerprint, {"platform": "toy"})
    pairs = set(zip(samples.transfer_bytes.tolist(), samples.wgsize.tolist(), strict=True))
    assert {tuple(pair) for pair in head.reference.tolist()} <= pairs
    assert len(head.reference) == 64


def test_a_head_is_the_same_after_a_round_trip(
    shipped: tuple[MapperHead, MapperMethod, DeviceMappingSamples, KernelInputs], tmp_path: Any
) -> None:
    head, _, _, inputs = shipped
    save_head(head, tmp_path)
    again = load_head(tmp_path)
    for row in range(0, 120, 11):
        kernel = inputs.rows(np.array([row]))
        before, after = head.predict(kernel, 1e5), again.predict(kernel, 1e5)
        assert after.log_ratio == pytest.approx(before.log_ratio, abs=1e-3)


def test_a_head_is_measured_by_kernel_and_by_application_before_it_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    samples, inputs = make_samples()
    monkeypatch.setattr(train_head, "load_samples", lambda platform, folder: samples)
    monkeypatch.setattr(train_head, "load_inputs", lambda *_: inputs)
    few = MapperConfig(num_trees=2, inner_trees=2, inner_folds=2)
    monkeypatch.setattr(train_head, "MapperMethod", lambda inputs: MapperMethod(inputs, few))
    said: list[str] = []
    head = train_head.train_devmap(platform="amd", model="gp", embedding=make_embedding(), seed=3, progress=said.append)
    assert [line.rpartition(":")[0] for line in said] == ["amd, by kernel", "amd, by application"]
    assert (head.about["platform"], head.embedding_id) == ("amd", make_embedding().fingerprint)
    assert list(head.about["scores"]) == ["by kernel", "by application"]
    for protocol, scores in head.about["scores"].items():
        expected = evaluate(DeviceMapping(samples), MapperMethod(inputs, few), protocol.removeprefix("by "), (3,))
        assert scores["accuracy"] == round(expected.metrics.accuracy.value, 4)
        assert scores["geomean_speedup_over_best_static"] == round(expected.metrics.geomean_speedup.value, 4)
        assert expected.metrics.coverage is not None
        assert scores["coverage_of_80_percent_interval"] == round(expected.metrics.coverage.value, 4)
    # what ships was fitted to all rows
    assert len(head.training["data"]) == len(samples)
    method = MapperMethod(inputs, few)
    method.fit(samples, np.arange(len(samples)), np.random.default_rng(3))
    same = method.to_head(samples, make_embedding(), {})
    assert head.processes[0].weights == pytest.approx(same.processes[0].weights, rel=1e-6, abs=1e-9)
    assert head.calibration.score == equal_to(same.calibration.score)


@pytest.mark.parametrize(
    "wrong",
    [{"members": ()}, {"num_trees": -1}, {"inner_trees": -1}, {"inner_folds": 1}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_mixture_of_nothing_is_refused(wrong):
    with pytest.raises(InputError, match="expected"):
        MapperConfig(**wrong)
