"""Values of expressions in host code, from constants, macros, assignments and calls in its text.

``argv`` takes the program's arguments if they are given. What a value rests on is recorded by file and line; steps,
depth, bits and seconds are bounded.
"""

import math
import operator
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeGuard

from tree_sitter import Node

from ncc.kernels.host.source import (
    Function,
    SourceTree,
    arguments_of,
    children,
    last_name,
    parse_expression,
    part,
    source_text,
    text_of,
)

Value = int | float | tuple[int | float | None, ...] | None
"""A number, a ``dim3`` as a tuple, or None where it is not known."""

_TYPES = {
    1: "char, bool, uchar, u_char, int8_t, uint8_t, signed char, unsigned char",
    2: "short, half, __half, ushort, int16_t, uint16_t, unsigned short",
    4: "int, float, uint, int32_t, uint32_t, unsigned, unsigned int",
    8: "double, long, ulong, size_t, int64_t, uint64_t, long int, long long, unsigned long, unsigned long long",
}
SIZES = {
    f"{name}{lanes}": num_bytes * int(lanes or 1)
    for num_bytes, names in _TYPES.items()
    for name in names.split(", ")
    for lanes in ("", "2", "3", "4", "8", "16")
}
"""Bytes of C's, CUDA's and OpenCL's types by name."""
_POINTER_BYTES = 8
_UNKNOWN_BYTES = 4
_MAX_ALIASES = 6
_MAX_DEPTH = 80  # nesting of nodes and names
_MAX_VALUE = 2.0**63
_MAX_SHIFT = 64
_MAX_STEPS = 100_000  # visited nodes and positions per launch: gpuFLOPBench's programs need at most 62,147
_NO_VALUE = KeyError, IndexError, ValueError, TypeError, ArithmeticError, RecursionError
_CONVERTED = re.compile("ato(?:i|f|ll?)|sto(?:i|f|d|u?ll?)|strto(?:f|d|u?ll?)")
_WRAPPERS = {"parenthesized_expression": 0, "condition_clause": 0, "pointer_expression": 0, "assignment_expression": -1}
_NOTHING_YET = ("0", "-1", "0.0", "0.f")
_ARGV = re.compile(r"argv\[(\d+)\]")
_QUALIFIERS = re.compile(r"\b(?:const|static|constexpr|struct|inline|cl_(?=\w))\s*")
_MEMBERS = (".x", ".y", ".z"), ("[0]", "[1]", "[2]")


def _power(x: float, y: float) -> float:
    value = math.pow(x, y)
    return x**y if abs(value) < _MAX_VALUE else value


def _divided(x: float, y: float) -> float:
    if isinstance(x, int) and isinstance(y, int):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return x / y


def _shifted(x: float, y: float) -> int:
    if not -_MAX_SHIFT < y < _MAX_SHIFT:
        raise ValueError(f"a shift by {y}")
    return int(x) << int(y) if y >= 0 else int(x) >> int(-y)


_FUNCTIONS: dict[str, Callable[..., float]] = {
    **dict.fromkeys(("min", "MIN", "fmin", "fminf"), min),
    **dict.fromkeys(("max", "MAX", "fmax", "fmaxf"), max),
    **dict.fromkeys(("ceil", "ceilf"), math.ceil),
    **dict.fromkeys(("floor", "floorf"), math.floor),
    **dict.fromkeys(("sqrt", "sqrtf"), math.sqrt),
    **dict.fromkeys(("pow", "powf"), _power),
    **dict.fromkeys(("log2", "log2f"), math.log2),
    "abs": abs,
}
_OPERATIONS: dict[tuple[str, int], Callable[..., float]] = {  # by sign and number of operands
    ("+", 1): operator.pos, ("-", 1): operator.neg, ("!", 1): operator.not_, ("~", 1): operator.invert,
    ("+", 2): operator.add, ("-", 2): operator.sub, ("*", 2): operator.mul, ("/", 2): _divided,
    ("%", 2): lambda x, y: int(math.fmod(x, y)), ("<<", 2): _shifted, (">>", 2): lambda x, y: _shifted(x, -y),
    ("&", 2): operator.and_, ("|", 2): operator.or_, ("^", 2): operator.xor, ("==", 2): operator.eq,
    ("!=", 2): operator.ne, ("<", 2): operator.lt, (">", 2): operator.gt, ("<=", 2): operator.le,
    (">=", 2): operator.ge, ("&&", 2): lambda x, y: bool(x and y), ("||", 2): lambda x, y: bool(x or y),
}  # fmt: skip


