"""Which language a source file is in, by its extension; the first step from source to IR."""

import os
from pathlib import Path

LANGUAGES = ("c", "c++", "opencl", "cuda")

# `.C` and `.c` differ on purpose, as they do for every compiler: matching is case-sensitive first.
_LANGUAGE_BY_EXTENSION = {
    ".c": "c",
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".cp", ".C"), "c++"),
    **dict.fromkeys((".cl", ".ocl", ".opencl"), "opencl"),
    **dict.fromkeys((".cu", ".hip"), "cuda"),
}

SOURCE_EXTENSIONS: frozenset[str] = frozenset(_LANGUAGE_BY_EXTENSION)


def language_of(path: str | os.PathLike[str]) -> str | None:
    """Name the language of a source file from its extension alone."""
    extension = Path(path).suffix
    return _LANGUAGE_BY_EXTENSION.get(extension) or _LANGUAGE_BY_EXTENSION.get(extension.lower())
