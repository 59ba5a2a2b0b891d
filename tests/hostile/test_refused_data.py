"""Counts, tables, recipes, vocabularies and checkpoints that the fuzzer broke something with, or could have."""

from pathlib import Path

import numpy as np
import pytest
import torch

from fuzz import samples
from fuzz.kept import read_input
from fuzz.targets import tables
from fuzz.targets.checkpoints import _checkpoints
from ncc.errors import AssetError, DataError, InputError, IRError
from tests.rooms import (
    Precision,
    TrainProgress,
    load_counts,
    load_recipe,
    read_module,
    read_runtimes,
    read_table,
    save_counts,
)
from tests.support.refuses import refuses


@pytest.fixture
def counts(folder):
    return folder(save_counts, samples.corpus_counts("legacy.ll"), "counts")


COUNTS = [
    ({"center": lambda a: a.astype(np.float32)}, "type"),
    ({"center": lambda a: a + np.int32(2**31 - 200)}, "a pair names a statement that is not there"),
    ({"context": lambda a: a - np.int32(1000)}, "a pair names a statement that is not there"),
    ({"center": lambda a: a[::-1]}, "not in order, each once"),
    ({"context": lambda a: np.repeat(a[::2], 2)[: len(a)]}, "not in order, each once"),
    ({"count": lambda a: -a}, "a count is below 0"),
    ({"count": lambda a: np.full_like(a, 2**62)}, "out of range"),
    ({"statements": lambda a: -a}, "a count is below 0"),
    ({"statements": lambda a: a[:, None]}, "columns"),
    ({"statements": lambda a: a[1:]}, "differ in length"),
    ({name: lambda a: a[:, None] for name in ("center", "context", "count")}, "not columns"),
]


@pytest.mark.parametrize(("changes", "message"), COUNTS)
def test_arrays_of_counts(counts, changes, message):
    counts.tensors(**changes)
    with pytest.raises(AssetError, match=message) as refusal:
        load_counts(counts.path)
    assert str(counts.path) in str(refusal.value)


def _device_table(tmp_path, old, new):
    path = tmp_path / "table.csv"
    text = tables._DEVICE_MAPPING
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("npb-3.3-BT-add,A", "npb-3.3-BT-" + "add" * 100 + ",A", "column benchmark must not be longer than 200"),
        ("add,A", "add," + "A" * 100_000, "column dataset must not be longer than 200"),
        (",CPU,", "," + "C" * 100_000 + ",", "column oracle must not be longer than 200"),
        ("0.81,1.92", "1e-300,1e300", "must not differ beyond all measure"),
        ("0.81,1.92", "0.81,inf", "must be finite"),
        ("A,12,3", "A,12,\0", "column rational"),
    ],
)
def test_tables_of_device_mapping(tmp_path, old, new, message):
    with pytest.raises(DataError, match=rf"table\.csv: .*{message}"):
        read_table(_device_table(tmp_path, old, new), "amd")


@pytest.mark.parametrize(
    ("old", "new", "nouns"),
    [
        ("spmv", "s" * 100_000, ("kernel", "200 letters")),
        ("mm,1,1.000", "mm,1,inf", ("mm", "infinite")),
    ],
)
def test_tables_of_coarsening(tmp_path, old, new, nouns):
    path, text = tmp_path / "runtimes.csv", tables._coarsening_table()
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    with refuses(DataError, path, *nouns):
        read_runtimes(path)


SOURCE = '[[source]]\nname = "a"\nfolder = "."\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sources = [1]\n" + SOURCE, r"unknown keys \['sources'\]"),
        ("a = " + "[" * 50_000, "not a recipe in TOML"),
        ("max_degree = " + "9" * 5_000 + "\n" + SOURCE, "not a recipe in TOML"),
        ("max_degree = " + "9" * 50 + "\n" + SOURCE, "max_degree is 9"),
        (SOURCE + "share = 99999999999999", "share is 9"),
        ('include = ["a\\u0000b"]\n' + SOURCE, "can't be read: embedded null"),
        ('include = ["' + "x" * 5_000 + '"]\n' + SOURCE, "can't be read: File name too long"),
        (SOURCE + 'attempts = [{ header = "' + "x" * 5_000 + '" }]', "File name too long|no such header"),
        ("abstraction = { max_struct_fields = 99999999999 }\n" + SOURCE, "less than 2"),
    ],
    ids=["sources", "depth", "digits", "degree", "share", "NUL", "long name", "long header", "fields"],
)
def test_recipes(tmp_path, text, message):
    (tmp_path / "recipe.toml").write_text(text)
    with pytest.raises(InputError, match=message) as refusal:
        load_recipe(tmp_path / "recipe.toml")
    assert len(str(refusal.value)) < 900


@pytest.mark.parametrize(
    "change",
    [
        {"step": -1},
        {"step": "2"},
        {"step": True},
        {"losses": [0.5] * 4},
        {"losses": ["much"]},
        {"ranks": [{"rng": {"numpy": "[" * 100_000, "host": torch.zeros(3)}, "strategy": {}}]},
        {"ranks": [{"rng": {"numpy": "{}"}, "strategy": {}}]},
        {"model": 3},
        {"precision": "float8"},
        {"precision": ["float32"]},
    ],
)
def test_checkpoints_of_networks(tmp_path, change):
    path = tmp_path / "checkpoint.pt"
    checkpoints, draws = _checkpoints(path)
    checkpoints.save(TrainProgress(precision=Precision.FLOAT32, losses=[0.7], step=2, loss_sum=3.5), draws)
    state = torch.load(path, weights_only=True)
    torch.save(state | change, path)
    with refuses(AssetError, "checkpoint.pt", "model", "remove it to start over"):
        checkpoints.load(tuple(Precision))


def test_bitcode_that_llvm_prints_and_nobody_can_read():
    _, damaged = read_input(Path(__file__).parents[1] / "data" / "fuzz" / "bc-961fbdc8079e.json")
    with refuses(IRError, "<bytes> (as LLVM prints it)", "block", "terminator"):
        read_module(damaged)
