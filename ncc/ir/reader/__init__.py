"""LLVM IR text or bitcode to a `Module` of arrays."""

from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module, NodeKind, opcode_number
from ncc.ir.reader.native import OPCODES
from ncc.ir.reader.objects import is_bitcode
from ncc.ir.reader.reader import print_canonically, read_module

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
