"""Where a figure comes from: the command as typed, the machine, and the versions of the software used."""

import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any


def command_line(program: str = "ncc") -> str:
    """The command that runs, without folders' parents: a card must not depend on where it was made."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    if ranks > 1:
        program = f"torchrun --nproc-per-node {ranks} -m {program}"
    return f"{program} {shlex.join(Path(word).name if '/' in word else word for word in sys.argv[1:])}"


def environment() -> dict[str, Any]:
    """Hardware and versions of packages, None for one that is not installed, for a file of results."""
    import importlib.metadata  # which the help of commands need not wait for

    def version(name: str) -> str | None:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    packages = ("ncc", "numpy", "scikit-learn", "gensim", "torch", "llvmlite")
    return {
        "hardware": {"machine": platform.machine(), "cores": os.cpu_count()},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in packages},
    }
