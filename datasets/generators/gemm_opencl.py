"""Matrix products as OpenCL kernels: one element per work item, tiles in local memory, vectors, blocks, reductions."""

from random import Random

from datasets.generators.opencl import ELEMENTS, KernelSetting, random_kernel_setting
from datasets.generators.program import Function, atom, block

__all__ = ["gemm_kernel"]


def gemm_kernel(rng: Random, name: str) -> Function:
    """Draws one kernel."""
    return rng.choice((_element, _element, _tiles, _tiles, _vectors, _dots, _column_block, _complex, _reduction))(
        rng, name
    )


def _sizes(rng: Random) -> tuple[str, str, str]:
    if rng.random() < 0.3:
        n = str(2 ** rng.randint(5, 11))
        return n, n, n
    return rng.choice((("m", "n", "k"), ("m", "n", "k"), ("n", "n", "n")))


def _at(name: str, row: str, col: str, extents: tuple[str, str], *, swapped: bool = False) -> str:
    outer, inner, stride = (col, row, extents[0]) if swapped else (row, col, extents[1])
    return f"{name}[{atom(outer)} * {stride} + {inner}]"


def _ids(rng: Random, first: str, second: str) -> str:
    """Names a work item's place in two dimensions."""
    kind = rng.choice(("int", "int", "size_t", "uint"))
    order = rng.choice(((0, 1), (1, 0)))
    names = zip((first, second), order, strict=True)
    return "\n".join(f"const {kind} {name} = get_global_id({dimension});" for name, dimension in names)


def _product(rng: Random, setting: KernelSetting, left: str, right: str, total: str = "sum") -> str:
    """Adds a product to a sum, by operators or by a built-in function."""
    whole = setting.accumulator in ("int", "uint")
    if setting.accumulator == "long" or setting.element != setting.accumulator or rng.random() < 0.4:
        return f"{total} += ({setting.accumulator}){left} * {right};"
    function = rng.choice(("mad24", "mul24")) if whole else rng.choice(("mad", "fma"))
    if function == "mul24":
        return f"{total} += mul24({left}, {right});"
    return f"{total} = {function}({left}, {right}, {total});"


def _ending(rng: Random, setting: KernelSetting, c: str) -> tuple[str, list[str]]:
    """Stores a sum, scaled by parameters or not; returns the statement and the parameters."""
    kind = setting.accumulator
    parameters = [f"const {kind} alpha", f"const {kind} beta"]
    return rng.choice(
        (
            (f"{c} = sum;", []),
            (f"{c} += sum;", []),
            (f"{c} = alpha * sum;", parameters[:1]),
            (f"{c} = alpha * sum + beta * {c};", parameters),
            (f"{c} = sum > 0 ? sum : 0;", []),
        )
    )


def _element(rng: Random, name: str) -> Function:
    """One element of c per work item; batched, triangular or plain, operands transposed or not."""
    setting = random_kernel_setting(rng, name, (*ELEMENTS, "half"))
    m, n, k = _sizes(rng)
    a = _at("a", "row", "p", (m, k), swapped=rng.random() < 0.4)
    b = _at("b", "p", "col", (k, n), swapped=rng.random() < 0.4)
    end, scalars = _ending(rng, setting, _at("c", "row", "col", (m, n)))
    guard = rng.choice((f"row >= {m} || col >= {n}", f"row >= {m} || col > row", f"!(row < {m} && col < {n})", ""))
    lines = [_ids(rng, "row", "col"), f"if ({guard}) return;" if guard else ""]
    if rng.random() < 0.2:
        lines.append("const size_t batch = get_global_id(2);")
        lines += [f"a += batch * {m} * {k};", f"b += batch * {k} * {n};", f"c += batch * {m} * {n};"]
    lines.append(f"{setting.accumulator} sum = 0;")
    lines += [setting.loop("p", "0", k, _product(rng, setting, a, b)), end]
    pointers = [setting.pointer("a"), setting.pointer("b"), setting.pointer("c", constant=False)]
    return setting.kernel([*pointers, *setting.sizes(m, n, k), *scalars], "\n".join(filter(None, lines)))


