"""A weighted sample of a launch's blocks: few if all do the same, and where they differ, those on either side.

Along each dimension of the grid some blocks are tried, and more between those that compare numbers differently or run
loops another number of times, until the places are found where they change. A condition that is linear in a block's
number changes twice at most (below, equal, above), so that shares are exact then; where there are more changes than
that, evenly spread blocks are an estimate.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Ints
from ncc.ir.reader.module import Module
from ncc.kernels.execution import Execution
from ncc.kernels.launch import Launch, Threads, launch_threads, outer_threads, threads_of

_MOST_COLUMNS = 16384
_LARGEST_VALUES = 2**25
_FIRST = {1: 8, 2: 6, 3: 4}
_MOST_TRIED = {1: 64, 2: 20, 3: 10}
"""Blocks along a dimension by the number of dimensions: first, and at most."""
_MOST_ROUNDS, _MOST_BETWEEN, _MOST_CHANGES = 16, 15, 4
_SPREAD = 0.6180339887
_EXACT = 1e-9
_UNKNOWN = 2


@dataclass(frozen=True, eq=False)
class ThreadSample:
    """Weighted threads, and the number of blocks that an estimate rests on; 0 if weights are exact."""

    threads: Threads
    num_blocks: int = 0


def sample_blocks(module: Module, kernel: int, launch: Launch, values: dict[int, float]) -> ThreadSample:
    """Choose threads of the blocks that differ for values of arguments, weighted by the number of blocks like them."""
    tried = _Tried(module, kernel, launch, values)
    if not any(axis.differs for axis in tried.axes):
        return ThreadSample(launch_threads(launch))
    most = min(_MOST_COLUMNS, max(_LARGEST_VALUES // max(len(module.body(kernel)), 1), 1))
    tried.keep(max(most // launch.block_threads, 8))
    points = [axis.points for axis in tried.axes]
    shares = np.einsum("x,y,z->xyz", *(axis.shares() for axis in tried.axes)).ravel()
    threads = threads_of(launch, _numbers(launch, points), shares / launch.num_blocks)
    is_exact = all(axis.is_exact for axis in tried.axes)
    return ThreadSample(threads, 0 if is_exact else len(shares))


class _Tried:
    """The dimensions of a grid, with the blocks that were tried along each."""

    def __init__(self, module: Module, kernel: int, launch: Launch, values: dict[int, float]) -> None:
        self.launch = launch
        dimensions = max(sum(size > 1 for size in launch.grid), 1)
        self.axes = [_Axis(size, _FIRST[dimensions], _MOST_TRIED[dimensions]) for size in launch.grid]
        for _ in range(_MOST_ROUNDS):
            threads = outer_threads(launch, _numbers(launch, [axis.points for axis in self.axes]))
            num = len(threads.weight)
            trial = Execution(module, kernel, threads, values, 1.0)
            shape = [len(axis.points) for axis in self.axes]
            signs = np.stack(trial.signs() or [np.zeros(num, np.int8)], axis=1).reshape(*shape, -1)
            times = np.stack(list(trial.times.values()), axis=1).reshape(*shape, -1)
            for at, axis in enumerate(self.axes):
                own_times = np.moveaxis(times, at, 0).reshape(shape[at], -1)
                axis.look(np.moveaxis(signs, at, 0).reshape(shape[at], -1), own_times)
            refined = [axis.refine() for axis in self.axes]
            if not any(refined):
                break

    def keep(self, most: int) -> None:
        """Leaves no more than so many blocks, those that stand for most others."""
        for axis in self.axes:
            axis.prune()
        while np.prod([len(axis.points) for axis in self.axes]) > most:
            longest = max(self.axes, key=lambda axis: len(axis.points))
            longest.spread(max(len(longest.points) * 3 // 4, 1))


class _Axis:
    """Blocks tried along a dimension, (k,) int64, whether they differ, and whether those between follow from them."""

    def __init__(self, size: int, first: int, most: int) -> None:
        self.size, self.most = size, most
        self.points = np.arange(size, dtype=np.int64) if size <= first else _apart(size, first)
        self.differs, self.is_exact, self.is_even = False, True, False
        self.flat: Bools = np.zeros(0, bool)
        self.open: Bools = np.zeros(0, bool)

    def look(self, signs: NDArray[np.int8], times: Floats) -> None:
        """Takes what blocks did: (k, n) signs of what they compare, and (k, m) how often they ran."""
        gaps = np.diff(self.points)
        same, scale = (signs[1:] == signs[:-1]).all(axis=1), np.abs(times).max(initial=1.0)
        self.flat = same & (np.abs(np.diff(times, axis=0)) <= _EXACT * scale).all(axis=1)
        self.differs = not self.flat.all()
        smooth = np.zeros(len(self.points), bool)
        if len(self.points) > 2:
            slope = np.diff(times, axis=0) / gaps[:, None]
            bent = np.abs(slope[1:] - slope[:-1]) * np.minimum(gaps[1:], gaps[:-1])[:, None]
            smooth[1:-1] = same[1:] & same[:-1] & (bent <= _EXACT * scale).all(axis=1)
        self.open = ~self.flat & (gaps > 1) & ~smooth[1:] & ~smooth[:-1]
        turns = np.sign(np.diff(times, axis=0))
        changes = np.concatenate([(signs[1:] != signs[:-1]).sum(axis=0), (turns[1:] != turns[:-1]).sum(axis=0)])
        if len(self.points) < self.size and changes.max(initial=0) > _MOST_CHANGES and self._is_ragged(same, turns):
            self.spread(self.most)

    def _is_ragged(self, same: Bools, turns: Floats) -> bool:
        """Whether changes lie anywhere, and are not the two or three places that are being looked for."""
        return bool(((~same) | (turns != 0).any(axis=1)).sum() > _MOST_CHANGES)

    def refine(self) -> bool:
        """Puts more blocks between those that differ; whether there are any to try."""
        if not self.open.any() or not self.is_exact:
            return False
        self.prune()
        left = self.most - len(self.points)
        between = min(left // int(self.open.sum()), _MOST_BETWEEN)
        if between < 1:
            self.is_exact = False
            return False
        more = [
            np.linspace(self.points[at], self.points[at + 1], between + 2).astype(np.int64)
            for at in np.flatnonzero(self.open)
        ]
        self.points = np.unique(np.concatenate([self.points, *more]))
        return True

    def prune(self) -> None:
        """Drops blocks between others that do the same."""
        if not self.is_exact or len(self.flat) < 1:
            return
        kept = np.ones(len(self.points), bool)
        kept[1:-1] = ~(self.flat[1:] & self.flat[:-1])
        at = np.flatnonzero(kept)[:-1]
        self.open, self.flat = self.open[at], self.flat[at]
        self.points = self.points[kept]

    def spread(self, num: int) -> None:
        """Takes evenly spread blocks in place of those that were chosen."""
        self.is_exact, self.is_even = self.size <= num, True
        self.points = np.arange(self.size, dtype=np.int64) if self.is_exact else _in_groups(self.size, num)
        self.open = self.flat = np.zeros(len(self.points) - 1, bool)

    def shares(self) -> Floats:
        """(k,) float64 blocks that each stands for, as on lines between them."""
        if self.is_even:
            return np.full(len(self.points), self.size / len(self.points))
        between = (np.diff(self.points) - 1) / 2
        return 1.0 + np.concatenate([between, [0.0]]) + np.concatenate([[0.0], between])


def _apart(size: int, num: int) -> Ints:
    """The first two blocks of a dimension, the last one, and others, each somewhere in its share of it."""
    at = (np.arange(num) + (np.arange(1, num + 1) * _SPREAD) % 1.0) * size / num
    return np.unique([0, 1, *np.minimum(at.astype(np.int64), size - 1)[2:-1].tolist(), size - 1])


def _in_groups(size: int, num: int) -> Ints:
    """Groups of blocks next to each other, which take turns in many kernels, each somewhere in its share."""
    group = 4 if num >= 16 else 2 if num >= 4 else 1
    groups = num // group
    free = size / groups - group
    starts = np.arange(groups) * size / groups + (np.arange(1, groups + 1) * _SPREAD) % 1.0 * free
    return np.unique(starts.astype(np.int64)[:, None] + np.arange(group))


def _numbers(launch: Launch, points: list[Ints]) -> Ints:
    """Numbers of the blocks at all combinations of places along the dimensions, z fastest."""
    x, y, z = np.meshgrid(*points, indexing="ij")
    return np.asarray(x + launch.grid[0] * (y + launch.grid[1] * z), np.int64).ravel()
