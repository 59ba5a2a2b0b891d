"""Co-occurrence counts of a corpus (statements, pairs of statements in context): adding and storing them.

Counts add up over files, processes and machines, which is what makes training independent of the corpus's size.
"""

import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
from msgspec import Meta, convert
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32
from ncc.errors import AssetError
from ncc.learning.embedding.vocabulary import Vocabulary

FORMAT_VERSION = 1

Pairs = tuple[Ints32, Ints32, Ints]
"""Pairs of statements or words by their numbers, and how often each was seen: three columns."""

Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]

_COLUMNS = ("statements", "center", "context", "count")


@dataclass(frozen=True, kw_only=True, eq=False)
class CountsCard:
    """What ``counts.json`` says of a corpus.

    Attributes:
        texts: Distinct abstracted statements.
        width: Context size in hops.
        num_files: Files read.
        num_lines: Lines of IR in them.
    """

    texts: tuple[str, ...]
    width: Count
    num_files: Count
    num_lines: Count


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusCounts(CountsCard):
    """What a corpus comes to: its card, and the counts.

    Attributes:
        statements: (num_texts,) int64 times that each statement was seen.
        center: (num_pairs,) int32 indices into ``texts``; pairs are sorted, each there once.
        context: (num_pairs,) int32, as ``center``.
        count: (num_pairs,) int64 times that the pair was seen.
    """

    statements: Ints
    center: Ints32
    context: Ints32
    count: Ints

    def __repr__(self) -> str:
        counted = f"{len(self.texts)} statements, {len(self.count)} pairs within {self.width} hop(s)"
        return f"CorpusCounts({counted}, from {self.num_files} files)"

    @property
    def pairs(self) -> Pairs:
        """The three columns of pairs."""
        return self.center, self.context, self.count

    def over(self, vocabulary: Vocabulary) -> Pairs:
        """The pairs between words of a vocabulary, statements outside it taking the word that they back off to."""
        word, _ = vocabulary.encode(self.texts)
        return sum_pairs((word[self.center], word[self.context], self.count))


class CountsBuilder:
    """Adds up the counts of files in bounded memory; texts are numbered in the order in which they arrive."""

    def __init__(self, width: int, *, compact_at: int = 1 << 22) -> None:
        """Counts contexts of ``width`` hops; sums repeated pairs whenever ``compact_at`` have gathered."""
        self.width = width
        self.num_files = 0
        self.num_lines = 0
        self._compact_at = compact_at
        self._index: dict[str, int] = {}
        self._statements: list[int] = []
        self._pairs: Pairs = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))
        self._pending: list[Pairs] = []
        self._num_pending = 0

    def add(
        self,
        texts: Sequence[str],
        statements: Ints,
        pairs: Pairs,
        *,
        num_files: int = 1,
        num_lines: int = 0,
    ) -> None:
        """Adds one file's counts: pairs of indices into its own ``texts``, with how often each occurs."""
        number = np.empty(len(texts), np.int32)
        for i, (text, times) in enumerate(zip(texts, statements.tolist(), strict=True)):
            at = self._index.setdefault(text, len(self._statements))
            if at == len(self._statements):
                self._statements.append(0)
            self._statements[at] += times
            number[i] = at
        center, context, count = pairs
        self._pending.append((number[center], number[context], count))
        self._num_pending += len(count)
        self.num_files += num_files
        self.num_lines += num_lines
        if self._num_pending >= max(self._compact_at, len(self._pairs[2])):
            self._compact()

    def add_counts(self, counts: CorpusCounts) -> None:
        """Adds what was counted before."""
        added = {"num_files": counts.num_files, "num_lines": counts.num_lines}
        self.add(counts.texts, counts.statements, counts.pairs, **added)

    def _compact(self) -> None:
        self._pairs = sum_pairs(self._pairs, *self._pending)
        self._pending, self._num_pending = [], 0

    def finish(self) -> CorpusCounts:
        """The sum, with texts in alphabetical order, so that it does not depend on the order of the files."""
        self._compact()
        texts = sorted(self._index)
        rank = np.empty(len(texts), np.int32)
        rank[[self._index[text] for text in texts]] = np.arange(len(texts), dtype=np.int32)
        center, context, count = sum_pairs((rank[self._pairs[0]], rank[self._pairs[1]], self._pairs[2]))
        statements = np.zeros(len(texts), np.int64)
        statements[rank] = self._statements
        return CorpusCounts(
            texts=tuple(texts),
            statements=statements,
            center=center,
            context=context,
            count=count,
            width=self.width,
            num_files=self.num_files,
            num_lines=self.num_lines,
        )


