"""Neural code comprehension for LLVM IR: statement embeddings, contextual flow graphs, performance prediction.

The public names are those of `ncc.api`. They are loaded when they are first used, so that ``import ncc`` costs next to
nothing.
"""

from typing import Any

from ncc import api

__version__ = "0.1.0"

__all__ = [*api.__all__, "__version__"]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in api.__all__:
        raise AttributeError(f"module 'ncc' has no attribute {name!r}")
    return getattr(api, name)


def __dir__() -> list[str]:
    return __all__
