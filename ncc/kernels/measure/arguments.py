"""Arguments for a kernel, generated from their types and the size, or as comments next to the kernel specify.

A comment ``// ncc: NAME: KEY VALUE, KEY VALUE`` gives for an argument NAME (``kernel.argument`` for that of one kernel)
its ``size`` in elements, its ``values`` (of element ``i``), or the limit that random whole numbers are ``below``; for a
kernel NAME its number of ``items`` and its ``local`` size. Values are expressions of ``N`` (work-items), ``X`` and
``Y`` (those of a row and of a column), ``L`` (of a work-group), ``W`` (the requested size) and ``i``.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ncc.errors import InputError

Annotations = Mapping[str, Mapping[str, str]]

_ANNOTATION = re.compile(r"^[ \t]*//[ \t]*ncc:[ \t]*([\w.]+):(.+)$", re.MULTILINE)
_KEYS = ("size", "values", "below", "items", "local")
_SCALARS: dict[str, Any] = {
    **{"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32},
    **{"long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32, "double": np.float64},
}
_TYPE = re.compile(rf"({'|'.join(_SCALARS)})(2|3|4|8|16)?")
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod},
    **{ast.Div: operator.floordiv, ast.FloorDiv: operator.floordiv},
}
_MAX_COMMENT_CHARS = 200
"""Maximum length of an expression, which Python's parser handles safely; the longest of a shipped kernel has 43."""
_MAX_ELEMENTS = 2**34
_MAX_SIZE = 2**63
"""Largest number of an expression and of its parts."""


@dataclass(frozen=True)
class NDRange:
    """Work-items of each dimension, in total and of a group, and the requested size."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    requested_size: int

    @property
    def names(self) -> dict[str, int]:
        """Names in expressions."""
        x, y = (*self.global_size, 1)[:2]
        num_items, num_local = math.prod(self.global_size), math.prod(self.local_size)
        return {"N": num_items, "X": x, "Y": y, "L": num_local, "W": self.requested_size}


@dataclass(frozen=True)
class Argument:
    """An argument of a kernel; the space is "global", "constant", "local", or "private", where scalars are."""

    kernel: str
    name: str
    type_name: str
    space: str
    is_const: bool
    annotations: Annotations = field(default_factory=dict)

    @property
    def element(self) -> tuple[Any, int]:
        """NumPy's type of its numbers, and how many of them an element has."""
        plain = self.type_name.removesuffix("*").strip()
        match = _TYPE.fullmatch(plain)
        if not match:
            raise InputError(
                f"kernel {self.kernel}: argument {self.name!r} is of type {plain}, which ncc can't generate; "
                "expected buffers, local memory and scalars of OpenCL's arithmetic types (no images, pipes, structures)"
            )
        width = int(match[2] or 1)
        return _SCALARS[match[1]], 4 if width == 3 else width

    @property
    def rules(self) -> dict[str, str]:
        """Its annotations by key."""
        return {**self.annotations.get(self.name, {}), **self.annotations.get(f"{self.kernel}.{self.name}", {})}

    def elements(self, nd_range: NDRange) -> int:
        """Elements of a buffer: by default one per work-item, or in local memory per item of a group."""
        count = int(evaluate_size(self.rules.get("size", "L" if self.space == "local" else "N"), nd_range.names))
        if not 0 < count < _MAX_ELEMENTS:
            raise InputError(f"kernel {self.kernel}: argument {self.name!r} would have {count} elements")
        return count

    def num_bytes(self, nd_range: NDRange) -> int:
        """Bytes of a buffer, without making it."""
        dtype, width = self.element
        return int(np.dtype(dtype).itemsize) * width * self.elements(nd_range)


