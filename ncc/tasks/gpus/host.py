"""Launches in host code, read without running it: values of a kernel's arguments and sizes of its buffers.

Constants, macros, assignments and calls are followed as they stand in the text; ``argv`` takes the program's arguments
where they are given, and what is still unknown may follow from the sizes of the launch: of ``(n + 255) / 256`` blocks
there are as many as the launch has.
"""

import functools
import itertools
import math
import operator
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.kernels.instructions import split_fields
from ncc.kernels.launch import Launch
from ncc.kernels.reading import split_kernel_name

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
_MAX_EXPRESSION_DEPTH = 24
_MAX_VALUE = 2.0**63
_MAX_SHIFT = 64
_MAX_BITS = 128  # of an integer on the way to a value

_TOKEN = re.compile(
    r"\s*(0[xX][\da-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*|[A-Za-z_][\w]*(?:(?:::|\.|->)[A-Za-z_]\w*)*"
    r"|<<|>>|<=|>=|==|!=|&&|\|\||\S)"
)
_NUMBER_CAST = re.compile(
    r"\(\s*(?:const\s+)?(?:unsigned|signed|int|long|short|char|float|double|size_t|u?int(?:8|16|32|64)?_t|uint|bool)"
    r"(?:\s+(?:int|long|char|short))*\s*\*?\s*\)(?=\s*[\w(.+!~-])"
)
_SIZEOF = re.compile(r"\bsizeof\s*\(([^()]*)\)")
_STATIC_CAST = re.compile(r"\b(?:static_cast|reinterpret_cast)\s*<[^<>]*>")
_BINARY: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip


def _power(x: float, y: float) -> float:
    value = math.pow(x, y)
    return x**y if abs(value) < _MAX_VALUE else value


_FUNCTIONS: dict[str, Callable[..., float]] = {
    **dict.fromkeys(("min", "std::min", "MIN", "fmin", "fminf"), min),
    **dict.fromkeys(("max", "std::max", "MAX", "fmax", "fmaxf"), max),
    **dict.fromkeys(("ceil", "std::ceil", "ceilf"), math.ceil),
    **dict.fromkeys(("floor", "std::floor", "floorf"), math.floor),
    **dict.fromkeys(("sqrt", "sqrtf", "std::sqrt"), math.sqrt),
    **dict.fromkeys(("pow", "powf", "std::pow"), _power),
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
    """Value of an expression in C, if it is known.

    The functions give a name's value, what a function or macro returns for the texts of its arguments, and the bytes of
    a type or variable that is not in `SIZES`.
    """
    try:
        return _evaluate(text, name, call, size)
    except _NO_VALUE:
        return None


_NO_VALUE = IndexError, ValueError, TypeError, ArithmeticError, RecursionError


def _evaluate(
    text: str,
    name: Callable[[str], Value],
    call: Callable[[str, list[str]], Value],
    size: Callable[[str], int | None],
) -> Value:
    def bytes_of(found: re.Match[str]) -> str:
        inner = re.sub(r"\b(?:const|struct)\b", "", found[1]).strip()
        known = _POINTER_BYTES if inner.endswith("*") else SIZES.get(inner) or size(inner)
        return str(known or _UNKNOWN_BYTES)

    text = _NUMBER_CAST.sub(" ", _STATIC_CAST.sub("", _SIZEOF.sub(bytes_of, text)))
    parser = _Parser([found[1] for found in _TOKEN.finditer(text)], name, call)
    value = parser.ternary()
    return value if parser.at == len(parser.tokens) and _sensible(value) else None


def _whole(value: float) -> int | float:
    return int(value) if float(value).is_integer() else value


def _sensible(value: Value) -> bool:
    return isinstance(value, tuple) or (value is not None and abs(value) < _MAX_VALUE)


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
        if self.depth > _MAX_EXPRESSION_DEPTH:
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
            if token[:2] in ("0x", "0X"):
                return int(token.rstrip("uUlL"), 16)
            token = token.rstrip("uUlLfF")
            if set(token) & set(".eE"):
                return float(token)
            return int(token, 8 if token[0] == "0" else 10)
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
    """Return value of a library function; None for others."""
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
    if not 0 <= y < _MAX_SHIFT:
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
    value = _OPERATIONS[sign](x, y)
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise OverflowError(f"more than {_MAX_BITS} bits")
    return value


_FUNCTION = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^;{}]{0,4000})\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_NO_FUNCTION = frozenset(("if", "for", "while", "switch", "catch", "return", "sizeof", "else", "do"))


