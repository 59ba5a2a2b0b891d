"""The input that a worker is about to try, in memory shared with its parent, so that it outlives the worker."""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Slot", "Trace"]

_HEAD = struct.Struct("<QQQQ")
_CAPACITY = 1 << 24


@dataclass(frozen=True)
class Trace:
    """Where a worker is.

    Attributes:
        begun: Executions of the block that were begun.
        accepted: Number of finished executions whose input was read.
        refused: Number of finished executions whose input was refused.
        data: The input of the last one that was begun.
    """

    begun: int
    accepted: int
    refused: int
    data: bytes


class Slot:
    """A file that one process maps to write and another to read."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Maps the file, which is sparse until large inputs come."""
        if create:
            with path.open("wb") as file:
                file.truncate(_HEAD.size + _CAPACITY)
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)

    def write(self, begun: int, accepted: int, refused: int, data: bytes) -> None:
        """Says what is about to be tried, before it is; inputs beyond 16 MiB are cut."""
        kept = data[:_CAPACITY]
        self._memory[_HEAD.size : _HEAD.size + len(kept)] = kept
        _HEAD.pack_into(self._memory, 0, begun, accepted, refused, len(kept))

    def clear(self) -> None:
        """Before a block."""
        _HEAD.pack_into(self._memory, 0, 0, 0, 0, 0)

    def begun(self) -> int:
        """How many executions of the block were begun."""
        begun: int = _HEAD.unpack_from(self._memory)[0]
        return begun

    def read(self) -> Trace:
        """Where the worker is, or was when it died."""
        begun, accepted, refused, length = _HEAD.unpack_from(self._memory)
        return Trace(begun, accepted, refused, self._memory[_HEAD.size : _HEAD.size + length])

    def close(self) -> None:
        """Lets go of the memory."""
        self._memory.close()
