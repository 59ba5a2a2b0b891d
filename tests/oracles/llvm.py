"""A module as LLVM's own objects have it, through llvmlite: functions, their blocks, and the instructions of each."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import llvmlite.binding

KERNEL_BODY = "__clang_ocl_kern_imp_"
"""What clang puts before the name of a kernel's body, since it gives the kernel itself only a call of that."""


@dataclass(frozen=True)
class Instruction:
    """An opcode, and the names of its operands, as often as they are there: neither numbers nor intrinsics."""

    opcode: str
    names: Counter[str]


@dataclass(frozen=True)
class Function:
    """A function with a body: its name, and the instructions of its blocks."""

    name: str
    blocks: list[list[Instruction]]


def llvm_functions(ir: bytes) -> list[Function]:
    """Parses text or bitcode, and lists the functions that have a body."""
    is_bitcode = ir.startswith(b"BC\xc0\xde")
    module = llvmlite.binding.parse_bitcode(ir) if is_bitcode else llvmlite.binding.parse_assembly(ir.decode())
    return [
        Function(
            function.name,
            [
                [Instruction(one.opcode, _names(one.operands)) for one in block.instructions]
                for block in function.blocks
            ],
        )
        for function in module.functions
        if not function.is_declaration
    ]


def kernels_with_bodies(functions: list[Function]) -> list[Function]:
    """The functions, with the body of each kernel that clang split in two in the place of the call of it."""
    by_name = {one.name: one for one in functions}
    found = []
    for function in functions:
        if not function.name.startswith(KERNEL_BODY):
            body = KERNEL_BODY + function.name
            called = any(body in instruction.names for block in function.blocks for instruction in block)
            found.append(Function(function.name, by_name[body].blocks if called else function.blocks))
    return found


def _names(operands: Iterable[llvmlite.binding.ValueRef]) -> Counter[str]:
    """Names of operands; of a constant expression those of the globals in it."""
    names: Counter[str] = Counter()
    for operand in operands:
        is_expression = operand.value_kind == llvmlite.binding.ValueKind.constant_expr
        names.update(re.findall(r"@([\w.$]+)", str(operand)) if is_expression else [operand.name])
    return Counter({name: times for name, times in names.items() if name and not name.startswith("llvm.")})
