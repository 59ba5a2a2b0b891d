"""Stencils in C and C++: the loops over space and time around what is computed at a point."""

from random import Random

from datasets.generators.program import Function, block, instantiate
from datasets.generators.stencil_grid import random_neighbourhood
from datasets.generators.stencil_setting import StencilSetting, random_stencil_setting
from datasets.generators.stencil_values import Computation, Tap, random_computation
from datasets.generators.stencil_wide import wide_computation

__all__ = ["random_stencil"]


def random_stencil(rng: Random, name: str, dims: int, language: str) -> Function:
    """Draws one function in "c" or "c++"."""
    setting = random_stencil_setting(rng, name, dims, language)
    fields = sorted(rng.sample(range(setting.num_fields), rng.choice((1, 2)))) if setting.cells else []
    computations, radius = _computations(rng, setting, [f".f{field}" for field in fields] or [""])
    point = _point(rng, setting, computations, radius)
    body = _in_time(rng, setting, _in_space(rng, setting, point, radius), radius)
    parameters = [parameter for computation in computations.values() for parameter in computation.parameters]
    if not radius.isdecimal():
        parameters.append(f"int {radius}")
    needs = tuple(need for computation in computations.values() for need in computation.needs)
    return _function(setting, body, parameters, needs)


def _computations(rng: Random, setting: StencilSetting, members: list[str]) -> tuple[dict[str, Computation], str]:
    """Draws what to compute for each member that is written, and how far it reaches."""
    grid, dims = setting.grid, len(setting.grid.sizes)
    if rng.random() < 0.2:
        radius = rng.choice(("1", "1", "2", "r"))
        wide = {
            member: wide_computation(rng, grid, setting.inputs[0], member, setting.number, setting.style, radius)
            for member in members
        }
        return wide, radius
    offsets = random_neighbourhood(rng, dims)
    radius = str(max(abs(step) for offset in offsets for step in offset))
    based = grid.layout == "flat" and grid.boundary == "skip" and not setting.cells and rng.random() < 0.3
    computations = {}
    for member in members:
        main = int(member.removeprefix(".f") or 0)
        taps = []
        for offset in offsets:
            field = rng.randrange(setting.num_fields) if rng.random() < 0.2 else main
            read = f"p{field}[{grid.distance(offset)}]" if based else setting.read(field, offset)
            taps.append(Tap(read, grid.inside(offset)))
        flat = grid.layout in ("flat", "strides", "vector")
        place = grid.place(grid.coordinates) if flat else ""
        computation = random_computation(rng, taps, setting.number, place=place)
        if based:
            computation = _with_pointers(setting, computation)
        computations[member] = computation
    return computations, radius


def _with_pointers(setting: StencilSetting, computation: Computation) -> Computation:
    """Declares the pointers to the point from which neighbours are reached."""
    place, element = setting.grid.place(setting.grid.coordinates), setting.element
    pointers = [f"const {element} *p{index} = &{array}{place};" for index, array in enumerate(setting.inputs)]
    return Computation("\n".join([*pointers, computation.body]), computation.parameters, computation.needs)


def _point(rng: Random, setting: StencilSetting, computations: dict[str, Computation], radius: str) -> str:
    """Writes what happens at one point."""
    number, here = setting.number, setting.grid.place(setting.grid.coordinates)
    blocks = []
    for member, computation in computations.items():
        target, old = f"{setting.output}{here}{member}", f"{setting.inputs[0]}{here}{member}"
        value = "value" if number.value == number.element else f"({number.element})value"
        store = f"{target} {'+=' if setting.scheme == 'accumulate' else '='} {value};"
        if setting.is_in_place and rng.random() < 0.3:
            store = f"{target} += ({number.element})((value - {target}) / 2);"
        elif setting.scheme == "residual":
            store += f"\nresidual += (value - {old}) * (value - {old});"
        blocks.append(f"{computation.body}\n{store}")
    text = blocks[0] if len(blocks) == 1 else "\n".join(block("", part) for part in blocks)
    if setting.grid.boundary != "edge":
        return text
    copy = f"{setting.output}{here} = {setting.inputs[0]}{here};"
    copy = "" if setting.is_in_place else block(f"if ({setting.grid.at_edge(radius)})", copy) + " else"
    return block(copy or f"if (!({setting.grid.at_edge(radius)}))", text)


