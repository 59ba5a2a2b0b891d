"""``ncc info``: versions, the compiler, the shipped models, and where data is looked for."""

import json
import platform as host
import sys
from typing import Any

from ncc.cli.options import Json

__all__ = ["info"]


def info(as_json: Json = False) -> None:
    """Show versions, the compiler, the shipped models and where data is looked for."""
    facts = _facts()
    if as_json:
        print(json.dumps(facts))
        return
    for name, value in facts.items():
        shown = json.dumps(value, indent=2) if isinstance(value, dict) else value
        sys.stdout.write(f"{name}: {' '.join(shown) if isinstance(shown, list) else shown}\n")


def _facts() -> dict[str, Any]:
    import llvmlite.binding as llvm

    import ncc
    from ncc import api
    from ncc.data import data_folder
    from ncc.devices import PLATFORMS
    from ncc.frontend import SOURCE_EXTENSIONS
    from ncc.frontend.compilers import find_compiler
    from ncc.inputs import IR_EXTENSIONS
    from ncc.runtime.confinement import describe_confinement

    embedding = api.load_embedding()
    return {
        "version": ncc.__version__,
        "python": host.python_version(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "compiler": " ".join(find_compiler(None).argv),
        "confinement": describe_confinement(),
        "reads": sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS),
        "embedding": {"id": embedding.fingerprint, "dim": embedding.dim} | embedding.about,
        "device_heads": {name: api.load_device_head(platform=name).about for name in PLATFORMS},
        "coarsening_head": api.load_coarsening_head().about,
        "classifier": api.load_classifier().about,
        "data_folder": str(data_folder()),
    }
