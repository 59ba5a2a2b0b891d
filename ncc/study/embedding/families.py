"""Families of statements, by which pictures are coloured."""

from ncc.embedding.backoff import opcode_of

__all__ = ["FAMILIES", "family_of"]

_OPCODES = {
    "integer arithmetic": "add sub mul udiv sdiv urem srem",
    "floating-point arithmetic": "fadd fsub fmul fdiv frem fneg",
    "bitwise": "and or xor shl lshr ashr",
    "comparison": "icmp fcmp",
    "conversion": "trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast addrspacecast "
    "ptrtoaddr",
    "vector and aggregate": "extractelement insertelement shufflevector extractvalue insertvalue",
    "memory load": "load",
    "memory store": "store",
    "address": "getelementptr",
    "stack": "alloca",
    "call": "call invoke callbr",
    "function header": "define",
    "control flow": "br switch indirectbr ret unreachable resume landingpad catchswitch catchret cleanupret catchpad "
    "cleanuppad",
    "phi and select": "phi select",
    "atomic": "atomicrmw cmpxchg fence",
}
_FAMILY_OF = {opcode: family for family, opcodes in _OPCODES.items() for opcode in opcodes.split()}

FAMILIES = (*_OPCODES, "other")
"""All families, related ones beside each other."""


def family_of(text: str) -> str:
    """The family of a statement or of any of its generalisations.

    >>> family_of("<%ID> = load i32, ptr <%ID>, align 4")
    'memory load'
    """
    if " atomic " in text:  # load atomic, store atomic
        return "atomic"
    return _FAMILY_OF.get(opcode_of(text), "other")
