"""Relatives of the matrix product in C and C++: triangular, symmetric, in blocks, complex in parts, with vectors."""

from dataclasses import replace
from random import Random

from datasets.generators.gemm_setting import GemmSetting
from datasets.generators.program import Function, LoopStyle

__all__ = ["VARIANTS"]


def rank_update(rng: Random, setting: GemmSetting) -> Function:
    """Syrk and syr2k: one triangle of c += a · aᵀ, or of a · bᵀ + b · aᵀ."""
    n, _, k = setting.sizes
    swapped = rng.random() < 0.5
    a = setting.matrix("a", n, k, swapped=swapped)
    b = setting.matrix("b", n, k, swapped=swapped)
    c = setting.matrix("c", n, n, constant=False)
    two, lower = rng.random() < 0.4, rng.random() < 0.6
    kind, wide = setting.number.accumulator, setting.number.widened
    term = f"{wide(a.at('i', 'p'))} * {(b if two else a).at('j', 'p')}"
    if two:
        term += f" + {wide(b.at('i', 'p'))} * {a.at('j', 'p')}"
    end = rng.choice(("alpha * sum", f"alpha * sum + beta * {c.at('i', 'j')}", f"{c.at('i', 'j')} - sum"))
    inner = f"{kind} sum = 0;\n" + setting.loop("p", "0", k, f"sum += {term};")
    inner += f"\n{c.at('i', 'j')} = {setting.number.narrowed(end)};"
    if rng.random() < 0.3:
        inner += f"\n{c.at('j', 'i')} = {c.at('i', 'j')};"
    body = setting.loop("i", "0", n, setting.loop("j", *(("0", "i + 1") if lower else ("i", n)), inner))
    return setting.function((a, b, c) if two else (a, c), body, (f"{kind} alpha", f"{kind} beta"))


def triangular_product(rng: Random, setting: GemmSetting) -> Function:
    """Trmm: b = alpha · a · b in place, where a is a triangle with or without a diagonal of ones."""
    m, n, _ = setting.sizes
    a = setting.matrix("a", m, m, swapped=rng.random() < 0.4)
    b = setting.matrix("b", m, n, constant=False)
    kind, wide = setting.number.accumulator, setting.number.widened
    lower, unit = rng.random() < 0.5, rng.random() < 0.4
    first = wide(b.at("i", "j")) if unit else f"{wide(a.at('i', 'i'))} * {b.at('i', 'j')}"
    term = f"sum += {wide(a.at('i', 'p'))} * {b.at('p', 'j')};"
    inner = f"{kind} sum = {first};\n" + setting.loop("p", *(("0", "i") if lower else ("i + 1", m)), term)
    inner += f"\n{b.at('i', 'j')} = {setting.number.narrowed('alpha * sum')};"
    # A row must be replaced after all rows that read it.
    rows = LoopStyle(setting.style.counter, "down" if lower else "less")
    body = rows.loop("i", "0", m, setting.loop("j", "0", n, inner))
    return setting.function((a, b), body, (f"{kind} alpha",))


def triangular_solution(rng: Random, setting: GemmSetting) -> Function:
    """Trsm: solves a · x = b in place for a triangle a."""
    m, n, _ = setting.sizes
    a = setting.matrix("a", m, m, swapped=rng.random() < 0.4)
    b = setting.matrix("b", m, n, constant=False)
    lower = rng.random() < 0.5
    inner = f"{b.at('i', 'j')} -= {setting.number.widened(a.at('i', 'p'))} * {b.at('p', 'j')};"
    inner = setting.loop("p", *(("0", "i") if lower else ("i + 1", m)), inner)
    if rng.random() < 0.7:
        inner += f"\n{b.at('i', 'j')} /= {a.at('i', 'i')};"
    rows = LoopStyle(setting.style.counter, "less" if lower else "down")
    columns = setting.loop("j", "0", n, rows.loop("i", "0", m, inner))
    return setting.function((a, b), rng.choice((columns, rows.loop("i", "0", m, setting.loop("j", "0", n, inner)))))


def symmetric_product(rng: Random, setting: GemmSetting) -> Function:
    """Symm: c += a · b, where only one triangle of a is stored."""
    m, n, _ = setting.sizes
    a, b = setting.matrix("a", m, m), setting.matrix("b", m, n, swapped=rng.random() < 0.3)
    c = setting.matrix("c", m, n, constant=False)
    kind, wide = setting.number.accumulator, setting.number.widened
    if rng.random() < 0.5:
        test = rng.choice(("p <= i", "i <= p"))
        inner = f"const {kind} value = {test} ? {a.at('i', 'p')} : {a.at('p', 'i')};\nsum += value * {b.at('p', 'j')};"
        inner = setting.loop("p", "0", m, inner)
    else:
        below = f"sum += {wide(a.at('i', 'p'))} * {b.at('p', 'j')};"
        above = f"sum += {wide(a.at('p', 'i'))} * {b.at('p', 'j')};"
        inner = setting.loop("p", "0", "i + 1", below) + "\n" + setting.loop("p", "i + 1", m, above)
    inner = f"{kind} sum = 0;\n{inner}\n{c.at('i', 'j')} += {setting.number.narrowed('sum')};"
    return setting.function((a, b, c), setting.loop("i", "0", m, setting.loop("j", "0", n, inner)))


