"""What an Eigen function can name: scalars, shapes, and variables, which are made as expressions ask for them."""

from dataclasses import dataclass, field
from random import Random

__all__ = ["REAL", "Operand", "Scalar", "Scope", "Shape", "random_scope"]


@dataclass(frozen=True)
class Scalar:
    """Type of a matrix's coefficients."""

    name: str

    @property
    def is_complex(self) -> bool:
        """Whether its values have no order."""
        return "complex" in self.name

    @property
    def is_floating(self) -> bool:
        """Whether there are divisions, roots and inverses."""
        return self.name != "int"

    def literal(self, rng: Random) -> str:
        """Draws a constant."""
        numbers = ("0.25", "0.5", "1.5", "2", "3", "0.1") if self.is_floating else ("2", "3", "5", "7")
        second = f", {rng.choice(numbers)}" if self.is_complex else ""
        return f"{self.name}({rng.choice(numbers)}{second})"


REAL = (Scalar("float"), Scalar("double"), Scalar("int"))
_SCALARS = (*(Scalar("float"),) * 5, *(Scalar("double"),) * 5, *(Scalar("int"),) * 2)
_COMPLEX = (Scalar("std::complex<float>"), Scalar("std::complex<double>"))


@dataclass(frozen=True)
class Shape:
    """Rows and columns: numbers, or names of sizes that are known at run time."""

    rows: str
    cols: str

    @property
    def is_column(self) -> bool:
        """Whether it is a column vector."""
        return self.cols == "1"

    @property
    def is_row(self) -> bool:
        """Whether it is a row vector."""
        return self.rows == "1"

    @property
    def is_vector(self) -> bool:
        """Whether it is a vector of either direction."""
        return self.is_column or self.is_row

    @property
    def is_square(self) -> bool:
        """Whether it has as many rows as columns."""
        return self.rows == self.cols

    @property
    def is_fixed(self) -> bool:
        """Whether both extents are numbers."""
        return self.rows.isdecimal() and self.cols.isdecimal()

    @property
    def is_small_square(self) -> bool:
        """Whether Eigen has closed formulas for its inverse."""
        return self.is_square and self.rows in ("2", "3", "4")

    @property
    def transposed(self) -> "Shape":
        """Rows and columns exchanged."""
        return Shape(self.cols, self.rows)

    @property
    def extents(self) -> str:
        """Arguments that constructors and constants take: none, the length of a vector, or both extents."""
        if self.is_fixed:
            return ""
        return self.rows if self.is_column else self.cols if self.is_row else f"{self.rows}, {self.cols}"

    def type(self, scalar: Scalar, options: str = "") -> str:
        """Names the matrix type."""
        rows, cols = (extent if extent.isdecimal() else "Dynamic" for extent in (self.rows, self.cols))
        return f"Matrix<{scalar.name}, {rows}, {cols}{options}>"


@dataclass(frozen=True)
class Operand:
    """A variable that holds a matrix."""

    name: str
    shape: Shape
    scalar: Scalar


@dataclass
class Scope:
    """One function while it is written.

    Attributes:
        rng: Where choices come from.
        scalar: Type of the result and of most operands.
        sizes: Extents to choose from.
        style: "map", "reference" or "ref": how matrices are passed.
        modules: Parts of Eigen that the file includes.
        budget: How many more products and decompositions may be written, which are slow to compile.
    """

    rng: Random
    scalar: Scalar
    sizes: tuple[str, ...]
    style: str
    modules: frozenset[str]
    budget: int
    operands: list[Operand] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)

    def spend(self) -> bool:
        """Takes one from the budget, if any is left."""
        self.budget -= 1
        return self.budget >= 0

    def size(self) -> str:
        """Draws an extent."""
        return self.rng.choice(self.sizes)

    def shape(self) -> Shape:
        """Draws a shape: any matrix, a square one, a column, a row."""
        rows, cols = self.size(), self.size()
        choices = (Shape(rows, cols), Shape(rows, cols), Shape(rows, rows), Shape(rows, rows), Shape(rows, "1"))
        return self.rng.choice((*choices, Shape(rows, "1"), Shape("1", cols)))

    def leaf(self, shape: Shape, scalar: Scalar | None = None) -> str:
        """Names an operand of a shape, most often one that there is."""
        scalar = scalar or self.scalar
        known = [operand for operand in self.operands if (operand.shape, operand.scalar) == (shape, scalar)]
        if known and self.rng.random() < (0.4, 0.7, 0.9)[min(len(known), 3) - 1]:
            return self.rng.choice(known).name
        name = f"a{len(self.operands)}"
        self.declare(name, shape, scalar)
        return name

    def number(self) -> str:
        """Names a scalar: a constant or a parameter."""
        if self.rng.random() < 0.5:
            return self.scalar.literal(self.rng)
        name = self.rng.choice(("alpha", "beta", "gamma"))
        self._add(f"{self.scalar.name} {name}")
        return name

    def declare(self, name: str, shape: Shape, scalar: Scalar, *, constant: bool = True) -> None:
        """Adds a matrix to the parameters."""
        self.operands.append(Operand(name, shape, scalar))
        self.need_sizes(shape)
        const = "const " if constant else ""
        row_major = not shape.is_vector and self.rng.random() < 0.15
        kind = shape.type(scalar, ", RowMajor" if row_major else "")
        if self.style == "ref" and not row_major:
            self._add(f"const Ref<const {kind}> &{name}" if constant else f"Ref<{kind}> {name}")
        elif self.style == "map":
            self._add(f"{const}{scalar.name} *{name}_data")
            arguments = ", ".join(filter(None, (f"{name}_data", shape.extents)))
            if not shape.is_vector and self.rng.random() < 0.1:
                self._add("int stride")
                arguments = f"{name}_data, {shape.rows}, {shape.cols}, OuterStride<>(stride)"
                self.declarations.append(f"Map<{const}{kind}, 0, OuterStride<>> {name}({arguments});")
            else:
                self.declarations.append(f"Map<{const}{kind}> {name}({arguments});")
        else:
            self._add(f"{const}{kind} &{name}")

    def need_sizes(self, shape: Shape) -> None:
        """Adds sizes that are known at run time to the parameters."""
        for extent in (shape.rows, shape.cols):
            if not extent.isdecimal():
                self._add(f"int {extent}")

    def _add(self, parameter: str) -> None:
        if parameter not in self.parameters:
            self.parameters.append(parameter)


def random_scope(rng: Random, modules: frozenset[str], *, fixed: bool) -> Scope:
    """Draws what one function starts from.

    Args:
        rng: Where choices come from.
        modules: Parts of Eigen that the file includes.
        fixed: All sizes are numbers; otherwise some, or all, are known at run time only.
    """
    numbers = rng.sample("23334445678", rng.randint(2, 3))
    sizes = numbers if fixed else rng.choice((["n", "m"], ["n", "m"], [rng.choice("234"), "n"]))
    return Scope(
        rng=rng,
        scalar=rng.choice(_SCALARS) if rng.random() < 0.85 else rng.choice(_COMPLEX),
        sizes=tuple(sizes),
        style=rng.choice(("map", "map", "reference", "reference", "ref")),
        modules=modules,
        budget=4 if fixed else 1,
    )
