"""Co-occurrence counts of a corpus: sparse matrices that add up over files, processes and machines.

A folder holds ``counts.json`` (the card) and ``counts.safetensors`` (the matrix as three columns, sorted).
"""

import itertools
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta, convert
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32, offsets
from ncc.errors import AssetError
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc.system.files.models import read_json, read_tensors
from ncc.system.files.text import pluralize
from ncc.system.files.writing import folder_lock, write_atomically

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMAT_VERSION = 1

Pairs = tuple[Ints32, Ints32, Ints]
"""Center, context and count of distinct pairs, sorted: (num_pairs,) int32, int32 and int64."""

_TENSORS = ("statements", "center", "context", "count")
_COMPACT_AT = 1 << 22
"""Pairs added before they are summed: 64 MB."""

_Size = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountsCard:
    """The card of a corpus."""

    texts: tuple[str, ...]  # distinct abstracted statements, in alphabetical order
    context_width: _Size  # in hops
    num_files: _Size
    num_lines: _Size  # lines of IR


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusCounts(CountsCard):
    """Counts of a corpus."""

    statements: Ints  # (num_texts,) int64 occurrences of each statement
    matrix: "csr_array"  # (num_texts, num_texts) int64 occurrences of a statement in the context of another

    def __repr__(self) -> str:
        counted = f"{len(self.texts)} statements, {self.matrix.nnz} pairs within {pluralize(self.context_width, 'hop')}"
        return f"CorpusCounts({counted}, from {self.num_files} files)"

    @property
    def pairs(self) -> Pairs:
        """The pairs as columns."""
        return _columns(self.matrix)

    def restrict(self, vocabulary: Vocabulary) -> Pairs:
        """Pairs between words; a statement outside the vocabulary counts for the word that it backs off to."""
        word, _ = vocabulary.encode(self.texts)
        center, context, count = self.pairs
        return _columns(_matrix([(word[center], word[context], count)], len(vocabulary)))


def _matrix(pairs: Iterable[Pairs], size: int) -> "csr_array":
    """(size, size) sum of pairs."""
    from scipy.sparse import csr_array

    center, context, count = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    matrix = csr_array((count, (center, context)), shape=(size, size), dtype=np.int64)
    matrix.sum_duplicates()
    return matrix


def _columns(matrix: "csr_array") -> Pairs:
    center = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    return center, np.asarray(matrix.indices, np.int32), np.asarray(matrix.data, np.int64)


