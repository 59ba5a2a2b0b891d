"""Neural code comprehension for LLVM IR: statement embeddings, contextual flow graphs, performance prediction.

The public names are loaded when they are first used, so that ``import ncc`` costs next to nothing.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "CoarseningAdvice": "ncc.coarsening",
    "CompileOptions": "ncc.frontend",
    "DeviceCurve": "ncc.devices",
    "DevicePrediction": "ncc.devices",
    "EmbeddedModule": "ncc.api",
    "Embedding": "ncc.embedding",
    "Explanation": "ncc.devices",
    "Module": "ncc.ir",
    "NccError": "ncc.errors",
    "XFG": "ncc.graph",
    "ProgramClasses": "ncc.classification",
    "build_graph": "ncc.api",
    "build_xfg": "ncc.graph",
    "classify": "ncc.classification",
    "count_contexts": "ncc.graph",
    "embed": "ncc.api",
    "explain_device": "ncc.devices",
    "load_embedding": "ncc.api",
    "load_module": "ncc.inputs",
    "predict_coarsening": "ncc.coarsening",
    "predict_device": "ncc.devices",
    "predict_device_curve": "ncc.devices",
    "read_module": "ncc.ir",
    "save_vectors": "ncc.api",
}

__all__ = [*sorted(_HOMES), "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ncc' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
