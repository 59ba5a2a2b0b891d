"""Random Eigen expressions of coefficientwise arrays, and comparisons of them."""

from collections.abc import Callable
from typing import TypeAlias

from datasets.generators.eigen_scope import Scope, Shape

__all__ = ["array", "condition"]

MatrixMaker: TypeAlias = Callable[[Scope, Shape, int], str]
"""Writes a matrix expression of a shape and at most a depth."""

_ANY = ("square", "cube")
_REAL = ("abs", "abs2")
_FLOATING = ("exp", "sqrt", "sin", "cos", "log", "inverse", "tanh")
_REAL_FLOATING = ("rsqrt", "floor", "ceil", "round", "log1p", "atan", "tan")


def array(scope: Scope, shape: Shape, depth: int, matrix: MatrixMaker) -> str:
    """Writes an array expression, with matrix expressions from `matrix` at its leaves."""
    if depth <= 0:
        return f"{matrix(scope, shape, 0)}.array()"
    kinds = ["matrix", "matrix", "function", "function", "function", "number", "operator", "operator"]
    kinds += ["select", "cast", *(() if scope.scalar.is_complex else ("extreme",))]
    return _array(scope, shape, depth - 1, matrix, scope.rng.choice(kinds))


def _array(scope: Scope, shape: Shape, depth: int, matrix: MatrixMaker, kind: str) -> str:
    rng = scope.rng
    if kind == "matrix":
        return f"{matrix(scope, shape, depth)}.array()"
    if kind == "cast":
        return f"{condition(scope, shape, depth, matrix)}.cast<{scope.scalar.name}>()"
    text = array(scope, shape, depth, matrix)
    if kind == "function":
        return f"{text}.{rng.choice(_functions(scope))}"
    other = scope.number() if kind == "number" or rng.random() < 0.3 else array(scope, shape, depth, matrix)
    if kind == "extreme":
        return f"{text}.{rng.choice(('min', 'max'))}({other})"
    if kind == "select":
        return f"{condition(scope, shape, depth, matrix)}.select({text}, {other})"
    return f"({text} {rng.choice('++--**/')} {other})"


def _functions(scope: Scope) -> tuple[str, ...]:
    """Functions of one array that its scalars have."""
    kind = scope.scalar
    names: tuple[str, ...] = _ANY if kind.is_complex else _ANY + _REAL
    if kind.is_floating:
        names += _FLOATING * 2
        names += () if kind.is_complex else _REAL_FLOATING
    calls = tuple(f"{name}()" for name in names)
    return (*calls, f"pow({scope.scalar.literal(scope.rng)})") if kind.is_floating else calls


def condition(scope: Scope, shape: Shape, depth: int, matrix: MatrixMaker) -> str:
    """Writes an array of truth values; complex numbers are compared by their sizes."""
    rng = scope.rng
    size = ".abs()" if scope.scalar.is_complex else ""
    left, right = (f"{array(scope, shape, depth - 1, matrix)}{size}" for _ in range(2))
    if not size and rng.random() < 0.4:
        right = scope.number()
    test = f"({left} {rng.choice(('<', '>', '<=', '>=', '=='))} {right})"
    if rng.random() < 0.15:
        return f"({test} {rng.choice(('&&', '||'))} ({left} != {right}))"
    return test