def sum_pairs(*pieces: Pairs) -> Pairs:
    """Pairs sorted and each once, their counts added."""
    center, context, count = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
    if not len(count):
        return center, context, count
    key = center.astype(np.int64) << 32 | context
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    summed = np.add.reduceat(count[order], first)
    return (key[first] >> 32).astype(np.int32), (key[first] & 0xFFFFFFFF).astype(np.int32), summed


def width_folder(corpus: str | Path, width: int) -> Path:
    """Where a corpus keeps its counts for a context width."""
    return Path(corpus) / f"width-{width}"


def save_counts(counts: CorpusCounts, folder: str | Path) -> None:
    """Writes ``counts.safetensors`` and ``counts.json`` into a folder, each in one step."""
    from safetensors.numpy import save

    from ncc.system.files.models import write_atomically
    from ncc.system.files.writing import only_writer

    folder = Path(folder)
    arrays: dict[str, NDArray[Any]] = {name: getattr(counts, name) for name in _COLUMNS}
    with only_writer(folder):
        write_atomically(folder / "counts.safetensors", save(arrays))
        write_atomically(folder / "counts.json", counts_card(counts))


def counts_card(counts: CountsCard) -> bytes:
    """The JSON file beside the arrays."""
    about = {
        "format_version": FORMAT_VERSION,
        "width": counts.width,
        "num_files": counts.num_files,
        "num_lines": counts.num_lines,
        "texts": counts.texts,
    }
    return json.dumps(about, ensure_ascii=False).encode()


def read_counts_card(folder: Path) -> CountsCard:
    """Reads ``counts.json``.

    Raises:
        AssetError: The file is missing or damaged, or of another format version.
    """
    from ncc.system.files.models import read_json

    path = folder / "counts.json"
    about = read_json(path, FORMAT_VERSION)
    try:
        card = convert(about, CountsCard)
        "".join(card.texts).encode()
    except ValueError as error:  # UnicodeEncodeError: a half of a surrogate pair
        raise AssetError(f"{path}: not a card of counts ({error}); it is damaged") from error
    if any(one >= other for one, other in itertools.pairwise(card.texts)):
        raise AssetError(f"{path}: texts are not in alphabetical order, each once; it is damaged")
    return card


def load_counts(folder: str | Path) -> CorpusCounts:
    """Reads what `save_counts` wrote.

    Raises:
        AssetError: A file is missing or damaged, or of another format version.
    """
    from ncc.system.files.models import read_tensors

    folder = Path(folder)
    card = read_counts_card(folder)
    arrays = read_tensors(folder / "counts.safetensors", _COLUMNS, kinds="i", most_bytes=sys.maxsize)
    statements, *columns = (arrays[name] for name in _COLUMNS)
    check_columns(folder, len(card.texts), statements, *columns)
    center, context, count = columns
    return CorpusCounts(
        **vars(card),
        statements=statements.astype(np.int64, copy=False),
        center=center.astype(np.int32, copy=False),
        context=context.astype(np.int32, copy=False),
        count=count.astype(np.int64, copy=False),
    )


def check_columns(
    path: Path,
    num_texts: int,
    statements: NDArray[Any],
    center: NDArray[Any],
    context: NDArray[Any],
    count: NDArray[Any],
) -> None:
    """Refuses columns of whole numbers that are not counts.

    Args:
        path: What they were read from.
        num_texts: Distinct statements of the corpus.
        statements: See `CorpusCounts`.
        center: As ``statements``.
        context: As ``statements``.
        count: As ``statements``.

    Raises:
        AssetError: They are none.
    """

    def refuse(why: str) -> NoReturn:
        raise AssetError(f"{path}: {why}; build the corpus again")

    if any(column.ndim != 1 for column in (statements, center, context, count)):
        refuse("the counts are not columns")
    if len({len(center), len(context), len(count)}) != 1 or len(statements) != num_texts:
        refuse("the columns of the counts differ in length")
    if any(len(column) and not 0 <= column.min() <= column.max() < num_texts for column in (center, context)):
        refuse("a pair names a statement that is not there")
    if not _are_counts(statements) or not _are_counts(count):
        refuse("a count is below 0 or beyond all measure")
    same = center[1:] == center[:-1]
    if not np.all((center[1:] > center[:-1]) | (same & (context[1:] > context[:-1]))):
        refuse("pairs are not in order, each once")


def _are_counts(column: NDArray[Any]) -> bool:
    """Whether whole numbers are 0 or more, and so small that their sum is right."""
    return not len(column) or (column.min() >= 0 and float(column.sum(dtype=np.float64)) < 2.0**59)
