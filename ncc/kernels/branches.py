"""How likely a branch is taken whose condition is not known, by what it compares.

Reference: Ball and Larus, PLDI 1993, section 4 (opcode heuristic).
"""

import re

from ncc.ir.reader.module import Module, NodeKind

_RARE, _ODD = 0.1, 0.01
_COMPARED = re.compile(r"[if]cmp (?:\w+ )*?(\w+) (?:i\d+|float|double|half|ptr) [^,]+, (\S+)")
_ZERO = re.compile(r"-?0(?:\.0+(?:e\+0+)?)?|null|-1")


def likely_share(module: Module, condition: int) -> float:
    """Share of threads for which a condition that is not known is taken to hold.

    NaN is rare, and so are values that equal a constant or are negative; whether a value is
    zero may go either way.
    """
    if condition < 0 or module.node_kind[condition] != NodeKind.RESULT:
        return 0.5
    statement = int(module.node_definition[condition])
    found = _COMPARED.search(module.statement_source(statement).split(", !", 1)[0])
    if module.opcode_name(statement) not in ("icmp", "fcmp") or not found:
        return 0.5
    predicate, other = found.groups()
    if predicate in ("uno", "ord"):
        return _ODD if predicate == "uno" else 1 - _ODD
    is_zero, is_constant = bool(_ZERO.fullmatch(other)), not other.startswith("%")
    rare = {"eq", "oeq", "ueq"} if is_constant and not is_zero else set[str]()
    rare |= {"slt", "sle", "olt", "ole", "ult", "ule"} if is_zero else {"slt", "ult"} if other == "1" else set()
    often = {"ne", "one", "une"} if is_constant and not is_zero else set[str]()
    often |= {"sgt", "sge", "ogt", "oge", "ugt", "uge"} if is_zero else set()
    return _RARE if predicate in rare else 1 - _RARE if predicate in often else 0.5
