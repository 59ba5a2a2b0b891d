"""``ncc info``: versions, the compiler, the shipped models, and where data is looked for."""

import json
import platform as host
from typing import Any

from ncc.cli.options import OneJson
from ncc.cli.output import print_answer, print_rows


def info(as_json: OneJson = False) -> None:
    """Show versions, the compiler, the shipped models and where data is looked for."""
    facts = _facts()
    if as_json:
        print_answer(facts)
        return
    print_rows([(name, _shown(value)) for name, value in facts.items()], plain="{}: {}")


def _shown(value: Any) -> str:
    """Lists as words, cards with a name in each line."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return json.dumps(value, indent=2) if isinstance(value, dict) else str(value)


def _facts() -> dict[str, Any]:
    import llvmlite.binding as llvm

    import ncc
    from ncc import api
    from ncc.ir.frontend.clang import find_compiler
    from ncc.ir.frontend.languages import SOURCE_EXTENSIONS
    from ncc.ir.reader.objects import IR_EXTENSIONS
    from ncc.learning.data.registry import data_folder
    from ncc.system.sandbox.confine import describe_confinement
    from ncc.tasks.devices.head import PLATFORMS

    embedding, encoder = api.load_embedding(), api.load_encoder()
    return {
        "version": ncc.__version__,
        "python": host.python_version(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "compiler": " ".join(find_compiler(None).argv),
        "confinement": describe_confinement(),
        "reads": sorted(IR_EXTENSIONS | SOURCE_EXTENSIONS),
        "embedding": {"id": embedding.fingerprint, "dim": embedding.dim} | embedding.about,
        "encoder": {"id": encoder.fingerprint, "dim": encoder.dim} | encoder.card,
        "device_heads": {name: api.load_device_head(platform=name).card for name in PLATFORMS},
        "coarsening_head": api.load_coarsening_head().card,
        "classifier": api.load_classifier().card,
        "data_folder": str(data_folder()),
    }
