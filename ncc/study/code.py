"""The code that a method's results depend on, so that kept results are not taken for those of other code."""

import ast
import functools
import hashlib
import importlib.util
import inspect
import sys
from pathlib import Path

__all__ = ["code_of"]


def code_of(*parts: object) -> dict[str, str] | None:
    """Finds the modules of objects' classes (or of functions), and all of this package that they import.

    Imports inside functions count as well. Comments, docstrings and layout don't, nor does the code of other packages:
    their versions tell.

    Returns:
        Module → a hash of its code; None where there is code that can't be read again, typed into an interpreter or
        a notebook.
    """
    waiting = {cls.__module__ for part in parts for cls in type(part).__mro__}
    waiting |= {part.__module__ for part in parts if inspect.isfunction(part)}
    waiting -= sys.stdlib_module_names
    if any(not hasattr(sys.modules.get(name), "__file__") for name in waiting):
        return None
    code: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if name not in code and (source := _source(name)):
            code[name], imported = _reduce(source)
            waiting |= {other for other in imported if other.split(".")[0] == "ncc"}
    return code


def _source(name: str) -> str | None:
    """A module's source; None where the name is that of something inside a module, or the module is not Python."""
    try:
        module = sys.modules.get(name)
        if module:
            return inspect.getsource(module)
        spec = importlib.util.find_spec(name)  # imported inside a function that has not been called yet
        return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else None
    except (OSError, TypeError, ModuleNotFoundError):
        return None


@functools.cache
def _reduce(source: str) -> tuple[str, frozenset[str]]:
    """A hash of what a source does, and the names that it imports, of modules or of something inside modules."""
    tree = ast.parse(source)
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [line for line in node.body if not _is_text(line)]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), frozenset(imported)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
