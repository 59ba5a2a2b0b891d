"""All public functions of ncc and their argument and result types, with the names and defaults of the commands.

Functions that need several packages are defined here, the others in their own package. Each is loaded when it is first
used, so that ``import ncc`` takes almost no time and predictions load neither torch nor the code for evaluations.
"""

import importlib
from typing import Any

_HOMES = {
    "ncc.api.many": ("embed_many",),
    "ncc.learning.embedding.train": (
        "load_counts",
        "train_embedding",
    ),
    "ncc.api.vectorizer": ("CodeVectorizer",),
    "ncc.api.vectors": (
        "EmbeddedModule",
        "Level",
        "build_graph",
        "embed",
        "save_vectors",
        "similarity",
    ),
    "ncc.errors": (
        "AssetError",
        "CompileError",
        "DataError",
        "IRError",
        "InputError",
        "InputFileError",
        "NccError",
        "OutputError",
        "UnknownNameError",
    ),
    "ncc.ir.frontend.options": ("CompileOptions",),
    "ncc.ir.graph.contexts": ("count_contexts",),
    "ncc.ir.graph.xfg": (
        "XFG",
        "build_xfg",
    ),
    "ncc.ir.inputs": ("load_module",),
    "ncc.ir.reader.module": ("Module",),
    "ncc.ir.reader.reader": ("read_module",),
    "ncc.kernels.measure.opencl": (
        "Device",
        "list_devices",
    ),
    "ncc.kernels.measure.sweep": (
        "Measurements",
        "measure_kernels",
    ),
    "ncc.kernels.profile": (
        "LaunchProfile",
        "profile",
    ),
    "ncc.learning.corpus.build": ("build_corpus",),
    "ncc.learning.embedding.backoff": ("BackoffLevel",),
    "ncc.learning.embedding.embedding": (
        "Embedding",
        "load_embedding",
        "save_embedding",
    ),
    "ncc.learning.encoder.config": ("EncoderTraining",),
    "ncc.learning.encoder.pooling": (
        "load_encoder",
        "save_encoder",
    ),
    "ncc.learning.encoder.train": ("train_encoder",),
    "ncc.system.sandbox.confine": ("require_confinement",),
    "ncc.tasks.classification.config": ("ClassifierTraining",),
    "ncc.tasks.classification.head": (
        "load_classifier",
        "save_classifier",
    ),
    "ncc.tasks.classification.predict": (
        "ClassPrediction",
        "classify",
    ),
    "ncc.tasks.classification.train": ("train_classifier",),
    "ncc.tasks.coarsening.head": (
        "load_coarsening_head",
        "save_coarsening_head",
    ),
    "ncc.tasks.coarsening.predict": (
        "CoarseningPrediction",
        "predict_coarsening",
    ),
    "ncc.tasks.coarsening.train": ("train_coarsening",),
    "ncc.tasks.devices.calibrate": ("calibrate",),
    "ncc.tasks.devices.head": (
        "load_device_head",
        "save_device_head",
    ),
    "ncc.tasks.devices.predict": (
        "DeviceCurve",
        "Explanation",
        "explain_device",
        "predict_device",
        "predict_device_curve",
    ),
    "ncc.tasks.devices.prediction": ("DevicePrediction",),
    "ncc.tasks.devices.train": ("train_devmap",),
    "ncc.tasks.gpus.head": (
        "load_gpu_head",
        "save_gpu_head",
    ),
    "ncc.tasks.gpus.predict": (
        "GpuPrediction",
        "predict_gpu",
    ),
    "ncc.tasks.gpus.train": ("train_gpu",),
    "ncc.tasks.search.build": ("index",),
    "ncc.tasks.search.calibration": (
        "Calibration",
        "load_calibration",
    ),
    "ncc.tasks.search.duplicates": ("Duplicates",),
    "ncc.tasks.search.index": (
        "Index",
        "SearchResult",
        "load_index",
    ),
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
