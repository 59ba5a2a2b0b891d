"""How strides go through the operations of the IR: sums, products, shifts, addresses (see `ncc.kernels.addresses`)."""

import math
import re
from collections.abc import Callable

from ncc.ir.reader.module import Module
from ncc.kernels.instructions import element_type, leading_type, size_of_type, split_fields

Handler = Callable[[Module, int, list[int], list[float]], float | None]
"""Of a module, a statement, its operands and their strides, all known: the stride of what the statement defines."""

_INTEGER = re.compile(r"-?\d{1,38}")
_GEP = re.compile(r"getelementptr (?:(?:inbounds|nusw|nuw|inrange\([^)]*\)) )*")


def constant_operand(module: Module, statement: int) -> int | None:
    """The last integer that a statement holds as an immediate operand, or None."""
    last = _operand_text(module, statement).replace(",", " ").split()[-1]
    return int(last) if _INTEGER.fullmatch(last) else None


def _operand_text(module: Module, statement: int) -> str:
    """Source of a statement without metadata and comments."""
    return module.statement_source(statement).split(", !", 1)[0].split(" ;", 1)[0]


def same_stride(a: float, b: float) -> bool:
    """Whether two strides are equal; NaN equals NaN."""
    return a == b or (math.isnan(a) and math.isnan(b))


def join_strides(strides: list[float]) -> float | None:
    """Stride of a value that may be any of these; None if there are none."""
    if not strides:
        return None
    return strides[0] if all(same_stride(strides[0], value) for value in strides) else math.nan


def add_strides(a: float, b: float) -> float:
    """Sum of strides; a linear one of unknown factor stays so."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return math.inf if math.isinf(a) or math.isinf(b) else a + b


def _multiply(module: Module, statement: int, operands: list[int], strides: list[float]) -> float:
    if any(math.isnan(value) for value in strides):
        return math.nan
    if not any(strides):
        return 0.0
    constant = constant_operand(module, statement) if operands[1] < 0 else None
    if constant is not None:
        return strides[0] * constant if constant else 0.0
    # thread number times what is the same in all threads; its square is not linear
    return math.inf if 0.0 in strides else math.nan


def _shift_up(module: Module, statement: int, operands: list[int], strides: list[float]) -> float:
    if math.isnan(strides[0]) or strides[1] != 0:
        return math.nan
    if strides[0] == 0:
        return 0.0
    constant = constant_operand(module, statement) if operands[1] < 0 else None
    return math.inf if constant is None else strides[0] * 2.0 ** min(constant, 62)


def _shift_down(module: Module, statement: int, operands: list[int], strides: list[float]) -> float:
    """A shift to the right, as in the pair of shifts that extends a sign."""
    if operands[1] >= 0:
        return math.nan if any(strides) else 0.0
    constant = constant_operand(module, statement)
    divided = strides[0] / 2.0 ** (64 if constant is None else min(constant, 64))
    return divided if divided == 0 or math.isinf(divided) or abs(divided) >= 1 else math.nan


def _address(module: Module, statement: int, _operands: list[int], strides: list[float]) -> float:
    """Stride of an address in bytes: every index counts as often as the elements below it are large."""
    total = strides[0]
    for index, size in zip(strides[1:], index_sizes(module, statement), strict=True):
        if index != 0:
            total = add_strides(total, index * size if math.isfinite(index) else index)
    return total


def index_sizes(module: Module, statement: int) -> list[float]:
    """Bytes that one step of each index of an address moves it by; 0 for a structure's field, which is fixed."""
    text, num = module.statement_text(statement), len(module.operands(statement)) - 1
    found = _GEP.search(text)
    element = leading_type(text[found.end() :]) if found else "i8"
    sizes = []
    for number in range(num):
        is_field = number > 0 and element.startswith(("{", "<{"))
        if number:
            element = element_type(element, _constant_index(module, statement, number - num) if is_field else 0)
        sizes.append(0.0 if is_field else size_of_type(element))
    return sizes


def _constant_index(module: Module, statement: int, position: int) -> int | None:
    words = split_fields(_operand_text(module, statement))[position].split()
    return int(words[-1]) if words and _INTEGER.fullmatch(words[-1]) else None


_PASSING = (
    "trunc", "zext", "sext", "fptrunc", "fpext", "sitofp", "uitofp", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast",
    "addrspacecast", "freeze",
)  # fmt: skip
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_PASSING, lambda _module, _at, _operands, strides: strides[0]),
    **dict.fromkeys(
        ("add", "or", "fadd"), lambda _module, _at, _operands, strides: add_strides(strides[0], strides[1])
    ),
    **dict.fromkeys(("sub", "fsub"), lambda _module, _at, _operands, strides: add_strides(strides[0], -strides[1])),
    # remainders by a constant: neighbours differ as before, but where it starts anew
    **dict.fromkeys(
        ("urem", "srem", "and"),
        lambda _module, _at, operands, strides: strides[0] if operands[1] < 0 or not any(strides) else math.nan,
    ),
    **dict.fromkeys(("mul", "fmul"), _multiply),
    **dict.fromkeys(("ashr", "lshr"), _shift_down),
    # what an atomic operation finds: each thread what another one left
    **dict.fromkeys(("cmpxchg", "atomicrmw"), lambda *_: math.nan),
    "shl": _shift_up,
    "select": lambda _module, _at, _operands, strides: join_strides(strides[1:]) if strides[0] == 0 else math.nan,
    "getelementptr": _address,
    "alloca": lambda *_: 0.0,
}
"""By opcode; what is not named has stride 0 if all operands have, and NaN otherwise."""
