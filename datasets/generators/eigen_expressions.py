"""Random Eigen expressions, of the right type and size by construction: of matrices and of scalars."""

from collections.abc import Callable
from typing import TypeAlias

from datasets.generators.eigen_arrays import array, condition
from datasets.generators.eigen_scope import REAL, Scope, Shape

__all__ = ["matrix", "product", "scalar", "view_product"]

Maker: TypeAlias = Callable[[Scope, Shape, int], str | None]
"""Writes an expression of a shape and at most a depth, or gives nothing where there is none of its kind."""


def matrix(scope: Scope, shape: Shape, depth: int) -> str:
    """Writes a matrix expression."""
    if depth <= 0:
        return scope.leaf(shape)
    while True:
        text = scope.rng.choice(_MATRICES)(scope, shape, depth - 1)
        if text is not None:
            return text


def product(scope: Scope, shape: Shape, depth: int) -> str | None:
    """Writes a product, of any matrices or with a diagonal, triangular or symmetric one on the left."""
    rng, inner = scope.rng, scope.size()
    if not scope.spend():
        return None
    if not shape.is_row and rng.random() < 0.2:
        if rng.random() < 0.4:
            return f"({scope.leaf(Shape(shape.rows, '1'))}.asDiagonal() * {scope.leaf(shape)})"
        # Eigen 3.4 can't multiply such a product by a scalar unless it has been evaluated.
        return f"{view_product(scope, shape)}.eval()"
    if not shape.is_vector and rng.random() < 0.1:
        inner = "1"
    left, right = Shape(shape.rows, inner), Shape(inner, shape.cols)
    return f"({_factor(scope, left, depth - 1)} * {_factor(scope, right, depth - 1)})"


def _factor(scope: Scope, shape: Shape, depth: int) -> str:
    text = matrix(scope, shape, depth)
    # Eigen 3.4 multiplies matrices of run-time size only by vectors that one index reaches.
    by_two_indices = any(name in text for name in ("select(", "reverse(", "replicate(", "wise()"))
    return f"{text}.eval()" if shape.is_vector and by_two_indices else text


def view_product(scope: Scope, shape: Shape) -> str:
    """Writes the product of a triangle, or of a symmetric matrix given by one, and an operand that is not a row."""
    triangles = ("triangularView<Upper>", "triangularView<Lower>", "triangularView<UnitLower>")
    view = scope.rng.choice((*triangles, "selfadjointView<Lower>"))
    return f"({scope.leaf(Shape(shape.rows, shape.rows))}.{view}() * {scope.leaf(shape)})"


def scalar(scope: Scope, depth: int) -> str:
    """Writes a scalar expression, converted to the function's own type."""
    rng, shape, kind = scope.rng, scope.shape(), scope.scalar
    choice = rng.random()
    if choice < 0.25:
        shape = Shape(scope.size(), "1")
        left, right = matrix(scope, shape, depth - 1), matrix(scope, shape, depth - 1)
        return rng.choice((f"{left}.dot({right})", f"({left}.transpose() * {right}).value()"))
    if choice < 0.4 and kind.is_floating and "LU" in scope.modules:
        small = rng.choice("234")
        return f"{scope.leaf(Shape(small, small))}.determinant()"
    if choice < 0.5:
        return f"{kind.name}({condition(scope, shape, 2, matrix)}.count())"
    names = ["sum()", "prod()", "mean()", "squaredNorm()"]
    names += ["trace()"] if shape.is_square else []
    names += ["maxCoeff()", "minCoeff()", "cwiseAbs().maxCoeff()"] if not kind.is_complex else []
    names += ["norm()", "lpNorm<1>()", "lpNorm<Infinity>()", "eval().stableNorm()"] if kind.is_floating else []
    return f"{kind.name}({matrix(scope, shape, depth - 1)}.{rng.choice(names)})"


def _leaf(scope: Scope, shape: Shape, _depth: int) -> str:
    return scope.leaf(shape)


def _sum(scope: Scope, shape: Shape, depth: int) -> str:
    text = matrix(scope, shape, depth)
    for _ in range(scope.rng.choice((1, 1, 2))):
        text += f" {scope.rng.choice('+-')} {matrix(scope, shape, depth)}"
    return f"({text})"