class Scope(NamedTuple):
    """A position in the text, and the arguments of the macros and short functions around it."""

    at: int
    bound: Mapping[str, tuple[Node, "Scope"]]


def _number(text: str) -> int | float:
    """Value of a C number."""
    text = text.lower().replace("'", "")
    if text.startswith(("0x", "0b")):
        return int(text.rstrip("ul"), 0)
    digits = text.rstrip("ulf")
    if set(digits) & set(".e") or text.endswith("f"):
        return float(digits)
    return int(digits, 8 if digits[0] == "0" else 10)


class Values:
    """Evaluates expressions of host code, with the program's arguments if they are known."""

    def __init__(self, source: SourceTree, program_arguments: Sequence[str] | None, deadline: float) -> None:
        self.source, self.program_arguments, self.deadline = source, dict[str, float](), deadline
        if program_arguments is not None:
            self.program_arguments["argc"] = len(program_arguments) + 1.0
        for number, text in enumerate(program_arguments or (), 1):
            with suppress(ValueError):
                self.program_arguments[f"argv[{number}]"] = float(text)
        self.reset()

    def reset(self) -> None:
        """Forget what is inferred or given, and restore the budget of steps."""
        self.inferred: dict[str, float] = {}  # names whose values follow from the sizes of the launch
        # names of known values, and the functions they are local to; None for all functions
        self.given: dict[tuple[str, int | None], float] = {}
        self.unknown: dict[str, None] = {}
        self.origins: list[tuple[str, str]] = []  # sources of the last values: names with file and line
        self.exceeded = self._is_condition = False
        self._depth = self._steps = 0

    def spend(self, amount: int = 1) -> bool:
        """Whether the budget allows that many more steps."""
        self._steps += amount
        self.exceeded |= self._steps > _MAX_STEPS or time.monotonic() > self.deadline
        return not self.exceeded

    def value(self, node: Node | None, scope: Scope) -> Value:
        """Value of an expression, if it is known."""
        if node is None or node.has_error or self._depth > _MAX_DEPTH or not self.spend():
            return None
        self._depth += 1
        num_origins = len(self.origins)
        try:
            value = self._evaluate(node, scope)
        except _NO_VALUE:
            value = None
        finally:
            self._depth -= 1
        if is_number(value) and not abs(value) < _MAX_VALUE:
            value = None
        if value is None:
            del self.origins[num_origins:]
        return value

    def _evaluate(self, node: Node, scope: Scope) -> Value:
        value: Value = None
        match node.type:
            case "number_literal":
                value = _number(text_of(node))
            case "identifier" | "field_expression" | "subscript_expression" | "qualified_identifier" | "true" | "false":
                value = self.named(text_of(node), scope)
            case kind if kind in _WRAPPERS:
                value = self.value(node.named_children[_WRAPPERS[kind]], scope)
            case "unary_expression" | "binary_expression":
                operands = [self.value(operand, scope) for operand in node.named_children]
                value = _OPERATIONS[text_of(part(node, "operator")), len(operands)](*numbers_of(operands))
            case "conditional_expression":
                yes, no = part(node, "consequence"), part(node, "alternative")
                condition = self.value(part(node, "condition"), scope)
                chosen = (yes, no) if condition is None else (yes,) if condition else (no,)
                known = [value for value in (self.value(one, scope) for one in chosen) if value is not None]
                value = known[0] if len(known) == 1 else None
            case "cast_expression" | "compound_literal_expression":
                value = self._converted(self.value(part(node, "value"), scope), part(node, "type"))
            case "sizeof_expression":
                value = self._bytes(part(node, "type") or part(node, "value"), scope) or _UNKNOWN_BYTES
            case "argument_list" | "initializer_list":
                value = _dimensions([self.value(one, scope) for one in node.named_children])
            case "call_expression":
                value = self._called(node, scope)
        return value

    def _converted(self, value: Value, type_: Node | None) -> Value:
        name = self._resolved(type_)
        if not is_number(value) or name not in SIZES:
            return value
        return float(value) if name in ("float", "double") else int(value)

    def _resolved(self, type_: Node | None) -> str:
        """Name of a type with aliases and macros resolved."""
        name, text = "", source_text(type_)
        for _ in range(_MAX_ALIASES):
            name = " ".join(_QUALIFIERS.sub("", text).split())
            macro, alias = self.source.macros.get(name), self.source.types.get(name)
            if name in SIZES or not (macro or (alias and alias.type != "struct_specifier")):
                break
            text = macro.text if macro else source_text(alias)
        return name

    def scope_of(self, name: str, at: int) -> tuple[str, int]:
        """A name and the start of the function that it is local to; -1 for a global name."""
        function = self.source.enclosing(at)
        assigned = self.source.assigned.get(name, ())
        is_local = function and (
            name in function.parameters or any(function.begin <= one.at < function.end for one in assigned)
        )
        return name, function.begin if function and is_local else -1

    def named(self, name: str, scope: Scope) -> Value:
        """Value of a name, a member or an element."""
        name = name if name in scope.bound else name.rpartition("::")[2]
        keys = [(name, None), self.scope_of(name, scope.at)] if self.given else []
        macro = self.source.macros.get(name)
        value: Value = None
        if name in scope.bound:
            value = self.value(*scope.bound[name])
        elif name in ("true", "false"):
            value = int(name == "true")
        elif key := next((key for key in keys if key in self.given), None):
            value = self._origin(name, "--arg", self.given[key])
        elif name in self.inferred:
            value = self._origin(name, "the launch's sizes", self.inferred[name])
        elif name in self.program_arguments:
            value = self._origin(name, "--program-args", self.program_arguments[name])
        elif name == "argc" and any(known.startswith("argv") for known in self.inferred):
            value = 1 + max(int(found[1]) for known in self.inferred if (found := _ARGV.fullmatch(known)))
        elif (value := self._followed(name, scope)) is None and (value := self._member(name, scope)) is None:
            if macro and macro.parameters is None:
                value = self.rested(name, parse_expression(macro.text), scope, "{}:{}".format(*macro.place))
            elif name not in SIZES:
                self.unknown[name] = None
        return value

    def _origin(self, name: str, place: str, value: float) -> int | float:
        self.origins.append((name, place))
        return int(value) if float(value).is_integer() else value

    def _member(self, name: str, scope: Scope) -> Value:
        """Value of a member of a ``dim3``, or of a structure or array whose members are assigned one by one."""
        for members in _MEMBERS:
            stem, member = name[: -len(members[0])], name[-len(members[0]) :]
            if member in members and (whole := self._followed(stem, scope)) is not None:
                return (whole if isinstance(whole, tuple) else (whole, 1, 1))[members.index(member)]
            elements = [f"{name}{one}" for one in members if f"{name}{one}" in self.source.assigned]
            if elements:
                return _dimensions([self._followed(element, scope) for element in elements])
        return None

    def rested(self, name: str, node: Node | None, scope: Scope, place: str = "") -> Value:
        """Value of a name's expression, whose position is recorded if it consists of constants."""
        before = len(self.origins)
        value = self.value(node, scope)
        if value is not None and len(self.origins) == before:
            self.origins.append((name, place or self.source.place(scope.at)))
        return value

    def _followed(self, name: str, scope: Scope) -> Value:
        """Value of a name by the first of its definitions that is known."""
        values = (self.rested(name, node, outer) for node, outer in self.definitions(name, scope))
        return next((value for value in values if value is not None), None)

    def definitions(self, name: str, scope: Scope) -> Iterator[tuple[Node, Scope]]:
        """Candidate expressions of a name: earlier assignments, last first; arguments of calls; global values."""
        function, assigned = self.source.enclosing(scope.at), self.source.assigned.get(name, [])[::-1]
        if not self.spend(len(assigned)):
            return
        for at, node in assigned:
            if function and function.begin <= at < scope.at and not self._is_skipped(at, scope.at):
                changes = self.source.changed.get(name, ())
                if text_of(node) in _NOTHING_YET and any(at < change < scope.at for change in changes):
                    break  # input, or incremented later
                yield node, Scope(at, {})
        if function and name in function.parameters:
            yield from self.passed(function, name)
            if default := function.defaults[name]:
                yield default, scope
            return
        for at, node in assigned:
            if "." in name or not self.source.enclosing(at):
                yield node, Scope(at, {})

    def _is_skipped(self, at: int, end: int) -> bool:
        """Whether a statement before another depends on a condition that is false."""
        if self._is_condition or not self.spend(0):  # a condition is followed without others
            return False
        self._is_condition = True
        conditions = [node for node, begin, close in self.source.conditions if begin <= at < close <= end]
        values = [self.value(node, Scope(node.start_byte, {})) for node in conditions]
        self._is_condition = False
        return 0 in values

    def passed(self, function: Function, name: str) -> Iterator[tuple[Node, Scope]]:
        """Arguments for a parameter in calls from other functions."""
        number = function.parameters.index(name)
        for call in self.source.calls.get(function.name, ()):
            if not function.begin <= call.start_byte < function.end and number < len(found := arguments_of(call)):
                yield found[number], Scope(call.start_byte, {})

    def _called(self, call: Node, scope: Scope) -> Value:
        target, arguments = part(call, "function"), arguments_of(call)
        name, passed = last_name(target), [(node, scope) for node in arguments]
        macro = self.source.macros.get(name)
        if macro and macro.parameters is not None:
            bound = {**scope.bound, **dict(zip(macro.parameters, passed, strict=False))}
            return self.value(parse_expression(macro.text), Scope(scope.at, bound))
        if _CONVERTED.fullmatch(name) and arguments:
            return self.value(arguments[0], scope)
        for function in self.source.functions.get(name, ()):
            body = children(function.body)
            if len(function.parameters) == len(arguments) and len(body) == 1:
                bound = dict(zip(function.parameters, passed, strict=True))
                is_return = body[0].type == "return_statement"
                return self.value(body[0].named_child(0), Scope(function.begin, bound)) if is_return else None
        values = [self.value(node, scope) for node in arguments]
        if name == "static_cast" or name in SIZES:
            type_ = target if name in SIZES else children(part(target, "arguments"))[0]
            return self._converted(values[0], type_)
        return _dimensions(values) if name in ("dim3", "NDRange") else _FUNCTIONS[name](*numbers_of(values))

    def _bytes(self, node: Node | None, scope: Scope, depth: int = 0) -> int | None:
        """Bytes of a type, of a variable, or of an element of one."""
        name = self._resolved(node)
        if name in SIZES or node is None or depth > _MAX_ALIASES or not self.spend():
            return SIZES.get(name)
        declared: list[tuple[Node | None, Node | None]] = []
        match node.type:
            case "parenthesized_expression":
                return self._bytes(node.named_children[0], scope, depth + 1)
            case "type_descriptor":
                declared = [(part(node, "type"), part(node, "declarator"))]
            case "pointer_expression" | "subscript_expression":
                variable = self.source.variables.get(last_name(part(node, "argument")))
                declared = [(variable[0], None)] if variable else []
            case "struct_specifier" if body := part(node, "body"):
                members = [(part(one, "type"), one.children_by_field_name("declarator")) for one in body.named_children]
                declared = [(type_, declarator) for type_, declarators in members for declarator in declarators]
            case _ if name in self.source.types:
                declared = [(self.source.types[name], None)]
            case _ if name in self.source.variables:
                declared = [self.source.variables[name]]
        return sum(self._declared_bytes(type_, declarator, scope, depth + 1) for type_, declarator in declared) or None

    def _declared_bytes(self, type_: Node | None, declarator: Node | None, scope: Scope, depth: int) -> int:
        """Bytes of a declared variable: a pointer, an array, or the type itself."""
        num_bytes = self._bytes(type_, scope, depth) or 0
        while declarator:
            if "pointer" in declarator.type:
                return _POINTER_BYTES
            if "array" in declarator.type and is_number(count := self.value(part(declarator, "size"), scope)):
                num_bytes = min(num_bytes * int(count), int(_MAX_VALUE))
            declarator = part(declarator, "declarator")
        return num_bytes


def is_number(value: Value) -> TypeGuard[int | float]:
    """Whether a value is a known number."""
    return isinstance(value, int | float)


def numbers_of(values: Sequence[Value]) -> list[int | float]:
    """Return values that are all numbers; ValueError if one is unknown."""
    numbers = [value for value in values if is_number(value)]
    if len(numbers) < len(values):
        raise ValueError("a value is not known")
    return numbers


def _dimensions(values: Sequence[Value]) -> Value:
    """Up to three sizes, of which missing ones are 1; a number or a ``dim3`` alone is unchanged."""
    if len(values) == 1 and values[0] is not None:
        return values[0]
    return tuple(None if isinstance(one, tuple) else one for one in (*values, 1, 1, 1)[:3])
