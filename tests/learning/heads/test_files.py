"""A model declares its files, and nested parts come back as they were; tests/contract refuses damaged ones."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.rooms import Floats, Floats32, Ints, ModelFormat, Stored


@dataclass(frozen=True, eq=False)
class Line:
    slope: Annotated[Floats, Stored("f4", bound=100)]
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    tensors: dict[str, Floats32]
    rows: Annotated[Ints, Stored("i4")]


@dataclass(frozen=True, eq=False)
class Model:
    parts: tuple[Line | Table, ...]
    half: Annotated[Table, Stored("f2")]
    about: dict[str, Any]


FORMAT: ModelFormat[Model] = ModelFormat("thing", 2, Model, "make things", stem="thing")
HALVES = np.array([[0.1, 2]], np.float32)


def _model() -> Model:
    table = Table({"a.b": HALVES, "c": np.zeros(0, np.float32)}, np.array([1, 2]))
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
