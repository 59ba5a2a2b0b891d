"""A kernel at a launch: how often its blocks run for a thread, by the values that threads compute from their numbers.

Values are worked out for some threads of some blocks at once, as arrays with a column a thread; what depends on memory
is not known, NaN. Loops run as often as their counters say. Where an argument is not given, what it is compared with
may tell: a kernel that returns where its thread's number reaches ``n`` is launched for ``n`` threads.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import PurePath

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import InputError

_MOST_COLUMNS = 4096
_FEW_THREADS = 24
_LIMITS = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64)}


@dataclass(frozen=True)
class Launch:
    """Sizes and arguments of a launch.

    Args:
        grid: Blocks in each dimension.
        block: Threads of a block in each dimension.
        arguments: Values of the kernel's arguments, by name or by number from 0.

    Raises:
        InputError: A size is not positive, or beyond what a card allows, or a value is not a number.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, most in _LIMITS.items():
            for axis, size, limit in zip("xyz", getattr(self, name), most, strict=True):
                if not 1 <= size <= limit:
                    raise InputError(f"{name} size {axis} is {size:,}; expected 1 to {limit:,}")
        for argument, value in self.arguments.items():
            if not math.isfinite(value):
                raise InputError(f"argument {argument!r} is {value}; expected a number")
        if math.prod(self.block) > _LIMITS["block"][0]:
            raise InputError(f"a block of {math.prod(self.block):,} threads; a card takes up to 1,024")

    @classmethod
    def of(cls, grid: Sequence[int] | int, block: Sequence[int] | int, arguments: Mapping[str, float]) -> "Launch":
        """A launch with sizes of one, two or three dimensions, of one as a number or a sequence.

        Raises:
            InputError: There are more, or none, or a size is out of range.
        """
        three = {"grid": _sizes(grid), "block": _sizes(block)}
        for name, sizes in three.items():
            if not all(isinstance(size, Integral) for size in sizes):
                raise InputError(f"{name} is {sizes!r:.80}; expected whole numbers, such as (64, 16)")
            if not 1 <= len(sizes) <= 3:
                raise InputError(f"{name} has {len(sizes)} sizes; expected 1 to 3, such as 1024 or 64,16")
        x, y, z, *_ = (*three["grid"], 1, 1)
        u, v, w, *_ = (*three["block"], 1, 1)
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


def _sizes(given: Sequence[int] | int) -> tuple[int, ...]:
    return tuple(given) if isinstance(given, Iterable) else (given,)


@dataclass(frozen=True)
class LoopTrips:
    """How often a loop runs.

    Attributes:
        line: Its line in the source, 0 if it is not known.
        formula: The number of trips, as a formula in arguments and sizes; empty where memory decides on it.
        trips: For a thread, on average; None where it is not known.
        depth: Loops around it, itself included.
        function: The function that it is in.
        statement: One with that line, -1 if there is none.
        file: That the line is in, where it is not the source's own; empty where it is.
    """

    line: int
    formula: str
    trips: float | None
    depth: int
    function: str
    statement: int = -1
    file: str = ""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        where = f"line {self.line}" if self.line else "a loop"
        return f"{where} of {PurePath(self.file).name}" if self.file and self.line else where


@dataclass(frozen=True, eq=False)
class Threads:
    """The threads that stand for all.

    Attributes:
        values: Name of a number that the hardware gives (as "tid.x") → value in each thread.
        weight: Share of all threads that each stands for.
        number: What tells each one's place in loops.
    """

    values: Mapping[str, Floats]
    weight: Floats
    number: Floats


def launch_threads(launch: Launch) -> Threads:
    """Chooses threads: of the first and the last block, and of two between, all of them."""
    num = launch.num_blocks
    blocks = np.array(sorted({0, num // 3, 2 * num // 3, num - 1}), np.int64)
    inner = max(num - 2, 1) / max(len(blocks) - 2, 1) / num
    shares = np.array([1 / num if at in (0, num - 1) else inner for at in blocks.tolist()])
    return threads_of(launch, blocks, shares)


def threads_of(launch: Launch, blocks: Ints, shares: Floats) -> Threads:
    """All threads of some blocks.

    Args:
        launch: The launch.
        blocks: (k,) int64 numbers of blocks, x first.
        shares: (k,) float64 how much each stands for.
    """
    threads = np.arange(launch.block_threads)
    times = max(_MOST_COLUMNS // (len(threads) * len(blocks)), 1)  # each may be in another trip of a loop
    block, thread = np.repeat(blocks, len(threads)), np.tile(threads, len(blocks))
    block, thread = np.tile(block, times), np.tile(thread, times)
    weight = np.tile(np.repeat(shares / shares.sum(), len(threads)), times) / (len(threads) * times)
    number: Floats = np.arange(1, len(block) + 1, dtype=np.float64)
    return Threads(_hardware_numbers(launch, block, thread), weight, number)


def outer_threads(launch: Launch, blocks: Ints) -> Threads:
    """Some threads of each block, all in the first trip of their loops: those at its corners, and others between."""
    corners = [
        x + launch.block[0] * (y + launch.block[1] * z)
        for z in {0, launch.block[2] - 1} for y in {0, launch.block[1] - 1} for x in {0, launch.block[0] - 1}
    ]  # fmt: skip
    threads = np.unique([*corners, *np.linspace(0, max(corners), _FEW_THREADS).astype(np.int64).tolist()])
    block, thread = np.repeat(blocks, len(threads)), np.tile(threads, len(blocks))
    even = np.full(len(block), 1 / len(block))
    return Threads(_hardware_numbers(launch, block, thread), even, np.zeros(len(block)))


def with_scattered(launch: Launch, threads: Threads, num: int) -> Threads:
    """Threads, and others of blocks anywhere in the grid, which stand for none."""
    draw = np.random.default_rng(0)
    block, thread = (draw.integers(most, size=num) for most in (launch.num_blocks, launch.block_threads))
    more = _hardware_numbers(launch, block, thread)
    return Threads(
        {name: np.concatenate([values, more[name]]) for name, values in threads.values.items()},
        np.concatenate([threads.weight, np.zeros(num)]),
        np.concatenate([threads.number, threads.number.max() + np.arange(1, num + 1)]),
    )


def _hardware_numbers(launch: Launch, block: Ints, thread: Ints) -> dict[str, Floats]:
    values: dict[str, Floats] = {"warpsize": np.full(len(block), 32.0), "laneid": (thread % 32).astype(float)}
    for names, number, sizes in (("ctaid nctaid", block, launch.grid), ("tid ntid", thread, launch.block)):
        name, size_name = names.split()
        for axis, size in zip("xyz", sizes, strict=True):
            values[f"{name}.{axis}"] = (number % size).astype(float)
            values[f"{size_name}.{axis}"] = np.full(len(block), float(size))
            number = number // size  # noqa: PLW2901 - the digits of a number
    return values
