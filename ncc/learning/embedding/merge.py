"""Adds up counts on disk in bounded memory: merges sorted shards of a corpus into one sorted corpus.

Texts are in alphabetical order in every part, so a part's pairs stay sorted under the numbers of the sum. The sum is
made for a range of centres at a time, small enough for memory, and its columns are appended to files.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32, offsets
from ncc.errors import AssetError, OutputError
from ncc.learning.embedding.counts import CountsCard, Pairs, check_columns, counts_card, read_counts_card, sum_pairs
from ncc.system.files.models import write_atomically

_COLUMNS = {"center": "I32", "context": "I32", "count": "I64"}


@dataclass(frozen=True)
class _Part:
    """Counts on disk: their texts' numbers in the sum, and where each centre's pairs start."""

    pairs: Any  # an open safetensors file
    number: Ints32
    start: Ints

    def read(self, first: int, last: int) -> Pairs:
        """The pairs of the centres numbered ``first`` to ``last - 1`` in the sum."""
        begin, end = self.start[np.searchsorted(self.number, [first, last])].tolist()
        center, context, count = (  # an empty slice may be out of bounds for safetensors
            self.pairs.get_slice(name)[begin:end] if begin < end else np.zeros(0, np.int64) for name in _COLUMNS
        )
        return self.number[center], self.number[context], count


@dataclass(frozen=True)
class Merged:
    """What a sum came to."""

    num_texts: int
    num_pairs: int


def merge_counts(folders: Sequence[Path], output: Path, *, max_pairs: int = 1 << 24) -> Merged:
    """Writes the sum of the counts in some folders as `save_counts` would, without holding it.

    Args:
        folders: Each holds what `save_counts` wrote, of one context width.
        output: Folder for the sum.
        max_pairs: Pairs held at a time, unless one statement has more; about 80 bytes each.

    Raises:
        AssetError: A folder holds no counts, or damaged ones, or counts of another width.
        OutputError: The folder can't be written.
    """
    cards = [read_counts_card(folder) for folder in folders]
    widths = {card.width for card in cards}
    if len(widths) != 1:
        raise AssetError(f"{output}: the parts were counted with context widths {sorted(widths)}; expected one width")
    texts = tuple(sorted(set().union(*(card.texts for card in cards))))
    num_pairs = 0
    number_of = {text: number for number, text in enumerate(texts)}
    statements = np.zeros(len(texts), np.int64)
    size = np.zeros(len(texts), np.int64)
    try:
        output.mkdir(parents=True, exist_ok=True)
        for abandoned in output.glob(".merge-*"):  # by a process that was killed
            shutil.rmtree(abandoned)
        with ExitStack() as stack:
            scratch = Path(stack.enter_context(TemporaryDirectory(dir=output, prefix=".merge-")))
            parts = []
            for folder, card in zip(folders, cards, strict=True):
                number = np.array([number_of[text] for text in card.texts], np.int32)
                part = _open_part(stack, folder, number)
                parts.append(part)
                statements[number] += part.pairs.get_tensor("statements")
                size[number] += np.diff(part.start)
            columns = [stack.enter_context((scratch / name).open("w+b")) for name in _COLUMNS]
            for first, last in _ranges(size, max_pairs):
                merged: Sequence[NDArray[Any]] = sum_pairs(*(part.read(first, last) for part in parts))
                num_pairs += int(merged[2].sum())
                for file, column in zip(columns, merged, strict=True):
                    file.write(column.tobytes())
            _assemble(scratch / "whole", statements, columns)
            (scratch / "whole").replace(output / "counts.safetensors")
    except OSError as error:
        raise OutputError(f"{output}: can't be written: {error.strerror or error}") from error
    whole = CountsCard(
        texts=texts,
        width=widths.pop(),
        num_files=sum(card.num_files for card in cards),
        num_lines=sum(card.num_lines for card in cards),
    )
    write_atomically(output / "counts.json", counts_card(whole))
    return Merged(len(texts), num_pairs)


def _open_part(stack: ExitStack, folder: Path, number: Ints32) -> _Part:
    from safetensors import SafetensorError, safe_open

    path = folder / "counts.safetensors"
    try:
        pairs = stack.enter_context(safe_open(path, framework="numpy"))
        types = {name: pairs.get_slice(name).get_dtype() for name in ("statements", *_COLUMNS)}
        if types != {"statements": "I64"} | _COLUMNS:
            raise AssetError(f"{path}: has numbers of types {types}; build the corpus again")
        columns = {name: pairs.get_tensor(name) for name in types}
    except (OSError, TypeError, ValueError, SafetensorError) as error:
        raise AssetError(f"{path}: can't be read ({error}); build the corpus again") from error
    check_columns(path, len(number), **columns)
    per_center = np.bincount(columns["center"], minlength=len(number))
    return _Part(pairs, number, offsets(per_center))


def _ranges(size: Ints, max_pairs: int) -> Iterator[tuple[int, int]]:
    """Ranges of centres with at most ``max_pairs`` pairs together, or of one centre."""
    end = np.cumsum(size)
    first = 0
    while first < len(size):
        before = int(end[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(end, before + max_pairs, side="right")))
        yield first, last
        first = last


def _assemble(path: Path, statements: Ints, columns: Sequence[IO[bytes]]) -> None:
    """One safetensors file from the columns: a header with every tensor's place, then their bytes."""
    header: dict[str, Any] = {}
    at = statements.nbytes
    header["statements"] = {"dtype": "I64", "shape": [len(statements)], "data_offsets": [0, at]}
    for (name, dtype), file in zip(_COLUMNS.items(), columns, strict=True):
        length = file.tell()
        header[name] = {
            "dtype": dtype,
            "shape": [length // (int(dtype[1:]) // 8)],
            "data_offsets": [at, at + length],
        }
        at += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as whole:
        whole.write(len(text).to_bytes(8, "little") + text + statements.tobytes())
        for file in columns:
            file.seek(0)
            shutil.copyfileobj(file, whole, 1 << 20)
