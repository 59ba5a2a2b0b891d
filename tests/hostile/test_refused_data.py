"""Archives, tables, recipes, checkpoints and values inside models that lie, lead outside, or broke something once."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

import ncc
from fuzz import samples
from fuzz.targets import tables
from fuzz.targets.checkpoints import _checkpoints
from ncc.errors import AssetError, DataError, InputError
from tests.rooms import (
    Budget,
    Precision,
    TrainProgress,
    iter_members,
    load_counts,
    load_recipe,
    read_compressed,
    read_runtimes,
    read_table,
    save_counts,
    sum_counts,
)
from tests.support.refuses import refuses


def tar(members: dict[str, int], **header: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, size in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.pax_headers = size, header
            archive.addfile(member, io.BytesIO(bytes(size)))
    return out.getvalue()


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_archives_are_read_within_their_limits_and_refused_above(tmp_path, compress):
    path, whole = tmp_path / "a.tar", {"a": 10_000, "b/c": 10_240, "d": 0}
    budget = Budget(member_bytes=10_240, total_bytes=60_000, members=8)  # a member may be as much as a record
    path.write_bytes(compress(tar(whole)))
    assert {name: len(content) for name, content in iter_members(path, budget=budget)} == whole
    above: list[tuple[dict[str, int], str]] = [
        ({"a": 20_000}, "10,240"),
        ({str(number): 10_000 for number in range(7)}, "60,000"),
        ({str(number): 0 for number in range(9)}, "8 members"),
    ]
    for members, limit in above:
        path.write_bytes(compress(tar(members)))
        with refuses(DataError, path, limit):
            list(iter_members(path, budget=budget))


def lie(at: int, value: bytes, data: bytes | None = None) -> bytes:
    """A member's header with another field, and the checksum made right."""
    data = data or tar({"a": 5})
    header = bytearray(data[:512])
    header[at : at + len(value)] = value
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data[512:]


@pytest.mark.parametrize(
    ("data", "nouns"),
    {
        "sparse": (lie(156, b"S"), []),
        "octal": (lie(124, b"77777777777\0"), ["'a'", "8,589,934,591"]),
        "binary": (lie(124, b"\x80\0\0\0\x7f" + b"\xff" * 7), []),
        "negative": (lie(124, b"\xff" * 12), []),
        "no name": (lie(0, b"\0" * 100), ["name"]),
        "NUL": (tar({"a": 0}, path="b\0c"), ["'b\\x00c'", "member"]),
        "comment": (lie(124, b"77777777777\0", lie(156, b"x")), ["extended header", "8,589,934,591"]),
        "names of names": (b"".join(lie(156, b"L", tar({"x": 1})[:1024]) for _ in range(5_000)), ["damaged"]),
    }.values(),
)
def test_headers_that_lie_are_refused(tmp_path, data, nouns):
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    with refuses(DataError, path, *nouns):
        list(iter_members(path))


def test_what_was_compressed_is_read_up_to_a_limit(tmp_path):
    path = tmp_path / "kept.gz"
    path.write_bytes(gzip.compress(bytes(1_000_000)))
    assert path.stat().st_size < 10_000
    assert read_compressed(path, 1_000_000) == read_compressed(path) == bytes(1_000_000)
    assert read_compressed(path, 999_999) is None
    path.write_bytes(gzip.compress(b""))
    assert read_compressed(path) is None
    path.write_bytes(gzip.compress(b"x" * 1000)[:-9])
    assert read_compressed(path) is read_compressed(tmp_path / "none") is None


def read_devices(path: Path) -> object:
    return read_table(path, "amd")


@pytest.mark.parametrize(
    ("read", "old", "new", "nouns"),
    [
        (read_devices, "add,A", "add" * 100 + ",A", ["column benchmark", "200"]),
        (read_devices, "add,A", "add," + "A" * 100_000, ["column dataset", "200"]),
        (read_devices, ",CPU,", "," + "C" * 100_000 + ",", ["column oracle", "200"]),
        (read_devices, "0.81,1.92", "5e-324,1e17", ["measure"]),
        (read_devices, "0.81,1.92", "0.81,inf", ["runtime_gpu", "inf"]),
        (read_devices, "A,12,3", "A,12,\0", ["rational is"]),
        (read_runtimes, "spmv", "s" * 100_000, ["kernel", "200 letters"]),
        (read_runtimes, "mm,1,1.000", "mm,1,inf", ["mm", "finite"]),
    ],
)
def test_tables_with_values_beyond_all_measure_are_refused(tmp_path, read, old, new, nouns):
    path = tmp_path / "table.csv"
    text = tables._DEVICE_MAPPING if read is read_devices else tables._coarsening_table()
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    with refuses(DataError, path, *nouns):
        read(path)


