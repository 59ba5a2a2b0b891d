"""Functions of whole projects compiled in several ways: the queries, and the pools that they search.

Their modules are read with the author's words taken out: names of all that they define and texts of strings; names of
what they take from outside are kept, or taken out as well.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ncc.arrays import Bools, Ints
from ncc.errors import NccError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module, plain_name
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.recipe import CorpusFile
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc.learning.programs.names import is_library_function
from ncc.learning.programs.table import ProgramTable, concatenate, table_of_functions
from ncc_lab.retrieval.methods import Units

LEAST = 5
"""Statements that a function must have, its head not counted."""

_TEXT = re.compile(rb'\] c"[^"\n]*"')
_TEXT_HEAD = re.compile(
    rb'^(@(?:"[^"\n]*"|[\w.$-]+) = )(?:private |internal |linkonce_odr |weak_odr )?(?=[^\n]*\] c")', re.MULTILINE
)
"""Of a global with text: weak, so that no optimization takes what is put in the text's place for its value."""
_HEAD = re.compile(rb'^define ([^@\n]*)@("[^"\n]*"|[\w.$-]+)', re.MULTILINE)
_OUTSIDE = re.compile(
    rb'^(?:declare [^@\n]*@("[^"\n]*"|[\w.$-]+)|@("[^"\n]*"|[\w.$-]+) = (?:external|extern_weak) )', re.MULTILINE
)
_NAME = re.compile(rb'(@|^\$(?=[^\n]* = comdat)|(?<=comdat\()\$)("[^"\n]*"|[\w.$-]+)', re.MULTILINE)
_ABOUT = re.compile(rb"^(?:; ModuleID|source_filename)[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True)
class Build:
    """A way to compile: a clang, None for the bundled one, and a level."""

    clang: str | None = None
    level: str = "-O2"

    def __str__(self) -> str:
        return f"{Path(self.clang).name} {self.level}" if self.clang else self.level


@dataclass(frozen=True, eq=False)
class Functions:
    """Functions of one module.

    Attributes:
        file: Where the module comes from.
        names: Names of the n functions in the source.
        internal: (n,) bool, whether no other module can call it.
        table: Their statements.
    """

    file: str
    names: tuple[str, ...]
    internal: Bools
    table: ProgramTable


@dataclass(frozen=True, eq=False)
class Pool:
    """A pool of functions, and the queries against it.

    Attributes:
        units: The m functions of the pool, then the k that ask.
        num_candidates: How many the pool has, m.
        answer: (k,) int64 row of the pool that is right.
        internal: (m,) bool, of the pool.
    """

    units: Units
    num_candidates: int
    answer: Ints
    internal: Bools


def anonymous(ir: bytes, *, keep_callees: bool) -> tuple[bytes, tuple[str, ...], Bools]:
    """A module without its author's words."""
    heads = _HEAD.findall(ir)
    outside = {name or variable for name, variable in _OUTSIDE.findall(ir)}
    known: dict[bytes, bytes] = {}

    def rename(match: re.Match[bytes]) -> bytes:
        sigil, name = match.groups()
        if name.startswith(b"llvm.") or (keep_callees and name in outside):
            return match[0]
        if name not in known:
            tag = b"t%d" % len(known)
            # as C++ functions that differ in their ABI's tag, all names from outside read the same: "ext"
            known[name] = b"_Z3extB%d%sv" % (len(tag), tag) if name in outside else b"own" + tag
        return sigil + known[name]

    text = _NAME.sub(rename, _TEXT.sub(b"] zeroinitializer", _TEXT_HEAD.sub(rb"\1weak ", _ABOUT.sub(b"", ir))))
    internal = np.array([b"internal" in about or b"private" in about for about, _ in heads], bool)
    return text, tuple(plain_name(name) for _, name in heads), internal


def own_functions_of(ir: bytes, file: str, abstraction: Abstraction, *, keep_callees: bool) -> Functions:
    """The functions of a module that are its author's, of `LEAST` statements or more."""
    text, names, internal = anonymous(ir, keep_callees=keep_callees)
    module: Module = read_module(text, name=file, abstraction=abstraction)
    assert len(names) == module.num_functions
    table = table_of_functions(module)
    own = np.array([not is_library_function(name) for name in names], bool)
    rows = np.flatnonzero(own & (np.diff(table.start) > LEAST))
    return Functions(file, tuple(names[row] for row in rows.tolist()), internal[rows], table.rows(rows))


def compile_file(file: CorpusFile, build: Build, compiler: CachingCompiler) -> bytes:
    """The IR of a file, compiled in a certain way."""
    attempts = tuple(
        (replace(options, clang=build.clang, optimization=build.level), header) for options, header in file.attempts
    )
    return compiler.ir_of(replace(file, attempts=attempts))


def make_pool(
    files: Sequence[CorpusFile],
    query: Build,
    pool: Build,
    *,
    ir_of: Callable[[CorpusFile, Build], bytes],
    abstraction: Abstraction,
    keep_callees: bool,
) -> tuple[Pool | None, dict[str, str]]:
    """The functions of a project that both builds have."""
    failures: dict[str, str] = {}
    kept: list[tuple[CorpusFile, Functions, list[int]]] = []
    asking: list[tuple[CorpusFile, Functions, list[int]]] = []
    row_of: dict[tuple[str, bytes], int] = {}
    answer: list[int] = []
    for file in files:
        try:
            there, asked = (
                own_functions_of(ir_of(file, build), file.path, abstraction, keep_callees=keep_callees)
                for build in (pool, query)
            )
        except NccError as error:
            failures[file.path] = str(error)
            continue
        rows: dict[str, int] = {}
        new = []
        for number, name in enumerate(there.names):
            key = (name, _digest(there, number) if there.internal[number] else b"")
            if key not in row_of:
                row_of[key] = len(row_of)
                new.append(number)
            rows[name] = row_of[key]
        seen = set(answer)
        questions = [number for number, name in enumerate(asked.names) if rows.get(name, -1) not in {-1, *seen}]
        answer += [rows[asked.names[number]] for number in questions]
        kept.append((file, there, new))
        asking.append((file, asked, questions))
    if not answer:
        return None, failures
    parts = [(part, build) for group, build in ((kept, pool), (asking, query)) for part in group]
    table = concatenate([functions.table.rows(np.array(rows, np.int64)) for (_, functions, rows), _ in parts])
    places = [(file, build, functions.names[row]) for (file, functions, rows), build in parts for row in rows]

    @lru_cache(maxsize=1)
    def module(file: CorpusFile, build: Build) -> tuple[bytes, dict[str, str]]:
        text, names, _ = anonymous(ir_of(file, build), keep_callees=keep_callees)
        return text, dict(zip(names, (plain_name(name) for _, name in _HEAD.findall(text)), strict=True))

    def ir(unit: int) -> tuple[bytes, str | None]:
        file, build, name = places[unit]
        text, hidden = module(file, build)
        return text, hidden[name]

    internal = np.concatenate([functions.internal[rows] for _, functions, rows in kept])
    return Pool(Units(table, ir), len(row_of), np.array(answer, np.int64), internal), failures


def _digest(functions: Functions, number: int) -> bytes:
    """A hash of a function's statements."""
    table = functions.table
    texts = (table.texts[text] for text in table.text_id[table.start[number] : table.start[number + 1]].tolist())
    return hashlib.sha256("\n".join(texts).encode("utf-8", "backslashreplace")).digest()
