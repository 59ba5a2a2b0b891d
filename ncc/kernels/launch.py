"""A kernel at a launch: how often its blocks run for a thread, by the values that threads compute from their numbers.

Values are worked out for some threads of some blocks at once, as arrays with a column a thread; what depends on memory
is not known, NaN. Loops run as often as their counters say. Where an argument is not given, what it is compared with
may tell: a kernel that returns where its thread's number reaches ``n`` is launched for ``n`` threads.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError

_MOST_THREADS = 512
_MOST_COLUMNS = 4096
_LIMITS = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64)}


@dataclass(frozen=True)
class Launch:
    """Sizes and arguments of a launch.

    Args:
        grid: Blocks in each dimension.
        block: Threads of a block in each dimension.
        arguments: Values of the kernel's arguments, by name or by number from 0.

    Raises:
        InputError: A size is not positive, or beyond what a card allows.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, most in _LIMITS.items():
            for axis, size, limit in zip("xyz", getattr(self, name), most, strict=True):
                if not 1 <= size <= limit:
                    raise InputError(f"{name} size {axis} is {size:,}; expected 1 to {limit:,}")
        if math.prod(self.block) > _LIMITS["block"][0]:
            raise InputError(f"a block of {math.prod(self.block):,} threads; a card takes up to 1,024")

    @classmethod
    def of(cls, grid: Sequence[int], block: Sequence[int], arguments: Mapping[str, float]) -> "Launch":
        """A launch with sizes of one, two or three dimensions.

        Raises:
            InputError: There are more, or none, or a size is out of range.
        """
        for name, sizes in (("grid", grid), ("block", block)):
            if not 1 <= len(sizes) <= 3:
                raise InputError(f"{name} has {len(sizes)} sizes; expected 1 to 3, as 1024 or 64,16")
        x, y, z, *_ = (*grid, 1, 1)
        u, v, w, *_ = (*block, 1, 1)
        return cls((x, y, z), (u, v, w), arguments)

    @property
    def num_blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.grid)

    @property
    def block_threads(self) -> int:
        """Threads of a block."""
        return math.prod(self.block)

    @property
    def num_threads(self) -> int:
        """Threads of the launch."""
        return self.num_blocks * self.block_threads


@dataclass(frozen=True)
class LoopTrips:
    """How often a loop runs.

    Attributes:
        line: Its line in the source, 0 if it is not known.
        formula: The number of trips, as a formula in arguments and sizes; empty where memory decides on it.
        trips: For a thread, on average; None where it is not known.
        depth: Loops around it, itself included.
        function: The function that it is in.
    """

    line: int
    formula: str
    trips: float | None
    depth: int
    function: str


@dataclass(frozen=True, eq=False)
class Threads:
    """The threads that stand for all.

    Attributes:
        values: Name of a number that the hardware gives (as "tid.x") → value in each thread.
        weight: Share of all threads that each stands for.
    """

    values: Mapping[str, Floats]
    weight: Floats


def launch_threads(launch: Launch) -> Threads:
    """Chooses threads: of the first and the last block, and of two between, all or evenly spread ones."""
    num = launch.num_blocks
    blocks = np.array(sorted({0, num // 3, 2 * num // 3, num - 1}), np.int64)
    inner = max(num - 2, 1) / max(len(blocks) - 2, 1) / num
    shares = np.array([1 / num if at in (0, num - 1) else inner for at in blocks.tolist()])
    per_block = min(launch.block_threads, _MOST_THREADS)
    threads = np.array(sorted(set(np.linspace(0, launch.block_threads - 1, per_block).astype(np.int64).tolist())))
    times = max(_MOST_COLUMNS // (len(threads) * len(blocks)), 1)  # each may be in another trip of a loop
    block, thread = np.repeat(blocks, len(threads)), np.tile(threads, len(blocks))
    block, thread = np.tile(block, times), np.tile(thread, times)
    weight = np.tile(np.repeat(shares / shares.sum(), len(threads)), times) / (len(threads) * times)
    values: dict[str, Floats] = {"warpsize": np.full(len(block), 32.0), "laneid": (thread % 32).astype(float)}
    for names, number, sizes in (("ctaid nctaid", block, launch.grid), ("tid ntid", thread, launch.block)):
        name, size_name = names.split()
        for axis, size in zip("xyz", sizes, strict=True):
            values[f"{name}.{axis}"] = (number % size).astype(float)
            values[f"{size_name}.{axis}"] = np.full(len(block), float(size))
            number = number // size  # noqa: PLW2901 - the digits of a number
    return Threads(values, weight)
