"""Grids of synthetic stencils: neighbourhoods, what lies beyond the edge, and how points lie in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

from datasets.generators.program import atom

__all__ = ["BOUNDARIES", "Grid", "random_neighbourhood"]

BOUNDARIES = ("skip", "skip", "skip", "clamp", "clamp macro", "periodic", "wrap", "mirror", "zero", "edge")
"""What happens at the edge: points there are skipped, coordinates are bent inwards, or their values are zero."""

CLAMP_MACRO = "#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))"

_MAX_TAPS = 27


def random_neighbourhood(rng: Random, dims: int) -> list[tuple[int, ...]]:
    """Draws the offsets that a stencil reads, the centre first: along the axes, a whole cube, or any."""
    radius = rng.choice((1, 1, 1, 2, 2, 3))
    centre = (0,) * dims
    kind = rng.choice(("von Neumann", "von Neumann", "Moore", "any"))
    if kind == "von Neumann":
        steps = [step for distance in range(1, radius + 1) for step in (-distance, distance)]
        offsets = [tuple(step if axis == at else 0 for at in range(dims)) for axis in range(dims) for step in steps]
    else:
        cube = product(range(-radius, radius + 1), repeat=dims)
        offsets = [offset for offset in cube if offset != centre]
        if kind == "any" or len(offsets) >= _MAX_TAPS:
            most = min(len(offsets), _MAX_TAPS - 1 if kind == "Moore" else 2 * dims + 3)
            offsets = rng.sample(offsets, rng.randint(2, most))
    return [centre, *offsets]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A grid as one function sees it.

    Attributes:
        coordinates: Names of the loop variables, the outermost first.
        sizes: Names or numbers, in the same order.
        layout: "flat", "strides", "fixed", "global", "variable", "rows" or "vector".
        boundary: One of `BOUNDARIES`, "mask" where all sizes are powers of two, or "clamp builtin" in OpenCL.
        restrict: The qualifier of its pointers, or nothing.
    """

    coordinates: tuple[str, ...]
    sizes: tuple[str, ...]
    layout: str
    boundary: str
    restrict: str = ""

    def place(self, points: tuple[str, ...]) -> str:
        """Writes the subscript of a point that is given by its coordinates."""
        if self.layout == "strides":
            strides = [f"s{name}" for name in self.coordinates[:-1]]
            terms = [f"{atom(point)} * {stride}" for point, stride in zip(points, strides, strict=False)]
            return f"[{' + '.join([*terms, points[-1]])}]"
        if self.layout not in ("flat", "vector"):
            return "".join(f"[{point}]" for point in points)
        index = points[0]
        for point, size in zip(points[1:], self.sizes[1:], strict=True):
            index = f"{atom(index)} * {size} + {point}"
        return f"[{index}]"

    def distance(self, offset: tuple[int, ...]) -> str:
        """Writes how far from a point its neighbour lies in flat memory."""
        terms: list[str] = []
        for axis, step in enumerate(offset):
            if step:
                terms.append(" * ".join([f"({step})" if step < 0 and terms else str(step), *self.sizes[axis + 1 :]]))
        return " + ".join(terms) or "0"

    def neighbour(self, axis: int, step: int | str) -> str:
        """Writes a neighbour's coordinate; the step is a number or a variable's name."""
        here, size = self.coordinates[axis], self.sizes[axis]
        if step == 0:
            return here
        sign = "-" if isinstance(step, int) and step < 0 else "+"
        there = f"{here} {sign} {step if isinstance(step, str) else abs(step)}"
        below = there if sign == "-" or isinstance(step, str) else ""
        above = there if sign == "+" else ""
        low, high = {
            "clamp": ("0", f"{size} - 1"),
            "wrap": (f"{there} + {size}", f"{there} - {size}"),
            "mirror": (f"-({there})", f"2 * {size} - 2 - ({there})"),
        }.get(self.boundary, ("", ""))
        if self.boundary in ("clamp macro", "clamp builtin"):
            return f"{'CLAMP' if self.boundary == 'clamp macro' else 'clamp'}({there}, 0, {size} - 1)"
        if self.boundary == "periodic":
            return f"({there} + {size}) % {size}" if below else f"({there}) % {size}"
        if self.boundary == "mask":
            return f"({there}) & ({size} - 1)"
        if not low:
            return there
        choice = f"{below} < 0 ? {low} : " if below else ""
        choice += f"{above} >= {size} ? {high} : " if above else ""
        return f"({choice}{there})"

    def point(self, offset: Sequence[int | str]) -> str:
        """Writes the subscript of a neighbour, bent inwards where the boundary says so."""
        return self.place(tuple(self.neighbour(axis, step) for axis, step in enumerate(offset)))

    def inside(self, offset: Sequence[int | str]) -> str:
        """Writes the test that a neighbour exists; empty where none is needed."""
        if self.boundary != "zero":
            return ""
        tests = []
        for here, size, step in zip(self.coordinates, self.sizes, offset, strict=True):
            if isinstance(step, str):
                tests.append(f"{here} + {step} >= 0 && {here} + {step} < {size}")
            elif step:
                tests.append(f"{here} >= {-step}" if step < 0 else f"{here} + {step} < {size}")
        return " && ".join(tests)

    def at_edge(self, radius: str) -> str:
        """Writes the test that a point is nearer to an edge than its neighbourhood reaches."""
        pairs = zip(self.coordinates, self.sizes, strict=True)
        return " || ".join(f"{here} < {radius} || {here} >= {size} - {radius}" for here, size in pairs)

    def declaration(self, name: str, element: str, *, constant: bool) -> str:
        """Declares an array over the grid in a parameter list; empty where it is global."""
        const = "const " if constant else ""
        if self.layout in ("fixed", "variable"):
            return f"{const}{element} {name}{''.join(f'[{size}]' for size in self.sizes)}"
        if self.layout == "rows":
            return f"{element} {'*' * len(self.sizes)}{name}"
        if self.layout == "vector":
            return f"{const}std::vector<{element}> &{name}"
        return "" if self.layout == "global" else f"{const}{element} *{self.restrict}{name}"

    def size_parameters(self, size_type: str) -> list[str]:
        """Declares the sizes and strides that are parameters."""
        names = [size for size in dict.fromkeys(self.sizes) if size.isidentifier() and not size.isupper()]
        if self.layout == "strides":
            names += [f"s{name}" for name in self.coordinates[:-1]]
        return [f"{size_type} {name}" for name in names]

    def needs(self, name: str, element: str) -> tuple[str, ...]:
        """What the file must contain for an array over the grid."""
        clamp = (CLAMP_MACRO,) if self.boundary == "clamp macro" else ()
        if self.layout == "global":
            return (*clamp, f"{element} {name}{''.join(f'[{size}]' for size in self.sizes)};")
        return (*clamp, "#include <vector>") if self.layout == "vector" else clamp
