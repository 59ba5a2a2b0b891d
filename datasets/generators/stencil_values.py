"""What synthetic stencils compute from a point's neighbours: weighted sums, extremes, medians, nonlinear terms."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from datasets.generators.program import block

__all__ = ["Computation", "StencilNumber", "Tap", "random_computation"]


@dataclass(frozen=True, kw_only=True)
class StencilNumber:
    """Types of a stencil: elements in memory, values computed of them; and the language, for mathematics' names."""

    element: str
    value: str
    language: str

    @property
    def is_floating(self) -> bool:
        """Whether values have fractions."""
        return any(name in self.value for name in ("float", "double", "half", "T"))

    def literal(self, rng: Random) -> str:
        """Draws a constant."""
        if not self.is_floating:
            return str(rng.choice((1, 2, 3, 4, 5, 8, 16)))
        number = rng.choice(("0.1", "0.125", "0.2", "0.25", "0.3", "0.5", "0.75", "1.5", "2.0", "0.0625", "1e-3"))
        if self.value == "T":
            return f"T({number})"
        return f"{number}f" if self.value.startswith("float") else number

    def call(self, function: str, *arguments: str) -> str:
        """Calls a function of mathematics, by the name that the language has for this type."""
        name = function
        if self.language == "c++":
            name = f"std::{'abs' if function == 'fabs' else function}"
        elif self.language == "c" and self.value == "float":
            name = f"{function}f"
        return f"{name}({', '.join(arguments)})"

    @property
    def needs(self) -> tuple[str, ...]:
        """The header of `call`."""
        return {"c": ("#include <math.h>",), "c++": ("#include <cmath>",)}.get(self.language, ())


@dataclass(frozen=True)
class Tap:
    """A neighbour: its element, and the test that it exists, if one is needed."""

    element: str
    guard: str = ""

    @property
    def read(self) -> str:
        """The element, or zero beyond the edge."""
        return f"({self.guard} ? {self.element} : 0)" if self.guard else self.element

    def step(self, statement: str) -> str:
        """Does something with the neighbour if it exists."""
        return f"if ({self.guard}) {statement}" if self.guard else statement


@dataclass(frozen=True)
class Computation:
    """Statements that leave their result in `value`, the parameters they read, and what the file must contain."""

    body: str
    parameters: tuple[str, ...] = ()
    needs: tuple[str, ...] = field(default=())


Maker: TypeAlias = Callable[[Random, list[Tap], StencilNumber], Computation]


def random_computation(
    rng: Random, taps: list[Tap], number: StencilNumber, *, place: str = "", linear: bool = False
) -> Computation:
    """Draws what to compute.

    Args:
        rng: Where choices come from.
        taps: At least three, the centre first.
        number: Types and language.
        place: The point's subscript in flat memory, where coefficients may differ from point to point.
        linear: Leave out what compares values, which vectors can't.

    Returns:
        The computation; those that need whole numbers or fractions are drawn for such only.
    """
    if place and rng.random() < 0.12:
        return _variable(rng, taps, number, place)
    makers: tuple[Maker, ...] = (_constants, _constants, _rings, _weights, _mean)
    if not linear:
        makers += (_extreme, _median, _spread)
        makers += (_gradient, _reaction, _normalised, _bilateral, _upwind) if number.is_floating else (_life, _shifted)
    return rng.choice(makers)(rng, taps, number)


def _variable(rng: Random, taps: list[Tap], number: StencilNumber, place: str) -> Computation:
    """Coefficients are fields themselves, one for each neighbour or a few for all."""
    most = rng.choice((1, 2, 4, len(taps)))
    names = [f"k{min(index, most)}" for index in range(len(taps))]
    space = "__global const " if number.language == "opencl" else "const "
    terms = [f"{name}{place} * {tap.read}" for name, tap in zip(names, taps, strict=True)]
    parameters = tuple(f"{space}{number.value} *{name}" for name in dict.fromkeys(names))
    return Computation(f"{number.value} value = {' + '.join(terms)};", parameters)


