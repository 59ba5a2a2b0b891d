"""The classifier in NumPy and its files: torch's numbers, calibrated answers, and refusal of what was damaged."""

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from ncc.errors import AssetError, OutputError
from ncc.heads import ClassifierHead, load_classifier_head, save_classifier_head
from ncc.heads.program_lstm import ProgramLSTM, ProgramLSTMConfig
from ncc.tasks.classification.networks import LONGEST, EncodedPrograms

WORDS, ROWS, DIM, BUCKETS = 60, 40, 10, 30
ROW = np.array([*range(ROWS), *range(7, 7 + WORDS - ROWS)], np.int32)[::-1].copy()
CLASSES = ("1", "A+B", "π ≤ 4", "10", "none")


def _network(seed: int = 0, **sizes: int) -> ProgramLSTM:
    """In evaluation mode, with random weights everywhere."""
    torch.manual_seed(seed)
    vectors = np.random.default_rng(seed).normal(size=(ROWS, DIM)).astype(np.float32)
    sizes = {"layers": 2, "hidden": 6, "dense": 7, "buckets": BUCKETS} | sizes
    model = ProgramLSTM(vectors, ProgramLSTMConfig(num_classes=len(CLASSES), **sizes))
    with torch.no_grad():
        model.norm.weight.uniform_(0.5, 2)
        model.norm.bias.normal_()
        model.output.weight.normal_()
    return model.eval()


def _head(model: ProgramLSTM | None = None, **changes: object) -> ClassifierHead:
    model = model or _network()
    values = {
        "tensors": {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()},
        "row": ROW,
        "layers": model.config.layers,
        "classes": CLASSES,
        "temperature": 1.25,
        "threshold": 0.5,
        "longest": LONGEST,
        "embedding_id": "cafe",
        "about": {"seed": 204, "test_accuracy": {"-O1": 0.99}},
    }
    return ClassifierHead(**(values | changes))


def _programs(*lengths, seed=3):
    """Of each program: words of an embedding, hashes of literals, and their offsets; some statements have none."""
    rng = np.random.default_rng(seed)
    programs = []
    for length in lengths:
        start = np.concatenate([[0], rng.integers(0, 4, length).cumsum()]).astype(np.int32)
        literals = rng.integers(0, 2**32, start[-1], dtype=np.uint64).astype(np.uint32)
        programs.append((rng.integers(0, WORDS, length).astype(np.int32), literals, start))
    return programs


def _in_torch(model: ProgramLSTM, programs) -> np.ndarray:
    """Scores of all programs from one padded batch."""
    buckets = model.config.buckets
    counts = np.concatenate([np.diff(start) for _, _, start in programs]) * bool(buckets)
    literals = np.concatenate([literals for _, literals, _ in programs]).astype(np.int64)
    encoded = EncodedPrograms(
        np.cumsum([0, *(len(words) for words, _, _ in programs)]),
        ROW[np.concatenate([words for words, _, _ in programs])],
        np.cumsum([0, *counts]),
        literals % buckets if buckets else literals[:0],
    )
    with torch.inference_mode():
        return model(*encoded.batch(np.arange(len(programs)))).numpy()


@pytest.mark.parametrize(
    "sizes", [{"layers": 1}, {"layers": 2}, {"layers": 3}, {"hidden": 1, "dense": 1}, {"hidden": 9, "dense": 20}]
)
@pytest.mark.parametrize("buckets", [0, 1, BUCKETS])
def test_numpy_gives_what_torch_gives(sizes, buckets):
    model, programs = _network(buckets=buckets, **sizes), _programs(1, 2, 7, 30, LONGEST, LONGEST + 40)
    programs[2] = (programs[2][0], np.zeros(0, np.uint32), np.zeros(8, np.int32))
    expected = _in_torch(model, programs)
    head = _head(model)
    assert head.buckets == buckets
    assert np.ptp(expected, axis=0).max() > 0.1  # programs differ
    for program, scores in zip(programs, expected, strict=True):
        found = head.scores(*program)
        assert (found.shape, found.dtype) == ((len(CLASSES),), np.float32)
        assert np.abs(found - scores).max() < 1e-4


def test_a_program_alone_and_beside_longer_ones():
    model, programs = _network(), _programs(1, 2, 30, LONGEST + 1)
    together = _in_torch(model, programs[::-1])[::-1]
    alone = np.concatenate([_in_torch(model, [program]) for program in programs])
    assert np.abs(together - alone).max() < 1e-4


