"""All public functions of ncc and their argument and result types, with the names and defaults of the commands.

Functions that need several packages are defined here, the others in their own package. Each is loaded when it is first
used, so that ``import ncc`` takes almost no time and predictions load neither torch nor the code for evaluations.
"""

import importlib
from typing import Any

_HOMES = {
    "ncc.api.training": ("load_counts", "train_embedding"),
    "ncc.api.many": ("embed_many",),
    "ncc.api.vectorizer": ("CodeVectorizer",),
    "ncc.api.vectors": ("EmbeddedModule", "Level", "build_graph", "embed", "save_vectors", "similarity"),
    "ncc.tasks.classification.files": ("load_classifier", "save_classifier"),
    "ncc.tasks.classification": ("ProgramClasses", "classify"),
    "ncc.tasks.coarsening.files": ("load_coarsening_head", "save_coarsening_head"),
    "ncc.tasks.coarsening": ("CoarseningAdvice", "predict_coarsening"),
    "ncc.learning.corpus": ("build_corpus",),
    "ncc.tasks.devices.files": ("load_device_head", "save_device_head"),
    "ncc.tasks.devices": (
        "DeviceCurve",
        "DevicePrediction",
        "Explanation",
        "explain_device",
        "predict_device",
        "predict_device_curve",
    ),
    "ncc.learning.embedding": ("Embedding", "load_embedding", "save_embedding"),
    "ncc.learning.encoder.encoders": ("load_encoder", "save_encoder"),
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
    "ncc.ir.frontend": ("CompileOptions",),
    "ncc.tasks.gpus.head": ("load_gpu_head", "save_gpu_head"),
    "ncc.tasks.gpus.predict": ("GpuPrediction", "predict_gpu"),
    "ncc.ir.graph": ("XFG", "build_xfg", "count_contexts"),
    "ncc.ir.inputs": ("load_module",),
    "ncc.kernels.profile": ("LaunchedKernel", "profile"),
    "ncc.ir.reader": ("Module", "read_module"),
    "ncc.kernels.measure": ("Device", "Measurements", "list_devices", "measure_kernels"),
    "ncc.system.sandbox.confine": ("require_confinement",),
    "ncc.system.workers.pool": ("limits",),
    "ncc.tasks.search.build": ("index",),
    "ncc.tasks.search.calibration_fit": ("train_calibration",),
    "ncc.tasks.search": ("Calibration", "Duplicates", "Index", "Matches", "load_calibration", "load_index"),
    "ncc.study.classification.comparison": ("evaluate_classification",),
    "ncc.study.classification.robustness": ("evaluate_classifier",),
    "ncc.tasks.classification.train_head": ("train_classifier",),
    "ncc.study.coarsening.comparison": ("evaluate_coarsening",),
    "ncc.tasks.coarsening.train_head": ("train_coarsening",),
    "ncc.tasks.devices.calibrate": ("calibrate",),
    "ncc.study.devices.comparison": ("evaluate_devmap",),
    "ncc.tasks.devices.times": ("evaluate_times",),
    "ncc.tasks.devices.train": ("train_devmap",),
    "ncc.study.embedding.coverage": ("evaluate_coverage",),
    "ncc.study.embedding.evaluation": ("evaluate_embedding",),
    "ncc.study.embedding.picture": ("draw_embedding",),
    "ncc.study.gpus.comparison": ("evaluate_gpu",),
    "ncc.tasks.gpus.train_head": ("train_gpu",),
    "ncc.study.report": ("write_report",),
    "ncc.study.retrieval.functions": ("evaluate_functions",),
    "ncc.study.retrieval.programs": ("evaluate_retrieval",),
    "ncc.learning.encoder.train": ("train_encoder",),
    "ncc.study.scaling.sweep": ("bench_scaling",),
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