def _scaled(scope: Scope, shape: Shape, depth: int) -> str:
    text, factor = matrix(scope, shape, depth), scope.number()
    return scope.rng.choice((f"({factor} * {text})", f"({text} * {factor})", f"({text} / {factor})", f"(-{text})"))


def _coefficientwise(scope: Scope, shape: Shape, depth: int) -> str:
    names = ["cwiseProduct", "cwiseProduct", "cwiseQuotient"]
    names += ["cwiseMin", "cwiseMax"] if not scope.scalar.is_complex else []
    return f"{matrix(scope, shape, depth)}.{scope.rng.choice(names)}({matrix(scope, shape, depth)})"


def _one_operand(scope: Scope, shape: Shape, depth: int) -> str:
    names = ["reverse", "eval", "conjugate"]
    names += ["cwiseAbs", "cwiseAbs2"] if not scope.scalar.is_complex else []
    names += ["cwiseSqrt", "cwiseInverse"] if scope.scalar.is_floating else []
    names += ["normalized"] if scope.scalar.is_floating and shape.is_vector else []
    return f"{matrix(scope, shape, depth)}.{scope.rng.choice(names)}()"


def _transpose(scope: Scope, shape: Shape, depth: int) -> str:
    return f"{matrix(scope, shape.transposed, depth)}.{scope.rng.choice(('transpose', 'transpose', 'adjoint'))}()"


def _of_array(scope: Scope, shape: Shape, depth: int) -> str:
    return f"{array(scope, shape, depth, matrix)}.matrix()"


def _choice(scope: Scope, shape: Shape, depth: int) -> str:
    test = condition(scope, shape, depth, matrix)
    if scope.rng.random() < 0.4:
        return f"{test}.select({matrix(scope, shape, depth)}, {scope.scalar.literal(scope.rng)})"
    return f"{test}.select({matrix(scope, shape, depth)}, {matrix(scope, shape, depth)})"


def _part(scope: Scope, shape: Shape, _depth: int) -> str:
    """A row of an operand, or a block."""
    rng = scope.rng
    if shape.is_column:
        return _part_of_column(scope, shape)
    if shape.is_row:
        return f"{scope.leaf(Shape(scope.size(), shape.cols))}.row({rng.randrange(2)})"
    if not shape.is_fixed:
        return f"{scope.leaf(shape)}.block(0, 0, {shape.rows}, {shape.cols})"
    larger = scope.leaf(Shape(str(int(shape.rows) + rng.randrange(2)), str(int(shape.cols) + 1)))
    part = rng.choice(("block<{}>(0, 1)", "topLeftCorner<{}>()", "bottomRightCorner<{}>()"))
    return f"{larger}.{part.format(f'{shape.rows}, {shape.cols}')}"


def _part_of_column(scope: Scope, shape: Shape) -> str:
    """A column of an operand, its diagonal, or a segment of a vector."""
    rng, rows = scope.rng, shape.rows
    choice = rng.random()
    if choice < 0.4:
        return f"{scope.leaf(Shape(rows, scope.size()))}.col({rng.randrange(2)})"
    if choice < 0.6:
        return f"{scope.leaf(Shape(rows, rows))}.diagonal()"
    if shape.is_fixed:
        part = rng.choice(("segment<{}>(1)", "head<{}>()", "tail<{}>()")).format(rows)
        return f"{scope.leaf(Shape(str(int(rows) + 2), '1'))}.{part}"
    return f"{scope.leaf(shape)}.{rng.choice(('segment(0, {})', 'head({})', 'tail({})')).format(rows)}"


def _reduction(scope: Scope, shape: Shape, depth: int) -> str | None:
    """Rows or columns reduced to a vector."""
    names = ["sum", "prod", "mean"]
    names += ["maxCoeff", "minCoeff"] if not scope.scalar.is_complex else []
    names += ["norm", "squaredNorm"] if scope.scalar.is_floating and not scope.scalar.is_complex else []
    if shape.is_column:
        return f"{matrix(scope, Shape(shape.rows, scope.size()), depth)}.rowwise().{scope.rng.choice(names)}()"
    if shape.is_row:
        return f"{matrix(scope, Shape(scope.size(), shape.cols), depth)}.colwise().{scope.rng.choice(names)}()"
    return None


