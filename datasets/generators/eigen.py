"""Random C++ programs of Eigen expressions over matrices, vectors and arrays of fixed and run-time sizes."""

import re
from random import Random

from datasets.generators.eigen_expressions import matrix, product, scalar, view_product
from datasets.generators.eigen_scope import Operand, Scope, Shape, random_scope
from datasets.generators.program import Function, Program, assemble, block

__all__ = ["eigen_program"]

_HEADERS = {
    "#include <Eigen/Dense>": frozenset({"LU", "Cholesky", "Geometry"}),
    "#include <Eigen/Core>": frozenset(),
    "#include <Eigen/LU>": frozenset({"LU"}),
    "#include <Eigen/LU>\n#include <Eigen/Cholesky>": frozenset({"LU", "Cholesky"}),
    "#include <Eigen/Geometry>": frozenset({"LU", "Geometry"}),
}


def eigen_program(rng: Random) -> Program:
    """Draws a program of three to six functions."""
    header = rng.choices(tuple(_HEADERS), (5, 1, 1, 1, 1))[0]
    macros = ("", "", "", "#define EIGEN_NO_DEBUG\n", "#define EIGEN_NO_DEBUG\n#define EIGEN_DONT_VECTORIZE\n")
    start = f"{rng.choice(macros)}{header}\n\nusing namespace Eigen;"
    # Sizes that are known at run time bring in Eigen's large kernels, which take long to compile.
    number, at_run_time = rng.randint(3, 6), rng.choice((0, 1, 1, 2, 2))
    fixed = rng.sample([False] * at_run_time + [True] * (number - at_run_time), number)
    functions = [_function(rng, f"eigen_{index}", _HEADERS[header], fixed[index]) for index in range(number)]
    return assemble(".cpp", [Function(text=start), *functions])


def _function(rng: Random, name: str, modules: frozenset[str], fixed: bool) -> Function:
    scope = random_scope(rng, modules, fixed=fixed)
    shape = scope.shape()
    kind = rng.choice(("number", "number", "matrix", "out", "out", "out", "out", "out"))
    if kind == "number":
        lines = _locals(scope, shape, rng.randint(0, 2))
        result = scalar(scope, 3)
        value = " + ".join([result, *(f"{local}.sum()" for local in _unused(lines, result))])
        return _finished(scope, scope.scalar.name, name, [*lines.values(), f"return {value};"])
    if kind == "matrix":
        value = matrix(scope, shape, 3)
        return _finished(scope, shape.type(scope.scalar), name, [f"return {value};"])
    scope.declare("out", shape, scope.scalar, constant=False)
    scope.operands.clear()
    lines = _locals(scope, shape, rng.choice((0, 0, 1, 2)))
    updates = [_assignment(scope, shape)]
    updates += [_update(scope, shape) for _ in range(rng.choice((0, 0, 1, 2)))]
    updates += [f"out.array() += {local}.sum();" for local in _unused(lines, *updates)]
    return _finished(scope, "void", name, [*lines.values(), *updates])


def _finished(scope: Scope, result: str, name: str, body: list[str]) -> Function:
    head = f"{result} {name}({', '.join(scope.parameters)})"
    return Function(text=block(head, "\n".join([*scope.declarations, *body])))


def _locals(scope: Scope, shape: Shape, number: int) -> dict[str, str]:
    """Writes local variables, of shapes for which expressions of a shape have use; name → declaration."""
    extent = shape.cols if shape.is_row else shape.rows
    square = Shape(extent, extent)
    lines = {}
    for index in range(number):
        kind = scope.rng.choice((shape, shape, shape.transposed, square, scope.shape()))
        name, text = f"t{index}", matrix(scope, kind, 2)
        lines[name] = f"{kind.type(scope.scalar)} {name} = {text};"
        scope.operands.append(Operand(name, kind, scope.scalar))
    return lines


def _unused(declarations: dict[str, str], *later: str) -> list[str]:
    """Names the local variables that nothing reads; the compiler would drop them."""
    text = "\n".join([*declarations.values(), *later])
    return [name for name in declarations if len(re.findall(rf"\b{name}\b", text)) == 1]


def _assignment(scope: Scope, shape: Shape) -> str:
    rng = scope.rng
    if rng.random() < 0.3:
        views = not shape.is_row and rng.random() < 0.2 and scope.spend()
        text = view_product(scope, shape) if views else product(scope, shape, 2)
        if text is not None:
            return f"out.noalias() {rng.choice(('=', '+=', '-='))} {text};"
    return f"out {rng.choice(('=', '=', '=', '+=', '-='))} {matrix(scope, shape, 3)};"


def _update(scope: Scope, shape: Shape) -> str:
    """Writes a statement that changes part of the result."""
    rng = scope.rng
    if rng.random() < 0.25:
        return rng.choice((f"out *= {scope.number()};", f"out.array() {rng.choice('+-*')}= {scope.number()};"))
    if shape.is_vector:
        return f"out({rng.randrange(2)}) {rng.choice(('=', '+='))} {scalar(scope, 2)};"
    return rng.choice((_update_part, _update_part, _update_diagonal, _update_lines))(scope, shape)


def _update_part(scope: Scope, shape: Shape) -> str:
    rng, index = scope.rng, scope.rng.randrange(2)
    part, kept = rng.choice(
        (
            (f"col({index})", Shape(shape.rows, "1")),
            (f"row({index})", Shape("1", shape.cols)),
            ("block<2, 2>(0, 0)", Shape("2", "2")),
            ("topRows<2>()", Shape("2", shape.cols)),
        )
    )
    return f"out.{part} {rng.choice(('=', '+=', '-='))} {matrix(scope, kept, 2)};"


def _update_diagonal(scope: Scope, shape: Shape) -> str:
    rng = scope.rng
    if not shape.is_square:
        return f"out({rng.randrange(2)}, {rng.randrange(2)}) = {scalar(scope, 2)};"
    if rng.random() < 0.3:
        return f"out.diagonal().array() += {scope.number()};"
    if rng.random() < 0.5:
        return f"out.triangularView<{rng.choice(('Upper', 'StrictlyLower'))}>() = {scope.leaf(shape)};"
    return f"out.diagonal() = {matrix(scope, Shape(shape.rows, '1'), 1)};"


def _update_lines(scope: Scope, shape: Shape) -> str:
    """Writes a loop over rows or columns."""
    rng, operand = scope.rng, scope.leaf(shape)
    if rng.random() < 0.5:
        row = scope.leaf(Shape("1", shape.cols))
        body = f"out.row(i) = {operand}.row(i) * {scope.number()} + {row};"
        return block("for (int i = 0; i < out.rows(); ++i)", body)
    column = scope.leaf(Shape(shape.rows, "1"))
    body = f"out.col(j) {rng.choice('+-')}= {operand}.col(j).dot({column}) * {column};"
    return block("for (int j = 0; j < out.cols(); ++j)", body)
