"""The parts of a statement, so that statements can share what is learned about their parts.

A statement's vector is a sum: a vector for each of its parts (opcode, types, flags, callee, kinds of operands) and one
of its own. What ``i64`` or ``fast`` means is then learned from all statements that have it, and a rare statement starts
from what its parts mean.

Reference: Bojanowski et al. 2017, "Enriching Word Vectors with Subword Information", section 3.2, with the parts of a
statement in place of a word's n-grams.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats32, Ints

_PART = re.compile(
    r"align \d+|@[\w.$]+|<(?:%ID|@ID|LABEL|FLOAT|STRING|INT[^>]*)>|\{\.\.\.\}|\d+ x|N x|[A-Za-z_][\w.]*|-?\d+|…|[{\[]"
)
_RESULT = "<%ID> ="
_CALL_MARKERS = frozenset({"tail", "musttail", "notail"})
_MOST_REPEATS = 4
_OPCODE_WEIGHT = 2.0


def parts_of(text: str) -> tuple[str, ...]:
    """The distinct parts of an abstracted statement, its opcode first.

    The second, third and later occurrences of a part are parts of their own, up to the fourth.

    >>> parts_of("<%ID> = add nsw i32 <%ID>, <INT>")
    ('opcode add', 'nsw', 'i32', '<%ID>', '<INT>', '<%ID> =')
    >>> parts_of("store <4 x float> <%ID>, ptr <%ID>, align 16")
    ('opcode store', '4 x', 'float', '<%ID>', 'ptr', '<%ID> 2', 'align 16')
    """
    has_result = text.startswith(_RESULT)
    found = _PART.findall(text[len(_RESULT) :] if has_result else text)
    if not found:
        return ()
    if found[0] in _CALL_MARKERS:
        found[:2] = found[1::-1]  # "tail call" is a call
    seen: Counter[str] = Counter()
    parts = [f"opcode {found[0]}"]
    for part in found[1:]:
        seen[part] += 1
        if seen[part] <= _MOST_REPEATS:
            parts.append(part if seen[part] == 1 else f"{part} {seen[part]}")
    if has_result:
        parts.append(_RESULT)
    return tuple(dict.fromkeys(parts))


@dataclass(frozen=True, eq=False)
class PartMatrix:
    """Which words have which parts: a sparse (num_words, num_parts) matrix.

    Attributes:
        row, column: (num_entries,) int64.
        weight: (num_entries,) float32; the squares of a row add up to 1. An opcode weighs twice another part, as in
            IR2Vec, where an opcode weighs 1 and a type 0.5.
        num_words, num_parts: the shape.
    """

    row: Ints
    column: Ints
    weight: Floats32
    num_words: int
    num_parts: int


def part_matrix(words: Sequence[str]) -> PartMatrix:
    """The parts of all words of a vocabulary; parts are numbered in alphabetical order.

    Reference: VenkataKeerthy et al. 2020, "IR2Vec", section 4.1 (weights of opcodes and types).
    """
    parts = [parts_of(word) for word in words]
    number = {part: i for i, part in enumerate(sorted({part for some in parts for part in some}))}
    row = np.repeat(np.arange(len(words)), [len(some) for some in parts])
    column = np.array([number[part] for some in parts for part in some], np.int64)
    weight = np.array([_OPCODE_WEIGHT if i == 0 else 1.0 for some in parts for i in range(len(some))], np.float64)
    length = np.sqrt(np.bincount(row, weights=weight**2, minlength=len(words)))
    return PartMatrix(row, column, (weight / length[row]).astype(np.float32), len(words), len(number))
