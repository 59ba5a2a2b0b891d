"""The machine that figures were printed on, and the versions of the software used."""

import importlib.metadata
import os
import platform
from contextlib import suppress
from typing import Any


def environment() -> dict[str, Any]:
    """Return hardware and versions of packages, None for one that is not installed, for a file of results."""
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for name in ("ncc-ir", "numpy", "scikit-learn", "gensim", "torch", "llvmlite"):
        versions[name] = None
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return {"hardware": {"machine": platform.machine(), "cores": os.cpu_count()}, "versions": versions}