class CountsBuilder:
    """Sum of the counts of files, in bounded memory."""

    def __init__(self, context_width: int, *, compact_at: int = _COMPACT_AT) -> None:
        self.context_width = context_width
        self.num_files = self.num_lines = 0
        self._compact_at = compact_at
        self._index: dict[str, int] = {}
        self._statements: list[int] = []
        nothing = np.zeros(0, np.int32)
        self._pairs: list[Pairs] = [(nothing, nothing, np.zeros(0, np.int64))]
        self._num_pending = 0

    def add(
        self, texts: Sequence[str], statements: Ints, pairs: Pairs, *, num_files: int = 1, num_lines: int = 0
    ) -> None:
        """Add one file's counts: occurrences of its texts, and pairs of indices into them."""
        rows = np.empty(len(texts), np.int32)
        for i, (text, times) in enumerate(zip(texts, statements.tolist(), strict=True)):
            rows[i] = row = self._index.setdefault(text, len(self._statements))
            if row == len(self._statements):
                self._statements.append(0)
            self._statements[row] += times
        center, context, count = pairs
        self._pairs.append((rows[center], rows[context], count))
        self._num_pending += len(count)
        self.num_files += num_files
        self.num_lines += num_lines
        if self._num_pending >= max(self._compact_at, len(self._pairs[0][2])):
            self._pairs = [_columns(_matrix(self._pairs, len(self._statements)))]
            self._num_pending = 0

    def finish(self) -> CorpusCounts:
        """The sum; texts are sorted, so that it does not depend on the order of files."""
        texts = sorted(self._index)
        rank = np.empty(len(texts), np.int32)
        rank[[self._index[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
        statements = np.zeros(len(texts), np.int64)
        statements[rank] = self._statements
        return CorpusCounts(
            texts=tuple(texts),
            context_width=self.context_width,
            num_files=self.num_files,
            num_lines=self.num_lines,
            statements=statements,
            matrix=_matrix(((rank[a], rank[b], count) for a, b, count in self._pairs), len(texts)),
        )


def width_folder(corpus: str | Path, width: int) -> Path:
    """Folder in which a corpus keeps its counts for a context width."""
    return Path(corpus) / f"width-{width}"


def save_counts(counts: CorpusCounts, folder: str | Path) -> None:
    """Write ``counts.safetensors`` and ``counts.json`` into a folder, each in one step."""
    from safetensors.numpy import save

    folder = Path(folder)
    arrays: tuple[NDArray[Any], ...] = (counts.statements, *counts.pairs)
    tensors = dict(zip(_TENSORS, arrays, strict=True))
    card = {name: getattr(counts, name) for name in CountsCard.__dataclass_fields__}
    text = json.dumps({"format_version": FORMAT_VERSION} | card, ensure_ascii=False)
    with folder_lock(folder):
        write_atomically(folder / "counts.safetensors", save(tensors))
        write_atomically(folder / "counts.json", text.encode())


def load_counts(folder: str | Path) -> CorpusCounts:
    """Read counts; raise AssetError if a file is missing, damaged or of another format version."""
    from scipy.sparse import csr_array

    path = Path(folder) / "counts.json"
    content = read_json(path, FORMAT_VERSION)
    try:
        card = convert(content, CountsCard)
        "".join(card.texts).encode()
    except ValueError as error:  # UnicodeEncodeError: a lone surrogate
        raise AssetError(f"{path}: not a card of counts ({error}); it is damaged") from error
    if any(text >= following for text, following in itertools.pairwise(card.texts)):
        raise AssetError(f"{path}: texts are not in alphabetical order, or not distinct; it is damaged")
    path = path.with_suffix(".safetensors")
    arrays = read_tensors(path, _TENSORS, kinds="i", max_bytes=sys.maxsize)
    start = _check(path, len(card.texts), arrays)
    columns = arrays["count"].astype(np.int64, copy=False), arrays["context"].astype(np.int32, copy=False), start
    matrix = csr_array(columns, shape=(len(card.texts), len(card.texts)))
    return CorpusCounts(**vars(card), statements=arrays["statements"].astype(np.int64, copy=False), matrix=matrix)


def sum_counts(folders: Iterable[Path]) -> CorpusCounts:
    """Read counts and add them up; raise AssetError if they are of several context widths."""
    builder = None
    for folder in folders:
        counts = load_counts(folder)
        builder = builder or CountsBuilder(counts.context_width)
        if (width := counts.context_width) != builder.context_width:
            raise AssetError(f"{folder}: was counted with context width {width}; expected {builder.context_width}")
        sizes = {"num_files": counts.num_files, "num_lines": counts.num_lines}
        builder.add(counts.texts, counts.statements, counts.pairs, **sizes)
    assert builder, "there are no counts"
    return builder.finish()


def _check(path: Path, num_texts: int, arrays: Mapping[str, NDArray[Any]]) -> Ints:
    """(num_texts + 1,) int64 offsets of centers; raise AssetError if the columns are not counts."""
    statements, center, context, count = (arrays[name] for name in _TENSORS)
    same = center[1:] == center[:-1]
    if any(column.ndim != 1 for column in arrays.values()):
        reason = "the counts are not columns"
    elif len({len(center), len(context), len(count)}) != 1 or len(statements) != num_texts:
        reason = "the columns of the counts differ in length"
    elif any(len(column) and not 0 <= column.min() <= column.max() < num_texts for column in (center, context)):
        reason = "a pair names a statement that is not there"
    elif any(
        len(column) and not (column.min() >= 0 and column.sum(dtype=float) < 2.0**59) for column in (statements, count)
    ):
        reason = "a count is below 0 or out of range"
    elif not np.all((center[1:] > center[:-1]) | (same & (context[1:] > context[:-1]))):
        reason = "pairs are not in order, each once"
    else:
        return offsets(np.bincount(center, minlength=num_texts))
    raise AssetError(f"{path}: {reason}; build the corpus again")