def _constants(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    if rng.random() < 0.5:
        terms = [f"{number.literal(rng)} * {tap.read}" for tap in taps]
        text = terms[0] + "".join(f" {rng.choice('++-')} {term}" for term in terms[1:])
        return Computation(f"{number.value} value = {text};")
    steps = [tap.step(f"value += {number.literal(rng)} * {tap.element};") for tap in taps]
    return Computation("\n".join([f"{number.value} value = 0;", *steps]))


def _rings(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """The centre and the sum of the others, each with its coefficient, which may be a parameter."""
    given = rng.random() < 0.5
    first, second = ("c0", "c1") if given else (number.literal(rng), number.literal(rng))
    others = " + ".join(tap.read for tap in taps[1:])
    parameters = (f"{number.value} c0", f"{number.value} c1") if given else ()
    sign = rng.choice("+-")
    return Computation(f"{number.value} value = {first} * {taps[0].read} {sign} {second} * ({others});", parameters)


def _weights(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """Coefficients come from an array."""
    space = "__constant " if number.language == "opencl" else "const "
    if rng.random() < 0.5:
        terms = " + ".join(f"weights[{index}] * {tap.read}" for index, tap in enumerate(taps))
        return Computation(f"{number.value} value = {terms};", (f"{space}{number.value} *weights",))
    steps = [tap.step(f"value += weights[{index}] * {tap.element};") for index, tap in enumerate(taps)]
    return Computation("\n".join([f"{number.value} value = 0;", *steps]), (f"{space}{number.value} *weights",))


def _mean(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    if any(tap.guard for tap in taps) and rng.random() < 0.7:
        steps = [tap.step(f"{{ value += {tap.element}; ++count; }}") for tap in taps]
        lines = [f"{number.value} value = 0;", "int count = 0;", *steps, "value /= count;"]
        return Computation("\n".join(lines))
    total = " + ".join(tap.read for tap in taps)
    return Computation(f"{number.value} value = ({total}) / {len(taps)};")


def _extreme(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """Minimum, maximum, or the difference of both."""
    least, most = rng.choice((("<", ""), (">", ""), ("<", ">")))
    kind, sign = number.value, {"<": "min", ">": "max"}
    lines = [f"{kind} {sign[order]} = {taps[0].read};" for order in (least, most) if order]
    calls = number.is_floating and rng.random() < 0.4
    for tap in taps[1:]:
        steps = []
        for order in (least, most):
            if order and calls:
                steps.append(f"{sign[order]} = {number.call(f'f{sign[order]}', sign[order], f'({kind})next')};")
            elif order and rng.random() < 0.5:
                steps.append(f"{sign[order]} = next {order} {sign[order]} ? next : {sign[order]};")
            elif order:
                steps.append(f"if (next {order} {sign[order]}) {sign[order]} = next;")
        lines.append(tap.step(block("", f"const {kind} next = {tap.element};\n" + "\n".join(steps))))
    lines.append(f"{kind} value = {'max - min' if most else sign[least]};")
    return Computation("\n".join(lines), (), number.needs if calls else ())


def _median(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """The middle of three or five neighbours, by exchanges or by insertion."""
    kept = rng.sample(taps, 5 if len(taps) >= 5 and rng.random() < 0.5 else 3)
    if rng.random() < 0.4:
        lines = [f"{number.value} v[{len(kept)}] = {{{', '.join(f'({number.value}){tap.read}' for tap in kept)}}};"]
        inner = "const int i1 = i - 1;\nv[i] = v[i1];\nv[i1] = last;\n--i;"
        inner = f"int i = k;\nconst {number.value} last = v[k];\n" + block("while (i > 0 && v[i - 1] > last)", inner)
        lines.append(block(f"for (int k = 1; k < {len(kept)}; ++k)", inner))
        return Computation("\n".join([*lines, f"{number.value} value = v[{len(kept) // 2}];"]))
    lines = [f"{number.value} v{index} = {tap.read};" for index, tap in enumerate(kept)]
    for end in range(len(kept) - 1, 0, -1):
        for at in range(end):
            exchange = f"const {number.value} t = v{at};\nv{at} = v{at + 1};\nv{at + 1} = t;"
            lines.append(block(f"if (v{at} > v{at + 1})", exchange))
    return Computation("\n".join([*lines, f"{number.value} value = v{len(kept) // 2};"]))


def _spread(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """The sum of absolute or squared differences to the centre."""
    lines = [f"const {number.value} centre = {taps[0].read};", f"{number.value} value = 0;"]
    calls = number.is_floating and rng.random() < 0.5
    square = rng.random() < 0.4
    for tap in taps[1:]:
        difference = f"const {number.value} d = {tap.element} - centre;\n"
        size = "d * d" if square else number.call("fabs", "d") if calls else "d < 0 ? -d : d"
        lines.append(tap.step(block("", f"{difference}value += {size};")))
    return Computation("\n".join(lines), (), number.needs if calls else ())


def _gradient(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """The length of the vector of differences between pairs of neighbours."""
    pairs = list(zip(taps[1::2], taps[2::2], strict=False))[:4]
    factor = number.literal(rng)
    lines = [
        f"const {number.value} d{index} = {factor} * ({right.read} - {left.read});"
        for index, (left, right) in enumerate(pairs)
    ]
    squares = " + ".join(f"d{index} * d{index}" for index in range(len(pairs)))
    text = rng.choice((number.call("sqrt", squares), f"1 / {number.call('sqrt', f'1 + {squares}')}"))
    return Computation("\n".join([*lines, f"{number.value} value = {text};"]), (), number.needs)


def _reaction(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """One time step of diffusion with a nonlinear source."""
    others = " + ".join(tap.read for tap in taps[1:])
    lines = [f"const {number.value} centre = {taps[0].read};"]
    lines.append(f"const {number.value} laplace = {others} - {len(taps) - 1} * centre;")
    source = rng.choice(("", " + centre * (1 - centre)", " - centre * centre * centre", " + centre / (1 + centre)"))
    lines.append(f"{number.value} value = centre + dt * (diffusion * laplace{source});")
    return Computation("\n".join(lines), (f"{number.value} dt", f"{number.value} diffusion"))


def _normalised(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    upper = " + ".join(f"{number.literal(rng)} * {tap.read}" for tap in taps)
    calls = rng.random() < 0.5
    parts = [
        number.call("fabs", f"({number.value}){tap.read}") if calls else f"{tap.read} * {tap.read}" for tap in taps
    ]
    text = f"{number.value} value = ({upper}) / ({' + '.join(parts)} + {number.literal(rng)});"
    return Computation(text, (), number.needs if calls else ())


def _bilateral(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """A mean whose weights fall with the difference to the centre."""
    kind = number.value
    lines = [f"const {kind} centre = {taps[0].read};", f"{kind} value = centre, total = 1;"]
    weight = rng.choice((number.call("exp", "-d * d * sharp"), "1 / (1 + d * d * sharp)"))
    for tap in taps[1:9]:
        inner = (
            f"const {kind} next = {tap.element};\nconst {kind} d = next - centre;\nconst {kind} weight = {weight};\n"
        )
        lines.append(tap.step(block("", f"{inner}value += weight * next;\ntotal += weight;")))
    return Computation("\n".join([*lines, "value /= total;"]), (f"{kind} sharp",), number.needs)


def _upwind(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """Transport by a velocity, that decides which neighbour counts."""
    kind, pairs = number.value, list(zip(taps[1::2], taps[2::2], strict=False))[:4]
    factor = rng.choice(("", f"{number.literal(rng)} * "))
    lines = [f"const {kind} centre = {taps[0].read};", f"{kind} value = centre;"]
    speed = [f"speed{index}" for index in range(len(pairs))]
    for name, (left, right) in zip(speed, pairs, strict=True):
        lines.append(f"value -= {factor}{name} * ({name} > 0 ? centre - {left.read} : {right.read} - centre);")
    return Computation("\n".join(lines), tuple(f"{kind} {name}" for name in speed))


def _life(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """A cellular automaton: neighbours that are alive are counted."""
    lines = ["int alive = 0;", *(tap.step(f"alive += {tap.element} != 0;") for tap in taps[1:])]
    born, low = rng.randint(2, 4), rng.randint(1, 3)
    rule = rng.choice((f"alive == {born} || (centre && alive == {low})", f"centre ? alive >= {low} : alive > {born}"))
    lines += [f"const int centre = {taps[0].read} != 0;", f"{number.value} value = {rule};"]
    return Computation("\n".join(lines))


def _shifted(rng: Random, taps: list[Tap], number: StencilNumber) -> Computation:
    """A weighted sum of whole numbers with a shift and a cut at the end."""
    terms = " + ".join(f"{number.literal(rng)} * {tap.read}" for tap in taps)
    lines = [f"{number.value} value = ({terms} + {2 ** rng.randint(0, 4)}) >> {rng.randint(1, 6)};"]
    if rng.random() < 0.6:
        top = rng.choice((15, 127, 255, 4095))
        lines.append(rng.choice((f"value = value > {top} ? {top} : value;", f"value &= {top};", f"value ^= {top};")))
    return Computation("\n".join(lines))
