"""A model declares its files: nested parts come back as they were, and whatever is not declared is refused."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from msgspec import Meta
from safetensors.numpy import load_file, save_file

from ncc.errors import AssetError, InputError
from tests.rooms import Floats, Floats32, Ints, ModelFormat, Stored


@dataclass(frozen=True, eq=False)
class Line:
    slope: Annotated[Floats, Stored("f4", bound=100)]
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    tensors: dict[str, Floats32]
    rows: Annotated[Ints, Stored("i4")]
    size: Annotated[int, Meta(ge=1, le=9)]

    def __post_init__(self) -> None:
        if len(self.rows) != self.size:
            raise InputError(f"{len(self.rows)} rows of {self.size}")


@dataclass(frozen=True, eq=False)
class Model:
    parts: tuple[Line | Table, ...]
    half: Annotated[Table, Stored("f2")]
    about: dict[str, Any]


FORMAT: ModelFormat[Model] = ModelFormat("thing", 2, Model, "make things", stem="thing")


HALVES = np.array([[0.1, 2]], np.float32)


def _model() -> Model:
    table = Table({"a.b": HALVES, "c": np.zeros(0, np.float32)}, np.array([1, 2]), 2)
    return Model((Line(np.array([0.5]), "l"), table, Line(np.array([1.5, 2]))), table, {"x": [1]})


@pytest.fixture
def saved(tmp_path, forget_hash):
    FORMAT.save(_model(), tmp_path)
    forget_hash(tmp_path / "thing.json")
    return tmp_path


def test_parts_come_back_as_they_were(saved):
    parts: Any = FORMAT.load(saved).parts
    line, table, other = parts
    assert (line.name, line.slope.tolist(), line.slope.dtype) == ("l", [0.5], np.float64)
    assert (other.name, other.slope.tolist()) == (None, [1.5, 2])
    assert table.tensors["a.b"].tolist() == HALVES.tolist()
    assert (table.rows.tolist(), table.rows.dtype, table.tensors["c"].shape) == ([1, 2], np.int64, (0,))
    assert FORMAT.load(saved).about == {"x": [1]}


def test_types_in_the_file_are_the_declared_ones_and_a_field_says_them_for_its_parts(saved):
    types = {name: str(array.dtype) for name, array in load_file(saved / "thing.safetensors").items()}
    assert types == {
        "parts.0.slope": "float32",
        "parts.1.tensors.a.b": "float32",
        "parts.1.tensors.c": "float32",
        "parts.1.rows": "int32",
        "parts.2.slope": "float32",
        "half.tensors.a.b": "float16",
        "half.tensors.c": "float16",
        "half.rows": "int32",
    }


CARDS = {
    "a kind too many": lambda card: card["parts"][0].update(kind="Model"),
    "no kind": lambda card: card["parts"][0].pop("kind"),
    "a missing field": lambda card: card.pop("about"),
    "a missing part": lambda card: card["parts"].pop(),
    "a part too many": lambda card: card["parts"].append(card["parts"][0]),
    "a number out of range": lambda card: card["half"].update(size=2**70),
    "a truth for a number": lambda card: card["half"].update(size=True),
    "parts that do not fit": lambda card: card["half"].update(size=3),
    "no list": lambda card: card.update(parts="parts"),
    "no mapping": lambda card: card.update(half=[]),
}


@pytest.mark.parametrize("change", CARDS.values(), ids=CARDS)
def test_another_card_is_refused(saved, change):
    card = json.loads((saved / "thing.json").read_bytes())
    change(card)
    (saved / "thing.json").write_text(json.dumps(card))
    with pytest.raises(AssetError, match="not a thing"):
        FORMAT.load(saved)


ARRAYS = {
    "one too many": lambda arrays: arrays.update(extra=np.zeros(1, np.float32)),
    "one missing": lambda arrays: arrays.pop("half.rows"),
    "of another shape": lambda arrays: arrays.update({"parts.2.slope": np.zeros(3, np.float32)}),
    "of another type": lambda arrays: arrays.update({"half.rows": np.zeros(2, np.int64)}),
    "beyond the bound": lambda arrays: arrays.update({"parts.0.slope": np.array([101], np.float32)}),
    "not a number": lambda arrays: arrays.update({"half.tensors.a.b": np.array([np.nan], np.float16)}),
    "infinite": lambda arrays: arrays.update({"half.tensors.a.b": np.array([-np.inf], np.float16)}),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS)
def test_other_arrays_are_refused(saved, change):
    arrays = load_file(saved / "thing.safetensors")
    change(arrays)
    save_file(arrays, saved / "thing.safetensors")
    with pytest.raises(AssetError, match="not a thing"):
        FORMAT.load(saved)


def test_another_version_names_the_command_and_a_loaded_model_is_returned(saved):
    card = json.loads((saved / "thing.json").read_bytes()) | {"format_version": 1}
    (saved / "thing.json").write_text(json.dumps(card))
    with pytest.raises(AssetError, match="format version 1; this ncc reads version 2; `make things`"):
        FORMAT.load(saved)
    model = _model()
    assert FORMAT.load(model) is model