def _tiles(rng: Random, name: str) -> Function:
    """Tiles of a and b go through local memory, with or without a test at the edges."""
    tile = rng.choice((4, 8, 16, 16, 32))
    setting = random_kernel_setting(rng, name, ELEMENTS, f"{tile}, {tile}, 1")
    m, n, k = _sizes(rng)
    element, pad = setting.element, rng.choice(("", " + 1"))
    a = _at("a", "row", "p0 + x", (m, k), swapped=rng.random() < 0.3)
    b = _at("b", "p0 + y", "col", (k, n), swapped=rng.random() < 0.3)
    if rng.random() < 0.5:
        a = f"row < {m} && p0 + x < {k} ? {a} : ({element})0"
        b = f"p0 + y < {k} && col < {n} ? {b} : ({element})0"
    local_a, local_b = rng.choice((("ta[y][p]", "tb[p][x]"), ("ta[y][p]", "tb[x][p]"), ("ta[p][y]", "tb[p][x]")))
    steps = [f"{local_a.replace('p', 'x')} = {a};", f"{local_b.replace('p', 'y')} = {b};", setting.barrier]
    steps += [setting.loop("p", "0", str(tile), _product(rng, setting, local_a, local_b)), setting.barrier]
    end, scalars = _ending(rng, setting, _at("c", "row", "col", (m, n)))
    place = (f"get_group_id(1) * {tile} + y", f"get_group_id(0) * {tile} + x")
    row, col = rng.choice((place, ("get_global_id(1)", "get_global_id(0)")))
    lines = [f"{setting.prefix}local {element} ta[{tile}][{tile}{pad}], tb[{tile}][{tile}{pad}];"]
    lines += ["const int x = get_local_id(0), y = get_local_id(1);", f"const int row = {row}, col = {col};"]
    lines += [f"{setting.accumulator} sum = 0;", block(f"for (int p0 = 0; p0 < {k}; p0 += {tile})", "\n".join(steps))]
    lines.append(f"if (row < {m} && col < {n}) {end}")
    pointers = [setting.pointer("a"), setting.pointer("b"), setting.pointer("c", constant=False)]
    return setting.kernel([*pointers, *setting.sizes(m, n, k), *scalars], "\n".join(lines))


def _vectors(rng: Random, name: str) -> Function:
    """Several neighbouring columns of c per work item, as one vector."""
    setting = random_kernel_setting(rng, name, ("float", "float", "double", "int"))
    width = rng.choice((2, 4, 4, 8, 16))
    vector = f"{setting.element}{width}"
    _, n, k = _sizes(rng)
    loads = rng.random() < 0.3
    b, c = f"b[p * ({n} / {width}) + col]", f"c[row * ({n} / {width}) + col]"
    store = f"{c} = sum;"
    if loads:
        b = f"vload{width}(p * ({n} / {width}) + col, b)"
        store = f"vstore{width}(sum, row * ({n} / {width}) + col, c);"
    step = f"sum += a[row * {k} + p] * {b};"
    if setting.element != "int" and rng.random() < 0.5:
        step = f"sum = {rng.choice(('mad', 'fma'))}(({vector})(a[row * {k} + p]), {b}, sum);"
    lines = [_ids(rng, "row", "col"), f"{vector} sum = ({vector})(0);", setting.loop("p", "0", k, step), store]
    memory = None if loads else vector
    pointers = [setting.pointer("a"), setting.pointer("b", memory), setting.pointer("c", memory, constant=False)]
    return setting.kernel([*pointers, *setting.sizes(n, k)], "\n".join(lines))


def _dots(rng: Random, name: str) -> Function:
    """Rows of a times rows of b, both read as vectors that are summed up across at the end."""
    setting = random_kernel_setting(rng, name, ("float", "float", "double", "int"))
    width = rng.choice((2, 4, 4))
    vector, (m, n, k) = f"{setting.element}{width}", _sizes(rng)
    a, b = f"a[row * ({k} / {width}) + p]", f"b[col * ({k} / {width}) + p]"
    if setting.element != "int" and rng.random() < 0.4:
        first, step, last = f"{setting.element} sum = 0;", f"sum += dot({a}, {b});", "sum"
    else:
        first, step = f"{vector} sums = ({vector})(0);", f"sums += {a} * {b};"
        last = " + ".join(f"sums.{part}" for part in rng.choice(("xyzw", ["s0", "s1", "s2", "s3"]))[:width])
    lines = [_ids(rng, "row", "col"), f"if (row >= {m} || col >= {n}) return;", first]
    lines += [setting.loop("p", "0", f"{k} / {width}", step), f"c[row * {n} + col] = {last};"]
    pointers = [setting.pointer("a", vector), setting.pointer("b", vector), setting.pointer("c", constant=False)]
    return setting.kernel([*pointers, *setting.sizes(m, n, k)], "\n".join(lines))


