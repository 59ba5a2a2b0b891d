"""Tables of vectors: every format is written, and read back by a reader of it that is not ours."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import InputError, OutputError
from tests.rooms import EmbeddedModule, save_vectors
from tests.support.refuses import refuses

IR = Path(__file__).parent / "data" / "ir"


@pytest.fixture(scope="module")
def two() -> list[EmbeddedModule]:
    return [ncc.embed(IR / "tree.clang22.ll"), ncc.embed(IR / "legacy.ll")]


def _read(path: Path):
    """Inputs, labels and vectors of a table, by a reader of its format that is not ours."""
    if path.suffix == ".npz":
        with np.load(path) as table:
            return list(table["input"]), list(table["label"]), table["vectors"]
    if path.suffix == ".json":
        rows = json.loads(path.read_text())
        return [row["input"] for row in rows], [row["label"] for row in rows], np.array([row["vector"] for row in rows])
    if path.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path).to_pydict()
        return table["input"], table["label"], np.array(table["vector"])
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    first = head.index("v0")
    assert head[:2] == ["input", "label"]
    assert head[2:first] in (["pooling"], ["function", "index", "line"])
    assert head[first:] == [f"v{i}" for i in range(len(head) - first)]
    return [row[0] for row in rows], [row[1] for row in rows], np.array([row[first:] for row in rows], float)


def test_tables_say_how_vectors_were_pooled(two, tmp_path):
    import pyarrow.parquet

    levels: tuple[tuple[ncc.Level, str | None], ...] = (("function", "encoder"), ("statement", None))
    for level, pooling in levels:
        for extension in (".npz", ".json", ".parquet"):
            save_vectors(two, level, tmp_path / f"vectors{extension}")
        with np.load(tmp_path / "vectors.npz") as table:
            assert table["pooling"].item() == pooling if pooling else "pooling" not in table
        assert json.loads((tmp_path / "vectors.json").read_text())[0].get("pooling") == pooling
        metadata = pyarrow.parquet.read_schema(tmp_path / "vectors.parquet").metadata or {}
        assert metadata.get(b"pooling", b"").decode() == (pooling or "")


@pytest.mark.parametrize("level", ["module", "function", "statement"])
@pytest.mark.parametrize("extension", [".npz", ".json", ".csv", ".parquet"])
def test_tables_are_read_back(two, tmp_path, level, extension):
    path = tmp_path / f"vectors{extension}"
    save_vectors(two, level, path)
    inputs, labels, vectors = _read(path)
    assert list(labels) == [label for one in two for label in one.labels(level)]
    assert list(inputs) == [one.module.name for one in two for _ in one.labels(level)]
    assert vectors == pytest.approx(np.concatenate([one.at(level) for one in two]), abs=1e-7)


@pytest.mark.parametrize("extension", [".npz", ".json", ".csv", ".parquet"])
def test_names_that_are_no_utf_8_can_be_written(two, tmp_path, extension):
    odd = replace(two[0], module=replace(two[0].module, name='caf\udce9,\n"é".ll'))
    save_vectors([odd], "module", tmp_path / f"vectors{extension}")
    inputs, _, _ = _read(tmp_path / f"vectors{extension}")
    assert inputs == ['caf\\udce9,\n"é".ll']


def test_tables_that_can_not_be_written_say_why(two, tmp_path):
    with refuses(InputError, "vectors.txt", "'.txt'", ".npz", ".json", ".csv", ".parquet"):
        save_vectors(two, "module", tmp_path / "vectors.txt")
    (tmp_path / "folder.npz").mkdir()
    with refuses(OutputError, "folder.npz", "can't be written"):
        save_vectors(two, "module", tmp_path / "folder.npz")