def read_annotations(source: str) -> Annotations:
    """Annotations of arguments and kernels in the comments of a source."""
    annotations: dict[str, dict[str, str]] = {}
    for name, rules in _ANNOTATION.findall(source):
        comment = f"ncc: {name}: {rules.strip()}"
        if len(comment) > _MAX_COMMENT_CHARS:
            length = f"{len(comment):,} characters; expected {_MAX_COMMENT_CHARS} at most"
            raise InputError(f"comment '{comment[:60]}…' has {length}")
        for rule in rules.split(","):
            key, _, value = rule.strip().partition(" ")
            if key not in _KEYS or not value.strip():
                raise InputError(f"comment '{comment}': {rule.strip()!r} is not one of {', '.join(_KEYS)}")
            try:
                evaluate_size(value, {"N": 4096, "X": 64, "Y": 64, "L": 64, "W": 4096, "i": 1})
            except InputError as error:
                raise InputError(f"comment 'ncc: {name}: {key}': {error}") from error
            annotations.setdefault(name, {})[key] = value.strip()
    return annotations


def evaluate_size(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression of +, -, *, / (rounded down), %, numbers and names, all below 2^63."""

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
            return bounded(_OPERATIONS[type(node.op)](value(node.left), value(node.right)))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return bounded(node.value)
        if isinstance(node, ast.Name) and node.id in names:
            return names[node.id]
        raise InputError(f"{text!r} is not an expression of +, -, *, /, %, numbers and {', '.join(names)}")

    def bounded(number: Any) -> Any:
        if isinstance(number, int | float) and not abs(number) < _MAX_SIZE:
            raise InputError(f"{text!r} has a number beyond 2^63")
        return number

    try:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError) as error:
        raise InputError(f"{text!r} can't be computed: {error.args[0]}") from error


def launch_range(kernel: str, annotations: Annotations, dimensions: int, size: int, wgsize: int) -> NDRange:
    """Work-items for a size: in a row, or in a square for two dimensions; whole work-groups."""
    sizes = annotations.get(kernel, {})
    names = {"W": size, "N": size, "L": wgsize}
    group = int(evaluate_size(sizes["local"], names)) if "local" in sizes else wgsize
    total = int(evaluate_size(sizes["items"], names | {"L": group})) if "items" in sizes else size
    if group < 1 or total < 1:
        raise InputError(f"kernel {kernel}: a work-group of {group} in {total} work-items; expected 1 or more of both")
    across = group if dimensions < 2 else 2 ** ((group.bit_length()) // 2)
    local_size = (across,) if dimensions < 2 else (across, max(1, group // across))
    side = total if dimensions < 2 else math.isqrt(total)
    global_size = tuple(side // items * items for items in local_size)
    if not all(global_size):
        raise InputError(f"kernel {kernel}: a work-group of {group} does not fit into {total} work-items")
    rest = (1,) * max(0, dimensions - 2)
    return NDRange(global_size + rest, local_size + rest, size)


def fill(argument: Argument, nd_range: NDRange, rng: np.random.Generator) -> np.ndarray:
    """The numbers of a buffer, or of a scalar (one element): between 0 and 1, or whole numbers."""
    dtype, width = argument.element
    names = nd_range.names
    is_scalar = argument.space == "private"
    count = width if is_scalar else width * argument.elements(nd_range)
    values, below = argument.rules.get("values"), argument.rules.get("below")
    if values is not None:
        index = np.arange(count // width).repeat(width)
        made = np.broadcast_to(evaluate_size(values, names | {"i": index}), count)
    elif np.issubdtype(dtype, np.floating):
        made = rng.random(count, np.float32)
    elif is_scalar and below is None:  # the number of work-items, in two dimensions that of a row
        made = np.full(count, min(names["N"] if len(nd_range.global_size) < 2 else names["X"], np.iinfo(dtype).max))
    else:  # below that number, so that they may be indices of buffers with that many elements
        limit = names["N"] if below is None else int(evaluate_size(below, names))
        made = rng.integers(0, max(1, min(limit, np.iinfo(dtype).max + 1)), count)
    try:
        with np.errstate(over="raise", invalid="raise"):
            return np.ascontiguousarray(made, dtype)
    except FloatingPointError as error:
        name, values = f"kernel {argument.kernel}: argument {argument.name!r}", f"values {values!r}"
        raise InputError(f"{name}: {values} are beyond the type {argument.type_name}") from error
