"""Features of launches: what a kernel's code does, how its work grows with its data, and the launch's sizes.

Sizes, numbers of threads and arguments are assumed to grow together, as in most host programs: an integer argument is
the side length of the data, which has the dimensions in which the kernel asks for its index, or more if its accesses
would otherwise reach beyond the data. Terms of a time are amounts, each to be multiplied by a constant of the device.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Ints, Rows
from ncc.errors import InputError
from ncc.ir.graph.reach import reachable_statements
from ncc.ir.reader.module import Module
from ncc.ir.reader.native import OPCODES
from ncc.kernels.bounds import reached_bytes
from ncc.kernels.cpu_cost import CYCLE_KINDS, cpu_cycles
from ncc.kernels.execution import Execution
from ncc.kernels.launch import Launch, Threads, argument_names, argument_types, block_of, given_arguments
from ncc.kernels.reading import LONGEST
from ncc.kernels.work import FEATURE_NAMES, Work, count_work
from ncc.learning.heads.columns import scaled_distances
from ncc.system.files.text import MAX_BYTES

_MAX_WGSIZE = 1 << 16
_ITEM_BYTES = 8.0
"""Bytes moved for each work-item and pointer argument: four to the device, four back."""
_MAX_EXCESS = 0.1
"""Log of the factor by which accesses may exceed the data, since a border does not imply a shorter side."""
_MIN_GROWTH, _MAX_GROWTH = 0.5, 3.0
"""Maximum power of the side length by which accessed bytes grow: the third for a volume."""
_MIN_ITEMS_GROWTH = 1 / 6
"""Minimum power of the data size by which work-items grow, if the data size is derived from work-items."""
_MAX_TRIES = 6
"""Maximum number of launches to find one that fits the data; the secant method needs three for a single power."""
_DATA_ITEMS = (2.0**12, 2.0**20)
"""Sizes of the two launches at which work is counted."""
_BLOCK_THREADS = 256
"""Threads of a work-group of those launches."""

_PROFILE = (
    "dimensions", "depth", "open_depth", "fixed_trips", "dynamic_flops", "intensity", "coalesced_share",
    "dynamic_global_irregular", "local_share", "dynamic_barrier", "divergent_share", "dynamic_divergent_branch",
    "statements", "double_share", "dynamic_special", "dynamic_atomic", "pointer_arguments", "scalar_arguments",
    "dynamic_division", "divergent_loops",
)  # fmt: skip
_SUMS = (
    ("dynamic_global_load", "dynamic_global_store"),
    ("dynamic_global_far", "dynamic_global_irregular"),
    ("dynamic_private_load", "dynamic_private_store"),
)
_PROFILE_WIDTH = len(_PROFILE) + len(_SUMS) + 2

_OPERATIONS = (
    "integer", "comparison", "conversion", "branch", "divergent_branch", "float", "double", "local_load",
    "local_store", "lane_shuffle", "barrier",
)  # fmt: skip
_COSTLY, _BYTES, _UNSHARED = ("special", "division"), ("global_bytes",), ("global_far", "global_irregular", "atomic")
_OTHERS = (
    "global_load", "global_store", "global_coalesced", "global_strided", "global_uniform", "constant_load",
    "private_load", "private_store", "thread_query",
)  # fmt: skip
_KINDS = (*_OPERATIONS, *_COSTLY, *_BYTES, *_UNSHARED, *_OTHERS)
_KIND_GROUPS = [[_KINDS.index(name) for name in names] for names in (_OPERATIONS, _COSTLY, _BYTES, _UNSHARED)]
NUM_KINDS = len(_KINDS)
WORK_WIDTH = len(_DATA_ITEMS) * (NUM_KINDS + len(CYCLE_KINDS))

TERMS: Mapping[str, Ints] = {"code": np.arange(7), "launch": np.r_[0, 1, 4 : 7 + len(CYCLE_KINDS)]}
"""Terms of times for tables without and with launch sizes; with them, cycles replace operations."""
_COSTLY_WEIGHT, _BYTE_WEIGHT = 4.0, 0.25

NUM_SIZES = 3 + 3
"""Columns of `launch_columns` that depend on sizes; those of the code come after them."""
CODE_WIDTH = _PROFILE_WIDTH + len(OPCODES)
CODE = slice(NUM_SIZES, NUM_SIZES + CODE_WIDTH)
"""Columns of the code, from which distances between kernels are computed."""
NUM_PUBLISHED = CODE.stop + len(FEATURE_NAMES)
"""Columns for models of the published times, whose tables don't have all launch sizes."""
NUM_COLUMNS = NUM_PUBLISHED + 1 + 2 * NUM_KINDS
LAUNCH = np.r_[0:4, NUM_PUBLISHED:NUM_COLUMNS]
"""Columns of the sizes, and of a thread's work at the launch."""
_CODE_AND_LAUNCH = np.r_[0 : CODE.stop, NUM_PUBLISHED:NUM_COLUMNS]
_OPCODE_TERM = np.r_[0:NUM_SIZES, NUM_SIZES + _PROFILE_WIDTH : CODE.stop], 1.0, 1.0
_WORK = np.flatnonzero(np.isin(_CODE_AND_LAUNCH, LAUNCH))
COVARIANCES: Mapping[str, tuple[Ints, tuple[tuple[Ints, float, float], ...]]] = {
    "code": (np.arange(CODE.stop), ((np.arange(NUM_SIZES + _PROFILE_WIDTH), 1.0, 2.0), _OPCODE_TERM)),
    "launch": (_CODE_AND_LAUNCH, ((_WORK, 2.0, 3.0), _OPCODE_TERM)),
}
"""Name → columns that a Gaussian process reads, and terms over some of these: variance × exp(-distance / length)."""