def register_block(rng: Random, setting: GemmSetting) -> Function:
    """A product in blocks of c that are small enough for registers, as array or as single variables."""
    m, n, k = setting.sizes
    a = setting.matrix("a", m, k, swapped=rng.random() < 0.4)
    b = setting.matrix("b", k, n, swapped=rng.random() < 0.4)
    c = setting.matrix("c", m, n, constant=False)
    height, width = rng.choice(((2, 2), (2, 4), (4, 2), (4, 4), (1, 4), (1, 8), (3, 3)))
    kind, wide = setting.number.accumulator, setting.number.widened
    cells = [(y, x) for y in range(height) for x in range(width)]
    as_array = rng.random() < 0.3
    names = {cell: f"sum[{cell[0]}][{cell[1]}]" if as_array else f"sum{cell[0]}{cell[1]}" for cell in cells}
    first = f"{kind} sum[{height}][{width}] = {{{{0}}}};"
    if not as_array:
        first = "\n".join(f"{kind} {name} = 0;" for name in names.values())
    loads = [f"const {kind} a{y} = {wide(a.at(f'i + {y}', 'p'))};" for y in range(height)]
    loads += [f"const {kind} b{x} = {wide(b.at('p', f'j + {x}'))};" for x in range(width)]
    steps = "\n".join([*loads, *(f"{name} += a{y} * b{x};" for (y, x), name in names.items())])
    sign = rng.choice(("+=", "=", "-="))
    ends = [f"{c.at(f'i + {y}', f'j + {x}')} {sign} {setting.number.narrowed(names[y, x])};" for y, x in cells]
    inner = f"{first}\n{setting.loop('p', '0', k, steps)}\n" + "\n".join(ends)
    plain = LoopStyle(setting.style.counter, "less")
    columns = plain.loop("j", "0", f"{n} / {width} * {width}", inner, width)
    body = plain.loop("i", "0", f"{m} / {height} * {height}", columns, height)
    return setting.function((a, b, c), body)


def complex_pair(rng: Random, setting: GemmSetting) -> Function:
    """A complex product whose real and imaginary parts are matrices of their own."""
    m, n, k = setting.sizes
    swapped = rng.random() < 0.3
    ar, ai = (setting.matrix(f"a{part}", m, k) for part in "ri")
    br, bi = (setting.matrix(f"b{part}", k, n, swapped=swapped) for part in "ri")
    cr, ci = (setting.matrix(f"c{part}", m, n, constant=False) for part in "ri")
    kind, wide = setting.number.accumulator, setting.number.widened
    minus, plus = rng.choice((("-", "+"), ("+", "-")))
    real = f"{wide(ar.at('i', 'p'))} * {br.at('p', 'j')} {minus} {wide(ai.at('i', 'p'))} * {bi.at('p', 'j')}"
    imag = f"{wide(ai.at('i', 'p'))} * {br.at('p', 'j')} {plus} {wide(ar.at('i', 'p'))} * {bi.at('p', 'j')}"
    if rng.random() < 0.6:
        inner = f"{kind} re = 0, im = 0;\n" + setting.loop("p", "0", k, f"re += {real};\nim += {imag};")
        inner += f"\n{cr.at('i', 'j')} = {setting.number.narrowed('re')};"
        inner += f"\n{ci.at('i', 'j')} = {setting.number.narrowed('im')};"
        body = setting.loop("i", "0", m, setting.loop("j", "0", n, inner))
    else:
        inner = f"{cr.at('i', 'j')} += {real};\n{ci.at('i', 'j')} += {imag};"
        body = setting.loop("i", "0", m, setting.loop("p", "0", k, setting.loop("j", "0", n, inner)))
    return setting.function((ar, ai, br, bi, cr, ci), body)


def matrix_vector(rng: Random, setting: GemmSetting) -> Function:
    """Gemv and ger: a matrix times a vector, or a matrix plus the product of two vectors."""
    m, n, _ = setting.sizes
    update = rng.random() < 0.3
    a = setting.matrix("a", m, n, swapped=rng.random() < 0.5, constant=not update)
    number = setting.number
    kind, element = number.accumulator, number.element
    vectors = [f"const {element} *{setting.restrict}x", f"{'const ' * update}{element} *{setting.restrict}y"]
    if rng.random() < 0.3:
        vectors += ["int incx", "int incy"]
    x, y = ("x[j * incx]", "y[i * incy]") if len(vectors) > 2 else ("x[j]", "y[i]")
    if update:
        value = number.narrowed(f"alpha * {y} * {x}")
        body = setting.loop("i", "0", m, setting.loop("j", "0", n, f"{a.at('i', 'j')} += {value};"))
    elif rng.random() < 0.5:
        inner = f"{kind} sum = 0;\n" + setting.loop("j", "0", n, f"sum += {number.widened(a.at('i', 'j'))} * {x};")
        body = setting.loop("i", "0", m, f"{inner}\n{y} = {number.narrowed(f'alpha * sum + {y}')};")
    else:
        value = number.narrowed(f"{a.at('i', 'j')} * factor")
        inner = setting.loop("i", "0", m, f"{y} += {value};")
        body = setting.loop("j", "0", n, f"const {kind} factor = alpha * {x};\n{inner}")
    return replace(setting, batch="no").function((a,), body, (*vectors, f"{kind} alpha"))


VARIANTS = (
    rank_update,
    triangular_product,
    triangular_solution,
    symmetric_product,
    register_block,
    complex_pair,
    matrix_vector,
)
