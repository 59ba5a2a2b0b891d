"""`Module`: LLVM IR as arrays, one row per statement and one per node; the form that all other packages work on."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Ints, Ints32
from ncc.errors import InputError
from ncc.ir.reader.native import OPCODES

_STRING = rb'\n@("[^"\n]*"|[\w.$-]+) = [^\n"]*\bconstant \[\d+ x i8\] c"([^"\n]*)"'
_EXTERNAL = (
    rb'\ndeclare [^\n@]*@("[^"\n]*"|[\w.$-]+)\(',
    rb'\n@("[^"\n]*"|[\w.$-]+) = (?:external|extern_weak) ',
)
"""Prefixes of lines, with the preceding line end: a plain prefix makes searching fast."""

NO_FUNCTION = "has no function with code"
"""Error text for a module without function bodies."""

_MEMBER = r"<%ID> = getelementptr (?!(?:inbounds |nuw |nusw )*i8,).*<[%@]ID>"


class NodeKind(IntEnum):
    """Kind of a node, which is an identifier."""

    GLOBAL = 0
    FUNCTION = 1
    BLOCK = 2
    ARGUMENT = 3
    RESULT = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Module:
    """A module's statements, identifiers and functions.

    A *statement* is an instruction or a function's ``define`` header; debug intrinsics and records are not statements,
    so a program has the same statements with and without ``-g``. A *node* is an identifier. Statements of a function
    are consecutive and begin with its ``define``; blocks are numbered through the module.

    Attributes:
        name: Name for messages, such as the path.
        read_via: How it was read: "direct" from text, "bitcode", or "llvm" from text printed by LLVM.
        opcode: (num_statements,) uint8, indices into `OPCODES`.
        text_id: (num_statements,) int32, index into ``texts``.
        texts: The distinct abstracted statements, in order of appearance.
        basic_block: (num_statements,) int32 basic block; a ``define`` has its function's first.
        result: (num_statements,) int32 node that the statement defines, or -1.
        callee: (num_statements,) int32 node of the called function, or -1 (no call, or inline assembly).
        source_line: (num_statements,) int32 line in the source, or 0 without debug information.
        operand_start: (num_statements + 1,) int32 offsets into ``operand``.
        operand: int32 nodes used, in order; -1 for an immediate. A call's operands are callee, arguments, (labels);
            a phi's are value, label, value, label…; a define's are its parameters.
        node_kind: (num_nodes,) uint8, see `NodeKind`.
        node_function: (num_nodes,) int32 function that a local belongs to, or -1.
        node_definition: (num_nodes,) int32 statement that defines a result or an argument, number of a block or of
            a function that has a body, or -1.
        basic_block_label: (num_blocks,) int32 node of each block's label.
        function_node: (num_functions,) int32, functions that have a body, in order.
        function_start: (num_functions + 1,) int32 first statement of each function, then num_statements.
        function_block: (num_functions + 1,) int32 first block of each function, then num_blocks.
        function_is_kernel: (num_functions,) bool.
        statement_offset: (num_statements,) uint32 offset of each statement in the text; of a ``define``, offset of
            the text after that word.
        ir: The text that was read.
        skipped_functions: Device functions that did not compile, each with the first error.
    """

    name: str
    read_via: str
    opcode: NDArray[np.uint8]
    text_id: Ints32
    texts: tuple[str, ...]
    basic_block: Ints32
    result: Ints32
    callee: Ints32
    source_line: Ints32
    operand_start: Ints32
    operand: Ints32
    node_kind: NDArray[np.uint8]
    node_function: Ints32
    node_definition: Ints32
    basic_block_label: Ints32
    function_node: Ints32
    function_start: Ints32
    function_block: Ints32
    function_is_kernel: Bools
    statement_offset: NDArray[np.uint32]
    ir: bytes
    skipped_functions: tuple[tuple[str, str], ...] = ()
    _name_start: NDArray[np.uint32]
    _name_len: NDArray[np.uint32]

    def __repr__(self) -> str:
        return f"Module({self.name!r}: {self.num_statements} statements in {self.num_functions} functions)"

    def check_functions(self) -> None:
        """Raise `InputError` unless a function has code."""
        if not self.num_functions:
            raise InputError(
                f"{self.name}: {NO_FUNCTION}: unused static, inline and template functions are dropped, as are "
                "declarations and CUDA host code. Try -D static= -D inline="
            )

    @property
    def num_statements(self) -> int:
        """Statements of all functions, ``define`` headers included."""
        return len(self.opcode)

    @property
    def num_nodes(self) -> int:
        """Identifiers: globals, blocks, arguments and results."""
        return len(self.node_kind)

    @property
    def num_functions(self) -> int:
        """Functions that have a body."""
        return len(self.function_node)

    @cached_property
    def line_ends(self) -> Ints:
        """(num_lines,) int64 offsets of the ends of the text's lines."""
        return np.flatnonzero(np.frombuffer(self.ir, np.uint8) == ord("\n"))

    @property
    def num_lines(self) -> int:
        """Lines of the text that was read."""
        return self.ir.count(b"\n")

    @property
    def compiler(self) -> str:
        """The compiler that made it, such as "clang 19"; empty if unknown."""
        ident = re.search(rb"(?m)^!llvm\.ident = !\{!(\d+)", self.ir)
        compiler = ident and re.search(r"(\w+) version (\d+)", self.metadata_source(int(ident[1])))
        return f"{compiler[1]} {compiler[2]}" if compiler else ""

    @cached_property
    def is_unoptimized(self) -> bool:
        """Whether functions of it were compiled without optimization, as by -O0."""
        return b"optnone" in self.ir and re.search(rb"(?m)^attributes #\d+ = \{[^\n]*\boptnone\b", self.ir) is not None

    @cached_property
    def has_typed_geps(self) -> bool:
        """Whether constant parts of addresses are typed, not in bytes as LLVM since 20 leaves them."""
        return any(text.endswith(" <INT>") and re.match(_MEMBER, text) for text in self.texts)

    @property
    def first_kernel(self) -> int:
        """Index of the first function marked as a kernel, or of the first function."""
        return int(np.argmax(self.function_is_kernel)) if self.num_functions else 0

    @cached_property
    def function_names(self) -> tuple[str, ...]:
        """Names of the functions that have a body, in order."""
        return tuple(self.node_name(int(node)) for node in self.function_node)

    @cached_property
    def statement_function(self) -> Ints32:
        """(num_statements,) int32 index of each statement's function."""
        return np.repeat(np.arange(self.num_functions, dtype=np.int32), np.diff(self.function_start))

    @cached_property
    def operand_statement(self) -> Ints32:
        """(num_operands,) int32 statement that each operand belongs to."""
        return np.repeat(np.arange(self.num_statements, dtype=np.int32), np.diff(self.operand_start))

    @cached_property
    def operand_definition(self) -> Ints32:
        """(num_operands,) int32 statement that defines each operand, -1 for immediates, globals and labels."""
        kind = self.node_kind[self.operand]
        local = (self.operand >= 0) & ((kind == NodeKind.RESULT) | (kind == NodeKind.ARGUMENT))
        return np.where(local, self.node_definition[self.operand], -1).astype(np.int32)

    @cached_property
    def function_of_node(self) -> Ints32:
        """(num_nodes + 1,) int32 index of the function with a body that each node names; otherwise, and for -1, -1."""
        number = np.full(self.num_nodes + 1, -1, np.int32)
        number[self.function_node] = np.arange(self.num_functions, dtype=np.int32)
        return number

    def body(self, function: int) -> range:
        """Return the statements of a function, without its ``define``."""
        return range(int(self.function_start[function]) + 1, int(self.function_start[function + 1]))

    def operands(self, statement: int) -> list[int]:
        """Return the nodes of a statement's operands, -1 for immediates."""
        start, end = self.operand_start[statement : statement + 2].tolist()
        return self.operand[start:end].tolist()

    def opcode_name(self, statement: int) -> str:
        """Return a statement's opcode, as LLVM writes it."""
        return OPCODES[self.opcode[statement]]

    def node_name(self, node: int) -> str:
        """Return an identifier's name without its sigil; a number if LLVM numbers it."""
        return plain_name(self._written_name(node))

    def statement_text(self, statement: int) -> str:
        """Return the abstracted text of a statement."""
        return self.texts[self.text_id[statement]]

    def statement_source(self, statement: int) -> str:
        """Return a statement's text: its first line, all lines of a switch, or the text after the word ``define``."""
        return self._line_at(int(self.statement_offset[statement]))

    def metadata_source(self, number: int) -> str:
        """Return the line of a numbered metadata node; empty if there is none of that number."""
        return self._line_of(b"!%d = " % number)

    def global_source(self, node: int) -> str:
        """Return the line of IR that defines a global variable; empty for other nodes."""
        if self.node_kind[node] != NodeKind.GLOBAL:
            return ""
        name = self._written_name(node)
        return self._line_of(b"@%s = " % name) or self._line_of(b'@"%s" = ' % name)

    def _written_name(self, node: int) -> bytes:
        start, length = int(self._name_start[node]), int(self._name_len[node])
        return self.ir[start : start + length] if length else b"%d" % start

    @cached_property
    def string_constants(self) -> dict[str, str]:
        """Global constants that hold a string: name → characters, one per byte, without the 0 at the end."""
        return {
            plain_name(name): _unescaped(value).decode("latin-1").removesuffix("\0")
            for name, value in re.findall(_STRING, b"\n" + self.ir)
        }

    @cached_property
    def external_names(self) -> frozenset[str]:
        """Names of functions and global variables that the module uses but does not define."""
        text = b"\n" + self.ir
        return frozenset(plain_name(name) for kind in _EXTERNAL for name in re.findall(kind, text))

    def _line_of(self, prefix: bytes) -> str:
        start = 0 if self.ir.startswith(prefix) else self.ir.find(b"\n" + prefix) + 1
        return self._line_at(start) if self.ir.startswith(prefix, start) else ""

    def _line_at(self, start: int) -> str:
        end = self.ir.find(b"\n", start)
        if self.ir[start:end].rstrip(b"\r").endswith(b"["):  # of a switch
            end = self.ir.find(b"]", end) + 1 or end
        return self.ir[start : end if end >= 0 else None].decode("utf-8", "backslashreplace").rstrip()


def plain_name(raw: bytes) -> str:
    """Return an identifier's name from how the text writes it, without its sigil."""
    return _unescaped(raw.strip(b'"')).decode("utf-8", "backslashreplace")


def _unescaped(raw: bytes) -> bytes:
    if b"\\" not in raw:
        return raw
    return re.sub(rb"\\(?:\\|([0-9A-Fa-f]{2}))", lambda match: bytes([int(match[1] or b"5C", 16)]), raw)
