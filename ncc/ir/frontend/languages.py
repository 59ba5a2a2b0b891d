"""Languages of source files by extension; the first step from source to IR."""

import os
from pathlib import Path

LANGUAGES = ("c", "c++", "opencl", "cuda")

# Matching is case-sensitive first, since `.C` and `.c` differ, as they do for every compiler.
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
