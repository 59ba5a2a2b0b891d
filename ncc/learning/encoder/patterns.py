"""Patterns of code: hashes of a function's statements, value flow and loops.

A pattern is a small piece of a function, one of `KINDS`, that survives different compilers and authors. It is a hash
of 20 bits, so that a bag of patterns is a row of a sparse matrix and needs no vocabulary.

References: Shervashidze et al. 2011 (Weisfeiler-Lehman graph kernels; the flow of values is their first round);
Weinberger et al. 2009 (hashed features).
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32, offsets
from ncc.ir.reader.module import Module, NodeKind
from ncc.ir.reader.native import OPCODES
from ncc.learning.programs.table import statement_literals

_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFTS = (np.uint64(29), np.uint64(32))


def hash_combine(first: NDArray[np.uint64], second: NDArray[np.uint64] | np.uint64) -> NDArray[np.uint64]:
    """Combine two numbers into one hash; overflow is intended. Shipped files depend on it."""
    with np.errstate(over="ignore"):
        mixed: NDArray[Any] = first * _FACTORS[0] ^ (second + _FACTORS[0])
        mixed ^= mixed >> _SHIFTS[0]
        mixed *= _FACTORS[1]
        mixed ^= mixed >> _SHIFTS[1]
    return mixed


BITS = 20
KINDS = (
    "statement", "pair", "literal", "spelled", "inputs", "users", "flow", "depth", "block", "deep literal", "calls",
    "amount",
)  # fmt: skip
"""Kinds of patterns; a key is the number of a kind, followed by `BITS` bits of hash."""

_MAX_DEPTH = 4
_FLAGS = re.compile(
    r" (?:nsw|nuw|nneg|disjoint|exact|inbounds|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|samesign|volatile|tail"
    r"|notail|musttail)\b|, align \d+"
)
_COMPARISON = re.compile(r"\b[if]cmp \w+")
_CALLEE = re.compile(r"@([\w.]+)\(")
_TYPE = re.compile(r"\b(?:i\d+|float|double|ptr|<\d+ x \w+>)\b")
_PHI = OPCODES.index("phi")
_UNORDERED = ("phi", "add", "mul", "and", "or", "xor", "fadd", "fmul")
_IS_CALL, _IS_UNORDERED = (
    np.isin(np.arange(256), [OPCODES.index(name) for name in names]) for names in (("call", "invoke"), _UNORDERED)
)
_LITERAL, _INPUT, _USER, _USED, _BLOCK, _DEPTH, _AMOUNT = (np.uint64(salt) for salt in (4, 7, 9, 11, 5, 99, 300))
_BITS_OF_TEXT = np.uint64(33)
_OPERATION = np.uint64((1 << 33) - 1)
_FIRST_KIND = 1000

Uint64Array = NDArray[np.uint64]


class PatternCounts(NamedTuple):
    """Concatenated bags of patterns."""

    start: Ints  # (n + 1,) offsets of the n bags
    key: NDArray[np.uint32]  # patterns of each, ascending
    times: Ints32  # occurrences of each

    @classmethod
    def joined(cls, parts: Sequence["PatternCounts"]) -> "PatternCounts":
        """The bags of all parts."""
        none = cls(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.int32))
        starts, keys, times = zip(none, *parts, strict=True)
        return cls(offsets(np.concatenate([*map(np.diff, starts)])), np.concatenate(keys), np.concatenate(times))


def count_patterns(module: Module, bag: Ints) -> PatternCounts:
    """Count the patterns of a module's functions in bags, by the (num_functions,) bag of each function, -1 for none."""
    num_bags = int(bag.max(initial=-1)) + 1
    statement_bag = bag[module.statement_function]
    rows = np.flatnonzero(statement_bag >= 0)
    keys = [
        statement_bag[statement] << 32
        | kind << BITS
        | (hash_combine(values, np.uint64(_FIRST_KIND + kind)) >> np.uint64(64 - BITS)).astype(np.int64)
        for kind, (statement, values) in enumerate(_patterns(module, rows, statement_bag))
    ]
    distinct, count = np.unique(np.concatenate(keys) if len(rows) else np.zeros(0, np.int64), return_counts=True)
    start = np.searchsorted(distinct >> 32, np.arange(num_bags + 1))
    return PatternCounts(start, (distinct & 0xFFFFFFFF).astype(np.uint32), count.astype(np.int32))


def bags_of(module: Module, functions: Sequence[int] | Ints) -> Ints:
    """(num_functions,) bags for `count_patterns`: one bag for each of some functions, in their order."""
    bag = np.full(module.num_functions, -1, np.int64)
    bag[functions] = np.arange(len(functions))
    return bag


