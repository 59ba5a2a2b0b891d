"""Stencils as OpenCL kernels: a point per work item, from global memory or from a tile in local memory."""

from dataclasses import replace
from random import Random

from datasets.generators.opencl import KernelSetting, random_kernel_setting
from datasets.generators.program import Function
from datasets.generators.stencil_grid import BOUNDARIES, Grid, random_neighbourhood
from datasets.generators.stencil_setting import random_grid_sizes
from datasets.generators.stencil_values import StencilNumber, Tap, random_computation
from datasets.generators.stencil_wide import wide_computation

__all__ = ["stencil_kernel"]


def stencil_kernel(rng: Random, name: str, dims: int) -> Function:
    """Draws one kernel."""
    setting = replace(random_kernel_setting(rng, name), size_type="int")
    numbers = random_grid_sizes(rng, dims)
    sizes = numbers if rng.random() < 0.25 else tuple(f"n{name}" for name in "wzyx"[-dims:])
    boundary = rng.choice((*BOUNDARIES, "clamp builtin", "clamp builtin"))
    grid = Grid(coordinates=tuple("wzyx"[-dims:]), sizes=sizes, layout="flat", boundary=boundary)
    if dims <= 2 and rng.random() < 0.3:
        return _local(rng, setting, replace(grid, boundary=rng.choice(("clamp", "clamp builtin", "periodic"))))
    return _global(rng, setting, grid)


def _global(rng: Random, setting: KernelSetting, grid: Grid) -> Function:
    """All neighbours come from global memory; elements may be vectors."""
    linear = grid.boundary != "zero" and setting.element in ("float", "double", "int") and rng.random() < 0.25
    width = rng.choice((2, 4, 4)) if linear else ""
    element = f"{setting.element}{width}"
    number = StencilNumber(element=element, value=f"{setting.accumulator}{width}", language="opencl")
    offsets = random_neighbourhood(rng, len(grid.sizes))
    num_fields, here = rng.choice((1, 1, 2, 3)), grid.place(grid.coordinates)
    if not linear and rng.random() < 0.2:
        # The built-in clamp takes arguments of one type, and sizes are of type int.
        style, radius = replace(setting.style, counter="int"), "1"
        computation = wide_computation(rng, grid, "a0", "", number, style, radius)
    else:
        fields = [rng.randrange(num_fields) if rng.random() < 0.2 else 0 for _ in offsets]
        pairs = zip(fields, offsets, strict=True)
        taps = [Tap(f"a{field}{grid.point(offset)}", grid.inside(offset)) for field, offset in pairs]
        computation = random_computation(rng, taps, number, place=here, linear=linear)
        radius = str(max(abs(step) for offset in offsets for step in offset))
    store = f"out{here} {rng.choice(('=', '=', '+='))} "
    store += f"({number.element})value;" if number.element != number.value else "value;"
    outside = " || ".join(f"{name} >= {size}" for name, size in zip(grid.coordinates, grid.sizes, strict=True))
    lines = [_coordinates(rng, grid), f"if ({grid.at_edge(radius) if grid.boundary == 'skip' else outside}) return;"]
    if grid.boundary == "edge":
        lines.append(f"if ({grid.at_edge(radius)}) {{ out{here} = a0{here}; return; }}")
    lines += [computation.body, store]
    arrays = [setting.pointer(f"a{field}", element) for field in range(num_fields)]
    parameters = [*setting.sizes(*grid.sizes), *arrays, setting.pointer("out", element, constant=False)]
    needs = (*computation.needs, *grid.needs("", element))
    return setting.kernel([*parameters, *computation.parameters], "\n".join(lines), needs)


def _coordinates(rng: Random, grid: Grid) -> str:
    """Names a work item's place; two axes share the third dimension where there are four."""
    names = list(reversed(grid.coordinates))
    lines = [f"const int {name} = get_global_id({dimension});" for dimension, name in enumerate(names[:3])]
    if len(names) == 4:
        lines[2] = "const int wz = get_global_id(2);"
        size = grid.sizes[1]
        lines.append(f"const int w = wz / {size}, z = {rng.choice((f'wz % {size}', f'wz - wz / {size} * {size}'))};")
    return "\n".join(lines)


def _local(rng: Random, setting: KernelSetting, grid: Grid) -> Function:
    """A work group reads its tile with the points around it once, then computes from local memory."""
    dims, radius, size = len(grid.sizes), rng.choice((1, 1, 2)), rng.choice((8, 16, 32))
    number = StencilNumber(element=setting.element, value=setting.accumulator, language="opencl")
    element, full = setting.element, size + 2 * radius
    names = grid.coordinates
    lines = [f"const int l{name} = get_local_id({dims - 1 - axis});" for axis, name in enumerate(names)]
    lines += [f"const int {name} = get_global_id({dims - 1 - axis});" for axis, name in enumerate(names)]
    lines.append(f"{setting.prefix}local {element} tile{f'[{full}]' * dims};")
    steps = tuple(f"s{name}" for name in names)
    load = f"tile{''.join(f'[l{name} + {step}]' for name, step in zip(names, steps, strict=True))} = "
    load += f"a{grid.place(tuple(grid.neighbour(axis, f'({step} - {radius})') for axis, step in enumerate(steps)))};"
    for name, step in reversed(list(zip(names, steps, strict=True))):
        load = f"for (int {step} = 0; l{name} + {step} < {full}; {step} += {size}) {load}"
    lines += [load, setting.barrier]
    offsets = [offset for offset in random_neighbourhood(rng, dims) if max(map(abs, offset)) <= radius]
    offsets += [(radius,) * dims, (-radius,) * dims]
    taps = [
        Tap(f"tile{''.join(f'[l{name} + {step + radius}]' for name, step in zip(names, offset, strict=True))}")
        for offset in dict.fromkeys(offsets)
    ]
    computation = random_computation(rng, taps, number)
    outside = " && ".join(f"{name} < {extent}" for name, extent in zip(names, grid.sizes, strict=True))
    lines += [computation.body, f"if ({outside}) out{grid.place(names)} = ({element})value;"]
    parameters = [*setting.sizes(*grid.sizes), setting.pointer("a"), setting.pointer("out", constant=False)]
    return setting.kernel([*parameters, *computation.parameters], "\n".join(lines), computation.needs)
