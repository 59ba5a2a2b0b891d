"""Stencils whose neighbourhood is a cube that loops run over, rather than neighbours written one by one."""

from random import Random

from datasets.generators.program import LoopStyle
from datasets.generators.stencil_grid import Grid
from datasets.generators.stencil_values import Computation, StencilNumber, Tap

__all__ = ["wide_computation"]


def wide_computation(
    rng: Random, grid: Grid, array: str, member: str, number: StencilNumber, style: LoopStyle, radius: str
) -> Computation:
    """Draws what to compute from all points of a cube.

    Args:
        rng: Where choices come from.
        grid: Where the points lie.
        array: The array to read.
        member: The member of its elements to read, with its dot, or nothing.
        number: Types and language.
        style: How to loop.
        radius: A number, or a parameter's name.
    """
    steps = tuple(f"d{name}" for name in grid.coordinates)
    centre = f"{array}{grid.place(grid.coordinates)}{member}"
    tap = Tap(f"{array}{grid.point(steps)}{member}", grid.inside(steps))
    kind, width = number.value, f"(2 * {radius} + 1)"
    index = f"{steps[0]} + {radius}"
    for step in steps[1:]:
        index = f"({index}) * {width} + {step} + {radius}"
    space = "__constant " if number.language == "opencl" else "const "
    first, statement, parameters = rng.choice(
        (
            ("0", f"value += {tap.element};", ()),
            ("0", f"value += weights[{index}] * {tap.element};", (f"{space}{kind} *weights",)),
            ("0", f"value += ({tap.element} - {centre}) * ({tap.element} - {centre});", ()),
            (centre, f"value = {tap.element} > value ? {tap.element} : value;", ()),
            (centre, f"if ({tap.element} < value) value = {tap.element};", ()),
            ("0", f"value += {tap.element} > {centre};", ()),
        )
    )
    text = tap.step(statement)
    for step in reversed(steps):
        text = style.loop(step, f"-{radius}", f"{radius} + 1", text)
    lines = [f"{kind} value = {first};", text]
    if first == "0" and rng.random() < 0.5:
        lines.append(f"value /= {' * '.join([width] * len(steps))};")
    return Computation("\n".join(lines), parameters)