def _patterns(module: Module, rows: Ints, bag: Ints) -> list[tuple[Ints, Uint64Array]]:
    """For each of `KINDS`, the statements of its patterns, and the patterns as 64 bits."""
    function = module.statement_function
    whole, short = (
        np.array([_text_hashes(text) for text in module.texts], np.uint64).reshape(-1, 2).T[:, module.text_id]
    )
    with np.errstate(over="ignore"):
        literal_start, literals = statement_literals(module, rows.astype(np.int32))
        statement, literal = np.repeat(rows, np.diff(literal_start)), literals.astype(np.uint64)
        constants = _sum_at(module.num_statements, statement, hash_combine(literal, _LITERAL))
        user, source, place = _value_flow(module)
        inputs = _sum_at(module.num_statements, user, hash_combine(short[source], place + _INPUT))
        users = _sum_at(module.num_statements, source, hash_combine(short[user], place + _USER))
        first, second = rows[:-1], rows[1:]
        together = function[first] == function[second]
        calls = rows[_IS_CALL[module.opcode[rows]]]
        call = np.flatnonzero(function[calls[:-1]] == function[calls[1:]])
        inside = bag[user] >= 0
        depth = _loop_depth(module)[module.basic_block].astype(np.uint64)
        block = module.basic_block[rows]
        leader = np.flatnonzero(np.diff(block, prepend=-1))
        block_hash = _sum_at(len(module.basic_block_label), block, hash_combine(short[rows], _BLOCK))
        return [
            (rows, whole[rows]),
            (first[together], hash_combine(whole[first], whole[second])[together]),
            (statement, literal),
            (statement, hash_combine(literal, short[statement])),
            (rows, hash_combine(hash_combine(short[rows], inputs[rows]), constants[rows])),
            (rows, hash_combine(hash_combine(short[rows], users[rows]), _USED)),
            (user[inside], hash_combine(hash_combine(whole[source], whole[user]), place)[inside]),
            (rows, hash_combine(short[rows], depth[rows] + _DEPTH)),
            (rows[leader], block_hash[block[leader]]),
            (statement, hash_combine(literal, depth[statement] + _DEPTH)),
            (calls[call], hash_combine(whole[calls[call]], whole[calls[call + 1]])),
            _amounts(rows, bag, short),
        ]


def _amounts(rows: Ints, bag: Ints, operation: Uint64Array) -> tuple[Ints, Uint64Array]:
    """For each operation in a bag, one of the bag's statements, and the operation with the magnitude of its count."""
    statement = np.zeros(int(bag.max(initial=-1)) + 1, np.int64)
    statement[bag[rows]] = rows
    found, count = np.unique(bag[rows].astype(np.uint64) << _BITS_OF_TEXT | operation[rows], return_counts=True)
    order = np.frexp(count)[1].astype(np.uint64)
    return statement[(found >> _BITS_OF_TEXT).astype(np.int64)], hash_combine(found & _OPERATION, order + _AMOUNT)


def _value_flow(module: Module) -> tuple[Ints32, Ints32, Uint64Array]:
    """Uses of values: user, definition, and operand index (0 for all operands of commutative operations)."""
    known = np.flatnonzero(module.operand_definition >= 0)
    user = module.operand_statement[known]
    place = (known - module.operand_start[user]).astype(np.uint64)
    place[_IS_UNORDERED[module.opcode[user]]] = 0
    return user, module.operand_definition[known], place


def _loop_depth(module: Module) -> Ints:
    """(num_blocks,) int64 loop depth of each block, at most `_MAX_DEPTH`, from the layout order of blocks.

    A branch back to an earlier block makes a loop of all blocks from there to the branch.
    """
    is_label = (module.operand >= 0) & (module.node_kind[module.operand] == NodeKind.BLOCK)
    is_label &= module.opcode[module.operand_statement] != _PHI
    target = module.node_definition[module.operand[is_label]]
    source = module.basic_block[module.operand_statement[is_label]]
    back = target <= source
    last = np.full(len(module.basic_block_label), -1)
    np.maximum.at(last, target[back], source[back])
    heads = np.flatnonzero(last >= 0)
    change = np.bincount(heads, minlength=len(last) + 1) - np.bincount(last[heads] + 1, minlength=len(last) + 1)
    return np.minimum(np.cumsum(change)[:-1], _MAX_DEPTH)


def _sum_at(size: int, where: NDArray[np.integer], values: Uint64Array) -> Uint64Array:
    """Sum values by index, independent of their order; overflow is intended."""
    sums = np.zeros(size, np.uint64)
    np.add.at(sums, where, values)
    return sums


@lru_cache(maxsize=1 << 16)
def _text_hashes(text: str) -> tuple[int, ...]:
    """Hashes of a statement without flags and alignments, and of its operation."""
    plain = _FLAGS.sub("", text)
    return tuple(zlib.crc32(part.encode("utf-8", "surrogateescape")) + 1 for part in (plain, _operation(plain)))


def _operation(plain: str) -> str:
    """A statement's operation: a comparison's predicate, a call's callee, else the opcode with its first type."""
    if comparison := _COMPARISON.search(plain):
        return comparison[0]
    right = plain.split(" = ", 1)[-1]
    opcode = right.split(" ", 1)[0]
    if opcode in ("call", "invoke"):
        callee = _CALLEE.search(right)
        return opcode + (callee[1] if callee else "")
    kind = _TYPE.search(right) if opcode != "define" else None
    return f"{opcode} {kind[0] if kind else ''}"