def _in_space(rng: Random, setting: StencilSetting, body: str, radius: str) -> str:
    """Puts the loops over the grid around a body, in any order of axes."""
    grid, style = setting.grid, setting.style
    axes = list(range(len(grid.sizes)))
    if rng.random() < 0.2:
        rng.shuffle(axes)
    tile = rng.choice((4, 8, 16, 32)) if rng.random() < 0.15 else 0
    for axis in reversed(axes):
        name = grid.coordinates[axis]
        start, stop = _range(setting, axis, radius)
        if setting.scheme == "colours" and axis == axes[-1]:
            others = " + ".join([*(grid.coordinates[other] for other in axes[:-1]), "colour"])
            body = style.loop(name, f"{start} + ({others}) % 2", stop, body, 2)
        elif tile and axis in axes[:2]:
            body = style.loop(name, f"{name}0", f"{name}1", body)
        else:
            body = style.loop(name, start, stop, body)
    for axis in reversed(axes[:2]) if tile else ():
        name = grid.coordinates[axis]
        start, stop = _range(setting, axis, radius)
        end = f"const {style.counter} {name}1 = {name}0 + {tile} < {stop} ? {name}0 + {tile} : {stop};"
        body = style.loop(f"{name}0", start, stop, f"{end}\n{body}", tile)
    return body


def _range(setting: StencilSetting, axis: int, radius: str) -> tuple[str, str]:
    size = setting.grid.sizes[axis]
    return (radius, f"{size} - {radius}") if setting.grid.boundary == "skip" else ("0", size)


def _in_time(rng: Random, setting: StencilSetting, sweep: str, radius: str) -> str:
    """Puts what lies around one sweep: the loop over time, the exchange of arrays, colours, a result."""
    if setting.scheme == "residual":
        return f"{setting.number.value} residual = 0;\n{sweep}\nreturn residual;"
    if setting.scheme == "colours":
        sweep = setting.style.loop("colour", "0", "2", sweep)
    if setting.scheme == "jacobi":
        return setting.style.loop("t", "0", "steps", f"{sweep}\n{_exchange(rng, setting, radius)}")
    return setting.style.loop("t", "0", "steps", sweep) if setting.is_in_place else sweep


def _exchange(rng: Random, setting: StencilSetting, radius: str) -> str:
    """Makes the output the next input: exchanges pointers, or copies."""
    grid, source, target = setting.grid, setting.output, setting.inputs[0]
    if grid.layout == "vector":
        return f"{target}.swap({source});"
    if grid.layout in ("flat", "strides", "rows"):
        stars = "*" * (len(grid.sizes) if grid.layout == "rows" else 1)
        return f"{setting.element} {stars}next = {source};\n{source} = {target};\n{target} = next;"
    here = grid.place(grid.coordinates)
    body = f"{target}{here} = {source}{here};"
    for axis in reversed(range(len(grid.sizes))):
        whole = rng.random() < 0.5
        span = ("0", grid.sizes[axis]) if whole else _range(setting, axis, radius)
        body = setting.style.loop(grid.coordinates[axis], *span, body)
    return body


def _function(setting: StencilSetting, body: str, parameters: list[str], needs: tuple[str, ...]) -> Function:
    grid, element = setting.grid, setting.element
    arrays = dict.fromkeys([*setting.inputs, setting.output])
    written = {setting.output, *([setting.inputs[0]] if setting.scheme == "jacobi" else [])}
    own = [grid.declaration(name, element, constant=name not in written) for name in arrays]
    own = [*grid.size_parameters(setting.size_type), *filter(None, own), *dict.fromkeys(parameters)]
    if setting.is_in_place or setting.scheme == "jacobi":
        own.append("int steps")
    result = setting.number.value if setting.scheme == "residual" else "void"
    head = f"{result} {setting.name}({', '.join(own) or 'void'})"
    text = block(head, body)
    if setting.instances:
        kinds = (f"{'typename' if name == 'T' else 'int'} {name}" for name in setting.instances[0])
        text = f"template <{', '.join(kinds)}>\n{text}\n\n{instantiate(head, setting.instances)}"
    grids = tuple(need for name in arrays for need in grid.needs(name, element))
    return Function(text=text, needs=(*setting.element_definition, *grids, *needs))
