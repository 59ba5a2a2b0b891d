"""Which language a source file is in, by its extension; the first step from source to IR."""

import os
from pathlib import Path

LANGUAGES = ("c", "c++", "opencl", "cuda")

# `.C` and `.c` differ on purpose, as they do for every compiler: matching is case-sensitive first.
_LANGUAGE_BY_EXTENSION = {
    ".c": "c",
    ".cc": "c++",
    ".cpp": "c++",
    ".cxx": "c++",
    ".c++": "c++",
    ".cp": "c++",
    ".C": "c++",
    ".cl": "opencl",
    ".ocl": "opencl",
    ".opencl": "opencl",
    ".cu": "cuda",
    ".hip": "cuda",
}

SOURCE_EXTENSIONS: frozenset[str] = frozenset(_LANGUAGE_BY_EXTENSION)


def language_of(path: str | os.PathLike[str]) -> str | None:
    """Name the language of a source file from its extension alone."""
    extension = Path(path).suffix
    exact = _LANGUAGE_BY_EXTENSION.get(extension)
    return exact if exact is not None else _LANGUAGE_BY_EXTENSION.get(extension.lower())