def _broadcast(scope: Scope, shape: Shape, _depth: int) -> str | None:
    """A vector added to every column or row, or repeated."""
    if shape.is_vector:
        return None
    rng, operand = scope.rng, scope.leaf(shape)
    column, row = scope.leaf(Shape(shape.rows, "1")), scope.leaf(Shape("1", shape.cols))
    sums = (f"({operand}.colwise() {rng.choice('+-')} {column})", f"({operand}.rowwise() {rng.choice('+-')} {row})")
    times = f"<1, {shape.cols}>()" if shape.is_fixed else f"(1, {shape.cols})"
    return rng.choice((*sums, f"{column}.replicate{times}"))


def _cast(scope: Scope, shape: Shape, _depth: int) -> str:
    return f"{scope.leaf(shape, scope.rng.choice(REAL))}.cast<{scope.scalar.name}>()"


def _constant(scope: Scope, shape: Shape, _depth: int) -> str:
    scope.need_sizes(shape)
    kind, extents = shape.type(scope.scalar), shape.extents
    values = [f"{kind}::Ones({extents})", f"{kind}::Constant({', '.join(filter(None, (extents, scope.number())))})"]
    if not shape.is_vector:
        values += [f"{kind}::Identity({extents})"] * 2
    return scope.rng.choice(values)


def _lambda(scope: Scope, shape: Shape, depth: int) -> str:
    name, number = scope.scalar.name, scope.scalar.literal(scope.rng)
    bodies = ["x * x", f"x * (x - {number})", f"x / (x * x + {number})"]
    bodies += [f"x > {number} ? x : {number} * x"] if not scope.scalar.is_complex else []
    return f"{matrix(scope, shape, depth)}.unaryExpr([]({name} x) -> {name} {{ return {scope.rng.choice(bodies)}; }})"


def _linear_algebra(scope: Scope, shape: Shape, depth: int) -> str | None:
    """Inverses and solutions of small fixed systems."""
    if not scope.scalar.is_floating or "LU" not in scope.modules or shape.rows not in ("2", "3", "4"):
        return None
    if not shape.cols.isdecimal() or not scope.spend():
        return None
    square = scope.leaf(Shape(shape.rows, shape.rows))
    if shape.is_small_square and scope.rng.random() < 0.6:
        return f"{square}.inverse()"
    ways = ["partialPivLu()", "inverse()"] + (["ldlt()", "llt()"] if "Cholesky" in scope.modules else [])
    way, right = scope.rng.choice(ways), matrix(scope, shape, depth - 1)
    return f"({square}.inverse() * {right})" if way == "inverse()" else f"{square}.{way}.solve({right})"


def _geometry(scope: Scope, shape: Shape, depth: int) -> str | None:
    """Cross products and rotations."""
    real = scope.scalar.is_floating and not scope.scalar.is_complex
    if "Geometry" not in scope.modules or not real or shape.rows != "3" or shape.cols not in ("1", "3"):
        return None
    name, vector, rng = scope.scalar.name, Shape("3", "1"), scope.rng
    turn = f"AngleAxis<{name}>({scope.number()}, {matrix(scope, vector, depth - 1)}.normalized())"
    numbers = ", ".join(scope.number() for _ in range(4))
    rotation = rng.choice((turn, f"Quaternion<{name}>({numbers}).normalized()", f"Quaternion<{name}>({turn})"))
    if shape.cols == "3":
        return f"{rotation}.toRotationMatrix()"
    cross = f"{matrix(scope, vector, depth - 1)}.cross({matrix(scope, vector, depth - 1)})"
    return rng.choice((cross, cross, f"({rotation} * {scope.leaf(vector)})"))


_MATRICES: tuple[Maker, ...] = (
    *(
        _leaf,
        _leaf,
        _leaf,
        _sum,
        _sum,
        _sum,
        _scaled,
        _scaled,
        _scaled,
        product,
        product,
        product,
        _transpose,
        _transpose,
    ),
    *(_coefficientwise, _coefficientwise, _one_operand, _of_array, _of_array, _of_array, _choice, _part, _part),
    *(_reduction, _broadcast, _cast, _constant, _lambda, _linear_algebra, _linear_algebra, _geometry, _geometry),
)