@dataclass(frozen=True)
class Body:
    """A function of a text: where it begins and ends, and its parameters."""

    name: str
    begin: int
    end: int
    parameters: list[str]
    defaults: dict[str, str]


def bodies_of(text: str) -> list[Body]:
    """Functions that have a body."""
    bodies = []
    for found in _FUNCTION.finditer(text):
        if found[1] in _NO_FUNCTION:
            continue
        texts = split_arguments(found[2])
        plain = [one.split("=")[0].replace("[]", "").strip() for one in texts]
        names = [(re.findall(r"\w+", one) or [""])[-1] for one in plain]
        defaults = {name: one.split("=", 1)[1] for name, one in zip(names, texts, strict=True) if "=" in one}
        bodies.append(Body(found[1], found.end(), closing(text, found.end() - 1), names, defaults))
    return bodies


def closing(text: str, opening: int) -> int:
    """Where the bracket that opens at a place closes; the text's end if it does not."""
    close = {"(": ")", "{": "}", "[": "]"}[text[opening]]
    depth = 0
    for found in re.compile(re.escape(text[opening]) + "|" + re.escape(close)).finditer(text, opening):
        depth += 1 if found[0] != close else -1
        if depth == 0:
            return found.start()
    return len(text)


def expression_at(text: str, begin: int) -> str:
    """Text between an equals sign and the end of its statement or declarator."""
    depth = 0
    for at in range(begin, min(begin + 400, len(text))):
        sign = text[at]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if depth < 0 or (sign in ",;" and depth == 0):
            return text[begin:at].strip()
    return ""


def substituted(text: str, names: Sequence[str], values: Sequence[str]) -> str:
    """A text with parameters replaced by their arguments."""
    by_name = {name.strip(): f"({value})" for name, value in zip(names, values, strict=False) if name.strip()}
    if not by_name:
        return text
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, by_name))})\b", lambda found: by_name[found[0]], text)


HOST_SUFFIXES = frozenset((".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c", ".hip"))
"""Files that may hold code of a program's."""
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_MAX_FILES = 64
_MAX_BYTES = 1_000_000
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CONTINUED = re.compile(r"(?:[^\n]*\\\n)+[^\n]*")
_LINE = re.compile(r'^#line (\d+) "([^"\n]*)"', re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^()]*)\))?[ \t]*(.*)$", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*(?:(?:\.|->)\w+)*)\s*(?:\[\w*\]\s*)?=(?!=)")
_DIM3 = re.compile(r"\bdim3\s+(\w+)\s*[({]")
_MORE_DIM3 = re.compile(r"\s*,\s*(\w+)\s*\(")
_LAUNCH = re.compile(r"([A-Za-z_][\w:]*)\s*(<[^;{}]{0,200}?>)?\s*<<<")
_ALLOCATED = re.compile(r"\b(?:cuda|hip)(?:Malloc|MallocManaged|MallocAsync|HostAlloc|MallocHost)\s*\(")
_FILLED = re.compile(r"\b(?:cuda|hip)(?:Memcpy|Memset)(?:Async)?\s*\(")
_CAST = re.compile(r"^\s*(?:\(\s*[\w\s:]*\*+\s*\)|\w+_cast<[^<>]*>)?[\s&*(]*")
_POINTER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->)\w+)*")
_CONVERTED = ("atoi", "atol", "atof", "atoll", "stoi", "stol", "stof", "stod", "stoul", "stoull", "strtol", "strtoul",
              "strtod", "strtoull", "strtoll")  # fmt: skip
