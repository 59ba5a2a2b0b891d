"""The general product c = alpha · a · b + beta · c in C and C++: loop orders, tiles, unrolling, endings."""

from dataclasses import dataclass
from itertools import permutations
from random import Random

from datasets.generators.gemm_setting import GemmSetting
from datasets.generators.matrices import Matrix, Number
from datasets.generators.program import Function, block

__all__ = ["plain_product"]

_ORDERS = tuple("".join(order) for order in permutations("ijp"))
_TILES = (4, 8, 16, 16, 32, 32, 64, 24, 10)
_ENDINGS = ("set", "add", "subtract", "scale", "scale", "alpha", "relu", "saturate")


@dataclass(frozen=True, kw_only=True)
class _Product:
    """One product: operands, loop order from the outside ("p" is summed over), tile sizes by loop, ending."""

    setting: GemmSetting
    a: Matrix
    b: Matrix
    c: Matrix
    order: str
    tiles: dict[str, int]
    unroll: int
    num_sums: int
    hoists: bool
    ending: str

    @property
    def bounds(self) -> dict[str, str]:
        return {"i": self.c.rows, "j": self.c.cols, "p": self.a.cols}

    @property
    def scalars(self) -> tuple[str, ...]:
        kind = self.setting.number.accumulator
        alpha, beta = (f"{kind} alpha",), (f"{kind} beta",)
        bias = (f"const {kind} *{self.setting.restrict}bias",)
        return {"scale": alpha + beta, "alpha": alpha, "relu": bias, "saturate": ("int shift",)}.get(self.ending, ())


def plain_product(rng: Random, setting: GemmSetting) -> Function:
    """Writes a function that multiplies two whole matrices."""
    m, n, k = setting.sizes
    product = _Product(
        setting=setting,
        a=setting.matrix("a", m, k, swapped=rng.random() < 0.35),
        b=setting.matrix("b", k, n, swapped=rng.random() < 0.35),
        c=setting.matrix("c", m, n, swapped=rng.random() < 0.15, constant=False),
        order=rng.choice(_ORDERS),
        tiles={loop: rng.choice(_TILES) for loop in "ijp" if rng.random() < 0.6} if rng.random() < 0.3 else {},
        unroll=rng.choice((1, 1, 1, 2, 4, 8)),
        num_sums=rng.choice((1, 2)),
        hoists=rng.random() < 0.5,
        ending=rng.choice(_endings(setting.number)),
    )
    whole = product.order.endswith("p") and "p" not in product.tiles
    body = _nest(product, _whole_sum(product) if whole else _part(product))
    if not whole:
        body = "\n".join(filter(None, (_first_pass(product), body, _last_pass(product))))
    return setting.function((product.a, product.b, product.c), body, product.scalars)


def _endings(number: Number) -> tuple[str, ...]:
    """What can be done with sums of these types: shifts need whole numbers, comparisons an order."""
    kept = _ENDINGS if number.is_integer and number.accumulator != "float" else _ENDINGS[:-1]
    return tuple(ending for ending in kept if ending != "relu" or not number.is_complex)


def _nest(product: _Product, body: str) -> str:
    """Puts all loops but a trailing one over p around a body, the loops over tiles outermost."""
    setting = product.setting
    for loop in reversed(product.order.removesuffix("p")):
        body = setting.loop(loop, *_range(product, loop), body)
        if product.hoists and loop == product.order[-1]:
            body = f"const {setting.number.accumulator} fixed = {_outer_factor(product)};\n{body}"
    for loop in reversed([loop for loop in product.order if loop in product.tiles]):
        bound, tile = product.bounds[loop], product.tiles[loop]
        end = f"{loop}0 + {tile} < {bound} ? {loop}0 + {tile} : {bound}"
        body = f"const {setting.style.counter} {loop}1 = {end};\n{body}"
        body = setting.style.loop(f"{loop}0", "0", bound, body, tile)
    return body


def _range(product: _Product, loop: str) -> tuple[str, str]:
    return (f"{loop}0", f"{loop}1") if loop in product.tiles else ("0", product.bounds[loop])


