"""The classifier's files: read as they were written, and refused where their parts do not fit each other."""

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from ncc.errors import AssetError
from tests.rooms import (
    ClassifierHead,
    EncodedProgram,
    EncoderNetwork,
    NgramModel,
    ProgramNetwork,
    load_classifier,
    program_encoder,
    program_head,
    save_classifier,
)

WORDS, ROWS, DIM, NGRAM_BUCKETS = 60, 40, 10, 50
ROW = np.array([*range(ROWS), *range(WORDS - ROWS)], np.int32)
CLASSES = ("1", "A+B", "π ≤ 4", "10", "none")


def _head() -> ClassifierHead:
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(ROWS, DIM)).astype(np.float32)
    sizes = program_encoder(hidden=6, layers=2, buckets=30)
    model = EncoderNetwork(vectors, len(CLASSES), sizes, program_head(7))
    weights, bias = rng.normal(size=(len(CLASSES), NGRAM_BUCKETS)), rng.normal(size=len(CLASSES))
    idf = rng.uniform(0, 3, NGRAM_BUCKETS).astype(np.float32)
    return ClassifierHead(
        network=ProgramNetwork.from_arrays(model.to_arrays(), sizes, ROW, max_length=100),
        ngrams=NgramModel.rounded(weights, bias, idf),
        ngram_weight=4.5,
        classes=CLASSES,
        temperature=1.25,
        threshold=0.5,
        embedding_id="cafe",
        levels=("-O1", "-O3"),
        about={"seed": 204, "test_accuracy": {"-O1": 0.99}},
        titles={CLASSES[0]: "the shortest path, ü"},
    )


NETWORK = sorted(_head().network.tensors)
NGRAMS = [f"ngrams.{name}" for name in ("weights", "scale", "bias", "idf")]


def _program(length: int) -> EncodedProgram:
    rng = np.random.default_rng(length)
    start = np.concatenate([[0], rng.integers(0, 4, length).cumsum()]).astype(np.int32)
    literals = rng.integers(0, 2**32, start[-1], dtype=np.uint32)
    return EncodedProgram(rng.integers(0, WORDS, length).astype(np.int32), literals, start)


@pytest.fixture
def saved(tmp_path, forget_hash):
    save_classifier(_head(), tmp_path)
    forget_hash(tmp_path / "head.json")
    return tmp_path