_TYPE = re.compile(r"\b(?:const|static|constexpr|unsigned|struct|inline)\b\s*")
_WORDS: dict[str, Value] = {"true": 1, "false": 0, "NULL": None, "nullptr": None}
_NOTHING_YET = ("0", "-1", "0.0", "0.f")
_MAX_CALL_DEPTH = 12
_OWN_DEPTH = 3  # of a launch's own sizes and the dim3 they name; what callers pass may be set in ways not seen here
_MAX_LETTERS = 2_000_000
_MAX_SITES = 1000
# letters of expressions for a launch: gpuFLOPBench's programs need at most 61,535
_MAX_EVALUATED = 500_000
_MAX_SECONDS = 5.0
_MAX_STEPS = 64
_MAX_SIZE = 2**40
_ARGV = re.compile(r"argv\s*\[\s*(\d+)\s*\]")


@dataclass(frozen=True)
class HostArguments:
    """Kernel arguments recovered from host code."""

    values: dict[int, float] = field(default_factory=dict)  # Number of an argument → its value
    buffers: dict[int, float] = field(default_factory=dict)  # Number of an argument that points to memory → bytes of it
    # Names of host code whose values follow from the launch's sizes → the value
    inferred: dict[str, float] = field(default_factory=dict)
    found: bool = False  # whether there is a launch of the kernel at all
    # Sizes of the launch that the text has another value for, and a budget that reading it exceeded, in words
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Site:
    """A launch in the text: template arguments, sizes and arguments as expressions."""

    at: int
    template: str
    grid: str
    block: str
    arguments: list[str]


