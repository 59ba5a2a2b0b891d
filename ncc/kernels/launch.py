"""A kernel's launch: its sizes, arguments, and sampled threads as arrays."""

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Self

import numpy as np

from ncc.arrays import Floats, Ints, Rows
from ncc.errors import InputError, UnknownNameError
from ncc.ir.reader.module import Module
from ncc.kernels.instructions import split_fields
from ncc.system.files.text import demangle

NUM_SCATTERED = 256
_MAX_COLUMNS = 4096
_FEW_THREADS = 24
_LIMITS = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64)}
_WHOLE = re.compile(r"i(\d{1,3})\b")


@dataclass(frozen=True)
class Launch:
    """Blocks of a launch and threads of a block in each dimension, and arguments by name or by index from 0."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, limits in _LIMITS.items():
            for axis, size, limit in zip("xyz", getattr(self, name), limits, strict=True):
                if not 1 <= size <= limit:
                    raise InputError(f"{name} size {axis} is {size:,}; expected 1 to {limit:,}")
        for argument, value in self.arguments.items():
            if not isinstance(value, int | float | np.number) or not abs(value) <= sys.float_info.max:
                raise InputError(f"argument {argument!r} is {value!r:.80}; expected a number")
        if math.prod(self.block) > _LIMITS["block"][0]:
            raise InputError(f"a block of {math.prod(self.block):,} threads; expected at most 1,024")

    @classmethod
    def of(cls, grid: Sequence[int] | int, block: Sequence[int] | int, arguments: Mapping[str, float]) -> "Launch":
        """A launch with sizes of one, two or three dimensions; one dimension may be a number."""
        sizes = [tuple(given) if isinstance(given, Iterable) else (given,) for given in (grid, block)]
        for name, dimensions in zip(_LIMITS, sizes, strict=True):
            if not 1 <= len(dimensions) <= 3 or not all(isinstance(size, Integral) for size in dimensions):
                raise InputError(f"{name} is {dimensions!r:.80}; expected 1 to 3 whole numbers, such as (64, 16)")
        (x, y, z, *_), (u, v, w, *_) = ((*dimensions, 1, 1) for dimensions in sizes)
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


def block_of(num_threads: float, dimensions: int) -> list[int]:
    """Block sizes for a number of threads in 1 to 3 dimensions: powers of two unless there is one dimension."""
    most, dimensions = min(max(num_threads, 1), _LIMITS["block"][0]), min(max(dimensions, 1), 3)
    if dimensions == 1:
        return [int(most)]
    doublings = int(math.log2(most))  # distributed in turn
    return [2 ** ((doublings + dimensions - 1 - axis) // dimensions) for axis in range(dimensions)]


def argument_names(module: Module, function: int) -> dict[int, str]:
    """Node of each argument → its name, or its index if the IR has no names."""
    nodes = module.operands(int(module.function_start[function]))
    names = [(node, module.node_name(node)) for node in nodes]
    return {node: f"arg{index}" if name.isdigit() else name for index, (node, name) in enumerate(names)}


def argument_types(module: Module, function: int) -> list[str]:
    """IR text of each argument, its type first."""
    header = module.statement_text(int(module.function_start[function]))
    fields = split_fields(header[header.find("(", header.find("@")) + 1 :].rpartition(")")[0])
    return [field for field in fields if field not in ("", "...")]


def given_arguments(module: Module, kernel: int, launch: Launch) -> dict[int, float]:
    """Node → value of each argument in a launch that the kernel has and whose type can hold the value."""
    names, types = argument_names(module, kernel), argument_types(module, kernel)
    nodes = {str(index): node for index, node in enumerate(names)} | {name: node for node, name in names.items()}
    title, given = f"{module.name}: {demangle(module.function_names[kernel])}", dict[int, float]()
    for name, value in launch.arguments.items():
        if name not in nodes:
            raise UnknownNameError(f"{title} has no argument {name!r}; it has {', '.join(names.values()) or 'none'}")
        node = nodes[name]
        index = list(names).index(node)
        if node in given:
            raise InputError(f"{title}: argument {index} is given twice, as {names[node]!r} and as '{index}'")
        if converted(value, types[index]) != value:
            raise InputError(
                f"{title}: argument {name!r} is {value:g}; expected a whole number of {types[index].split()[0]}"
            )
        given[node] = float(value)
    return given


def converted(value: float, type_: str) -> float | None:
    """A number converted to a type of the IR as in C; None if it does not fit."""
    if not (whole := _WHOLE.match(type_)):
        return value
    limit = 2.0 ** int(whole[1])
    return float(math.trunc(value)) if math.isfinite(value) and -limit / 2 <= value < limit else None


@dataclass(frozen=True, eq=False)
class Threads(Rows):
    """n threads of a launch: block, number in it (x first), weight, and number that decides on trips of loops, (n,)."""

    launch: Launch
    block: Ints
    thread: Ints
    weight: Floats
    number: Floats

    @cached_property
    def values(self) -> dict[str, Floats]:
        """Register by name → its values, (n,) float64."""
        block, thread = self.block, self.thread
        values: dict[str, Floats] = {"warpsize": np.full(len(block), 32.0), "laneid": (thread % 32).astype(float)}
        for axis, num_blocks, num_threads in zip("xyz", self.launch.grid, self.launch.block, strict=True):
            ctaid, tid = (block % num_blocks).astype(float), (thread % num_threads).astype(float)
            values |= {f"ctaid.{axis}": ctaid, f"tid.{axis}": tid, f"global_id.{axis}": ctaid * num_threads + tid}
            sizes = {"nctaid": num_blocks, "ntid": num_threads, "global_size": num_blocks * num_threads}
            values |= {f"{name}.{axis}": np.full(len(block), float(size)) for name, size in sizes.items()}
            block, thread = block // num_blocks, thread // num_threads
        return values

    @classmethod
    def of_blocks(cls, launch: Launch, blocks: Ints, shares: Floats) -> Self:
        """All threads of some blocks, (k,) int64, x first; each represents a fraction of all blocks, (k,) float64."""
        num_threads = launch.block_threads
        times = max(_MAX_COLUMNS // (num_threads * len(blocks)), 1)  # each may be in another trip of a loop
        weight = np.tile(np.repeat(shares / shares.sum(), num_threads), times) / (num_threads * times)
        block = np.tile(np.repeat(blocks, num_threads), times)
        thread = np.tile(np.arange(num_threads), len(blocks) * times)
        return cls(launch, block, thread, weight, np.arange(1.0, len(block) + 1))

    @classmethod
    def of_launch(cls, launch: Launch) -> Self:
        """All threads of the first and the last block, and of two between."""
        num = launch.num_blocks
        blocks = np.array(sorted({0, num // 3, 2 * num // 3, num - 1}), np.int64)
        inner = max(num - 2, 1) / max(len(blocks) - 2, 1) / num
        return cls.of_blocks(launch, blocks, np.where((blocks == 0) | (blocks == num - 1), 1 / num, inner))

    @classmethod
    def outer(cls, launch: Launch, blocks: Ints) -> Self:
        """Sample threads of each block at its corners and between, all in the first iteration of their loops."""
        x, y, z = np.meshgrid(*([0, size - 1] for size in launch.block), indexing="ij")
        corners = (x + launch.block[0] * (y + launch.block[1] * z)).ravel()
        threads = np.union1d(corners, np.linspace(0, launch.block_threads - 1, _FEW_THREADS).astype(np.int64))
        block, thread = np.repeat(blocks, len(threads)), np.tile(threads, len(blocks))
        return cls(launch, block, thread, np.full(len(block), 1 / len(block)), np.zeros(len(block)))

    def add_scattered(self) -> Self:
        """Append threads of blocks anywhere in the grid, of weight 0, that address patterns are fitted to."""
        draw, limits = np.random.default_rng(0), (self.launch.num_blocks, self.launch.block_threads)
        block, thread = (draw.integers(limit, size=NUM_SCATTERED) for limit in limits)
        number = self.number.max() + np.arange(1, NUM_SCATTERED + 1)
        return self.joined([self, replace(self, block=block, thread=thread, weight=0 * number, number=number)])