def test_a_head_is_read_as_it_was_written(saved):
    head, again = _head(), load_classifier(saved)
    for name in ("ngram_weight", "classes", "temperature", "threshold", "embedding_id", "about", "levels", "titles"):
        assert getattr(again, name) == getattr(head, name)
    assert (again.network.config.layers, again.network.max_length, again.network.config.buckets) == (2, 100, 30)
    assert np.array_equal(again.network.row, ROW)
    assert set(again.network.tensors) == set(NETWORK)
    for name, tensor in again.network.tensors.items():
        assert tensor.dtype == np.float32
        assert np.array_equal(tensor, head.network.tensors[name].astype(np.float16))
    for name in ("weights", "scale", "bias", "idf"):
        one, other = getattr(again.ngrams, name), getattr(head.ngrams, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    for program in (_program(3), _program(150)):
        assert np.array_equal(again.ngrams.scores(program), head.ngrams.scores(program))
        assert again.scores(program) == pytest.approx(head.scores(program), abs=0.02)


def test_how_arrays_lie_in_memory_is_no_matter(saved, tmp_path):
    head = _head()
    for name, tensor in head.network.tensors.items():
        head.network.tensors[name] = np.asfortranarray(tensor)
    weights = np.asfortranarray(head.ngrams.weights)
    ngrams = NgramModel(weights, head.ngrams.scale, head.ngrams.bias, np.repeat(head.ngrams.idf, 2)[::2])
    changed = ClassifierHead(**(vars(head) | {"ngrams": ngrams}))
    save_classifier(changed, tmp_path / "again")
    assert (tmp_path / "again" / "head.safetensors").read_bytes() == (saved / "head.safetensors").read_bytes()


def test_a_weight_too_large_for_its_file_is_the_largest_there(tmp_path):
    head = _head()
    head.network.tensors["dense.bias"][:2] = 1e6, -1e6
    save_classifier(head, tmp_path)
    assert load_classifier(tmp_path).network.tensors["dense.bias"][:2].tolist() == [65504, -65504]


def _refused(folder, message):
    with pytest.raises(AssetError, match=message) as refusal:
        load_classifier(folder)
    assert str(folder) in str(refusal.value)


HEAD = "network.network.head.tensors"
CONFIG = ("network", "network", "encoder", "config")
WRONG_VALUES: dict[tuple[str, ...], tuple[object, ...]] = {
    (*CONFIG, "layers"): (0, 3, 10**9, 1.0, np.inf),
    (*CONFIG, "buckets"): (0, 31),
    (*CONFIG, "hidden"): (0, 5, 2**70),
    ("network", "network", "head", "vector_size"): (0, 1, True),
    ("network", "max_length"): (0, 2**70, np.inf, True),
    ("ngram_weight",): (np.inf, np.nan, -0.1, 1e300),
    ("classes",): (CLASSES[1:], (*CLASSES, "one more"), "abc"),
    ("temperature",): (0.0, -1.0, 1e-300, np.inf, np.nan),
    ("threshold",): (-0.1, 1.1, np.nan),
    ("titles",): ({"none such": "a"}, {CLASSES[0]: 1}),
    ("levels",): ("-O1", [], ["-fplugin=x.so"], ["-O1 -fplugin=x.so"], [1]),
}


@pytest.mark.parametrize(("place", "value"), [(place, value) for place, all in WRONG_VALUES.items() for value in all])
def test_a_card_with_a_wrong_value_is_refused(saved, place, value):
    card = json.loads((saved / "head.json").read_bytes())
    part = card
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    (saved / "head.json").write_text(json.dumps(card))
    _refused(saved, "not a classifier .* damaged")


def _damage(folder, **changes):
    """Changes tensors of the file, and the shapes that the card says."""
    tensors = load_file(folder / "head.safetensors")
    for name, change in changes.items():
        assert name in tensors
        tensors[name] = change(tensors.get(name))
    kept = {name: np.array(tensor, order="C") for name, tensor in tensors.items()}
    save_file(kept, folder / "head.safetensors")
    card = json.loads((folder / "head.json").read_bytes())
    card["shapes"] = {name: list(tensor.shape) for name, tensor in kept.items()}
    (folder / "head.json").write_text(json.dumps(card))


@pytest.mark.parametrize("part", ["ngrams", "output"])
def test_parts_that_know_different_classes_are_refused(saved, part):
    fewer = {
        "ngrams": {
            "ngrams.weights": lambda t: t[:, 1:],
            "ngrams.scale": lambda t: t[1:],
            "ngrams.bias": lambda t: t[1:],
        },
        "output": {f"{HEAD}.output.weight": lambda t: t[1:], f"{HEAD}.output.bias": lambda t: t[1:]},
    }
    _damage(saved, **fewer[part])
    _refused(saved, "are of .* classes.* damaged")


@pytest.mark.parametrize("name", NGRAMS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16, np.float64, np.bool_])
def test_n_grams_of_another_type_are_refused(saved, name, dtype):
    _damage(saved, **{name: lambda tensor: tensor.astype(dtype)})
    _refused(saved, "not a classifier .* damaged")


@pytest.mark.parametrize("row", [ROW.astype(np.int64), ROW.astype(np.float32), ROW[None], ROW + 1, ROW - 1])
def test_rows_that_are_none_of_the_vectors_are_refused(saved, row):
    _damage(saved, **{"network.row": lambda _: row})
    _refused(saved, "not a classifier .* damaged")
