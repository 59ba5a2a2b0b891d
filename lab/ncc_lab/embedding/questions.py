"""The paper's analogy questions, made from a vocabulary's words: a is to b as c is to d.

Where the original fills templates and drops what its vocabulary lacks, here the words themselves are matched, so that
every type, flag and index that the vocabulary has is asked about: grids whose rectangles are questions, and inverses.

Reference: Ben-Nun et al. 2018, section 5.1; the kinds are those of the original code, and two new ones.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ncc.arrays import Ints32
from ncc.errors import check_positive
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc_lab.embedding.statements import (
    Binary,
    Conversion,
    Element,
    ParsedWords,
    parse_words,
    struct_fields,
    vector_parts,
)

GROUPS = ("types", "options", "conversions", "data structures")
"""The columns of the paper's table."""

_INTEGER_OPS = ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"]
_FLOAT_OPS = ["fadd", "fsub", "fmul", "fdiv", "frem"]
_EQUAL_OPS = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
_EQUAL_TYPES = {"i32": "float", "i64": "double"}
_WRAPPING_OPS = ["add", "sub", "mul", "shl"]
_WRAP_FLAGS = frozenset({"", "nsw", "nuw", "nuw nsw"})
_INTEGER_INVERSES = (["add", "sub", "mul", "sdiv"], ["add", "sub", "mul", "udiv"])
_FLOAT_INVERSES = ["fadd", "fsub", "fmul", "fdiv"]

_Table = Mapping[Hashable, Mapping[Any, int]]
"""Row and column of a word in a grid, any rectangle of which is a question."""


class QuestionKind(NamedTuple):
    """A kind of question: its group of `GROUPS`, what it is about, and what asks words for (n, 4) rows a, b, c, d."""

    group: str
    name: str
    ask: Callable[[ParsedWords], Ints32]
    in_paper: bool = True


def _stack(parts: Sequence[Ints32]) -> Ints32:
    return np.concatenate([np.zeros((0, 4), np.int32), *parts]).astype(np.int32)


def _rectangles(table: _Table, *, base: Hashable = None) -> Ints32:
    """Return every two rows with every two columns that both have; with ``base``, only that column with others."""
    parts = []
    for upper, lower in itertools.combinations(table.values(), 2):
        common = sorted(upper.keys() & lower.keys(), key=_order)
        left, right = np.triu_indices(len(common), 1)
        if base is not None:
            with_base = np.array([column == base for column in common], bool)
            kept = with_base[left]
            left, right = left[kept], right[kept]
        if len(left):
            top = np.array([upper[column] for column in common])
            bottom = np.array([lower[column] for column in common])
            parts.append(np.stack([top[left], top[right], bottom[left], bottom[right]], axis=1))
    rows = _stack(parts)
    return rows[(rows[:, 0] != rows[:, 1]) & (rows[:, 2] != rows[:, 3])]


