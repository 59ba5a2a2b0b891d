"""Values of C expressions as host code writes them: constants, macros, small functions, ``sizeof`` and casts."""

import math
import operator
import re
from collections.abc import Callable

from ncc.kernels.instructions import split_fields

Value = int | float | tuple[int | float | None, ...] | None
"""A number, a ``dim3`` as a tuple, or None where it is not known."""

SIZES = {
    **dict.fromkeys(("char", "bool", "uchar", "int8_t", "uint8_t", "signed char", "unsigned char", "u_char"), 1),
    **dict.fromkeys(("short", "half", "__half", "int16_t", "uint16_t", "ushort", "unsigned short", "uchar2"), 2),
    **dict.fromkeys(("int", "float", "unsigned", "uint", "unsigned int", "int32_t", "uint32_t", "uchar4", "half2"), 4),
    **dict.fromkeys(("double", "long", "size_t", "int64_t", "uint64_t", "float2", "int2", "long long", "ulong"), 8),
    **dict.fromkeys(("unsigned long", "unsigned long long", "short4", "long int", "uint2"), 8),
    **dict.fromkeys(("float3", "int3", "uint3"), 12),
    **dict.fromkeys(("float4", "int4", "uint4", "double2"), 16),
    **dict.fromkeys(("double3",), 24),
    **dict.fromkeys(("double4",), 32),
}
"""Bytes of C's and CUDA's types by name."""
_POINTER_BYTES = 8
_UNKNOWN_BYTES = 4
_DEEPEST = 24
_LARGEST = 2.0**63
_LARGEST_SHIFT = 64

_TOKEN = re.compile(
    r"\s*(0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[A-Za-z_][\w]*(?:(?:::|\.|->)[A-Za-z_]\w*)*"
    r"|<<|>>|<=|>=|==|!=|&&|\|\||\S)"
)
_SUFFIX = re.compile(r"(?<=[\da-fA-F.])(?:[uUlL]+|[fF])\b")
_CAST = re.compile(
    r"\(\s*(?:const\s+)?(?:unsigned|signed|int|long|short|char|float|double|size_t|u?int(?:8|16|32|64)?_t|uint|bool)"
    r"(?:\s+(?:int|long|char|short))*\s*\*?\s*\)(?=\s*[\w(])"
)
_SIZEOF = re.compile(r"\bsizeof\s*\(([^()]*)\)")
_STATIC_CAST = re.compile(r"\b(?:static_cast|reinterpret_cast)\s*<[^<>]*>")
_BINARY: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    **dict.fromkeys(("min", "std::min", "MIN", "fmin", "fminf"), min),
    **dict.fromkeys(("max", "std::max", "MAX", "fmax", "fmaxf"), max),
    **dict.fromkeys(("ceil", "std::ceil", "ceilf"), math.ceil),
    **dict.fromkeys(("floor", "std::floor", "floorf"), math.floor),
    **dict.fromkeys(("sqrt", "sqrtf", "std::sqrt"), math.sqrt),
    **dict.fromkeys(("pow", "powf", "std::pow"), pow),
    **dict.fromkeys(("log2", "log2f", "std::log2"), math.log2),
    **dict.fromkeys(("abs", "std::abs"), abs),
}


def split_arguments(text: str) -> list[str]:
    """Parts of a text between commas that are in no brackets; none of an empty text."""
    return split_fields(text, "([{)]}") if text.strip() else []


def evaluate_expression(
    text: str,
    name: Callable[[str], Value],
    call: Callable[[str, list[str]], Value],
    size: Callable[[str], int | None] = lambda _: None,
) -> Value:
    """Value of an expression; None where it can't be told.

    Args:
        text: The expression, in C.
        name: Says a name's value.
        call: Says what a function or a macro returns, by its name and the texts of its arguments.
        size: Says the bytes of a type or a variable that is not in `SIZES`.
    """

    def bytes_of(found: re.Match[str]) -> str:
        inner = re.sub(r"\b(?:const|struct)\b", "", found[1]).strip()
        known = _POINTER_BYTES if inner.endswith("*") else SIZES.get(inner) or size(inner)
        return str(known or _UNKNOWN_BYTES)

    text = _CAST.sub(" ", _STATIC_CAST.sub("", _SIZEOF.sub(bytes_of, text)))
    parser = _Parser([found[1] for found in _TOKEN.finditer(_SUFFIX.sub("", text))], name, call)
    try:
        value = parser.ternary()
    except (IndexError, ValueError, TypeError, ArithmeticError, RecursionError):
        return None
    return value if parser.at == len(parser.tokens) and _sensible(value) else None


