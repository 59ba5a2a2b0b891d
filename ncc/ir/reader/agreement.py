"""Types that can't go together, as far as abstracted statements show: signs of a damaged or forged module.

This is not a verifier: `ncc.ir.reader.reader.read_module` asks LLVM's on request.
"""

import re
from functools import lru_cache

import numpy as np

from ncc.ir.reader.module import Module
from ncc.ir.reader.native import OPCODES

_SCALAR = r"void|i\d+|half|bfloat|float|double|x86_fp80|fp128|ptr"
_TYPED = rf"(?:<%ID> = )?([a-z]+) (?:[a-z]+ )*?({_SCALAR})(?:,| (?!addrspace)|$)"
_CAST = rf" to ({_SCALAR})$"

_CASTS = frozenset(OPCODES[OPCODES.index("trunc") : OPCODES.index("addrspacecast")])
_SAME = frozenset(OPCODES[OPCODES.index("fneg") : OPCODES.index("extractelement")]) | {"freeze", "phi"}
"""Instructions whose operands are all of the type that they name, and so is their result."""
_TAKE = _SAME | _CASTS | {"ret", "icmp", "fcmp"}


def find_mismatch(module: Module) -> str | None:
    """Describe the first statement whose operand, or whose function, has another type than it says."""
    number = {"": 0}
    codes = [number.setdefault(kind, len(number)) for text in (*module.texts, "") for kind in _types(text)]
    takes, gives, returns = np.array(codes, np.int16).reshape(-1, 3)[module.text_id].T
    name = list(number)
    user, definition = module.operand_statement, module.operand_definition
    given, taken = np.where(definition >= 0, gives[definition], 0), takes[user]
    for operand in np.flatnonzero((given != taken) & (given > 0) & (taken > 0))[:1].tolist():
        return f"{_location(module, int(user[operand]))} takes a {name[given[operand]]}"
    expected = returns[module.function_start[:-1]][module.statement_function]
    is_ret = module.opcode == OPCODES.index("ret")
    for statement in np.flatnonzero(is_ret & (takes != expected) & (takes > 0) & (expected > 0))[:1].tolist():
        return f"{_location(module, statement)} in a function of {name[expected[statement]]}"
    return None


@lru_cache(maxsize=1 << 14)
def _types(text: str) -> tuple[str, str, str]:
    """Types of a statement's operands, of its result, and of its function's; empty where not known."""
    match = re.match(_TYPED, text)
    if not match:
        return "", "", ""
    opcode, kind = match.groups()
    if opcode == "define":
        return "", "", kind
    if opcode in _CASTS:
        target = re.search(_CAST, text)
        return kind, target[1] if target else "", ""
    gives = "i1" if opcode in ("icmp", "fcmp") else kind if opcode in _SAME or opcode in ("load", "call") else ""
    return kind if opcode in _TAKE else "", gives, ""


def _location(module: Module, statement: int) -> str:
    line = module.ir.count(b"\n", 0, int(module.statement_offset[statement])) + 1
    return f"line {line}: {module.statement_source(statement)!r:.100}"
