"""Every public verb of ncc, and the types of what they take and give: with the names and defaults of the commands.

A verb is here where it takes several rooms, or is its room's own; each is loaded when it is first used, so that
``import ncc`` costs next to nothing and an answer needs neither torch nor what measures.
"""

import importlib
from typing import Any

_HOMES = {
    "ncc.api.classifier": ("train_classifier",),
    "ncc.api.evaluation": (
        "evaluate_classification",
        "evaluate_classifier",
        "evaluate_coarsening",
        "evaluate_devmap",
        "write_report",
    ),
    "ncc.api.heads": (
        "load_classifier",
        "load_coarsening_head",
        "load_device_head",
        "save_classifier",
        "save_coarsening_head",
        "save_device_head",
    ),
    "ncc.api.intrinsic": ("draw_embedding", "evaluate_coverage", "evaluate_embedding"),
    "ncc.api.scaling": ("bench_scaling",),
    "ncc.api.training": (
        "build_corpus",
        "train_coarsening",
        "train_devmap",
        "train_embedding",
    ),
    "ncc.api.vectors": ("EmbeddedModule", "Level", "build_graph", "embed", "save_vectors"),
    "ncc.classification": ("ProgramClasses", "classify"),
    "ncc.coarsening": ("CoarseningAdvice", "predict_coarsening"),
    "ncc.devices": (
        "DeviceCurve",
        "DevicePrediction",
        "Explanation",
        "explain_device",
        "predict_device",
        "predict_device_curve",
    ),
    "ncc.embedding": ("Embedding", "load_embedding", "save_embedding"),
    "ncc.errors": (
        "AssetError",
        "CompileError",
        "DataError",
        "IRError",
        "InputError",
        "NccError",
        "OutputError",
    ),
    "ncc.frontend": ("CompileOptions",),
    "ncc.graph": ("XFG", "build_xfg", "count_contexts"),
    "ncc.inputs": ("load_module",),
    "ncc.ir": ("Module", "read_module"),
    "ncc.runtime.confinement": ("require_confinement",),
}
"""Where a public name is defined, or re-exported."""

__all__ = sorted(name for names in _HOMES.values() for name in names)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return __all__