@dataclass(frozen=True, eq=False)
class KernelFeatures(Rows):
    """Kernels before they run, one row per kernel or per row of a table."""

    profile: Floats  # (n, len(FEATURE_NAMES)) float64, see `ncc.kernels.work.Work.features`
    opcodes: Floats  # (n, num_opcodes) float64 how often each opcode occurs
    # (n, WORK_WIDTH) float64 log1p of a thread's work of each kind, and of its cycles on a CPU's core, at 4096 and
    # 1,048,576 data items
    work: Floats
    items: Floats  # (n, 2) float64 log of the work-items at these sizes
    sequences: NDArray[np.object_]  # (n,) of (time, dim) vectors of the kernels' first 1024 statements, in order

    def feature(self, name: str) -> Floats:
        """(n,) float64 one of `FEATURE_NAMES`."""
        return self.profile[:, FEATURE_NAMES.index(name)]

    @property
    def item_bytes(self) -> Floats:
        """(n,) float64 bytes moved per work-item."""
        return _ITEM_BYTES * np.maximum(self.feature("pointer_arguments"), 1)


class KernelWork:
    """A kernel's work, counted once: independent of a launch, and at a given one or at two data sizes."""

    def __init__(self, module: Module, function: int, launch: Launch | None = None) -> None:
        self._module, self._function, self._launch = module, function, launch
        self._statements = reachable_statements(module, function)
        pairs = zip(argument_names(module, function), argument_types(module, function), strict=True)
        self.integer_arguments = [node for node, text in pairs if text.startswith(("i16", "i32", "i64"))]  # by node
        self._work = count_work(module, function)
        self._item_bytes = _ITEM_BYTES * max(self._work.features()[FEATURE_NAMES.index("pointer_arguments")], 1)
        self._at_sizes = cache(self._launches)  # by the dimensions of the data

    def features(self, vectors: NDArray[np.floating], excluding: Collection[int] = ()) -> KernelFeatures:
        """Describe the kernel without some statements; vectors are those of the module's statements."""
        statements = self._statements[~np.isin(self._statements, list(excluding))]
        profile = self._work.without(excluding).features()
        sequence = np.empty(1, object)
        sequence[0] = vectors[statements[:LONGEST]]
        opcodes = np.bincount(self._module.opcode[statements], minlength=len(OPCODES)).astype(np.float64)
        works, items = zip(*self._at_sizes(int(profile[FEATURE_NAMES.index("dimensions")])), strict=True)
        rest = [work.without(excluding) for work in works]
        amounts = [[*(work.dynamic[name] for name in _KINDS), *cpu_cycles(work)] for work in rest]
        launch_work = np.log1p(amounts).reshape(1, -1)
        return KernelFeatures(profile[None, :], opcodes[None, :], launch_work, np.log([items]), sequence)

    @property
    def data_dependent_lines(self) -> list[int]:
        """Lines of loops whose trip count depends on data, assumed 8; 0 for a loop without a line."""
        [*_, (work, _)] = self._at_sizes(int(self._work.features()[FEATURE_NAMES.index("dimensions")]))
        return sorted({loop.line for loop in work.loops if loop.trip_count is None})

    def _launches(self, dimensions: int) -> list[tuple[Work, float]]:
        """Work and number of work-items at 4096 and 1,048,576 data items in 1 to 3 dimensions, or at the launch."""
        if self._launch is None:
            runs = [self._fitting_run(items, dimensions) for items in _DATA_ITEMS]
            return [(count_work(self._module, self._function, run), side ** max(dimensions, 1)) for run, side in runs]
        num_threads = self._launch.num_threads
        # integer arguments that are not given are assumed to be the side length
        values = dict.fromkeys(self.integer_arguments, float(round(side_length(num_threads, dimensions))))
        values |= given_arguments(self._module, self._function, self._launch)
        run = Execution(self._module, self._function, Threads.of_launch(self._launch), values)
        return [(count_work(self._module, self._function, run), float(num_threads))] * len(_DATA_ITEMS)

    def _fitting_run(self, items: float, dimensions: int) -> tuple[Execution, float]:
        """Run the kernel on `items` data items; return the side length at which accesses stay within the data."""
        num_bytes = self._item_bytes / 2 * items
        side, tried = side_length(items, dimensions), list[tuple[Execution, float, float]]()
        while True:
            block = block_of(_BLOCK_THREADS, dimensions)
            threads = Threads.of_launch(Launch.of([max(int(side) // width, 1) for width in block], block, {}))
            values = dict.fromkeys(self.integer_arguments, float(int(side)))
            run = Execution(self._module, self._function, threads, values)
            reached = sum(reached_bytes(run).values())
            excess = math.log(max(reached, 1) / num_bytes)
            tried.append((run, side, excess))
            if excess <= _MAX_EXCESS or side <= 1 or len(tried) == _MAX_TRIES:
                return run, side
            growth = _MAX_GROWTH
            if len(tried) > 1:
                (_, longer, before), _ = tried[-2:]
                growth = (before - excess) / math.log(longer / side)
                if growth < _MIN_GROWTH:  # sizes are constants of the code
                    return tried[0][:2]
            side = max(side * math.exp(-excess / growth), 1.0)


def side_length(items: float, dimensions: int) -> float:
    """Side length of data items in the dimensions in which a kernel reads its index."""
    return float(items ** (1 / min(max(dimensions, 1), 3)))


def _at_items(columns: Floats, items: Floats) -> Floats:
    """(n, k) float64 at (n,) data items of logarithms, (n, 2 * k), at the two sizes of `_DATA_ITEMS`."""
    small, large = np.hsplit(columns, len(_DATA_ITEMS))
    low, high = np.log(_DATA_ITEMS)
    return np.clip(small + ((np.log(items) - low) / (high - low))[:, None] * (large - small), 0, 80)


def code_columns(features: KernelFeatures) -> Floats:
    """(n, CODE_WIDTH) float64 logarithms of counts, and fractions, independent of sizes."""
    dimensions = features.feature("dimensions")
    sums = (np.log1p(sum(np.expm1(features.feature(name)) for name in names)) for names in _SUMS)
    growth = dimensions + features.feature("depth"), dimensions + features.feature("open_depth")
    profile = [*map(features.feature, _PROFILE), *sums, *growth]
    return np.column_stack([*profile, np.log1p(features.opcodes)])


def launch_columns(features: KernelFeatures, sizes: Floats) -> Floats:
    """(n, NUM_COLUMNS) float64 of n kernels at (n, 3) bytes, work-group and global sizes, NaN if unknown."""
    transfer, group, items = np.log1p(complete_sizes(features, sizes)).T
    counts = _at_items(features.work, data_items(features, sizes))[:, :NUM_KINDS]
    amounts = np.expm1(counts)
    shares = amounts / np.maximum(amounts.sum(axis=1, keepdims=True), 1e-9)
    code = code_columns(features)
    work = [transfer - items, items + features.feature("dynamic_flops"), items + code[:, len(_PROFILE)]]
    return np.column_stack([transfer, group, items, *work, code, features.profile, items - group, counts, shares])


def launch_terms(features: KernelFeatures, sizes: Floats) -> Floats:
    """(n, 15) float64 amounts that contribute to the time of n launches; sizes as for `launch_columns`."""
    # launch, bytes moved, operations, costly operations, bytes of memory, accesses not shared with neighbors;
    # sequential work of one work-item; cycles of all on a core; a kernel that never reads its index has one work-item
    moved, _, items = complete_sizes(features, sizes).T
    by_items = data_items(features, sizes)
    data = np.where(np.isfinite(sizes[:, 0]), np.maximum(moved / features.item_bytes, 1), by_items)
    items = np.where(np.isfinite(sizes[:, 2]) | (features.feature("dimensions") > 0), items, 1)[:, None]
    parts = np.hsplit(features.work, len(_DATA_ITEMS))
    sums = [np.log1p(np.expm1(part[:, group]).sum(axis=1)) for part in parts for group in _KIND_GROUPS]
    work = np.expm1(_at_items(np.stack(sums, axis=1), data))
    alone = work[:, 0] + _COSTLY_WEIGHT * work[:, 1] + _BYTE_WEIGHT * work[:, 2]
    cycles = items * np.expm1(_at_items(features.work, data)[:, NUM_KINDS:])
    return np.column_stack([np.ones(len(data)), moved, items * work, alone, cycles])


def complete_sizes(features: KernelFeatures, sizes: Floats) -> Floats:
    """(n, 3) float64 sizes, bytes derived from work-items or work-items from bytes if one is unknown."""
    transfer, group, items = sizes.T
    data = data_items(features, sizes)
    moved = np.where(np.isfinite(transfer), transfer, data * features.item_bytes)
    launched = np.exp(_at_items(features.items, data))[:, 0]
    return np.stack([moved, group, np.where(np.isfinite(items), items, launched)], axis=1)


def data_items(features: KernelFeatures, sizes: Floats) -> Floats:
    """(n,) float64 data items of launches, from work-items if known, else from the bytes moved."""
    transfer, _, items = sizes.T
    small, large = features.items.T
    low, high = np.log(_DATA_ITEMS)
    growth = np.maximum((large - small) / (high - low), _MIN_ITEMS_GROWTH)
    by_items = np.exp(np.clip(low + (np.log(items) - small) / growth, 0, 80))
    return np.where(np.isfinite(items), by_items, np.maximum(transfer / features.item_bytes, 1))


def code_distances(a: Floats, b: Floats) -> Floats:
    """(n, m) float64 distances between kernels: about the log of the factor by which their work differs."""
    parts = ((a[:, part], b[:, part]) for part in (slice(_PROFILE_WIDTH), slice(_PROFILE_WIDTH, None)))
    return np.hypot(*(scaled_distances(*part) for part in parts))


def check_sizes(transfer: float | None, wgsize: float | None, global_size: float | None = None) -> None:
    """Raise InputError for an impossible size."""
    for name, size, low, high, unit in (
        ("transfer", transfer, 0, MAX_BYTES, "bytes"),
        ("wgsize", wgsize, 1, _MAX_WGSIZE, "work-items"),
        ("global_size", global_size, 1, MAX_BYTES, "work-items"),
    ):
        if size is None:
            continue
        if not isinstance(size, float | int | np.floating | np.integer):
            raise InputError(f"{name} is {size!r:.80}; expected a number")
        if not low <= size <= high or (name == "wgsize" and size != int(size)):
            whole = "a whole number from " if name == "wgsize" else ""
            raise InputError(f"{name} is {size:g} {unit}; expected {whole}{low} to {high:g}")
