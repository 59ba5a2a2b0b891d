"""Values that threads compute from their numbers, sizes and arguments: statement by statement, and as formulas."""

import math
import re
from collections.abc import Callable

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.builtins import builtin_name
from ncc.kernels.instructions import split_fields
from ncc.kernels.registers import register_of

_PHI = re.compile(r"\[ ([^,\]]+), %[^\]]+\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?)?")
_NAMES = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}
_DEEPEST = 7

Operation = Callable[..., Floats]


def _signed_division(x: Floats, y: Floats) -> Floats:
    return np.trunc(np.divide(x, y, out=np.full_like(x, np.nan), where=y != 0))


def _remainder(x: Floats, y: Floats) -> Floats:
    return x - y * _signed_division(x, y)


def _bits(operation: Callable[..., Ints]) -> Operation:
    def apply(x: Floats, y: Floats) -> Floats:
        known = np.isfinite(x) & np.isfinite(y) & (np.abs(x) < 2.0**62) & (np.abs(y) < 2.0**62)
        found = operation(np.where(known, x, 0).astype(np.int64), np.where(known, y, 0).astype(np.int64))
        return np.where(known, found, np.nan)

    return apply


_BINARY: dict[str, tuple[Operation, str]] = {
    "add": (np.add, "+"),
    "sub": (np.subtract, "-"),
    "mul": (np.multiply, "*"),
    "sdiv": (_signed_division, "/"),
    "udiv": (_signed_division, "/"),
    "srem": (_remainder, "%"),
    "urem": (_remainder, "%"),
    "shl": (lambda x, y: x * 2.0 ** np.clip(y, -64, 64), "<<"),
    "ashr": (lambda x, y: np.floor(x / 2.0 ** np.clip(y, -64, 64)), ">>"),
    "lshr": (lambda x, y: np.floor(x / 2.0 ** np.clip(y, -64, 64)), ">>"),
    "and": (_bits(np.bitwise_and), "&"),
    "or": (_bits(np.bitwise_or), "|"),
    "xor": (_bits(np.bitwise_xor), "^"),
    "smin": (np.minimum, "min"),
    "umin": (np.minimum, "min"),
    "smax": (np.maximum, "max"),
    "umax": (np.maximum, "max"),
}
_PASSING = frozenset(("trunc", "zext", "sext", "freeze", "sitofp", "uitofp", "fpext", "fptrunc", "addrspacecast"))
_COMPARED: dict[str, Operation] = {
    "eq": np.equal,
    "ne": np.not_equal,
    **dict.fromkeys(("slt", "ult"), np.less),
    **dict.fromkeys(("sle", "ule"), np.less_equal),
    **dict.fromkeys(("sgt", "ugt"), np.greater),
    **dict.fromkeys(("sge", "uge"), np.greater_equal),
}


def operand_tokens(module: Module, statement: int) -> list[str]:
    """What stands for each operand in a statement's text: names and immediates; of a phi, those of its values."""
    text = module.statement_source(statement).split(", !", 1)[0].partition(" = ")[2]
    if text.startswith("phi "):
        return [found.strip() for found in _PHI.findall(text)]
    if "call" in text.split("@", 1)[0]:
        text = text[text.find("(", max(text.find("@"), 0)) + 1 : text.rfind(")")]
    return [words[-1] for part in split_fields(text) if (words := part.split())]


def token_value(token: str) -> float:
    """An immediate's value; NaN for names and what is not a number."""
    if token in ("true", "false"):
        return float(token == "true")
    if token in ("null", "zeroinitializer"):
        return 0.0
    return float(token) if _NUMBER.fullmatch(token) else np.nan