@pytest.mark.parametrize(("buckets", "same"), [(BUCKETS, False), (0, True)])
def test_literals_matter_only_where_they_are_read(buckets, same):
    ((words, literals, start),) = _programs(30)
    head = _head(_network(layers=1, buckets=buckets))
    other = head.scores(words, literals + np.uint32(1), start)
    assert np.array_equal(head.scores(words, literals, start), other) == same


def test_what_lies_behind_the_longest_is_not_read():
    ((words, literals, start),) = _programs(30)
    cut = _head().scores(words[:12], literals[: start[12]], start[:13])
    assert np.array_equal(_head(longest=12).scores(words, literals, start), cut)
    whole = _head().scores(words, literals, start)
    assert not np.array_equal(whole, cut)
    assert np.array_equal(_head(longest=30).scores(words, literals, start), whole)


def test_words_of_one_row_are_one_to_the_network():
    ((words, literals, start),) = _programs(30)
    twins = np.array([np.flatnonzero(row == ROW)[-1] for row in ROW[words]], np.int32)
    assert not np.array_equal(twins, words)
    assert np.array_equal(_head().scores(twins, literals, start), _head().scores(words, literals, start))


def test_a_head_and_its_inputs_are_left_as_they_are():
    head, (program,) = _head(), _programs(20)
    arrays = [*head.tensors.values(), head.row, *program]
    before = [array.copy() for array in arrays]
    head.scores(*program)
    assert all(np.array_equal(one, other) for one, other in zip(before, arrays, strict=True))


@pytest.mark.parametrize("temperature", [1.0, 2.5, 0.001])
def test_probabilities(temperature):
    head = _head(temperature=temperature)
    for program in _programs(1, 5, 60):
        found = head.predict(*program).probability
        assert (found.shape, found.dtype) == ((len(CLASSES),), np.float64)
        assert found.sum() == pytest.approx(1, abs=1e-12)
        scores = torch.from_numpy(head.scores(*program)).double() / temperature
        assert found == pytest.approx(scores.softmax(dim=0).numpy(), abs=1e-9)


def test_a_low_temperature_sharpens():
    (program,) = _programs(20)
    found = [_head(temperature=value).predict(*program).probability for value in (0.2, 0.5, 1.0, 3.0, 1e6)]
    assert all(one.max() > other.max() for one, other in pairwise(found))
    assert len({int(probability.argmax()) for probability in found}) == 1
    assert found[-1] == pytest.approx(1 / len(CLASSES), abs=1e-4)


def test_the_threshold_decides_what_fits():
    (program,) = _programs(20)
    best = float(_head().predict(*program).probability.max())
    assert 1 / len(CLASSES) < best < 1
    fits = [_head(threshold=value).predict(*program).fits for value in (0, best - 1e-9, best, best + 1e-9, 1)]
    assert fits == [True, True, True, False, False]


OUT_OF_RANGE = {
    "layers": (0, 1, 3),
    "longest": (0,),
    "temperature": (0.0, -1.0, np.nan),
    "threshold": (-0.1, 1.1, np.nan),
    "classes": (CLASSES[1:], (*CLASSES, "one more")),
}
BAD_VALUES = [{name: value} for name, values in OUT_OF_RANGE.items() for value in values]


@pytest.mark.parametrize("change", [*BAD_VALUES, {"row": ROW + 1}, {"row": ROW - 1}, {"row": ROW[None]}])
def test_a_head_that_does_not_fit_together_is_refused(change):
    with pytest.raises(ValueError, match=r"must be 1 or more|missing, wrong or superfluous"):
        _head(**change)


@pytest.fixture
def saved(tmp_path):
    save_classifier_head(_head(), tmp_path)
    return tmp_path


def test_a_head_is_read_as_it_was_written(saved):
    head, again = _head(), load_classifier_head(saved)
    for name in ("layers", "classes", "temperature", "threshold", "longest", "embedding_id", "about"):
        assert getattr(again, name) == getattr(head, name)
    assert np.array_equal(again.row, head.row)
    assert set(again.tensors) == set(head.tensors)
    for name, tensor in again.tensors.items():
        assert tensor.dtype == np.float32
        assert np.array_equal(tensor, head.tensors[name].astype(np.float16))
    for program in _programs(3, 50):
        assert again.scores(*program) == pytest.approx(head.scores(*program), abs=0.02)


