"""Modules as ncc reads them beside LLVM's own objects, and readings of one program in several spellings."""

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding
import pytest

import ncc
from fuzz.grammar import random_module
from tests.oracles.xfg import named_edges
from tests.rooms import OPCODES, NodeKind

IR = Path(__file__).parents[2] / "data" / "ir"
FIXTURES = sorted(path.name for path in IR.iterdir() if path.suffix in (".ll", ".bc"))
TEXTS = [name for name in FIXTURES if name.endswith(".ll")]
REFUSED_BY_LLVM = {"legacy.ll", "shapes.clang14.ll", "shapes.clang16.ll"}
"""The type ``x86_mmx``, and ``inrange`` before an index."""
NUM_RANDOM = 250


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
                [Instruction(one.opcode, _operand_names(one.operands)) for one in block.instructions]
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


def _operand_names(operands: Iterable[llvmlite.binding.ValueRef]) -> Counter[str]:
    """Names of operands; of a constant expression those of the globals in it."""
    names: Counter[str] = Counter()
    for operand in operands:
        is_expression = operand.value_kind == llvmlite.binding.ValueKind.constant_expr
        names.update(re.findall(r"@([\w.$]+)", str(operand)) if is_expression else [operand.name])
    return Counter({name: times for name, times in names.items() if name and not name.startswith("llvm.")})


def read_functions(module: ncc.Module) -> list[Function]:
    """The functions of a module, as the oracle describes them."""
    return [
        Function(name, [_instructions(module, block) for block in range(*module.function_block[number : number + 2])])
        for number, name in enumerate(module.function_names)
    ]


def _instructions(module: ncc.Module, block: int) -> list[Instruction]:
    statements = (number for number, home in enumerate(module.basic_block.tolist()) if home == block)
    found = [(OPCODES[module.opcode[number]], _names(module, number)) for number in statements]
    return [Instruction(opcode, names) for opcode, names in found if opcode != "define"]


def _names(module: ncc.Module, statement: int) -> Counter[str]:
    """Names of operands; numbers are no names, and incoming blocks of a phi no operands."""
    operands = module.operand[slice(*module.operand_start[statement : statement + 2])]
    nodes = operands[operands >= 0]
    if OPCODES[module.opcode[statement]] == "phi":
        nodes = nodes[module.node_kind[nodes] != NodeKind.BLOCK]
    names = [module.node_name(node) for node in nodes.tolist()]
    return Counter(name for name in names if not name.isdigit() and not name.startswith("llvm."))


def without_casts(functions: list[Function]) -> list[Function]:
    """Functions without bitcasts: the reader removes those between pointers, and clang's casts have no names."""
    return [
        Function(one.name, [[found for found in block if found.opcode != "bitcast"] for block in one.blocks])
        for one in functions
    ]


def reading(module: ncc.Module) -> object:
    """All that a module says, by names."""
    statements = [module.statement_text(number) for number in range(module.num_statements)]
    return statements, module.function_names, named_edges(ncc.build_xfg(module))


@pytest.mark.parametrize("file", sorted({*FIXTURES} - REFUSED_BY_LLVM))
def test_functions_blocks_opcodes_and_operands_are_llvms(file: str) -> None:
    found = read_functions(ncc.read_module(IR / file))
    expected = kernels_with_bodies(llvm_functions((IR / file).read_bytes()))
    assert without_casts(found) == without_casts(expected)


@pytest.mark.parametrize("file", sorted(REFUSED_BY_LLVM))
def test_what_todays_llvm_refuses_is_read(file: str) -> None:
    with pytest.raises(RuntimeError, match="parsing error"):
        llvm_functions((IR / file).read_bytes())
    assert ncc.read_module(IR / file).num_functions > 2


@pytest.mark.parametrize("pointers", ["typed", "opaque"])
def test_modules_made_up_are_what_llvm_makes_of_them(pointers: str) -> None:
    for seed in range(NUM_RANDOM):
        text = random_module(random.Random(seed))[pointers == "opaque"].encode()
        found, expected = read_functions(ncc.read_module(text)), llvm_functions(text)
        assert found == expected, f"seed {seed}"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tree.llvm11.ll", "tree.llvm11.bc"),
        ("shapes.clang14.ll", "shapes.llvm14.bc"),
        ("saxpy.clang14.ll", "saxpy.llvm15.bc"),
        ("machine.clang14.ll", "machine.llvm15.ll"),
        ("machine.clang19.ll", "machine.llvm20.ll"),
        ("shapes.clang19.ll", "shapes.llvm20.bc"),
    ],
)
def test_a_program_reads_the_same_in_every_dialect(one: str, other: str) -> None:
    assert reading(ncc.read_module(IR / one)) == reading(ncc.read_module(IR / other))


def test_typed_and_opaque_pointers_say_the_same() -> None:
    for seed in range(NUM_RANDOM):
        typed, opaque = (ncc.read_module(text.encode()) for text in random_module(random.Random(seed)))
        assert reading(typed) == reading(opaque), f"seed {seed}"
        assert read_functions(typed) == read_functions(opaque), f"seed {seed}"


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"\n", b"\r\n"), (b"\n  ", b"\n\t"), (b", ", b" ,\t "), (b"\n}", b" ; }\n\n}")],
    ids=["CRLF", "tabs", "spaces", "comments"],
)
@pytest.mark.parametrize("file", TEXTS)
def test_how_lines_end_and_are_spaced_changes_nothing(file: str, old: bytes, new: bytes) -> None:
    text = (IR / file).read_bytes()
    assert (changed := text.replace(old, new)) != text
    assert reading(ncc.read_module(changed)) == reading(ncc.read_module(text))
