"""Cases worked out by hand, which stand as lines of text beside the goldens."""

from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "golden" / "text"


def cases(name: str) -> list[Any]:
    """The cases of a file, each behind ``===`` and its name: what is given, and behind ``---`` what is expected."""
    texts = (FOLDER / name).read_text(encoding="utf-8").split("\n=== ")[1:]
    named = ((head, *body.partition("\n---")[::2]) for head, _, body in (text.partition("\n") for text in texts))
    return [pytest.param(given, expected.strip("\n"), id=head) for head, given, expected in named]


def rows(name: str) -> list[list[str]]:
    """The lines of a file but for comments: of each its parts, between ``;;``, in which ``\\\\`` ends a line."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line and not line.startswith("# ")]
    return [[part.strip().replace(" \\\\ ", "\n") for part in f" {line} ".split(" ;; ")] for line in kept]
