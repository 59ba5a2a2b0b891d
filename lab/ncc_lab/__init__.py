"""Evaluation of ncc: protocols, controls, published methods, figures with intervals, reports, scaling.

The public names are loaded when they are first used.
"""

import importlib
from typing import Any

_HOMES = {
    "ncc_lab.coarsening.coarsening": ("thread_coarsening",),
    "ncc_lab.comparison": ("Comparison", "Result", "audit", "compare", "join"),
    "ncc_lab.controls": ("constant", "majority", "sklearn_method"),
    "ncc_lab.devices.devmap": ("device_mapping",),
    "ncc_lab.frame": ("HoldOut", "Method", "Subset", "Task"),
    "ncc_lab.options": ("Runs",),
    "ncc_lab.programs.classify": ("classification",),
    "ncc_lab.scaling.plan": ("SweepConfig",),
    "ncc_lab.verbs": (
        *(
            "evaluate_embedding",
            "evaluate_coverage",
            "evaluate_devmap",
            "evaluate_coarsening",
            "evaluate_classification",
        ),
        *("evaluate_classifier", "evaluate_retrieval", "evaluate_functions", "evaluate_gpu", "evaluate_times"),
        "bench_scaling",
    ),
}
"""Where a public name is defined."""

__all__ = sorted(name for names in _HOMES.values() for name in names)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
