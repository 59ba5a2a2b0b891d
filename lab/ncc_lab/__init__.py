"""Evaluation of ncc: protocols, controls, published methods, figures with intervals, reports, scaling.

The public names are loaded when they are first used.
"""

import importlib
from typing import Any

_HOMES = {
    "ncc_lab.programs.classify": ("classification", "evaluate_classification"),
    "ncc_lab.programs.robustness": ("evaluate_classifier",),
    "ncc_lab.coarsening.coarsening": ("evaluate_coarsening", "thread_coarsening"),
    "ncc_lab.comparison": ("Comparison", "Result", "audit", "compare", "join"),
    "ncc_lab.controls": ("constant", "majority", "sklearn_method"),
    "ncc_lab.devices.devmap": ("device_mapping", "evaluate_devmap"),
    "ncc_lab.embedding.coverage": ("evaluate_coverage",),
    "ncc_lab.embedding.intrinsic": ("evaluate_embedding",),
    "ncc_lab.embedding.picture": ("draw_embedding",),
    "ncc_lab.frame": ("HoldOut", "Method", "Subset", "Task"),
    "ncc_lab.gpus.comparison": ("evaluate_gpu",),
    "ncc_lab.retrieval.functions": ("evaluate_functions",),
    "ncc_lab.retrieval.programs": ("evaluate_retrieval",),
    "ncc_lab.scaling.plan": ("SweepConfig",),
    "ncc_lab.scaling.sweep": ("bench_scaling",),
    "ncc_lab.devices.times": ("evaluate_times",),
}
"""Where a public name is defined."""

__all__ = sorted(name for names in _HOMES.values() for name in names)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