def _sensible(value: Value) -> bool:
    return isinstance(value, tuple) or (value is not None and abs(value) < _LARGEST)


class _Parser:
    """Walks the tokens of one expression, by precedence."""

    def __init__(
        self, tokens: list[str], name: Callable[[str], Value], call: Callable[[str, list[str]], Value]
    ) -> None:
        self.tokens, self.name, self.call, self.at, self.depth = tokens, name, call, 0, 0

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def ternary(self) -> Value:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("too deep")
        value = self._level(0)
        if self._peek() == "?":
            self._take()
            yes = self.ternary()
            if self._take() != ":":
                raise ValueError("no colon")
            no = self.ternary()
            value = (yes if no is None else no if yes is None else None) if value is None else yes if value else no
        self.depth -= 1
        return value

    def _level(self, level: int) -> Value:
        if level == len(_BINARY):
            return self._unary()
        value = self._level(level + 1)
        while self._peek() in _BINARY[level]:
            sign = self._take()
            value = _apply(sign, value, self._level(level + 1))
        return value

    def _unary(self) -> Value:
        sign = self._peek()
        if sign in ("-", "+", "!", "~"):
            self._take()
            value = self._unary()
            if value is None or isinstance(value, tuple):
                return None
            return -value if sign == "-" else value if sign == "+" else int(not value) if sign == "!" else ~int(value)
        return self._primary()

    def _primary(self) -> Value:
        token = self._take()
        if token == "(":
            value = self.ternary()
            if self._take() != ")":
                raise ValueError("no bracket")
            return value
        if token[0].isdigit() or (token[0] == "." and token[1:].isdigit()):
            return (
                int(token, 16) if token[:2] in ("0x", "0X") else float(token) if set(token) & set(".eE") else int(token)
            )
        if not (token[0].isalpha() or token[0] == "_"):
            raise ValueError(token)
        if self._peek() == "<" and ">" in self.tokens[self.at : self.at + 4]:  # a function's template arguments
            end = self.tokens.index(">", self.at)
            if end + 1 < len(self.tokens) and self.tokens[end + 1] == "(":
                self.at = end + 1
        if self._peek() in ("(", "["):
            return self._called(token)
        return self.name(token)

    def _called(self, token: str) -> Value:
        bracket, begin, depth = self._peek(), self.at + 1, 0
        while True:
            sign = self._take()
            depth += (sign in ("(", "[")) - (sign in (")", "]"))
            if depth == 0:
                break
        inner = " ".join(self.tokens[begin : self.at - 1])
        return self.name(f"{token}[{inner}]") if bracket == "[" else self.call(token, split_arguments(inner))


def call_known(function: str, values: list[Value]) -> Value:
    """What a function of the library returns; None for others."""
    if function == "dim3":
        return tuple(None if isinstance(one, tuple) else one for one in (*values, 1, 1)[:3])
    if function in SIZES and len(values) == 1 and isinstance(values[0], int | float):
        return values[0] if function in ("float", "double") else int(values[0])
    numbers = [one for one in values if isinstance(one, int | float)]
    if function in _FUNCTIONS and numbers and len(numbers) == len(values):
        return _FUNCTIONS[function](*numbers)
    return None


def _divided(x: float, y: float) -> float:
    if isinstance(x, int) and isinstance(y, int):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return x / y


def _shifted(x: float, y: float, left: bool) -> int:
    if not 0 <= y < _LARGEST_SHIFT:
        raise ValueError(f"a shift by {y}")
    return int(x) << int(y) if left else int(x) >> int(y)


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": lambda x, y: int(math.fmod(x, y)),
    "<<": lambda x, y: _shifted(x, y, True),
    ">>": lambda x, y: _shifted(x, y, False),
    "&": lambda x, y: int(x) & int(y),
    "|": lambda x, y: int(x) | int(y),
    "^": lambda x, y: int(x) ^ int(y),
    "==": lambda x, y: int(x == y),
    "!=": lambda x, y: int(x != y),
    "<": lambda x, y: int(x < y),
    ">": lambda x, y: int(x > y),
    "<=": lambda x, y: int(x <= y),
    ">=": lambda x, y: int(x >= y),
    "&&": lambda x, y: int(bool(x) and bool(y)),
    "||": lambda x, y: int(bool(x) or bool(y)),
}


def _apply(sign: str, x: Value, y: Value) -> Value:
    if x is None or y is None or isinstance(x, tuple) or isinstance(y, tuple):
        return None
    return _OPERATIONS[sign](x, y)
