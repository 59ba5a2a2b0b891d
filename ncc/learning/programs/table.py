"""Programs as classifiers read them: the statements of their authors' functions, in order, with their literals."""

import itertools
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32, offsets, positions
from ncc.ir.reader.module import Module, plain_name
from ncc.ir.reader.native import find_literals
from ncc.learning.programs.names import is_library_function, library_name

_PIECE = re.compile(r"%[-+ #0-9.*hlLqjzt]*[A-Za-z]|[A-Za-z]+|[0-9]+")
"""Conversions of ``printf``, words and numbers."""


def statement_literals(module: Module, statements: Ints32) -> tuple[Ints32, NDArray[np.uint32]]:
    """Find the literals of (m,) statements: (m + 1,) int32 offsets, and their uint32 hashes (CRC-32).

    Literals are numbers (alignments, widths and metadata have none), strings, whole and in pieces, without the line
    ends that ``puts`` saves, and names that come from outside or from the C++ library, by `library_name`.
    """
    stop, token, texts = find_literals(module.ir, module.statement_offset[statements])
    strings, external = module.string_constants, module.external_names
    hashes = [
        [zlib.crc32(meaning.encode("utf-8", "surrogateescape")) for meaning in _meanings(text, strings, external)]
        for text in texts
    ]
    count = np.array([len(values) for values in hashes], np.int64)
    found = np.fromiter(itertools.chain.from_iterable(hashes), np.uint32, int(count.sum()))
    place = positions(offsets(count)[token], count[token])
    return offsets(count[token])[np.concatenate([[0], stop])].astype(np.int32), found[place]


def _meanings(literal: bytes, strings: dict[str, str], external: frozenset[str]) -> list[str]:
    """Canonical forms of a literal; none for names that the author chose or that the statement already has."""
    if not literal.startswith(b"@"):
        return [f"number {literal.decode()}"]
    name = plain_name(literal[1:])
    if name in strings:
        text = strings[name].rstrip()
        return [f"string {text}", *(f"piece {piece}" for piece in _PIECE.findall(text))]
    if name.startswith("llvm.") or not (name in external or is_library_function(name)):
        return []
    return [f"name {library_name(name)}"]


@dataclass(frozen=True, eq=False)
class ProgramTable:
    """Concatenated programs from one compiler and level."""

    texts: tuple[str, ...]  # distinct abstracted statements of all programs
    start: Ints  # (n + 1,) int64 offsets of the programs' statements; a program that failed has none
    text_id: Ints32  # index into texts of each statement
    opcode: NDArray[np.uint8]  # indices into `ncc.ir.reader.native.OPCODES`
    literal_start: Ints  # (num_statements + 1,) int64 offsets into literal
    literal: NDArray[np.uint32]  # hashes, see `statement_literals`

    def __len__(self) -> int:
        return len(self.start) - 1

    def rows(self, rows: Ints) -> "ProgramTable":
        """Select programs."""
        sizes = np.diff(self.start)[rows]
        statements = positions(self.start[rows], sizes)
        lengths = np.diff(self.literal_start)[statements]
        return replace(
            self,
            start=offsets(sizes),
            text_id=self.text_id[statements],
            opcode=self.opcode[statements],
            literal_start=offsets(lengths),
            literal=self.literal[positions(self.literal_start[statements], lengths)],
        )


class EncodedProgram(NamedTuple):
    """A program of m statements, 1 or more, in the words of an embedding."""

    words: Ints32  # (m,) int32
    literals: NDArray[np.uint32]  # hashes, as `ProgramTable` holds them
    literal_start: Ints32  # (m + 1,) int32 offsets


def describe_program(module: Module) -> ProgramTable:
    """A table without functions of the C++ library and the compiler, unless there are no others."""
    statements = np.flatnonzero(own_functions(module)[module.statement_function] >= 0).astype(np.int32)
    return _table(module, statements, [len(statements)])


def table_of_functions(module: Module) -> ProgramTable:
    """A table of a module's functions, in order, as if each were a program."""
    return _table(module, np.arange(module.num_statements, dtype=np.int32), np.diff(module.function_start))


def _table(module: Module, statements: Ints32, lengths: Ints | list[int]) -> ProgramTable:
    """A table of a module's statements, cut into programs of some lengths."""
    used, text_id = np.unique(module.text_id[statements], return_inverse=True)
    start, literal = statement_literals(module, statements)
    return ProgramTable(
        texts=tuple(module.texts[number] for number in used.tolist()),
        start=offsets(lengths),
        text_id=text_id.astype(np.int32),
        opcode=module.opcode[statements],
        literal_start=start.astype(np.int64),
        literal=literal,
    )


def no_program() -> ProgramTable:
    """A table of one program without statements, in place of an unreadable one."""
    none = np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.uint32)
    return ProgramTable((), np.zeros(2, np.int64), *none)


def own_functions(module: Module) -> Ints:
    """(num_functions,) int64 0 for the author's functions, -1 for the C++ library's; 0 for all if all are."""
    library = np.array([is_library_function(name) for name in module.function_names], bool)
    return np.where(library & (not library.all()), -1, 0)


def concatenate(tables: Sequence[ProgramTable]) -> ProgramTable:
    """Concatenate the programs of several tables."""
    known: dict[str, int] = {}
    numbers = [np.array([known.setdefault(text, len(known)) for text in table.texts], np.int32) for table in tables]
    return ProgramTable(
        texts=tuple(known),
        start=offsets(np.concatenate([np.diff(table.start) for table in tables])),
        text_id=np.concatenate([number[table.text_id] for number, table in zip(numbers, tables, strict=True)]),
        opcode=np.concatenate([table.opcode for table in tables]),
        literal_start=offsets(np.concatenate([np.diff(table.literal_start) for table in tables])),
        literal=np.concatenate([table.literal for table in tables]),
    )
