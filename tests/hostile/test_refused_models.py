"""Values inside models that the fuzzer broke something with, or could have, and that the contract does not make."""

from typing import Any

import numpy as np
import pytest

import ncc
from fuzz import samples
from ncc.errors import AssetError
from tests.rooms import CLASSIFIER_FILES as CLASSIFIERS
from tests.rooms import COARSENING_FILES as COARSENING_HEADS
from tests.rooms import DEVICE_FILES as DEVICE_HEADS
from tests.rooms import load_embedding, save_embedding

KINDS: dict[str, tuple[Any, Any, Any, str]] = {
    "embedding": (save_embedding, load_embedding, samples.small_embedding, "embedding"),
    "lstm": (DEVICE_HEADS.save, DEVICE_HEADS.load, samples.lstm_times_head, "head"),
    "times": (DEVICE_HEADS.save, DEVICE_HEADS.load, samples.times_head, "head"),
    "coarsening": (COARSENING_HEADS.save, COARSENING_HEADS.load, samples.coarsening_head, "head"),
    "classifier": (CLASSIFIERS.save, CLASSIFIERS.load, samples.classifier_head, "head"),
}


@pytest.fixture
def made(folder):
    """A folder with a model, and what loads it."""

    def make(kind):
        save, load, thing, stem = KINDS[kind]
        return folder(save, thing(), stem), load

    return make


def _refused(load, where, message):
    with pytest.raises(AssetError, match=message) as refusal:
        load(where.path)
    assert str(where.path) in str(refusal.value)
    assert len(str(refusal.value)) < 700


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": lambda words: [3, *words[1:]]}, "Expected `str`, got `int`"),
        ({"words": lambda words: ["\ud800", *words[1:]]}, "surrogates not allowed"),
        ({"words": lambda words: words[:-1]}, "one count for each"),
        ({"abstraction": {"max_struct_fields": "4"}}, r"got `str` - at `\$\.max_struct_fields`"),
        ({"abstraction": {"max_struct_fields": 2**40}}, "max_struct_fields is 1099511627776"),
        ({"abstraction": {"max_struct_fields": 1.5}}, r"got `float` - at `\$\.max_struct_fields`"),
        ({"abstraction": {"keep_callees": "yes"}}, r"Expected `bool`, got `str` - at `\$\.keep_callees`"),
        ({"abstraction": {"colour": 1}}, "colour"),
    ],
)
def test_cards_of_embeddings(made, changes, message):
    where, load = made("embedding")
    where.card(**changes)
    _refused(load, where, message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": lambda v: v.reshape(-1)}, "vectors are float16 of shape"),
        ({"vectors": lambda v: v[:, :0]}, "vectors are float16 of shape"),
        ({"vectors": lambda v: v.astype(np.int16)}, "vectors are int16"),
        ({"vectors": lambda v: v.astype(np.float32) * np.float32(1e30)}, "not all finite, with finite squares"),
        ({"vectors": lambda v: v.astype(np.float64) * 1e300}, "not all finite"),
        ({"counts": lambda c: c.astype(np.float64)}, "counts are not whole numbers"),
        ({"counts": lambda c: -c - 1}, "counts are not whole numbers, 0 or more"),
        ({"counts": lambda c: c[:, None]}, "counts are not whole numbers"),
    ],
)
def test_arrays_of_embeddings(made, changes, message):
    where, load = made("embedding")
    where.tensors(**changes)
    _refused(load, where, message)


