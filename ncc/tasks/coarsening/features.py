"""The one number of a kernel that its coarsening is predicted from: the share of statements that not all threads run.

Merging work-items pays where they share work and costs where they don't run the same: divergent regions are copied one
after the other for each work-item merged. Statements are weighted by loop depth, and counts are shares of all, so that
unrolling hardly changes them. The lab compares it with fifteen other features.

Reference: Magni, Dubach, O'Boyle, PACT 2014, section 3 and table 2.
"""

import numpy as np

from ncc.ir.reader.module import Module
from ncc.kernels.addresses import thread_strides
from ncc.kernels.control_flow import divergent_blocks, find_loops

LOOP_WEIGHT = 10.0
"""Weight of a loop's statements, again for each loop around it; 5 and 20 gain the same, 1 gains 0.03 less."""
MAX_LOOP_DEPTH = 3
"""Of loops that count; 2 and 5 gain the same, 1 gains 0.02 less."""


def divergent_share(module: Module, function: int | None = None) -> float:
    """Weighted share of a kernel's statements in divergent regions; of the module's first kernel by default."""
    if function is None:
        function = module.first_kernel
    divergent = divergent_blocks(module, function, thread_strides(module, function))
    first_block = int(module.function_block[function])
    depth = np.zeros(len(divergent), np.int64)
    for loop in find_loops(module, function):
        depth[[block - first_block for block in loop.blocks]] += 1
    block = module.basic_block[module.body(function)] - first_block
    weight = LOOP_WEIGHT ** np.minimum(depth, MAX_LOOP_DEPTH)[block]
    return float(weight[divergent[block]].sum() / max(weight.sum(), 1.0))