def _column_block(rng: Random, name: str) -> Function:
    """Several rows of c per work item, their sums in private memory."""
    setting = random_kernel_setting(rng, name)
    m, n, k = _sizes(rng)
    height, kind = rng.choice((2, 4, 8)), setting.accumulator
    inner = [f"const {kind} value = b[p * {n} + col];"]
    inner.append(setting.loop("r", "0", str(height), f"sums[r] += a[(row + r) * {k} + p] * value;"))
    lines = [f"const int row = get_global_id(0) * {height}, col = get_global_id(1);"]
    lines += [f"{kind} sums[{height}];", setting.loop("r", "0", str(height), "sums[r] = 0;")]
    lines.append(setting.loop("p", "0", k, "\n".join(inner)))
    lines.append(setting.loop("r", "0", str(height), f"if (row + r < {m}) c[(row + r) * {n} + col] = sums[r];"))
    pointers = [setting.pointer("a"), setting.pointer("b"), setting.pointer("c", constant=False)]
    return setting.kernel([*pointers, *setting.sizes(m, n, k)], "\n".join(lines))


def _complex(rng: Random, name: str) -> Function:
    """Complex elements as vectors of two."""
    setting = random_kernel_setting(rng, name, ("float", "float", "double"))
    m, n, k = _sizes(rng)
    pair = f"{setting.element}2"
    sign = rng.choice(("-", "+"))
    step = [f"const {pair} u = {_at('a', 'row', 'p', (m, k), swapped=rng.random() < 0.3)};"]
    step.append(f"const {pair} v = {_at('b', 'p', 'col', (k, n), swapped=rng.random() < 0.3)};")
    other = "+" if sign == "-" else "-"
    step.append(f"sum += ({pair})(u.x * v.x {sign} u.y * v.y, u.x * v.y {other} u.y * v.x);")
    lines = [_ids(rng, "row", "col"), f"{pair} sum = ({pair})(0, 0);", setting.loop("p", "0", k, "\n".join(step))]
    lines.append(f"{_at('c', 'row', 'col', (m, n))} = sum;")
    pointers = [setting.pointer("a", pair), setting.pointer("b", pair), setting.pointer("c", pair, constant=False)]
    return setting.kernel([*pointers, *setting.sizes(m, n, k)], "\n".join(lines))


def _reduction(rng: Random, name: str) -> Function:
    """A matrix times a vector, one row per work group, summed up in local memory."""
    size = rng.choice((32, 64, 128, 256))
    setting = random_kernel_setting(rng, name, ELEMENTS, f"{size}, 1, 1")
    kind, n = setting.accumulator, rng.choice(("n", "1024", "4096"))
    given = rng.random() < 0.4
    step = _product(rng, setting, f"a[row * {n} + col]", "x[col]")
    lines = [] if given else [f"{setting.prefix}local {kind} part[{size}];"]
    lines += ["const int row = get_group_id(0), id = get_local_id(0);", f"{kind} sum = 0;"]
    lines.append(block(f"for (int col = id; col < {n}; col += get_local_size(0))", step))
    lines += ["part[id] = sum;", setting.barrier]
    halves = f"if (id < step) part[id] += part[id + step];\n{setting.barrier}"
    lines.append(block("for (int step = get_local_size(0) / 2; step > 0; step /= 2)", halves))
    lines.append(f"if (id == 0) y[row] {rng.choice(('=', '+='))} part[0];")
    pointers = [setting.pointer("a"), setting.pointer("x"), setting.pointer("y", constant=False)]
    local = [f"{setting.prefix}local {kind} *part"] if given else []
    return setting.kernel([*pointers, *local, *setting.sizes(n)], "\n".join(lines))
