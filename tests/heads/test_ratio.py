"""`RatioHead`: a mixture of Laplace distributions, what missing inputs do, and files that were damaged."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from scipy.optimize import brentq
from scipy.stats import laplace

from ncc.errors import AssetError, InputError
from ncc.heads import load_ratio_head, save_ratio_head
from ncc.heads.ratio import NUM_AUXILIARY, auxiliary_features, mixture_cdf, mixture_quantile

DIM = 10


@pytest.fixture
def vectors():
    return np.random.default_rng(4).normal(size=(20, DIM)).astype(np.float32)


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


def test_an_answer_does_not_contradict_itself(ratio_head, vectors):
    head = ratio_head()
    for transfer in (None, 0, 1e3, 1e6, 1e9):
        answer = head.predict(vectors, transfer, 64)
        low, high = answer.interval
        assert low < answer.log_ratio < high
        assert 0 < answer.probability_gpu < 1
        assert (answer.probability_gpu > 0.5) == (answer.log_ratio > 0)


def test_a_larger_spread_is_a_wider_interval_around_the_same_members(ratio_head, vectors):
    narrow, wide = (ratio_head(members=1, spread=spread).predict(vectors, 1e4, 32) for spread in (1.0, 2.0))
    assert wide.log_ratio == pytest.approx(narrow.log_ratio, abs=1e-6)
    assert np.diff(wide.interval) == pytest.approx(2 * np.diff(narrow.interval), rel=1e-6)


def test_one_member_with_all_inputs_is_one_laplace_distribution(ratio_head, vectors):
    head = ratio_head(members=1)
    features = auxiliary_features(np.array([[1e5, 128.0]]), head.auxiliary_mean, head.auxiliary_std)
    ((location, log_scale),) = head.members[0].outputs(head.members[0].encode(vectors), features)
    scale = np.exp(np.clip(log_scale, -3, 2))
    answer = head.predict(vectors, 1e5, 128)
    assert answer.log_ratio == pytest.approx(location, abs=1e-5)
    assert answer.interval == pytest.approx(laplace.ppf([0.1, 0.9], location, scale), abs=1e-5)
    assert answer.probability_gpu == pytest.approx(laplace.sf(0, location, scale), abs=1e-5)


def test_missing_inputs_are_the_mixture_over_the_reference(ratio_head, vectors):
    head = ratio_head()
    each = [head.predict(vectors, *row) for row in head.reference.tolist()]
    whole = head.predict(vectors)
    assert whole.probability_gpu == pytest.approx(np.mean([one.probability_gpu for one in each]), abs=1e-6)
    # a mixture's quantile lies between those of its parts
    for end in (0, 1):
        ends = [one.interval[end] for one in each]
        assert min(ends) - 1e-6 <= whole.interval[end] <= max(ends) + 1e-6
    assert np.diff(whole.interval) >= min(np.diff(one.interval) for one in each)


def test_one_missing_input_keeps_the_other(ratio_head, vectors):
    head = ratio_head()
    each = [head.predict(vectors, 1e5, wgsize) for wgsize in head.reference[:, 1].tolist()]
    answer = head.predict(vectors, 1e5)
    assert answer.probability_gpu == pytest.approx(np.mean([one.probability_gpu for one in each]), abs=1e-6)
    assert answer != head.predict(vectors, 1e2)


def test_a_reference_of_one_row_is_that_row(ratio_head, vectors):
    head = ratio_head(rows=2)
    head = replace(head, reference=head.reference[:1])
    answer, given = head.predict(vectors), head.predict(vectors, *head.reference[0].tolist())
    assert answer.log_ratio == pytest.approx(given.log_ratio, abs=1e-6)


def test_predicting_changes_nothing(ratio_head, vectors):
    head = ratio_head()
    before = head.reference.copy()
    assert head.predict(vectors, 1.0, 2.0) == head.predict(vectors, 1.0, 2.0)
    assert np.array_equal(head.reference, before)


def test_features_are_the_standardised_logarithm_and_bumps():
    values = np.array([[0.0, 10.0], [1e6, 256.0]])
    mean, std = np.array([3.0, 4.0]), np.array([2.0, 0.5])
    features = auxiliary_features(values, mean, std)
    assert features.shape == (2, NUM_AUXILIARY)
    assert features.dtype == np.float32
    half = NUM_AUXILIARY // 2
    assert features[:, [0, half]] == pytest.approx((np.log1p(values) - mean) / std, rel=1e-6)
    assert (features[:, 1:half] >= 0).all()
    assert (features[:, 1:half] <= 1).all()


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", ["transfer", "wgsize"])
def test_inputs_that_can_not_be_are_refused(ratio_head, vectors, name, value):
    given = {"transfer": {"transfer_bytes": value}, "wgsize": {"wgsize": value}}[name]
    with pytest.raises(InputError, match=f"{name} is {value}; expected a number, 0 or more"):
        ratio_head().predict(vectors, **given)


def test_a_kernel_without_statements_is_refused(ratio_head):
    with pytest.raises(InputError, match="a kernel without statements can't be predicted"):
        ratio_head().predict(np.zeros((0, DIM), np.float32))


@pytest.fixture
def saved(ratio_head, tmp_path):
    save_ratio_head(ratio_head(), tmp_path)
    return tmp_path


def test_round_trip(ratio_head, saved, vectors):
    head, again = ratio_head(), load_ratio_head(saved)
    assert (again.spread, again.embedding_id, again.about) == (head.spread, head.embedding_id, head.about)
    assert len(again.members) == 2
    for given in ((None, None), (1e5, 64.0)):
        before, after = head.predict(vectors, *given), again.predict(vectors, *given)
        assert after.log_ratio == pytest.approx(before.log_ratio, abs=0.02)
        assert after.interval == pytest.approx(before.interval, abs=0.05)


def test_a_second_round_trip_changes_no_bit(saved, tmp_path, vectors):
    first = load_ratio_head(saved)
    save_ratio_head(first, tmp_path / "again")
    assert load_ratio_head(tmp_path / "again").predict(vectors) == first.predict(vectors)


@pytest.mark.parametrize("key", ["num_members", "layers", "spread", "embedding_id", "about"])
def test_a_card_that_lacks_a_field_is_refused(saved, key):
    card = json.loads((saved / "head.json").read_text())
    del card[key]
    (saved / "head.json").write_text(json.dumps(card))
    with pytest.raises(AssetError, match=f"is not a device-mapping head .*{key}.* damaged") as refusal:
        load_ratio_head(saved)
    assert str(saved) in str(refusal.value)


@pytest.mark.parametrize(
    "change",
    [
        {"num_members": 0},
        {"num_members": 3},
        {"layers": 1},
        {"layers": 0},
        {"spread": 0},
        {"spread": "wide"},
        {"about": 1},
    ],
)
def test_a_card_with_wrong_values_is_refused(saved, change):
    card = json.loads((saved / "head.json").read_text())
    (saved / "head.json").write_text(json.dumps(card | change))
    with pytest.raises(AssetError, match="is not a device-mapping head"):
        load_ratio_head(saved)


def test_another_format_version_is_refused(saved):
    card = json.loads((saved / "head.json").read_text())
    (saved / "head.json").write_text(json.dumps(card | {"format_version": 2}))
    with pytest.raises(AssetError, match=r"head\.json: format version 2; this ncc reads version 1"):
        load_ratio_head(saved)


def _tamper(folder, edit):
    arrays = load_file(folder / "head.safetensors")
    edit(arrays)
    save_file(arrays, folder / "head.safetensors")


@pytest.mark.parametrize("name", ["member0.dense.weight", "member1.lstm.bias_ih_l0", "reference", "auxiliary_std"])
def test_a_tensor_that_is_missing_is_named(saved, name):
    _tamper(saved, lambda arrays: arrays.pop(name))
    with pytest.raises(AssetError, match=name.removeprefix("member0.").removeprefix("member1.")):
        load_ratio_head(saved)


@pytest.mark.parametrize("name", ["member0.dense.weight", "member1.norm.bias", "reference", "auxiliary_mean"])
def test_a_tensor_of_another_shape_is_refused(saved, name):
    _tamper(saved, lambda arrays: arrays.update({name: arrays[name][..., :1].copy()}))
    with pytest.raises(AssetError, match="is not a device-mapping head"):
        load_ratio_head(saved)


def test_numbers_that_are_not_finite_are_refused(saved):
    _tamper(saved, lambda arrays: arrays["reference"].__setitem__((0, 0), np.nan))
    with pytest.raises(AssetError, match="not finite"):
        load_ratio_head(saved)


@pytest.mark.parametrize("keep", [0, 9, -1])
def test_truncated_weights_are_refused(saved, keep):
    path = saved / "head.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(AssetError, match=r"head\.safetensors: is not a safetensors file"):
        load_ratio_head(saved)
