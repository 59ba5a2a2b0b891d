"""One dialect of docstrings: Google style, which ruff checks, and argument texts that begin with a capital letter."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for room in ("ncc", "fuzz", "benchmarks") for path in (ROOT / room).rglob("*.py"))

_SECTION = re.compile(r"(Args|Attributes|Raises):$")
_ENTRY = re.compile(r"[*\w.]+: (?P<first>\S+)")
_EXEMPT = re.compile(r"u?int\d+|float\d+|bool|zlib|gensim|torch")
"""Words that are written small wherever they stand."""


def _docstrings(tree: ast.AST) -> list[str]:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [text for node in ast.walk(tree) if isinstance(node, kinds) and (text := ast.get_docstring(node))]


def _entries(docstring: str) -> list[str]:
    """The first word of each argument's, attribute's or error's text."""
    found, inside = [], False
    for line in docstring.splitlines():
        if line and not line.startswith(" "):
            inside = bool(_SECTION.match(line))
        elif inside and line.startswith("    ") and not line.startswith("     ") and (entry := _ENTRY.match(line[4:])):
            found.append(entry["first"])
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_of_arguments_begin_with_a_capital_letter(path):
    words = [word for text in _docstrings(ast.parse(path.read_text(encoding="utf-8"))) for word in _entries(text)]
    assert [word for word in words if word[0].islower() and not _EXEMPT.match(word)] == []


def test_a_small_letter_is_found():
    assert _entries("Adds.\n\nArgs:\n    a: the first.\n    b: Second,\n        and more: of it.\n") == [
        "the",
        "Second,",
    ]
