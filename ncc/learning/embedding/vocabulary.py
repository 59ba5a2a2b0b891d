"""The vocabulary: forms of statements with a row, and the row to which any other statement backs off.

Reference: Ben-Nun et al. 2018, section 4.1 (vocabulary); the back-off is ours.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32
from ncc.errors import InputError
from ncc.ir.reader.native import OPCODES
from ncc.learning.embedding.backoff import (
    Backoff,
    generalizations,
    generalize,
    nearest_opencl_operation,
    split_constant_offset,
    strip_inferred_flags,
)

UNKNOWN = "<unknown>"


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words, which are forms of statements at any `Backoff`; counts are (num_words,) int64."""

    words: tuple[str, ...]  # distinct; the last one is for unknown opcodes
    counts: Ints  # statements of the corpus that look up the word; 0 for words used only as back-off forms
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index = {word: row for row, word in enumerate(self.words)}
        if len(index) != len(self.words) or len(self.counts) != len(self.words):
            raise InputError("a vocabulary needs distinct words and one count for each")
        object.__setattr__(self, "_index", index)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} statements)"

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, text: str) -> bool:
        return text in self._index

    def find(self, text: str) -> tuple[int, Backoff]:
        """Find the row of a statement, and its level of back-off.

        A statement that differs from a word only by the version of LLVM that wrote it is that word.

        >>> vocabulary = Vocabulary(("ret void", "ret", "<unknown>"), np.array([5, 1, 0]))
        >>> vocabulary.find("ret i32 <INT>")
        (1, <Backoff.OPCODE: 6>)
        """
        for form in (text, split_constant_offset(text)):
            if (row := self._index.get(form)) is not None:
                return row, Backoff.EXACT
            plain = strip_inferred_flags(form)
            if (row := self._index.get(plain, self._version_rows.get(plain))) is not None:
                return row, Backoff.EXACT
        for level, form in zip(Backoff, generalizations(text), strict=True):
            row = self._index.get(form)
            if row is None and level == Backoff.OPERATION:
                row = self._index.get(nearest_opencl_operation(form))
            if row is not None:
                return row, level
        return len(self.words) - 1, Backoff.OPCODE

    @cached_property
    def _version_rows(self) -> dict[str, int]:
        """Words with inferred flags stripped → their rows."""
        lines = [word.replace("\n", " ") for word in self.words]
        plain = strip_inferred_flags("\n".join(lines)).split("\n")  # in one call, since there are many
        rows = [row for row, (line, form) in enumerate(zip(lines, plain, strict=True)) if line != form]
        return {plain[row]: row for row in sorted(rows, key=lambda row: (len(self.words[row]), self.words[row]))}

    def encode(self, texts: Iterable[str]) -> tuple[Ints32, NDArray[np.uint8]]:
        """Rows and back-off levels of statements: (n,) int32 and (n,) uint8."""
        rows = [self.find(text) for text in texts]
        return np.array([row for row, _ in rows], np.int32), np.array([level for _, level in rows], np.uint8)


def build_vocabulary(statement_counts: Mapping[str, int], min_count: int = 100) -> Vocabulary:
    """Choose the words for a corpus from its statements and their counts.

    A frequent statement is a word. Rarer ones are gathered, level by level, under their generalizations, which become
    words if they are frequent together: these words have real contexts in the corpus. Generalizations of words are
    words too, and so are all opcodes.
    """
    selected: dict[str, int] = {}
    pending = Counter(dict(statement_counts))
    example = {text: text for text in statement_counts}
    for level in Backoff:
        rarer: Counter[str] = Counter()
        rarer_example: dict[str, str] = {}
        for form, count in pending.items():
            forms = generalize(example[form])[level:]
            if form in selected or count >= min_count or level == Backoff.OPCODE:
                # all its generalizations become words, since rarer statements must stop at the first word, as in `find`
                selected.update({general: 0 for general in forms if general not in selected})
                selected[form] += count
                continue
            rarer[forms[1]] += count
            rarer_example.setdefault(forms[1], example[form])
        pending, example = rarer, rarer_example
    for opcode in OPCODES:
        selected.setdefault(opcode, 0)
    words = sorted(selected)
    rows, _ = Vocabulary((*words, UNKNOWN), np.zeros(len(words) + 1, np.int64)).encode(statement_counts)
    counts = np.bincount(rows, list(statement_counts.values()), len(words) + 1).astype(np.int64)
    order = [*np.argsort(-counts[:-1], kind="stable").tolist(), len(words)]
    return Vocabulary(tuple((*words, UNKNOWN)[row] for row in order), counts[order])
