"""What one stencil in C or C++ is drawn from: types, grid, fields, loops and the order in time."""

from dataclasses import dataclass
from random import Random

from datasets.generators.program import LoopStyle, random_style
from datasets.generators.stencil_grid import BOUNDARIES, Grid
from datasets.generators.stencil_values import StencilNumber

__all__ = ["StencilSetting", "random_grid_sizes", "random_stencil_setting"]

_LAYOUTS = {
    "c": ("flat", "flat", "flat", "strides", "fixed", "global", "variable", "rows"),
    "c++": ("flat", "flat", "flat", "strides", "fixed", "global", "rows", "vector"),
}
_NUMBERS = (
    *(("float", "float"), ("float", "float"), ("float", "float"), ("double", "double"), ("double", "double")),
    *(("float", "double"), ("int", "int"), ("int", "int"), ("short", "int"), ("unsigned char", "int")),
    *(("long long", "long long"), ("signed char", "short"), ("unsigned short", "int"), ("int", "float")),
)
_SCHEMES = ("sweep", "sweep", "jacobi", "jacobi", "in place", "in place", "colours", "accumulate", "residual")


@dataclass(frozen=True, kw_only=True)
class StencilSetting:
    """The choices that hold for a whole function.

    Attributes:
        name: The function's.
        number: Types and language.
        grid: The points.
        num_fields: Input arrays, or members of a cell.
        cells: The fields are members of structs in one array.
        scheme: Order in time: one "sweep", "jacobi" steps between two arrays, "in place", in place by "colours",
            "accumulate" onto the output, or a sweep that returns its "residual".
        style: How it loops.
        instances: Arguments if it is a template; empty if it is not.
        size_type: Type of the sizes that are parameters.
    """

    name: str
    number: StencilNumber
    grid: Grid
    num_fields: int
    cells: bool
    scheme: str
    style: LoopStyle
    instances: tuple[dict[str, str], ...]
    size_type: str

    @property
    def is_in_place(self) -> bool:
        """Whether the output is the first input."""
        return self.scheme in ("in place", "colours")

    @property
    def suffix(self) -> str:
        """What global arrays' names end in, so that a file can hold many."""
        return f"_{self.name}" if self.grid.layout == "global" else ""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays that are read."""
        return tuple(f"a{index}{self.suffix}" for index in range(1 if self.cells else self.num_fields))

    @property
    def output(self) -> str:
        """Name of the array that is written."""
        return self.inputs[0] if self.is_in_place else f"out{self.suffix}"

    @property
    def element(self) -> str:
        """Type of the arrays' elements."""
        if not self.cells:
            return self.number.element
        if self.number.element == "T":
            return f"Cell{self.num_fields}<T>"
        return f"{self.number.element.replace(' ', '_')}_cell{self.num_fields}"

    @property
    def element_definition(self) -> tuple[str, ...]:
        """Defines the struct of a cell, if there is one."""
        if not self.cells:
            return ()
        members = f"{{ {self.number.element} {', '.join(f'f{index}' for index in range(self.num_fields))}; }}"
        if self.number.element == "T":
            return (f"template <typename T> struct Cell{self.num_fields} {members};",)
        return (f"typedef struct {members} {self.element};",)

    def read(self, field: int, offset: tuple[int, ...]) -> str:
        """Writes a field's element at a neighbour."""
        if self.cells:
            return f"{self.inputs[0]}{self.grid.point(offset)}.f{field}"
        return f"{self.inputs[field]}{self.grid.point(offset)}"


def random_stencil_setting(rng: Random, name: str, dims: int, language: str) -> StencilSetting:
    """Draws the setting of one function in "c" or "c++"."""
    layouts = [layout for layout in _LAYOUTS[language] if layout != "rows" or dims in (2, 3)]
    layout = rng.choice(layouts)
    cells = layout != "rows" and rng.random() < 0.25
    is_template = language == "c++" and layout != "global" and rng.random() < 0.35
    element, value = ("T", "T") if is_template else rng.choice(_NUMBERS)
    scheme = rng.choice([scheme for scheme in _SCHEMES if scheme != "jacobi" or layout != "global" or not cells])
    names = is_template and rng.random() < 0.5
    sizes = tuple(f"N{name}" for name in "WZYX"[-dims:]) if names else _sizes(rng, dims, layout)
    powers = all(size.isdecimal() and int(size).bit_count() == 1 for size in sizes)
    grid = Grid(
        coordinates=tuple("wzyx"[-dims:]),
        sizes=sizes,
        layout=layout,
        boundary=rng.choice((*BOUNDARIES, *(("mask",) * 6 if powers else ()))),
        restrict=rng.choice(("", "", "restrict " if language == "c" else "__restrict ")),
    )
    return StencilSetting(
        name=name,
        number=StencilNumber(element=element, value=value, language=language),
        grid=grid,
        num_fields=rng.randint(2, 4) if cells else rng.choice((1, 1, 2, 3)),
        cells=cells,
        scheme=scheme,
        style=random_style(rng, signed=True),
        instances=_instances(rng, sizes if names else ()) if is_template else (),
        size_type=rng.choice(("int", "int", "long")),
    )


def random_grid_sizes(rng: Random, dims: int) -> tuple[str, ...]:
    """Draws extents as numbers, smaller ones for more dimensions."""
    most = {1: 12, 2: 9, 3: 6, 4: 5}[dims]
    if rng.random() < 0.5:
        sizes = [str(2 ** rng.randint(4 if dims < 4 else 3, most)) for _ in range(dims)]
    else:
        sizes = [str(rng.choice((10, 12, 20, 30, 33, 50, 100, 120, 200, 250))) for _ in range(dims)]
    return tuple(sizes[:1] * dims if rng.random() < 0.4 else sizes)


def _sizes(rng: Random, dims: int, layout: str) -> tuple[str, ...]:
    if layout in ("fixed", "global") or (layout != "variable" and rng.random() < 0.2):
        return random_grid_sizes(rng, dims)
    return ("n",) * dims if rng.random() < 0.25 else tuple(f"n{name}" for name in "wzyx"[-dims:])


def _instances(rng: Random, sizes: tuple[str, ...]) -> tuple[dict[str, str], ...]:
    elements = rng.sample(("float", "double", "long double"), rng.choice((1, 2, 2)))
    return tuple(
        {"T": element} | dict(zip(sizes, random_grid_sizes(rng, len(sizes)), strict=True) if sizes else {})
        for element in elements
    )