def value_of(module: Module, statement: int, operands: list[Floats]) -> Floats:
    """What a statement computes, by thread; NaN where it is not known.

    Args:
        module: The module.
        statement: An operation on values, neither a phi nor a call of a register.
        operands: Its operands by thread.
    """
    opcode = module.opcode_name(statement)
    if opcode == "call":
        opcode = builtin_name(_callee(module, statement))
    nothing = np.full_like(operands[0], np.nan) if operands else np.array(np.nan)
    if opcode in _PASSING:
        return operands[0]
    if opcode in ("fptosi", "fptoui"):
        return np.trunc(operands[0])
    if opcode in _BINARY and len(operands) >= 2:
        return _BINARY[opcode][0](operands[0], operands[1])
    if opcode == "icmp":
        compare = _COMPARED.get(predicate_of(module, statement))
        known = np.isfinite(operands[0]) & np.isfinite(operands[1])
        return np.where(known, compare(operands[0], operands[1]), np.nan) if compare else nothing
    if opcode == "select" and len(operands) == 3:
        chosen = np.where(operands[0] != 0, operands[1], operands[2])
        return np.where(np.isnan(operands[0]), np.where(operands[1] == operands[2], operands[1], np.nan), chosen)
    return nothing


def predicate_of(module: Module, statement: int) -> str:
    """How an ``icmp`` compares."""
    words = module.statement_source(statement).partition(" = ")[2].split()
    return next((word for word in words[1:] if word in _COMPARED), "")


def _callee(module: Module, statement: int) -> str:
    callee = int(module.callee[statement])
    return module.node_name(callee) if callee >= 0 else ""


def formula_of(module: Module, node: int, token: str, names: dict[int, str], depth: int = 0) -> str:
    """A value as a formula in sizes and arguments; empty where memory or a loop has a part in it.

    Args:
        module: The module.
        node: Of the value, -1 for an immediate.
        token: What stands for it in the text.
        names: Names of the function's arguments.
        depth: Formulas around this one.
    """
    if node < 0 or node in names:
        return names.get(node, "" if np.isnan(token_value(token)) else token)
    if module.node_kind[node] != NodeKind.RESULT or depth > _DEEPEST:
        return ""
    statement = int(module.node_definition[node])
    opcode = module.opcode_name(statement)
    name = _callee(module, statement) if opcode == "call" else ""
    if register := register_of(module, statement):
        kind, _, axis = register.partition(".")
        return f"{_NAMES[kind]}.{axis}" if kind in _NAMES else register
    operands = module.operands(statement)[1 if name else 0 :]
    tokens = operand_tokens(module, statement)
    if len(tokens) != len(operands):
        return ""
    parts = [
        formula_of(module, operand, one, names, depth + 1) for operand, one in zip(operands, tokens, strict=True)
    ] if opcode in _PASSING or opcode in _BINARY or name else []  # fmt: skip
    opcode = builtin_name(name) if name else opcode
    if not parts or not all(parts):
        return ""
    return parts[0] if opcode in _PASSING else _joined(_BINARY[opcode][1] if opcode in _BINARY else "", parts)


def _joined(sign: str, parts: list[str]) -> str:
    if sign in ("min", "max"):
        return f"{sign}({parts[0]}, {parts[1]})"
    if sign == "<<" and parts[1].isdigit():
        return f"({parts[0]} * {2 ** int(parts[1])})"
    return f"({parts[0]} {sign} {parts[1]})" if sign else ""


def trips_until(start: Floats, step: Floats, factor: float, bound: Floats, predicate: str, stays: bool) -> Floats:
    """Times that a counter goes from its start until a comparison with a bound ends the loop."""
    with np.errstate(all="ignore"):
        if factor != 1:
            low, high = (bound, start) if factor < 1 else (start, bound)
            ratio = np.maximum(high, 1) / np.maximum(low, 1 if factor > 1 else 0.5)
            return np.where(
                np.isfinite(start) & np.isfinite(bound), np.ceil(np.log(ratio) / abs(math.log(factor)) - 1e-9), np.nan
            )
        way = (bound - start) / step
        inclusive = predicate in ("sle", "ule", "sge", "uge")
        exact = np.floor(way) + 1 if inclusive == stays and predicate not in ("eq", "ne") else np.ceil(way)
        return np.where(np.isfinite(way), np.maximum(exact, 0), np.nan)