def _order(column: Any) -> Any:
    """Scalar types before vectors, numbers by their size."""
    if not isinstance(column, str):
        return column
    parts = [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", column)]
    return column.startswith("<"), parts


def _grids(
    words: Mapping[Binary, int], opcodes: Sequence[str], place: Callable[[Binary], tuple[Hashable, Hashable]]
) -> list[_Table]:
    """Grids of opcodes by columns; ``place`` says which grid and which column an operation belongs to."""
    grids: dict[Hashable, dict[Hashable, dict[Any, int]]] = defaultdict(lambda: {opcode: {} for opcode in opcodes})
    for binary, row in words.items():
        if binary.opcode in opcodes:
            grid, column = place(binary)
            grids[grid][binary.opcode][column] = row
    return list(grids.values())


def _by_type(opcodes: Sequence[str]) -> Callable[[ParsedWords], Ints32]:
    def ask(words: ParsedWords) -> Ints32:
        grids = _grids(words.binaries, opcodes, lambda word: ((word.flags, word.operands), word.type))
        return _stack([_rectangles(grid) for grid in grids])

    return ask


def _by_flags(opcodes: Sequence[str], flags: frozenset[str] | None) -> Callable[[ParsedWords], Ints32]:
    def ask(words: ParsedWords) -> Ints32:
        chosen = {word: row for word, row in words.binaries.items() if flags is None or word.flags in flags}
        grids = _grids(chosen, opcodes, lambda word: ((word.type, word.operands), word.flags))
        return _stack([_rectangles(grid, base="") for grid in grids])

    return ask


def _float_of(integer: Binary) -> Binary:
    """Return the floating-point operation that does what an integer one does, in a type of the same width."""
    parts = vector_parts(integer.type)
    scalar = _EQUAL_TYPES.get(parts[1] if parts else integer.type, "none")
    operands = tuple("<FLOAT>" if operand == "<INT>" else operand for operand in integer.operands)
    type_ = f"<{parts[0]} x {scalar}>" if parts else scalar
    return Binary(_EQUAL_OPS[integer.opcode], "", type_, (operands[0], operands[1]))


def _integer_and_float(words: ParsedWords) -> Ints32:
    grids: dict[Hashable, dict[Hashable, dict[int, int]]] = defaultdict(lambda: {opcode: {} for opcode in _EQUAL_OPS})
    for word, row in words.binaries.items():
        if word.opcode in _EQUAL_OPS and not word.flags:
            other = words.binaries.get(_float_of(word))
            if other is not None:
                grids[word.type, word.operands][word.opcode] = {0: row, 1: other}
    return _stack([_rectangles(grid) for grid in grids.values()])


def _elements(words: ParsedWords, opcode: str) -> list[tuple[Element, int]]:
    return [(word, row) for word, row in words.elements.items() if word.opcode == opcode]


def _elements_by(varied: str, fixed: str) -> Callable[[ParsedWords], Ints32]:
    """Elements put in and taken out: two types at one index, or two indices of one type."""

    def ask(words: ParsedWords) -> Ints32:
        taken: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
        for word, row in _elements(words, "extractelement"):
            taken[getattr(word, fixed)][getattr(word, varied)] = row
        put: dict[tuple[Hashable, str, str], dict[Hashable, int]] = defaultdict(dict)
        for word, row in _elements(words, "insertelement"):
            put[getattr(word, fixed), word.into, word.value][getattr(word, varied)] = row
        return _stack([_rectangles({"insert": row, "extract": taken[key[0]]}) for key, row in put.items()])

    return ask


def _fields_by_index(words: ParsedWords) -> Ints32:
    """The first field is put into ``poison``, the others into what that made: what is inserted into may differ."""
    taken = {(word.type, word.index): row for word, row in _elements(words, "extractvalue")}
    put: dict[tuple[str, str], dict[tuple[int, str], int]] = defaultdict(dict)
    for word, row in _elements(words, "insertvalue"):
        if (word.type, word.index) in taken:
            put[word.type, word.value][word.index, word.into] = row
    return _stack(
        [
            _rectangles({"insert": row, "extract": {column: taken[key[0], column[0]] for column in row}})
            for key, row in put.items()
        ]
    )


def _structures_and_vectors(words: ParsedWords) -> Ints32:
    vectors = {(word.type, word.index): row for word, row in _elements(words, "extractelement")}
    grids: dict[str, dict[Hashable, dict[int, int]]] = defaultdict(dict)
    for word, row in sorted(_elements(words, "extractvalue"), key=lambda item: item[0].index):
        fields = struct_fields(word.type)
        vector = vectors.get((f"<{len(fields)} x {fields[0]}>", word.index)) if len(set(fields)) == 1 else None
        if vector is not None:
            grids[word.type][word.index] = {0: row, 1: vector}
    return _stack([_rectangles(grid) for grid in grids.values()])


def _inverses(pairs: Mapping[str, str], *, both_ways: bool = False) -> Callable[[ParsedWords], Ints32]:
    """Two conversions, each with its inverse; with ``both_ways`` also the second the other way round."""

    def ask(words: ParsedWords) -> Ints32:
        found = []
        for word, row in words.conversions.items():
            inverse = Conversion(pairs.get(word.opcode, ""), word.target, word.source)
            if inverse in words.conversions and (inverse.opcode != word.opcode or word.source < word.target):
                found.append((row, words.conversions[inverse]))
        there, back = np.array(found, np.int32).reshape(-1, 2).T
        i, j = np.triu_indices(len(found), 1)
        ways = [np.stack([there[i], back[i], there[j], back[j]], axis=1)]
        if both_ways:
            ways.append(np.stack([there[i], back[i], back[j], there[j]], axis=1))
        return _stack(ways)

    return ask


def _arithmetic_inverses(*quadruples: Sequence[str], any_flags: bool) -> Callable[[ParsedWords], Ints32]:
    """The original returned from within its loop over opcodes, so that it never asked for signed division."""

    def ask(words: ParsedWords) -> Ints32:
        found: list[list[int | None]] = []
        for opcodes in quadruples:
            for word in words.binaries:
                if word.opcode == opcodes[0] and (any_flags or not word.flags):
                    same = (Binary(opcode, word.flags, word.type, word.operands) for opcode in opcodes)
                    found.append([words.binaries.get(other) for other in same])
        return np.array([rows for rows in found if None not in rows], np.int32).reshape(-1, 4)

    return ask


KINDS = (
    QuestionKind("types", "integer binary operations", _by_type(_INTEGER_OPS)),
    QuestionKind("types", "floating-point binary operations", _by_type(_FLOAT_OPS)),
    QuestionKind("types", "floating-point and integer binary operations", _integer_and_float),
    QuestionKind("types", "insertelement and extractelement, by type", _elements_by("type", fixed="index")),
    QuestionKind("options", "fast-math flags", _by_flags(_FLOAT_OPS, None)),
    QuestionKind("options", "insertelement and extractelement, by index", _elements_by("index", fixed="type")),
    QuestionKind("options", "insertvalue and extractvalue, by index", _fields_by_index),
    QuestionKind("options", "integer wrap flags", _by_flags(_WRAPPING_OPS, _WRAP_FLAGS), in_paper=False),
    QuestionKind("conversions", "bitcast x to y and back", _inverses({"bitcast": "bitcast"}, both_ways=True)),
    QuestionKind("conversions", "trunc and zext", _inverses({"trunc": "zext"})),
    QuestionKind("conversions", "trunc and sext", _inverses({"trunc": "sext"})),
    QuestionKind("conversions", "fptoui/fptosi and uitofp/sitofp", _inverses({"fptoui": "uitofp", "fptosi": "sitofp"})),
    QuestionKind("conversions", "inttoptr and ptrtoint", _inverses({"inttoptr": "ptrtoint"})),
    QuestionKind(
        "conversions", "integer arithmetic inverses", _arithmetic_inverses(*_INTEGER_INVERSES, any_flags=False)
    ),
    QuestionKind(
        "conversions", "floating-point arithmetic inverses", _arithmetic_inverses(_FLOAT_INVERSES, any_flags=True)
    ),
    QuestionKind("conversions", "fptrunc and fpext", _inverses({"fptrunc": "fpext"}), in_paper=False),
    QuestionKind("data structures", "structures and vectors", _structures_and_vectors),
)
"""All kinds, in the order of the paper's table."""


class QuestionSet(NamedTuple):
    """The questions of a kind, (n, 4) rows of the vocabulary, and how many it allows; more where they are sampled."""

    kind: QuestionKind
    rows: Ints32
    num_possible: int


def generate_questions(
    vocabulary: Vocabulary, *, max_questions: int = 200_000, seed: int = 204
) -> tuple[QuestionSet, ...]:
    """Make the questions that can be asked of a vocabulary.

    Reference: Ben-Nun et al. 2018, section 5.1.
    """
    check_positive(max_questions=max_questions)
    words = parse_words(vocabulary)
    generator = np.random.default_rng(seed)
    sets = []
    for kind in KINDS:
        rows = possible = kind.ask(words)
        if len(possible) > max_questions:
            rows = possible[np.sort(generator.choice(len(possible), max_questions, replace=False))]
        sets.append(QuestionSet(kind, rows, len(possible)))
    return tuple(sets)
