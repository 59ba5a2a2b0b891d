"""Subwords of a statement, so that statements share what is learned about their parts.

A statement's vector is the sum of one vector per subword (opcode, types, flags, callee, kinds of operands) and its own.
The meaning of ``i64`` or ``fast`` is then learned from all statements that have it, and a rare statement starts from
the meaning of its parts.

Reference: Bojanowski et al. 2017, "Enriching Word Vectors with Subword Information", section 3.2, with parts of a
statement instead of n-grams.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SUBWORD = re.compile(
    r"align \d+|@[\w.$]+|<(?:%ID|@ID|LABEL|FLOAT|STRING|INT[^>]*)>|\{\.\.\.\}|\d+ x|N x|[A-Za-z_][\w.]*|-?\d+|…|[{\[]"
)
_RESULT = "<%ID> ="
_CALL_MARKERS = frozenset({"tail", "musttail", "notail"})
_MAX_REPEATS = 4
_OPCODE_WEIGHT = 2.0
"""An opcode weighs twice another part, as in IR2Vec (VenkataKeerthy et al. 2020, section 4.1: 1 and 0.5)."""


def subwords_of(text: str) -> tuple[str, ...]:
    """The distinct parts of an abstracted statement, its opcode first; up to four occurrences count as parts.

    >>> subwords_of("<%ID> = add nsw i32 <%ID>, <INT>")
    ('opcode add', 'nsw', 'i32', '<%ID>', '<INT>', '<%ID> =')
    >>> subwords_of("store <4 x float> <%ID>, ptr <%ID>, align 16")
    ('opcode store', '4 x', 'float', '<%ID>', 'ptr', '<%ID> 2', 'align 16')
    """
    has_result = text.startswith(_RESULT)
    tokens = _SUBWORD.findall(text[len(_RESULT) :] if has_result else text)
    if not tokens:
        return ()
    if tokens[0] in _CALL_MARKERS:
        tokens[:2] = tokens[1::-1]  # "tail call" is a call
    seen: Counter[str] = Counter()
    parts = [f"opcode {tokens[0]}"]
    for token in tokens[1:]:
        seen[token] += 1
        if seen[token] <= _MAX_REPEATS:
            parts.append(token if seen[token] == 1 else f"{token} {seen[token]}")
    if has_result:
        parts.append(_RESULT)
    return tuple(dict.fromkeys(parts))


def subword_matrix(words: Sequence[str]) -> "csr_array":
    """(num_words, num_subwords) sparse float32 weights, rows of length 1; columns are in alphabetical order."""
    from scipy.sparse import csr_array

    subwords = [subwords_of(word) for word in words]
    index = {part: column for column, part in enumerate(sorted({part for parts in subwords for part in parts}))}
    length = [len(parts) for parts in subwords]
    row = np.repeat(np.arange(len(words)), length)
    column = np.array([index[part] for parts in subwords for part in parts], np.int64)
    weight = np.array([1.0 if i else _OPCODE_WEIGHT for parts in subwords for i in range(len(parts))], np.float64)
    norm = np.sqrt(np.bincount(row, weights=weight**2, minlength=len(words)))
    entries = (weight / norm[row]).astype(np.float32), column, np.concatenate([[0], np.cumsum(length)])
    return csr_array(entries, shape=(len(words), len(index)))