class HostCode:
    """The text of host code with its own includes in their places, and the program's arguments if they are known."""

    def __init__(self, text: str, program_arguments: Sequence[str] | None = None) -> None:
        text = _COMMENT.sub(lambda found: " " + "\n" * found[0].count("\n"), text[:_MAX_LETTERS])
        text = _CONTINUED.sub(lambda found: found[0].replace("\\\n", " ") + "\n" * found[0].count("\n"), text)
        self._files = [(text.count("\n", 0, one.start()), int(one[1]), one[2]) for one in _LINE.finditer(text)]
        self.program_arguments = program_arguments
        self.macros = {found[1]: (found[3], found[4].strip()) for found in _DEFINE.finditer(text)}
        self.text = _DIRECTIVE.sub("", text)
        self.bodies = bodies_of(self.text)
        self.assigned: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        self._find_assignments()
        self.allocated = list(self._allocations())
        self._calls: dict[str, list[tuple[int, int, list[str]]]] = {}
        self.inferred: dict[str, float] = {}
        self._given: dict[tuple[str, int], float] = {}
        self._unknown: set[str] = set()
        self._depth = 0
        self._evaluated, self._deadline = 0, math.inf
        self._exceeded = self._divided_by_zero = False

    def arguments_of(self, kernel: str, launch: Launch) -> HostArguments:
        """Arguments and buffers at that launch of a kernel, by its whole name, that fits these sizes best.

        Raises:
            InputError: The grid or block of that launch is negative or divides by zero.
        """
        self.inferred, self._given = {}, {}
        self._evaluated, self._deadline, self._exceeded = 0, time.monotonic() + _MAX_SECONDS, False
        plain, template = split_kernel_name(kernel)
        every = (site for found in _LAUNCH.finditer(self.text) if (site := self._site(found, plain)))
        sites = list(itertools.islice(every, _MAX_SITES))
        if not sites:
            return HostArguments()
        more = next(every, None) is not None
        site = max(sites, key=lambda one: (self._instance(one, template), self._fits(one, launch)))
        self._set_given(site, plain, launch)
        conflicts = []
        self._check_sizes(site)
        for name, text, sizes in (("grid", site.grid, launch.grid), ("block", site.block, launch.block)):
            for axis, size in enumerate(sizes):
                self._solve(text, axis, size, site.at)
                if (said := self._axis(text, axis, site.at)) is not None and said != size:
                    conflicts.append(f"{name} {'xyz'[axis]} is {said:,} in the host code, {size:,} here")
        values, buffers = dict[int, float](), dict[int, float]()
        for number, text in enumerate(site.arguments):
            if size_bytes := self._buffer(text, site.at):
                buffers[number] = size_bytes
            elif isinstance(value := self._value(text, site.at), int | float):
                values[number] = float(value)
        if self._exceeded or more:
            conflicts.append("host code is too long to follow: some of its values are unknown")
        return HostArguments(values, buffers, dict(self.inferred), True, tuple(conflicts))

    def _check_sizes(self, site: _Site) -> None:
        for name, text in (("grid", site.grid), ("block", site.block)):
            self._divided_by_zero = False
            value = self._value(text, site.at)
            sizes = value if isinstance(value, tuple) else (value,)
            is_negative = any(size is not None and size < 0 for size in sizes)
            if is_negative or (self._divided_by_zero and None in sizes):
                wrong = "is negative" if is_negative else "divides by zero"
                raise InputError(f"{self._place(site.at)}: the {name} of this launch {wrong}: {text.strip():.80}")

    def _place(self, at: int) -> str:
        line = self.text.count("\n", 0, at)
        begin, number, file = max((one for one in self._files if one[0] < line), default=(-1, 1, "source"))
        return f"{file}:{number + line - begin - 1}"

    def _set_given(self, site: _Site, kernel: str, launch: Launch) -> None:
        """Fixes the names that stand for explicit arguments of the kernel, up to where callers name them."""
        parameters = next((body.parameters for body in self.bodies if body.name == kernel), [])
        for argument, value in launch.arguments.items():
            number = (
                parameters.index(argument) if argument in parameters else int(argument) if argument.isdigit() else -1
            )
            name, at = site.arguments[number].strip() if 0 <= number < len(site.arguments) else "", site.at
            while name.isidentifier() and (key := self._scope(name, at)) not in self._given:
                self._given[key] = value
                body = self._enclosing(at)
                calls = self._calls_of(body) if body and name in body.parameters else []
                if body and calls and len(calls[0][1]) > (number := body.parameters.index(name)):
                    at, name = calls[0][0], calls[0][1][number].strip()

    def _scope(self, name: str, at: int) -> tuple[str, int]:
        """A name, and where the function begins that it is local to; -1 for a global name."""
        body = self._enclosing(at)
        places = [where for where, _ in self.assigned.get(name, [])]
        is_local = body and (name in body.parameters or any(body.begin <= where < body.end for where in places))
        return name, body.begin if body and is_local else -1

    def _spend(self, amount: int) -> bool:
        """Whether the budget allows for as many more letters."""
        self._evaluated += amount
        self._exceeded |= self._evaluated > _MAX_EVALUATED or time.monotonic() > self._deadline
        return not self._exceeded

    def _find_assignments(self) -> None:
        for found in _ASSIGNED.finditer(self.text):
            if self.text[found.start() - 1 : found.start()] in ("<", ">", "!"):
                continue
            self.assigned[found[1].replace("->", ".")].append((found.start(), expression_at(self.text, found.end())))
        for found in _DIM3.finditer(self.text):
            end = closing(self.text, found.end() - 1)
            name = found[1]
            self.assigned[name].append((found.start(), f"dim3({self.text[found.end() : end]})"))
            while more := _MORE_DIM3.match(self.text, end + 1):
                begin, end = more.end(), closing(self.text, more.end() - 1)
                self.assigned[more[1]].append((more.start(), f"dim3({self.text[begin:end]})"))
        for one in self.assigned.values():
            one.sort()

    def _site(self, found: re.Match[str], kernel: str) -> _Site | None:
        if found[1].split("::")[-1] != kernel:
            return None
        end = self.text.find(">>>", found.end())
        begin = self.text.find("(", end)
        if end < 0 or begin < 0:
            return None
        sizes = split_arguments(self.text[found.end() : end])
        inside = self.text[begin + 1 : closing(self.text, begin)]
        template = found[2] or ""
        return _Site(found.start(), template, sizes[0], sizes[1], split_arguments(inside)) if len(sizes) > 1 else None

    def _instance(self, site: _Site, template: str) -> int:
        """Template arguments of a launch that are those of an instance, less those that are others."""
        score = 0
        for said, meant in zip(split_arguments(site.template[1:-1]), split_arguments(template[1:-1]), strict=False):
            plain = "".join(said.split())
            value = self._value(said, site.at)
            known = f"{value:g}" if isinstance(value, int | float) else plain if plain in SIZES else ""
            score += 0 if not known else 1 if known == meant else -1
        return score

    def _fits(self, site: _Site, launch: Launch) -> float:
        """How well a launch in the text agrees with the sizes; what is not known neither agrees nor contradicts."""
        score = 0.0
        for text, sizes in ((site.grid, launch.grid), (site.block, launch.block)):
            value = self._value(text, site.at)
            if value is not None:
                known = value if isinstance(value, tuple) else (value, 1, 1)
                for one, size in zip(known, sizes, strict=True):
                    score += 0 if one is None else 1 if int(one) == size else -1
        return score

    def _enclosing(self, at: int) -> Body | None:
        around = [body for body in self.bodies if body.begin <= at < body.end]
        return min(around, key=lambda body: body.end - body.begin, default=None)

    def _value(self, text: str, at: int) -> Value:
        if self._depth > _MAX_CALL_DEPTH or not self._spend(len(text) + 1):
            return None
        self._depth += 1
        try:
            return _evaluate(
                text,
                lambda name: self._named(name, at),
                lambda function, texts: self._called(function, texts, at),
                self._bytes,
            )
        except _NO_VALUE as error:
            self._divided_by_zero |= isinstance(error, ZeroDivisionError) and self._depth <= _OWN_DEPTH
            return None
        finally:
            self._depth -= 1

    def _named(self, name: str, at: int) -> Value:
        name = name.replace("->", ".").removeprefix("this.")
        given = self._given.get(self._scope(name, at)) if self._given else None
        fixed = self.inferred.get(name) if given is None else given
        if name in _WORDS or fixed is not None:
            return _WORDS[name] if fixed is None else _whole(fixed)
        if name == "argc" and (count := self._argument_count()):
            return count
        for value in self._candidates(name, at):
            if value is not None:
                return value
        stem, _, member = name.rpartition(".")
        if stem and member in "xyz":
            whole = self._named(stem, at)
            return whole["xyz".index(member)] if isinstance(whole, tuple) else whole if member == "x" else 1
        if name in self.macros and self.macros[name][0] is None:
            return self._value(self.macros[name][1], at)
        if name not in SIZES:
            self._unknown.add(name)
        return None

    def _candidates(self, name: str, at: int) -> list[Value]:
        """Values that a name may have: the last assigned before, in its function; what calls pass; global ones."""
        body = self._enclosing(at)
        found: list[Value] = []
        texts = self.assigned.get(name, [])
        if body:
            for where, text in reversed(texts):
                if text in _NOTHING_YET and re.search(rf"&\s*{re.escape(name)}\b", self.text[where:at]):
                    break  # what is read later
                if body.begin <= where < at and (value := self._value(text, where)) is not None:
                    return [value]
            if name in body.parameters:
                found += self._passed(body, body.parameters.index(name))
                if name in body.defaults:
                    found.append(self._value(body.defaults[name], at))
                return found
        for where, text in reversed(texts if self._spend(len(texts)) else []):
            if (not self._enclosing(where) or "." in name) and (value := self._value(text, where)) is not None:
                return [value]
        return found

    def _passed(self, body: Body, number: int) -> list[Value]:
        """Argument for a parameter in the first readable call of a function."""
        for at, texts in self._calls_of(body):
            if number < len(texts) and (value := self._value(texts[number], at)) is not None:
                return [value]
        return []

    def _calls_of(self, body: Body) -> list[tuple[int, list[str]]]:
        """Places where a function is called from elsewhere, and what they pass."""
        if body.name not in self._calls:
            call = re.compile(rf"\b{re.escape(body.name)}\s*(?:<[^;{{}}()]*>)?\s*\(")
            self._calls[body.name] = [
                (
                    found.start(),
                    found.end(),
                    split_arguments(self.text[found.end() : closing(self.text, found.end() - 1)]),
                )
                for found in call.finditer(self.text)
            ]
        return [
            (begin, texts)
            for begin, end, texts in self._calls[body.name]
            if not (begin < body.begin <= end + sum(map(len, texts)) + 2 * len(texts) + 8)
            and not body.begin <= begin < body.end
        ]

    def _allocations(self) -> Iterator[tuple[str, str, int]]:
        """Pointers that memory is allocated for, or else copied to, with its bytes."""
        for pattern, size_at in ((_ALLOCATED, 1), (_FILLED, 2)):
            for call in pattern.finditer(self.text):
                texts = split_arguments(self.text[call.end() : closing(self.text, call.end() - 1)])
                if len(texts) > size_at:
                    pointer = _CAST.sub("", texts[0]).rstrip(") ").replace("->", ".")
                    yield pointer, texts[size_at], call.start()

    def _called(self, function: str, texts: list[str], at: int) -> Value:
        plain = function.rsplit("::", maxsplit=1)[-1]
        if plain in _CONVERTED and texts:
            return self._program_argument(texts[0])
        macro = self.macros.get(function)
        if macro and macro[0] is not None:
            return self._value(substituted(macro[1], macro[0].split(","), texts), at)
        values = [self._value(text, at) for text in texts]
        if (known := call_known(function, values)) is not None:
            return known
        body = next((one for one in self.bodies if one.name == plain and len(one.parameters) == len(texts)), None)
        if body:
            inside = self.text[body.begin : body.end].strip()
            if inside.startswith("return") and inside.count(";") == 1:
                return self._value(substituted(inside[6:-1], body.parameters, texts), at)
        return None

    def _argument_count(self) -> int:
        """Value of argc: from the program's arguments, or from inferred ones; 0 if neither is known."""
        if self.program_arguments is not None:
            return len(self.program_arguments) + 1
        return 1 + max((int(found[1]) for name in self.inferred if (found := _ARGV.fullmatch(name))), default=-1)

    def _program_argument(self, text: str) -> Value:
        found = _ARGV.search(text)
        if not found:
            return None
        number = int(found[1]) - 1
        key = f"argv[{number + 1}]"
        if key in self.inferred:
            return int(self.inferred[key])
        if self.program_arguments is None or number >= len(self.program_arguments):
            if self.program_arguments is None:
                self._unknown.add(key)
            return None
        try:
            value = float(self.program_arguments[number])
        except ValueError:
            return None
        return _whole(value)

    def _bytes(self, name: str) -> int | None:
        """Bytes of a type that is an alias, or of a variable."""
        found = re.search(rf"\btypedef\s+([\w ]+?)\s+{re.escape(name)}\s*;", self.text) or re.search(
            rf"\busing\s+{re.escape(name)}\s*=\s*([\w ]+?)\s*;", self.text
        )
        if found is None and name in self.macros and self.macros[name][0] is None:
            return SIZES.get(self.macros[name][1])
        if found is None and name.isidentifier():
            found = re.search(rf"\b({'|'.join(SIZES)})\s+{re.escape(name)}\b", self.text)
        if found is None:
            return self._struct_bytes(name)
        return SIZES.get(_TYPE.sub("", found[1])) or SIZES.get(found[1])

    def _struct_bytes(self, name: str) -> int | None:
        if not name.isidentifier():
            return None
        found = re.search(rf"\bstruct\s+{name}\s*\{{", self.text) or re.search(
            rf"\bstruct\s*\w*\s*\{{(?=[^{{}}]*\}}\s*{name}\s*;)", self.text
        )
        if not found:
            return None
        total = 0
        for line in self.text[found.end() : closing(self.text, found.end() - 1)].split(";"):
            if field_ := re.match(rf"\s*(?:const\s+)?({'|'.join(SIZES)})\s+([^()]+)$", line):
                for one in field_[2].split(","):
                    array = re.search(r"\[\s*(\w+)\s*\]", one)
                    count = self._value(array[1], 0) if array else 1
                    total += (8 if "*" in one else SIZES[field_[1]]) * int(count if isinstance(count, int) else 1)
        return total or None

    def _buffer(self, text: str, at: int, depth: int = 0) -> float | None:
        """Bytes of the memory that an argument points to."""
        text = re.sub(r"^\s*\(.*\*\s*\)\s*", "", text).strip().lstrip("&*(")
        found = _POINTER.match(text)
        if not found or depth > 3 or not self._spend(1):
            return None
        name = found[0].removesuffix(".data").replace("->", ".")
        for pointer, size_text, where in self.allocated:
            if pointer == name:
                value = self._value(size_text, where)
                if isinstance(value, int | float) and value > 0:
                    return float(value)
        body = self._enclosing(at)
        if body and name in body.parameters:
            number = body.parameters.index(name)
            for where, texts in self._calls_of(body):
                if number < len(texts) and texts[number] and (size := self._buffer(texts[number], where, depth + 1)):
                    return size
        for where, value_text in reversed(self.assigned.get(name, [])):
            is_alias = value_text != name and re.fullmatch(r"[\w.>&\[\]+\- ]+", value_text)
            inside = body is not None and body.begin <= where < at
            if inside and is_alias and (size := self._buffer(value_text, where, depth + 1)):
                return size
        return None

    def _solve(self, text: str, axis: int, size: int, at: int) -> None:
        """Finds a name that is not known, the only one in an expression, by the size that the expression has.

        Where the expression has another size, for what the source takes when the program has no arguments, one of these
        is found.
        """
        self._unknown = set()
        value = self._axis(text, axis, at)
        names = sorted(self._unknown, key=lambda one: (not one.startswith("argv"), one))
        if value == size:
            return
        for name in names if value is None else [one for one in names if one.startswith("argv")]:
            low, high = 1, 2
            if (value := self._with(name, high, text, axis, at)) is None:
                continue
            while high < _MAX_SIZE and (value := self._with(name, high, text, axis, at)) is not None and value <= size:
                low, high = high, high * 2
            for _ in range(_MAX_STEPS):
                if high - low <= 1:
                    break
                middle = (low + high) // 2
                value = self._with(name, middle, text, axis, at)
                low, high = (middle, high) if value is not None and value <= size else (low, middle)
            if high < _MAX_SIZE and self._with(name, low, text, axis, at) == size:
                self.inferred[name] = float(low)
                return
            self.inferred.pop(name, None)

    def _with(self, name: str, value: int, text: str, axis: int, at: int) -> float | None:
        before = dict(self.inferred)
        self.inferred[name] = value
        found = self._axis(text, axis, at)
        self.inferred = before
        return found

    def _axis(self, text: str, axis: int, at: int) -> float | None:
        value = self._value(text, at)
        if isinstance(value, tuple):
            found = value[axis]
            return None if found is None else math.floor(found)
        return (None if value is None else math.floor(value)) if axis == 0 else 1