SOURCE = '[[source]]\nname = "a"\nfolder = "."\n'


@pytest.mark.parametrize(
    ("text", "nouns"),
    {
        "depth": ("a = " + "[" * 50_000, ["TOML"]),
        "digits": ("max_degree = " + "9" * 5_000 + "\n" + SOURCE, ["TOML"]),
        "degree": ("max_degree = " + "9" * 50 + "\n" + SOURCE, ["max_degree is 9"]),
        "share": (SOURCE + "share = 99999999999999", ["share is 9"]),
        "NUL": ('include = ["a\\u0000b"]\n' + SOURCE, ["null"]),
        "long name": ('include = ["' + "x" * 5_000 + '"]\n' + SOURCE, ["too long"]),
        "long header": (SOURCE + 'attempts = [{ header = "' + "x" * 5_000 + '" }]', ["no such header"]),
        "fields": ("abstraction = { max_struct_fields = 99999999999 }\n" + SOURCE, ["max_struct_fields"]),
    }.values(),
)
def test_recipes_with_values_beyond_all_measure_are_refused(tmp_path, text, nouns):
    (tmp_path / "recipe.toml").write_text(text)
    with refuses(InputError, *nouns):
        load_recipe(tmp_path / "recipe.toml")


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
def test_checkpoints_with_other_values_are_refused(tmp_path, change):
    path = tmp_path / "checkpoint.pt"
    checkpoints, draws = _checkpoints(path)
    checkpoints.save(TrainProgress(precision=Precision.FLOAT32, losses=[0.7], step=2, loss_sum=3.5), draws)
    torch.save(torch.load(path, weights_only=True) | change, path)
    with refuses(AssetError, "checkpoint.pt", "model", "remove it to start over"):
        checkpoints.load(tuple(Precision))


MODELS: dict[str, tuple[Callable[[], Any], Callable[[Path], Any], str]] = {
    "embedding": (samples.small_embedding, ncc.load_embedding, "embedding"),
    "times": (samples.times_head, ncc.load_device_head, "head"),
    "coarsening": (samples.coarsening_head, ncc.load_coarsening_head, "head"),
    "classifier": (samples.classifier_head, ncc.load_classifier, "head"),
    "counts": (lambda: samples.corpus_counts("legacy.ll"), load_counts, "counts"),
    "sums": (lambda: samples.corpus_counts("legacy.ll"), lambda path: sum_counts([path]), "counts"),
}
Changes = dict[str, Callable[[Any], Any]]


def make(model: str, folder: Path, tensors: Changes | None = None, card: Changes | None = None) -> Callable[[], Any]:
    """Save a model with other tensors and another card, and without their hash; return what loads it."""
    thing, load, stem = MODELS[model]
    made = thing()
    save_counts(made, folder) if stem == "counts" else made.save(folder)
    kept, path = load_file(folder / f"{stem}.safetensors"), folder / f"{stem}.json"
    fields = json.loads(path.read_bytes())
    fields.pop("tensors_sha256", None)
    for values, changes in ((kept, tensors or {}), (fields, card or {})):
        values |= {name: change(values[name]) for name, change in changes.items()}
    save_file({name: np.ascontiguousarray(array) for name, array in kept.items()}, folder / f"{stem}.safetensors")
    path.write_text(json.dumps(fields))
    return lambda: load(folder)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_without_damage_is_read(model: str, tmp_path: Path) -> None:
    make(model, tmp_path)()


