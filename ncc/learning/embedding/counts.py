"""Co-occurrence counts of a corpus: sparse matrices that add up over files, processes and machines.

A folder holds ``counts.json`` (the card) and ``counts.safetensors`` (the matrix as three columns, sorted).
"""

import itertools
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta, convert
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32, offsets
from ncc.errors import AssetError, OutputError
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc.system.files.models import read_json, read_tensors
from ncc.system.files.writing import folder_lock, write_atomically

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMAT_VERSION = 1

Pairs = tuple[Ints32, Ints32, Ints]
"""Center, context and count of distinct pairs, sorted: (num_pairs,) int32, int32 and int64."""

Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]

_COLUMNS = {"center": "I32", "context": "I32", "count": "I64"}
_TENSORS = {"statements": "I64"} | _COLUMNS
_COMPACT_AT = 1 << 22
"""Pairs added before they are summed: 64 MB."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CountsCard:
    """The card of a corpus: its distinct statements in alphabetical order, context width in hops, and size."""

    texts: tuple[str, ...]
    width: Count
    num_files: Count
    num_lines: Count


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusCounts(CountsCard):
    """Counts of a corpus.

    Attributes:
        texts: Distinct abstracted statements, in alphabetical order.
        width: Context size in hops.
        num_files: Files read.
        num_lines: Lines of IR in them.
        statements: (num_texts,) int64 occurrences of each statement.
        matrix: (num_texts, num_texts) sparse int64 occurrences of each statement in the context of another.
    """

    statements: Ints
    matrix: "csr_array"

    def __repr__(self) -> str:
        counted = f"{len(self.texts)} statements, {self.matrix.nnz} pairs within {self.width} hop(s)"
        return f"CorpusCounts({counted}, from {self.num_files} files)"

    @property
    def center(self) -> Ints32:
        """(num_pairs,) int32 index of each pair's statement, sorted."""
        return np.repeat(np.arange(len(self.texts), dtype=np.int32), np.diff(self.matrix.indptr))

    @property
    def context(self) -> Ints32:
        """(num_pairs,) int32 index of the statement in its context, sorted for each center."""
        return np.asarray(self.matrix.indices, np.int32)

    @property
    def count(self) -> Ints:
        """(num_pairs,) int64 occurrences of the pair."""
        return np.asarray(self.matrix.data, np.int64)

    def restrict(self, vocabulary: Vocabulary) -> Pairs:
        """Pairs between words; a statement outside the vocabulary counts for the word that it backs off to."""
        word, _ = vocabulary.encode(self.texts)
        return _columns(_matrix([(word[self.center], word[self.context], self.count)], len(vocabulary)))


def _matrix(pairs: Iterable[Pairs], size: int, first: int = 0, last: int | None = None) -> "csr_array":
    """(last - first, size) sum of pairs with centers from ``first`` on, sorted, each once; default all centers."""
    from scipy.sparse import csr_array

    center, context, count = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    center -= np.int32(first)
    shape = ((size if last is None else last) - first, size)
    matrix = csr_array((count, (center, context)), shape=shape, dtype=np.int64)
    matrix.sum_duplicates()
    return matrix


