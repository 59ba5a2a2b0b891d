"""What values of a GPU kernel have to do with the number of the thread: strides of addresses, divergent branches.

Threads next to each other differ by one in ``get_global_id(0)``. A value's *stride* is how much it grows from one to
the next: 0 where all threads of a group have the same value, a number where it is known, infinite where it is linear
with a factor that is not known, and NaN where it is none of these (loaded from memory, say).
"""

import math
import re

import numpy as np
from numpy.typing import NDArray

from ncc.ir import Module

__all__ = ["constant_operand", "size_of_type", "thread_strides"]

_INTEGER = re.compile(r"-?\d+")
_CALLEE = re.compile(r"@([\w.]+)\(")
_INDEX_ARGUMENT = re.compile(r"\(i32 (?:noundef )?(\d+)\)")
_ELEMENT = re.compile(r"getelementptr (?:(?:inbounds|nusw|nuw|inrange\(.*?\)) )*(.+), ptr")
_SCALAR_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 128, "fp128": 128}
_POINTER_BYTES = 8.0

_PASS = frozenset("trunc zext sext bitcast freeze addrspacecast ptrtoint inttoptr fptrunc fpext sitofp uitofp".split())
_SUMS = frozenset(("add", "sub", "or", "fadd", "fsub"))
_PRODUCTS = frozenset(("mul", "fmul"))
_WRAPS = frozenset(("urem", "srem", "and"))
_THREAD_NUMBERS = ("get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id")
_CUDA_THREAD_NUMBER = "llvm.nvvm.read.ptx.sreg.tid.x"
_GROUP_WIDE = ("get_group_id", "get_global_size", "get_local_size", "get_num_groups", "get_global_offset")


def thread_strides(
    module: Module, function: int, arguments: dict[int, float] | None = None, rounds: int = 8
) -> NDArray[np.float64]:
    """Strides of all values of a function.

    Args:
        module: The module.
        function: Number of the function.
        arguments: Strides of its arguments by their nodes; those that are not named are the same in all threads.
        rounds: How often loops are gone through; strides that still change then are NaN.

    Returns:
        (num_nodes of the module,) float64 by node; 0 for nodes of other functions and for globals.
    """
    stride = np.zeros(module.num_nodes + 1)
    known = np.ones(module.num_nodes + 1, bool)
    span = range(int(module.function_start[function]) + 1, int(module.function_start[function + 1]))
    defining = [statement for statement in span if module.result[statement] >= 0]
    known[module.result[defining]] = False
    for node, value in (arguments or {}).items():
        stride[node] = value
    for round_ in range(rounds):
        changed = False
        for statement in defining:
            node = int(module.result[statement])
            value = _result(module, statement, stride, known)
            if value is None or (known[node] and _same(stride[node], value)):
                continue
            # what changes in every round is no multiple of the thread's number
            stride[node] = math.nan if known[node] and round_ > 1 else value
            known[node] = changed = True
        if not changed:
            break
    return stride[:-1]