def host_arguments(
    source: str | os.PathLike[str] | bytes,
    kernel: str,
    launch: Launch,
    options: CompileOptions | None = None,
    program_arguments: Sequence[str] | None = None,
) -> HostArguments:
    """Read a launch's arguments from host code: of the file (or text) and its includes, else of the files beside it."""
    options = options or CompileOptions()
    defines = "".join(f"#define {one.replace('=', ' ', 1)}\n" for one in options.defines if "=" in one)
    given = None if program_arguments is None else tuple(program_arguments)
    if isinstance(source, bytes):
        return _host_code(f'{defines}#line 1 "source"\n{source.decode(errors="replace")}', given).arguments_of(
            kernel, launch
        )
    path = Path(source)
    own = _with_includes(path, [Path(one) for one in options.include_paths], set())
    found = _host_code(defines + own, given).arguments_of(kernel, launch)
    if found.found:
        return found
    files = sorted(one for one in path.parent.glob("*") if one.suffix in HOST_SUFFIXES and one.is_file())[:_MAX_FILES]
    beside = "\n".join(f'#line 1 "{one}"\n{read_text(one)}' for one in files)
    if "<<<" not in beside:
        return found
    return _host_code(defines + beside, given).arguments_of(kernel, launch)


@functools.lru_cache(maxsize=16)
def _host_code(text: str, program_arguments: tuple[str, ...] | None) -> HostCode:
    return HostCode(text, program_arguments)


def _with_includes(path: Path, folders: Sequence[Path], seen: set[Path]) -> str:
    """A file's text with the headers of its folder included."""
    if path in seen or len(seen) >= _MAX_FILES:
        return ""
    seen.add(path)
    text = read_text(path)

    def included(found: re.Match[str]) -> str:
        for folder in (path.parent, *folders):
            if (folder / found[1]).is_file():
                line = text.count("\n", 0, found.start()) + 2
                return f'{_with_includes(folder / found[1], folders, seen)}\n#line {line} "{path}"'
        return ""

    return f'#line 1 "{path}"\n{_INCLUDE.sub(included, text)}'


def read_text(path: Path) -> str:
    """Read the start of a file, whatever its encoding."""
    with path.open(errors="replace") as file:
        return file.read(_MAX_BYTES)