def _columns(matrix: "csr_array", first: int = 0) -> Pairs:
    """Columns of a matrix whose first row has some number."""
    center = np.repeat(np.arange(first, first + matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
    return center, np.asarray(matrix.indices, np.int32), np.asarray(matrix.data, np.int64)


class CountsBuilder:
    """Sum of the counts of files, in bounded memory."""

    def __init__(self, width: int, *, compact_at: int = _COMPACT_AT) -> None:
        self.width = width
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
        number = np.empty(len(texts), np.int32)
        for i, (text, times) in enumerate(zip(texts, statements.tolist(), strict=True)):
            number[i] = row = self._index.setdefault(text, len(self._statements))
            if row == len(self._statements):
                self._statements.append(0)
            self._statements[row] += times
        center, context, count = pairs
        self._pairs.append((number[center], number[context], count))
        self._num_pending += len(count)
        self.num_files += num_files
        self.num_lines += num_lines
        if self._num_pending >= max(self._compact_at, len(self._pairs[0][2])):
            self._pairs = [_columns(_matrix(self._pairs, len(self._statements)))]
            self._num_pending = 0

    def add_counts(self, counts: CorpusCounts) -> None:
        """Add earlier counts."""
        self.add(
            counts.texts,
            counts.statements,
            (counts.center, counts.context, counts.count),
            num_files=counts.num_files,
            num_lines=counts.num_lines,
        )

    def finish(self) -> CorpusCounts:
        """The sum; texts are sorted, so that it does not depend on the order of files."""
        texts = sorted(self._index)
        rank = np.empty(len(texts), np.int32)
        rank[[self._index[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
        statements = np.zeros(len(texts), np.int64)
        statements[rank] = self._statements
        return CorpusCounts(
            texts=tuple(texts),
            width=self.width,
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
    with folder_lock(folder):
        write_atomically(folder / "counts.safetensors", save({name: getattr(counts, name) for name in _TENSORS}))
        _write_card(counts, folder)


def _write_card(card: CountsCard, folder: Path) -> None:
    fields = {name: getattr(card, name) for name in ("width", "num_files", "num_lines", "texts")}
    text = json.dumps({"format_version": FORMAT_VERSION} | fields, ensure_ascii=False)
    write_atomically(folder / "counts.json", text.encode())


def _read_card(folder: Path) -> CountsCard:
    path = folder / "counts.json"
    content = read_json(path, FORMAT_VERSION)
    try:
        card = convert(content, CountsCard)
        "".join(card.texts).encode()
    except ValueError as error:  # UnicodeEncodeError: half of a surrogate pair
        raise AssetError(f"{path}: not a card of counts ({error}); it is damaged") from error
    if any(text >= following for text, following in itertools.pairwise(card.texts)):
        raise AssetError(f"{path}: texts are not in alphabetical order, each once; it is damaged")
    return card


def load_counts(folder: str | Path) -> CorpusCounts:
    """Read counts; raise AssetError if a file is missing, damaged or of another format version."""
    from scipy.sparse import csr_array

    folder = Path(folder)
    card = _read_card(folder)
    arrays = read_tensors(folder / "counts.safetensors", tuple(_TENSORS), kinds="i", max_bytes=sys.maxsize)
    start = _check(folder, len(card.texts), arrays)
    columns = arrays["count"].astype(np.int64, copy=False), arrays["context"].astype(np.int32, copy=False), start
    matrix = csr_array(columns, shape=(len(card.texts), len(card.texts)))
    return CorpusCounts(**vars(card), statements=arrays["statements"].astype(np.int64, copy=False), matrix=matrix)


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


@dataclass(frozen=True)
class Merged:
    """Size of a sum of counts: distinct statements, and occurrences of pairs."""

    num_texts: int
    num_pairs: int


def merge_counts(folders: Sequence[Path], output: Path, *, max_pairs: int = 1 << 24) -> Merged:
    """Write the sum of the counts in folders without holding it, by ranges of centers.

    At most ``max_pairs`` pairs are held at a time, at about 80 bytes each, unless one statement has more. Raises
    AssetError if a folder holds damaged counts or counts of another context width, OutputError if ``output`` can't be
    written.
    """
    cards = [_read_card(folder) for folder in folders]
    widths = {card.width for card in cards}
    if len(widths) != 1:
        raise AssetError(f"{output}: the parts were counted with context widths {sorted(widths)}; expected one width")
    texts = tuple(sorted(set().union(*(card.texts for card in cards))))
    index = {text: row for row, text in enumerate(texts)}
    statements, size = (np.zeros(len(texts), np.int64) for _ in range(2))
    num_pairs = 0
    try:
        output.mkdir(parents=True, exist_ok=True)
        for abandoned in output.glob(".merge-*"):  # by a process that was killed
            shutil.rmtree(abandoned)
        with ExitStack() as stack:
            scratch = Path(stack.enter_context(TemporaryDirectory(dir=output, prefix=".merge-")))
            parts = []
            for folder, card in zip(folders, cards, strict=True):
                part = _Part.open(stack, folder, np.array([index[text] for text in card.texts], np.int32))
                statements[part.number] += part.tensors.get_tensor("statements")
                size[part.number] += np.diff(part.start)
                parts.append(part)
            files = [stack.enter_context((scratch / name).open("w+b")) for name in _COLUMNS]
            for first, last in _ranges(size, max_pairs):
                pieces = [part.read(first, last) for part in parts]
                merged: Sequence[NDArray[Any]] = _columns(_matrix(pieces, len(texts), first, last), first)
                num_pairs += int(merged[2].sum())
                for file, column in zip(files, merged, strict=True):
                    file.write(column.tobytes())
            _assemble(scratch / "whole", statements, files)
            (scratch / "whole").replace(output / "counts.safetensors")
    except OSError as error:
        raise OutputError(f"{output}: can't be written: {error.strerror or error}") from error
    num_files, num_lines = (sum(getattr(card, name) for card in cards) for name in ("num_files", "num_lines"))
    _write_card(CountsCard(texts=texts, width=widths.pop(), num_files=num_files, num_lines=num_lines), output)
    return Merged(len(texts), num_pairs)


@dataclass(frozen=True)
class _Part:
    """Counts on disk: an open safetensors file, rows of its texts in the sum, and offsets of its centers."""

    tensors: Any
    number: Ints32
    start: Ints

    @classmethod
    def open(cls, stack: ExitStack, folder: Path, number: Ints32) -> "_Part":
        from safetensors import SafetensorError, safe_open

        path = folder / "counts.safetensors"
        try:
            tensors = stack.enter_context(safe_open(path, framework="numpy"))
            types = {name: tensors.get_slice(name).get_dtype() for name in _TENSORS}
            if types != _TENSORS:
                raise AssetError(f"{path}: has numbers of types {types}; build the corpus again")
            arrays = {name: tensors.get_tensor(name) for name in types}
        except (OSError, TypeError, ValueError, SafetensorError) as error:
            raise AssetError(f"{path}: can't be read ({error}); build the corpus again") from error
        return cls(tensors, number, _check(path, len(number), arrays))

    def read(self, first: int, last: int) -> Pairs:
        """Pairs of the centers from ``first`` to ``last - 1`` of the sum."""
        start, end = self.start[np.searchsorted(self.number, [first, last])].tolist()
        center, context, count = (  # an empty slice may be out of bounds for safetensors
            self.tensors.get_slice(name)[start:end] if start < end else np.zeros(0, np.int64) for name in _COLUMNS
        )
        return self.number[center], self.number[context], count


def _ranges(size: Ints, max_pairs: int) -> Iterator[tuple[int, int]]:
    """Ranges of centers with at most ``max_pairs`` pairs together, or of one center."""
    end = np.cumsum(size)
    first = 0
    while first < len(size):
        before = int(end[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(end, before + max_pairs, side="right")))
        yield first, last
        first = last


def _assemble(path: Path, statements: Ints, files: Sequence[IO[bytes]]) -> None:
    """Write one safetensors file from columns: a header with every tensor's offsets, then their bytes."""
    header: dict[str, Any] = {}
    offset = 0
    lengths = [statements.nbytes, *(file.tell() for file in files)]
    for (name, dtype), length in zip(_TENSORS.items(), lengths, strict=True):
        shape = [length // (int(dtype[1:]) // 8)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + length]}
        offset += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as whole:
        whole.write(len(text).to_bytes(8, "little") + text + statements.tobytes())
        for file in files:
            file.seek(0)
            shutil.copyfileobj(file, whole, 1 << 20)