def _same(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _result(module: Module, statement: int, stride: NDArray[np.float64], known: NDArray[np.bool_]) -> float | None:
    """Stride of what a statement defines; None where nothing is known of its operands yet."""
    operands = module.operand[module.operand_start[statement] : module.operand_start[statement + 1]].tolist()
    text = module.statement_text(statement)
    opcode = text.split(" = ", 1)[1].split(" ", 1)[0]
    if opcode == "phi":
        found = [float(stride[node]) for node in operands[::2] if known[node]]
        return _join(found) if found else None
    if opcode in ("tail", "musttail", "notail", "call"):
        return _call(module, statement, [float(stride[node]) for node in operands[1:] if known[node]])
    if not all(known[node] for node in operands):
        return None
    strides = [float(stride[node]) for node in operands]
    if opcode == "getelementptr":
        return _address(text, strides)
    if opcode == "load":
        return 0.0 if strides[0] == 0 else math.nan
    if opcode == "select":
        return _join(strides[1:]) if strides[0] == 0 else math.nan
    if opcode in _PASS:
        return strides[0]
    if opcode in _SUMS:
        return _plus(strides[0], -strides[1] if opcode in ("sub", "fsub") else strides[1])
    if opcode in _WRAPS and operands[1] < 0:
        return strides[0]
    if opcode in _PRODUCTS or opcode == "shl":
        return _times(opcode, operands, strides, constant_operand(module, statement))
    if opcode in ("ashr", "lshr") and operands[1] < 0:
        return _shifted_down(strides[0], constant_operand(module, statement))
    if opcode == "alloca":
        return 0.0
    return 0.0 if all(value == 0 for value in strides) else math.nan


def constant_operand(module: Module, statement: int) -> int | None:
    """The last integer that a statement holds as an immediate operand, or None."""
    source = module.statement_source(statement).split(", !", 1)[0]
    last = source.replace(",", " ").split()[-1]
    return int(last) if _INTEGER.fullmatch(last) else None


def _plus(a: float, b: float) -> float:
    """Sum of strides; a linear one of unknown factor stays so."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return math.inf if math.isinf(a) or math.isinf(b) else a + b


def _join(strides: list[float]) -> float:
    """Stride of a value that may be any of these."""
    return strides[0] if all(_same(strides[0], value) for value in strides) else math.nan


def _times(opcode: str, operands: list[int], strides: list[float], constant: int | None) -> float:
    if any(math.isnan(value) for value in strides):
        return math.nan
    if all(value == 0 for value in strides):
        return 0.0
    if operands[1] < 0 and constant is not None:
        factor = 2.0 ** min(constant, 62) if opcode == "shl" else float(constant)
        return 0.0 if factor == 0 else strides[0] * factor
    # thread number times what is the same in all threads; its square, or a shift by it, is not linear
    return math.inf if 0.0 in strides and (opcode != "shl" or strides[1] == 0) else math.nan


def _shifted_down(stride: float, constant: int | None) -> float:
    """Stride after a shift to the right, as in the pair of shifts that extends a sign."""
    divided = stride / 2.0 ** (64 if constant is None else min(constant, 64))
    return divided if divided == 0 or math.isinf(divided) or abs(divided) >= 1 else math.nan


def _address(text: str, strides: list[float]) -> float:
    """Stride of an address in bytes: every index counts as often as the elements below it are large."""
    found = _ELEMENT.search(text)
    element = found[1] if found else "i8"
    total = strides[0]
    for index in strides[1:]:
        if index != 0:
            total = _plus(total, index * size_of_type(element) if math.isfinite(index) else index)
        inner = re.fullmatch(r"[\[<]\d+ x (.*)[\]>]", element)
        element = inner[1] if inner else element
    return total


def _call(module: Module, statement: int, arguments: list[float]) -> float:
    name = callee_name(module, statement)
    if any(name.endswith(group_wide) or f"{group_wide}j" in name for group_wide in _GROUP_WIDE):
        return 0.0
    if name == _CUDA_THREAD_NUMBER:
        return 1.0
    if any(number in name for number in _THREAD_NUMBERS):
        dimension = _INDEX_ARGUMENT.search(module.statement_source(statement))
        return 1.0 if dimension is None or dimension[1] == "0" else 0.0
    return 0.0 if all(value == 0 for value in arguments) else math.nan


def callee_name(module: Module, statement: int) -> str:
    """Name of the function that a call names, as it stands in the IR; empty for calls of pointers."""
    callee = int(module.callee[statement])
    return module.node_name(callee) if callee >= 0 else ""


def size_of_type(text: str) -> float:
    """Bytes of a type as statements write it; structures without padding, 8 for what is not known."""
    text = text.strip()
    if text in _SCALAR_BITS:
        return _SCALAR_BITS[text] / 8
    if re.fullmatch(r"i\d+", text):
        return max(1.0, int(text[1:]) / 8)
    if found := re.fullmatch(r"[\[<](\d+) x (.*)[\]>]", text):
        return int(found[1]) * size_of_type(found[2])
    if text.startswith(("{", "<{")) and "..." not in text:
        return sum(size_of_type(part) for part in _fields(text.strip("<>")[1:-1])) or _POINTER_BYTES
    return _POINTER_BYTES


def _fields(text: str) -> list[str]:
    """Splits a structure's fields at the commas that stand outside of brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "{[<(") - (character in "}]>)")
        if character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
