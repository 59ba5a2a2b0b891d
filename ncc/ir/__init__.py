"""LLVM IR text or bitcode to a `Module` of arrays."""

from ncc.ir.abstraction import Abstraction
from ncc.ir.module import Module, NodeKind, opcode_number
from ncc.ir.objects import is_bitcode
from ncc.ir.reader import print_canonically, read_module
from ncc.native import OPCODES

__all__ = [
    "OPCODES",
    "Abstraction",
    "Module",
    "NodeKind",
    "is_bitcode",
    "opcode_number",
    "print_canonically",
    "read_module",
]