def column(array: Any) -> Any:
    return array[:, None]


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        ("embedding", {"vectors": lambda a: a[:, :0]}),
        ("embedding", {"vectors": lambda a: a.astype(np.float32) * np.float32(1e30)}),
        ("embedding", {"vectors": lambda a: a.astype(np.float64) * 1e300}),
        ("embedding", {"counts": lambda a: a.astype(np.float64)}),
        ("embedding", {"counts": lambda a: -a - 1}),
        ("times", {"machine.constants": lambda a: a * 1e4}),
        ("times", {"machine_model_errors.ratio": lambda a: a[::-1]}),
        ("times", {"experts.0.model.weights": lambda a: a * np.float32(np.inf)}),
        ("times", {"experts.0.model.scale": lambda a: -a}),
        ("times", {"experts.0.low": lambda a: a + 1e3}),
        ("times", {"experts.1.model.right": lambda a: a * 0}),
        ("times", {"experts.1.model.column": lambda a: a + 1000}),
        ("times", {"experts.1.model.target": lambda a: a + 5}),
        ("times", {"experts.1.errors_in_domain.times": lambda a: -a}),
        ("classifier", {"network.network.head.tensors.output.bias": lambda a: a.astype(np.float64) + 1e300}),
        ("classifier", {"network.vectors": lambda a: a[:, :0]}),
        ("classifier", {"ngrams.scale": lambda a: a * np.float32(1e36)}),
        ("classifier", {"network.row": lambda a: a + np.int32(10**6)}),
        ("counts", {"center": lambda a: a.astype(np.float32)}),
        ("counts", {"center": lambda a: a + np.int32(2**31 - 200)}),
        ("counts", {"context": lambda a: a - np.int32(1000)}),
        ("counts", {"center": lambda a: a[::-1]}),
        ("counts", {"context": lambda a: np.repeat(a[::2], 2)[: len(a)]}),
        ("counts", {"count": lambda a: -a}),
        ("counts", {"count": lambda a: np.full_like(a, 2**62)}),
        ("counts", {"statements": lambda a: -a}),
        ("counts", {"center": column, "context": column, "count": column}),
    ],
)
def test_tensors_with_other_values_are_refused(model: str, changes: Changes, tmp_path: Path) -> None:
    load = make(model, tmp_path, changes)
    with refuses(AssetError, tmp_path):
        load()


def expert(**fields: Any) -> Changes:
    """Other fields of a head's first expert."""
    return {"experts": lambda experts: [experts[0] | fields, *experts[1:]]}


@pytest.mark.parametrize(
    ("model", "changes", "nouns"),
    [
        ("embedding", {"words": lambda words: ["\ud800", *words[1:]]}, ["surrogates"]),
        ("embedding", {"abstraction": lambda _: {"max_struct_fields": 2**40}}, ["max_struct_fields", "1099511627776"]),
        ("embedding", {"abstraction": lambda _: {"color": 1}}, ["unknown"]),
        ("times", {"wgsize": lambda _: 0.0}, []),
        ("times", expert(blend_range=[0.5, 0.2]), []),
        ("times", expert(out_of_domain_radius=0.1), []),
        ("times", expert(model={"kind": "LSTMTimes"}), []),
        ("times", expert(errors_in_domain={"ratio_shrinkage": 2.0, "inverse_temperature": 1.0, "is_prior": False}), []),
        ("times", {"machine_model_errors": lambda _: {"ratio_shrinkage": 1.0, "inverse_temperature": 0.5}}, []),
        ("times", {"machine": lambda _: {"ratio_shrinkage": 2.0}}, []),
        ("coarsening", {"factors": lambda _: [1, 2.0, 4, 8]}, []),
        ("coarsening", {"factors": lambda _: [1, 4, 2, 8]}, []),
        ("counts", {"texts": lambda texts: texts[::-1]}, ["counts.json", "order"]),
        ("sums", {"texts": lambda texts: texts[::-1]}, ["counts.json", "order"]),
        ("sums", {"num_lines": lambda _: 2**63}, ["counts.json", "num_lines"]),
    ],
)
def test_cards_with_other_values_are_refused(model: str, changes: Changes, nouns: list[str], tmp_path: Path) -> None:
    load = make(model, tmp_path, card=changes)
    with refuses(AssetError, tmp_path, *nouns):
        load()


def test_times_beyond_all_measure_are_refused(tmp_path: Path) -> None:
    names = [f"experts.{number}.errors_in_domain.times" for number in (0, 1)]
    head = make("times", tmp_path, {name: lambda a: a + 200 for name in names})()
    with refuses(AssetError, "ms", "damaged"):
        head.predict(samples.kernel_inputs(), np.array([[1e5, 64.0, 1e4]]))


@pytest.mark.parametrize("offset", [21, 1e30, 1e308])
def test_speedups_beyond_all_numbers_are_refused(offset: float, tmp_path: Path) -> None:
    make("coarsening", tmp_path, {"offset": lambda a: np.full_like(a, offset)})
    with refuses(AssetError, "damaged"):
        ncc.predict_coarsening(b"define spir_kernel void @k() {\n ret void\n}\n", head=tmp_path)
