"""Matrices of synthetic programs: element types, and layouts in memory with how each is declared and read."""

from dataclasses import dataclass, replace
from random import Random

from datasets.generators.program import atom

__all__ = ["LAYOUTS", "Matrix", "Number", "as_parameters", "random_number"]


@dataclass(frozen=True)
class Number:
    """Types of a product: of the elements in memory, and of the sums made of them."""

    element: str
    accumulator: str
    needs: tuple[str, ...] = ()

    @property
    def is_complex(self) -> bool:
        """Whether its values have no order."""
        return "omplex" in self.element

    @property
    def is_integer(self) -> bool:
        """Whether the elements are whole numbers."""
        return not self.is_complex and not any(name in self.element for name in ("float", "double", "T"))

    def widened(self, value: str) -> str:
        """Converts an element, that the product is not done in a smaller type than the sum."""
        return value if self.element == self.accumulator else f"({self.accumulator}){value}"

    def narrowed(self, value: str) -> str:
        """Converts a sum to an element."""
        return value if self.element == self.accumulator else f"({self.element}){atom(value)}"


NUMBERS = (
    *(Number(name, name) for name in ("float", "float", "double", "double", "int", "long long", "unsigned")),
    *(Number("float", "double"), Number("short", "int"), Number("int", "long long"), Number("unsigned short", "float")),
    *(Number("unsigned char", "int"), Number("signed char", "int"), Number("unsigned char", "unsigned")),
)


def random_number(rng: Random, language: str) -> Number:
    """Draws element types, complex ones in the language's own manner."""
    if rng.random() < 0.1:
        part = rng.choice(("float", "double"))
        if language == "c++":
            return Number(f"std::complex<{part}>", f"std::complex<{part}>", ("#include <complex>",))
        return Number(f"{part} _Complex", f"{part} _Complex")
    return rng.choice(NUMBERS)


LAYOUTS = {
    "c": ("flat", "flat", "flat", "leading", "leading", "pointer", "fixed", "global", "rows", "variable"),
    "c++": ("flat", "flat", "leading", "pointer", "fixed", "global", "rows", "object", "vector", "nested"),
}
"""How matrices lie in memory, by language; a name that stands more than once is drawn more often."""

_OBJECT = """template <typename T> struct Matrix {
  T *data;
  int rows, cols, stride;
  T &operator()(int i, int j) { return data[i * stride + j]; }
  const T &operator()(int i, int j) const { return data[i * stride + j]; }
};"""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """A matrix as one function sees it.

    Attributes:
        name: Its variable.
        element: Its elements' type.
        layout: One of `LAYOUTS`.
        rows, cols: expressions; numbers where the layout is "fixed" or "global".
        swapped: Columns lie one after another in memory, or the matrix is used transposed.
        constant: It is only read.
        restrict: The qualifier to declare it with, or nothing.
    """

    name: str
    element: str
    layout: str
    rows: str
    cols: str
    swapped: bool = False
    constant: bool = True
    restrict: str = ""

    @property
    def extents(self) -> tuple[str, str]:
        """Outer and inner extent in memory."""
        return (self.cols, self.rows) if self.swapped else (self.rows, self.cols)

    def at(self, row: str, col: str) -> str:
        """Writes the element of a row and a column."""
        outer, inner = (col, row) if self.swapped else (row, col)
        stride = f"ld{self.name}" if self.layout == "leading" else atom(self.extents[1])
        if self.layout in ("flat", "leading", "vector"):
            return f"{self.name}[{atom(outer)} * {stride} + {inner}]"
        if self.layout == "pointer":
            return f"*({self.name} + {atom(outer)} * {stride} + {inner})"
        if self.layout == "object":
            return f"{self.name}({outer}, {inner})"
        return f"{self.name}[{outer}][{inner}]"

    @property
    def parameter(self) -> str:
        """The declaration in a parameter list; empty for a global array."""
        const = "const " if self.constant else ""
        outer, inner = self.extents
        return {
            "global": "",
            "fixed": f"{const}{self.element} {self.name}[{outer}][{inner}]",
            "variable": f"{const}{self.element} {self.name}[{outer}][{inner}]",
            "rows": f"{self.element} *{'const ' if self.constant else ''}*{self.name}",
            "object": f"{const}Matrix<{self.element}> &{self.name}",
            "vector": f"{const}std::vector<{self.element}> &{self.name}",
            "nested": f"{const}std::vector<std::vector<{self.element}>> &{self.name}",
        }.get(self.layout, f"{const}{self.element} *{self.restrict}{self.name}")

    def placed(self, function: str) -> "Matrix":
        """Renames a global array after its function, so that a file can hold many."""
        return replace(self, name=f"{self.name}_{function}") if self.layout == "global" else self

    @property
    def needs(self) -> tuple[str, ...]:
        """What the file must contain for it."""
        outer, inner = self.extents
        # Constructors of a large array's elements would be run by the compiler, one by one.
        extern = "extern " if "::" in self.element else ""
        return {
            "global": (f"{extern}{self.element} {self.name}[{outer}][{inner}];",),
            "object": (_OBJECT,),
            "vector": ("#include <vector>",),
            "nested": ("#include <vector>",),
        }.get(self.layout, ())


def as_parameters(matrices: tuple[Matrix, ...], sizes: tuple[str, ...], size_type: str, scalars: str = "") -> str:
    """Writes a parameter list: sizes that are names, the matrices, their leading dimensions, scalars."""
    names = list(dict.fromkeys(size for size in sizes if size.isidentifier()))
    parts = [f"{size_type} {name}" for name in names]
    parts += [matrix.parameter for matrix in matrices if matrix.parameter]
    parts += [f"{size_type} ld{matrix.name}" for matrix in matrices if matrix.layout == "leading"]
    return ", ".join([*parts, *([scalars] if scalars else [])]) or "void"
