"""Values inside models that the fuzzer broke something with, or could have, and that the contract does not make."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import ncc
from fuzz import samples
from ncc.errors import AssetError
from tests.rooms import load_counts, save_counts, sum_counts
from tests.support.refuses import refuses

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