def _term(product: _Product, p: str) -> str:
    return f"{product.setting.number.widened(product.a.at('i', p))} * {product.b.at(p, 'j')}"


def _sum(product: _Product) -> str:
    """Adds up the terms of all p as `sum`."""
    setting, unroll = product.setting, product.unroll
    kind = setting.number.accumulator
    start, stop = _range(product, "p")
    if unroll == 1:
        return f"{kind} sum = 0;\n" + setting.loop("p", start, stop, f"sum += {_term(product, 'p')};")
    names = ["sum", *(f"sum{other}" for other in range(1, product.num_sums))]
    lines = [f"{kind} {name} = 0;" for name in names]
    steps = [f"{names[at % len(names)]} += {_term(product, f'p + {at}' if at else 'p')};" for at in range(unroll)]
    lines.append(f"{setting.style.counter} p = {start};")
    lines.append(block(f"for (; p + {unroll} <= {stop}; p += {unroll})", "\n".join(steps)))
    lines.append(block(f"for (; p < {stop}; ++p)", f"sum += {_term(product, 'p')};"))
    lines += [f"sum += {name};" for name in names[1:]]
    return "\n".join(lines)


def _whole_sum(product: _Product) -> str:
    """Computes one element of c from beginning to end."""
    number, c = product.setting.number, product.c.at("i", "j")
    old = number.widened(c)
    ending = {
        "set": f"{c} = {number.narrowed('sum')};",
        "add": f"{c} += {number.narrowed('sum')};",
        "subtract": f"{c} -= {number.narrowed('sum')};",
        "scale": f"{c} = {number.narrowed(f'alpha * sum + beta * {old}')};",
        "alpha": f"{c} = {number.narrowed('alpha * sum')};",
    }.get(product.ending) or f"{c} = {_squeezed(product, 'sum')};"
    return f"{_sum(product)}\n{ending}"


def _squeezed(product: _Product, value: str) -> str:
    number = product.setting.number
    if product.ending == "relu":
        shifted = f"{value} + bias[j]"
        return number.narrowed(f"{shifted} > 0 ? {shifted} : 0")
    top = {"short": 32767, "signed char": 127}.get(number.element, 255)
    low = 0 if number.element.startswith("unsigned") else -top - 1
    shifted = f"({value} >> shift)"
    return number.narrowed(f"{shifted} < {low} ? {low} : {shifted} > {top} ? {top} : {shifted}")


def _part(product: _Product) -> str:
    """Adds to c what one p, or one tile of them, contributes."""
    value, before = ("sum", f"{_sum(product)}\n") if product.order.endswith("p") else (_term(product, "p"), "")
    if product.hoists and not before:
        value = f"fixed * {_inner_factor(product)}"
    if product.ending in ("scale", "alpha"):
        value = f"alpha * {value}"
    return f"{before}{product.c.at('i', 'j')} {'-=' if product.ending == 'subtract' else '+='} {value};"


def _inner_factor(product: _Product) -> str:
    """The factor that changes in the innermost loop."""
    return product.b.at("p", "j") if product.order.endswith("j") else product.a.at("i", "p")


def _outer_factor(product: _Product) -> str:
    """The factor that does not change in the innermost loop."""
    return product.a.at("i", "p") if product.order.endswith("j") else product.b.at("p", "j")


def _first_pass(product: _Product) -> str:
    number, c = product.setting.number, product.c.at("i", "j")
    if product.ending in ("add", "subtract"):
        return ""
    value = number.narrowed(f"beta * {number.widened(c)}") if product.ending == "scale" else "0"
    return _elementwise(product, f"{c} = {value};")


def _last_pass(product: _Product) -> str:
    if product.ending not in ("relu", "saturate"):
        return ""
    c = product.c.at("i", "j")
    return _elementwise(product, f"{c} = {_squeezed(product, product.setting.number.widened(c))};")


def _elementwise(product: _Product, body: str) -> str:
    setting = product.setting
    return setting.loop("i", "0", product.c.rows, setting.loop("j", "0", product.c.cols, body))