@pytest.mark.parametrize(
    "changes",
    [
        {"machine__constants": lambda a: a * 1e4},
        {"machine__constants": lambda a: a[:, 1:]},
        {"machine_model_errors__ratio": lambda a: a[::-1]},
        {"experts__0__code": lambda a: a[:, :-1]},
        {"experts__0__model__weights": lambda a: a * np.float32(np.inf)},
        {"experts__0__model__scale": lambda a: -a},
        {"experts__0__low": lambda a: a + 1e3},
        {"experts__1__model__right": lambda a: a * 0},
        {"experts__1__model__column": lambda a: a + 1000},
        {"experts__1__model__target": lambda a: a + 5},
        {"experts__1__errors_in_domain__times": lambda a: -a},
    ],
)
def test_arrays_of_heads_of_times(made, changes):
    where, load = made("times")
    where.tensors(**changes)
    _refused(load, where, "not a device-mapping head .* damaged")


def _first(**changes):
    """Changes of the first expert's card."""
    return {"experts": lambda experts: [experts[0] | changes, *experts[1:]]}


@pytest.mark.parametrize(
    "changes",
    [
        {"devices": ["CPU"]},
        {"devices": ["CPU", "CPU"]},
        {"wgsize": 0.0},
        {"experts": []},
        _first(blend_range=[0.5, 0.2]),
        _first(out_of_domain_radius=0.1),
        _first(distance_decay=-1.0),
        _first(model={"kind": "LSTMTimes"}),
        _first(model={"kind": "GaussianProcess", "covariance": "none"}),
        _first(errors_in_domain={"ratio_shrinkage": 2.0, "inverse_temperature": 1.0, "is_prior": False}),
        {"machine_model_errors": {"ratio_shrinkage": 1.0, "inverse_temperature": 0.5}},
        {"machine": {"ratio_shrinkage": 2.0}},
    ],
)
def test_cards_of_heads_of_times(made, changes):
    where, load = made("times")
    where.card(**changes)
    _refused(load, where, "not a device-mapping head .* damaged")


def test_an_answer_beyond_all_measure_is_refused(made):
    where, load = made("times")
    where.tensors(**{f"experts__{number}__errors_in_domain__times": lambda a: a + 200 for number in (0, 1)})
    with pytest.raises(AssetError, match=r"says that a launch takes e\^\S+ ms; its file is damaged"):
        load(where.path).predict(samples.kernel_inputs(), np.array([[1e5, 64.0, 1e4]]))


@pytest.mark.parametrize(
    "changes",
    [
        {"factors": [1, 2.0, 4, 8]},
        {"factors": [1, 2, 2, 8]},
        {"factors": [1, 4, 2, 8]},
        {"factors": [True, 2, 4, 8]},
        {"devices": "ab"},
        {"devices": ["one", "one"]},
        {"devices": [1, 2]},
    ],
)
def test_cards_of_coarsening_heads(made, changes):
    where, load = made("coarsening")
    where.card(**changes)
    _refused(load, where, "not a thread-coarsening head .* damaged")


@pytest.mark.parametrize("offset", [21, 1e30, 1e308])
def test_speedups_beyond_all_numbers(made, offset):
    where, _ = made("coarsening")
    where.tensors(offset=lambda offsets: np.full_like(offsets, offset))
    with pytest.raises(AssetError, match=r"predicts \S+ times the speed at factor \d; its file is damaged"):
        ncc.predict_coarsening(b"define spir_kernel void @k() {\n ret void\n}\n", head=where.path)


@pytest.mark.parametrize(
    "changes",
    [
        {"network__network__head__tensors__dense__bias": lambda a: a + np.float16(np.inf)},
        {"network__network__head__tensors__output__bias": lambda a: a.astype(np.float64) + 1e300},
        {"network__vectors": lambda a: a.astype(np.int32)},
        {"network__vectors": lambda a: a[:, :0]},
        {"ngrams__scale": lambda a: a * np.float32(1e36)},
        {"network__row": lambda a: a + np.int32(10**6)},
        {"network__row": lambda a: a[:0]},
        {"network__network__encoder__tensors__ahead__0__bias_ih_l0": lambda a: a[:0]},
    ],
)
def test_arrays_of_classifiers(made, changes):
    where, load = made("classifier")
    where.tensors(**changes)
    _refused(load, where, "not a classifier .* damaged")
