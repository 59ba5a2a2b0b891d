"""Launches as columns of numbers: sizes, what the kernel's code does, and what a thread does in the launch."""

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.native import OPCODES
from ncc.kernels.work import FEATURE_NAMES
from ncc.tasks.devices.features import KernelInputs
from ncc.tasks.devices.physics import launch_terms
from ncc.tasks.devices.work import NUM_KINDS, counts_at

NUM_SIZES = 3 + 3
"""Columns of `launch_columns` that depend on sizes; those of the code follow."""
_PROFILE = slice(2, 27)
_PROFILE_WIDTH = _PROFILE.stop - _PROFILE.start
_POINTERS, _FLOPS = FEATURE_NAMES.index("pointer_arguments"), FEATURE_NAMES.index("weighted_flops")
_DIMENSIONS = FEATURE_NAMES.index("dimensions")
_ACCESSES = 20
_BYTES = 8.0
CODE_WIDTH = _PROFILE_WIDTH + len(OPCODES)
"""Columns of the code, which say how far kernels are from each other."""
CODE = slice(NUM_SIZES, NUM_SIZES + CODE_WIDTH)
NUM_PUBLISHED = CODE.stop + len(FEATURE_NAMES)
"""Columns that models of the published times look at: their tables do not say how kernels were launched."""
NUM_COLUMNS = NUM_PUBLISHED + 1 + 2 * NUM_KINDS
"""All columns."""
LAUNCH = np.r_[0:4, NUM_PUBLISHED:NUM_COLUMNS]
"""Columns of the sizes, and of what a thread does at the launch."""
PROFILE_COLUMNS = np.arange(NUM_SIZES + _PROFILE_WIDTH)
OPCODE_COLUMNS = np.r_[0:NUM_SIZES, NUM_SIZES + _PROFILE_WIDTH : CODE.stop]
"""Sizes with the profile, and with the opcodes."""


def code_columns(inputs: KernelInputs) -> Floats:
    """(n, k) float64 of what kernels do, whatever their sizes: logarithms of counts, and shares."""
    one = np.ones(len(inputs))
    return np.hstack([inputs.blocks(one, one)["profile"][:, _PROFILE], np.log1p(inputs.opcodes)])


def launch_columns(inputs: KernelInputs, sizes: Floats) -> Floats:
    """What models see of launches.

    Work-items and bytes stand for each other where one is not known: a pointer argument is taken to hold four bytes a
    work-item, moved there and back.

    Args:
        inputs: Of n kernels.
        sizes: (n, 3) float64 transfer bytes, work-group size and global size, NaN where not known.

    Returns:
        (n, NUM_COLUMNS) float64: what depends on sizes, the code, the whole profile; and how many groups there are, how
        often a thread does each kind of work at this launch (log1p), and the shares of the kinds.
    """
    transfer, group, items = complete_sizes(inputs, sizes).T
    counts = counts_at(inputs.work, items)
    amounts = np.expm1(counts)
    shares = amounts / np.maximum(amounts.sum(axis=1, keepdims=True), 1e-9)
    code = code_columns(inputs)
    transfer, group, items = np.log1p(transfer), np.log1p(group), np.log1p(items)
    work = [transfer - items, items + inputs.profile[:, _FLOPS], items + code[:, _ACCESSES]]
    return np.column_stack([transfer, group, items, *work, code, inputs.profile, items - group, counts, shares])


def complete_sizes(inputs: KernelInputs, sizes: Floats) -> Floats:
    """The same sizes with bytes for work-items and work-items for bytes; (n, 3) float64."""
    each = _item_bytes(inputs)
    transfer, group, items = sizes.T
    return np.stack(
        [
            np.where(np.isfinite(transfer), transfer, items * each),
            group,
            np.where(np.isfinite(items), items, np.maximum(transfer / each, 1)),
        ],
        axis=1,
    )


def _item_bytes(inputs: KernelInputs) -> Floats:
    return _BYTES * np.maximum(inputs.profile[:, _POINTERS], 1)


def work_items(profile: Floats, transfer_bytes: float) -> float:
    """Work-items that bytes stand for, of a kernel with such a (k,) profile."""
    return max(transfer_bytes / (_BYTES * max(float(profile[_POINTERS]), 1)), 1.0)


def launch_physics(inputs: KernelInputs, sizes: Floats) -> Floats:
    """Terms of the times of launches, see `launch_terms`; a kernel that never asks for its number runs alone."""
    moved, _, items = complete_sizes(inputs, sizes).T
    data = np.where(np.isfinite(sizes[:, 0]), np.maximum(moved / _item_bytes(inputs), 1), items)
    many = np.isfinite(sizes[:, 2]) | (inputs.profile[:, _DIMENSIONS] > 0)
    return launch_terms(inputs.work, data, moved, np.where(many, items, 1))


def code_distances(a: Floats, b: Floats) -> Floats:
    """(n, m) float64 between kernels: about the factor, in log units, by which what they do differs."""
    width = _PROFILE_WIDTH
    profile, opcodes = scaled_distances(a[:, :width], b[:, :width]), scaled_distances(a[:, width:], b[:, width:])
    return np.hypot(profile, opcodes)


def scaled_distances(a: Floats, b: Floats) -> Floats:
    """(n, m) float64 root mean squared differences between rows."""
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.sqrt(np.maximum(squared, 0) / a.shape[1])
