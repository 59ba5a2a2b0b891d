"""Neural code comprehension for LLVM IR: statement embeddings, contextual flow graphs, performance prediction.

Public names are loaded when they are first used, so that ``import ncc`` takes almost no time and predictions load
neither torch nor the code that trains.
"""

from importlib import import_module
from typing import Any

from ncc.errors import naming_extras

__version__ = "0.1.0"

_HOMES = {
    "ncc.errors": "AssetError CompileError DataError IRError "
    "InputError InputFileError MissingExtraError NccError OutputError UnknownNameError",
    "ncc.ir.frontend.options": "CompileOptions",
    "ncc.ir.graph.contexts": "count_contexts",
    "ncc.ir.graph.xfg": "XFG build_xfg",
    "ncc.ir.inputs": "load_module",
    "ncc.ir.reader.module": "Module",
    "ncc.ir.reader.reader": "read_module",
    "ncc.kernels.measure.opencl": "Device list_devices",
    "ncc.kernels.measure.sweep": "Measurements",
    "ncc.kernels.profile": "LaunchProfile",
    "ncc.learning.embedding.backoff": "Backoff",
    "ncc.learning.embedding.config": "EmbeddingConfig",
    "ncc.learning.embedding.embedding": "Embedding load_embedding",
    "ncc.learning.embedding.train": "load_counts",
    "ncc.learning.encoder.config": "EncoderTraining",
    "ncc.learning.encoder.pooling": "load_encoder",
    "ncc.learning.programs.labelled": "load_program_graphs",
    "ncc.system.sandbox.confine": "require_confinement",
    "ncc.tasks.classification.config": "ClassifierTraining",
    "ncc.tasks.classification.head": "load_classifier",
    "ncc.tasks.classification.predict": "ClassPrediction",
    "ncc.tasks.coarsening.head": "load_coarsening_head",
    "ncc.tasks.coarsening.predict": "CoarseningPrediction",
    "ncc.tasks.devices.head": "load_device_head",
    "ncc.tasks.devices.prediction": "DeviceCurve DevicePrediction Explanation",
    "ncc.tasks.gpus.head": "load_gpu_head",
    "ncc.tasks.gpus.predict": "GpuPrediction",
    "ncc.tasks.search.calibration": "Calibration",
    "ncc.tasks.search.duplicates": "Duplicates",
    "ncc.tasks.search.index": "Index SearchResult load_index",
    "ncc.verbs.embed": "build_graph embed embed_many save_vectors similarity",
    "ncc.verbs.measure": "calibrate measure_kernels",
    "ncc.verbs.predict": "classify predict_coarsening predict_device predict_gpu profile",
    "ncc.verbs.search": "index",
    "ncc.verbs.train": "build_corpus train_classifier train_coarsening "
    "train_devmap train_embedding train_encoder train_gpu",
    "ncc.verbs.types": "Level",
    "ncc.verbs.vectorizer": "CodeVectorizer",
    "ncc.verbs.vectors": "EmbeddedModule",
}
"""Modules, and the public names that they define."""

__all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names.split())])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names.split()), None)
    if home is None:
        raise AttributeError(f"module 'ncc' has no attribute {name!r}")
    with naming_extras():
        return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