def test_a_second_round_trip_changes_no_bit(saved, tmp_path):
    save_classifier_head(load_classifier_head(saved), tmp_path / "again")
    for name in ("head.json", "head.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()


def test_a_folder_that_can_not_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/head\.safetensors: can't be written"):
        save_classifier_head(_head(), tmp_path / "file")


def _refused(folder, message):
    with pytest.raises(AssetError, match=message) as refusal:
        load_classifier_head(folder)
    assert str(folder) in str(refusal.value)


@pytest.mark.parametrize("name", ["head.json", "head.safetensors"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    _refused(saved, rf"{name}: can't be read")


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_format_version_is_refused(saved, version):
    card = json.loads((saved / "head.json").read_bytes()) | {"format_version": version}
    (saved / "head.json").write_text(json.dumps(card))
    _refused(saved, rf"head\.json: format version {version!r}; this ncc reads version 1")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"1", b'{"format_version": "\xff"}'])
def test_a_card_that_is_no_object_is_refused(saved, data):
    (saved / "head.json").write_bytes(data)
    _refused(saved, r"head\.json: (is not JSON|format version None)")


FIELDS = ["layers", "classes", "temperature", "threshold", "longest", "embedding_id", "about"]
ODD_VALUES = [*({name: None} for name in ("layers", "classes", "longest", "about")), {"temperature": "warm"}]


@pytest.mark.parametrize("change", [*({name: ...} for name in FIELDS), *BAD_VALUES, *ODD_VALUES])
def test_a_card_with_a_wrong_value_or_none_is_refused(saved, change):
    card = json.loads((saved / "head.json").read_bytes()) | change
    card = {name: value for name, value in card.items() if value is not ...}
    (saved / "head.json").write_text(json.dumps(card))
    _refused(saved, "is not a classifier .* damaged")


def _damage(folder, name, change):
    """Changes a tensor of the file; one that becomes None is left out."""
    tensors = load_file(folder / "head.safetensors")
    tensors[name] = change(tensors.get(name))
    kept = {name: np.array(tensor, order="C") for name, tensor in tensors.items() if tensor is not None}
    save_file(kept, folder / "head.safetensors")


TENSORS = sorted(_network().state_dict())


# a network may have no table of literals
@pytest.mark.parametrize("name", ["row", *(name for name in TENSORS if name != "literals.weight")])
def test_a_tensor_that_is_missing_is_refused(saved, name):
    _damage(saved, name, lambda _: None)
    _refused(saved, rf"{name}.*damaged")


# and a table of any length
SHAPES = {
    "without the first": (lambda tensor: tensor[1:], [name for name in TENSORS if name != "literals.weight"]),
    "with one more": (lambda tensor: np.append(tensor, tensor[..., :1], axis=-1), TENSORS),
    "in a box": (lambda tensor: tensor[None], TENSORS),
    "one number": (lambda tensor: tensor.ravel()[0], TENSORS),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, (_, names) in SHAPES.items() for name in names])
def test_a_tensor_of_another_shape_is_refused(saved, kind, name):
    _damage(saved, name, SHAPES[kind][0])
    _refused(saved, "is not a classifier .* damaged")


@pytest.mark.parametrize("row", [ROW.astype(np.int64), ROW.astype(np.float32), ROW[None], ROW + 1, ROW - 1])
def test_rows_that_are_none_of_the_vectors_are_refused(saved, row):
    _damage(saved, "row", lambda _: row)
    _refused(saved, "is not a classifier .* damaged")


@pytest.mark.parametrize("name", ["norm.running_mean", "ahead.2.bias_ih_l0", "dense", ""])
def test_a_tensor_too_many_is_refused(saved, name):
    _damage(saved, name, lambda _: np.ones(3, np.float16))
    _refused(saved, rf"superfluous \['{name}'\]")


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_numbers_that_are_not_finite_are_refused(saved, name, value):
    _damage(saved, name, lambda tensor: np.where(np.arange(tensor.size).reshape(tensor.shape), tensor, value))
    _refused(saved, "not a finite number")


@pytest.mark.parametrize("keep", [0, 7, 9, 200, -1])
def test_truncated_tensors_are_refused(saved, keep):
    path = saved / "head.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    _refused(saved, r"head\.safetensors: is not a safetensors file")


def test_a_type_that_numpy_does_not_have(tmp_path):
    import torch
    from safetensors.torch import save_file

    from ncc.storage import read_tensors

    save_file({"a": torch.ones(2, dtype=torch.bfloat16)}, tmp_path / "a.safetensors")
    with pytest.raises(AssetError):
        read_tensors(tmp_path / "a.safetensors", ["a"])
