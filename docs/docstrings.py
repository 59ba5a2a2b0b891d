"""Checks that the texts of arguments, attributes and errors in docstrings begin with a capital letter."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"^(?:Args|Attributes|Raises):\n((?:    .*\n|\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^    [*\w.]+: ([a-z]\S*)", re.MULTILINE)
EXEMPT = re.compile(r"u?int\d+|float\d+|bool|zlib|gensim|pyopencl|torch")
"""Words that are lowercase wherever they stand."""


def lowercase_texts(source: str) -> Iterator[str]:
    """Yield the first words of texts that begin with a small letter."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for section in SECTION.findall(f"{ast.get_docstring(node) or ''}\n"):
                yield from (word for word in ENTRY.findall(section) if not EXEMPT.match(word))


if __name__ == "__main__":
    paths = [path for room in ("ncc", "lab/ncc_lab", "fuzz", "benchmarks") for path in (ROOT / room).rglob("*.py")]
    wrong = [f"{path}: {word}" for path in paths for word in lowercase_texts(path.read_text(encoding="utf-8"))]
    sys.exit("\n".join(wrong) or 0)
