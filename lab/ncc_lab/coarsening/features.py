"""Sixteen features of a kernel's IR that its coarsening may depend on.

Merging work-items along the first dimension pays where they share work (statements and memory accesses that are the
same for all) and costs where they don't run the same (divergent regions, copied in sequence), where neighbors
no longer access neighboring memory, and where registers run out. Statements are weighted by loop depth, and counts are
shares of all, so that unrolling hardly changes them.

Reference: Magni, Dubach, O'Boyle, PACT 2014, section 3 and table 2, whose counts these are akin to.
"""

import math
import re
from collections import defaultdict

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import thread_strides
from ncc.kernels.control_flow import divergent_blocks, divergent_branches, find_loops, successors
from ncc.kernels.instructions import size_of_type

FEATURE_NAMES = (
    "divergent_share", "divergent_loop_share", "uniform_share", "memory_share", "uniform_access_share",
    "coalesced_access_share", "strided_access_share", "irregular_access_share", "vector_share", "float_share",
    "special_share", "has_barrier", "has_loop", "loop_depth", "log_statements", "is_two_dimensional",
)  # fmt: skip
"""Names of the features, in order; shares are of statements, or of loads and stores where the name says access."""

_TRIPS = 10.0
_DEEPEST = 3
_VECTOR = re.compile(r"<\d+ x ")
_FLOAT = re.compile(r"= (?:fast |nnan |ninf |nsz |arcp |contract |afn |reassoc )*f(?:add|sub|mul|div|rem|neg)\b")
_ACCESSED = re.compile(r"(?:load|store) (?:atomic )?(?:volatile )?([^%]*?)(?:,| <%ID>| <[A-Z]+)")
_FUSED = re.compile(r"fmuladd|\bmad\b|llvm\.fma|_Z3(?:fma|mad)")
_BARRIER = re.compile(r"barrier|__syncthreads")
_QUERY = re.compile(r"get_(?:global|local|group|num|work|enqueued)_|ptx\.sreg")
_SECOND_DIMENSION = re.compile(r"get_(?:global|local|group)_id\w*\(i32 (?:noundef )?[12]\)|sreg\.(?:cta|t)id\.[yz]")
_CONTROL = frozenset(("br", "switch", "ret", "unreachable", "phi"))


def coarsening_features(module: Module, function: int | None = None) -> Floats:
    """Describe a kernel.

    Functions that the kernel calls and that the compiler left in place count as the one statement of the call.

    Returns:
        The features in the order of `FEATURE_NAMES`, (16,) float64.
    """
    if function is None:
        function = module.first_kernel
    stride = thread_strides(module, function)
    loops = find_loops(module, function)
    divergent = divergent_blocks(module, function, stride)
    branches, following = divergent_branches(module, function, stride), successors(module, function)
    first_block = int(module.function_block[function])
    depth = np.zeros(int(module.function_block[function + 1]) - first_block, np.int64)
    in_divergent_loop = np.zeros(len(depth), bool)
    for loop in loops:
        members = [block - first_block for block in loop.blocks]
        depth[members] += 1
        in_divergent_loop[members] |= any(set(following[block]) - loop.blocks for block in loop.blocks & set(branches))
    sums: defaultdict[str, float] = defaultdict(float)
    statements = module.body(function)
    for statement in statements:
        block = int(module.basic_block[statement]) - first_block
        weight = _TRIPS ** min(int(depth[block]), _DEEPEST)
        kinds = _kinds(module, statement, stride)
        kinds += ["divergent"] * bool(divergent[block]) + ["divergent_loop"] * bool(in_divergent_loop[block])
        for kind in kinds:
            sums[kind] += weight
    values, accesses = max(sums["value"], 1.0), max(sums["access"], 1.0)
    deepest = int(depth.max(initial=0))
    return np.array(
        [
            *(sums[kind] / max(sums["any"], 1.0) for kind in ("divergent", "divergent_loop")),
            sums["uniform"] / values,
            sums["access"] / max(sums["any"], 1.0),
            *(sums[f"access_{pattern}"] / accesses for pattern in ("uniform", "coalesced", "strided", "irregular")),
            *(sums[kind] / max(sums["any"], 1.0) for kind in ("vector", "float", "special")),
            float(sums["barrier"] > 0),
            float(deepest > 0),
            float(deepest),
            math.log(max(len(statements), 1)),
            float(sums["second_dimension"] > 0),
        ]
    )


def _kinds(module: Module, statement: int, stride: Floats) -> list[str]:
    """All that a statement counts as."""
    text = module.statement_text(statement)
    opcode = module.opcode_name(statement)
    kinds = ["any"]
    if _VECTOR.search(text):
        kinds.append("vector")
    if opcode in _CONTROL:
        return kinds
    kinds.append("value")
    result = int(module.result[statement])
    if result >= 0 and stride[result] == 0:
        kinds.append("uniform")
    if opcode in ("load", "store"):
        pointer = module.operands(statement)[-1]
        address = float(stride[pointer]) if pointer >= 0 else 0.0
        kinds += ["access", f"access_{_pattern(address, text)}"]
    elif opcode == "call":
        kinds += _call_kinds(module, statement)
    elif _FLOAT.search(text):
        kinds.append("float")
    return kinds


def _call_kinds(module: Module, statement: int) -> list[str]:
    callee = int(module.callee[statement])
    name = module.node_name(callee) if callee >= 0 else ""
    if _BARRIER.search(name):
        return ["barrier"]
    if _QUERY.search(name):
        source = module.statement_source(statement)
        return ["second_dimension"] if _SECOND_DIMENSION.search(source) else []
    return ["float"] if _FUSED.search(name) else ["special"]


def _pattern(stride: float, text: str) -> str:
    """How neighboring threads access memory, by the bytes between their addresses."""
    if stride == 0:
        return "uniform"
    if math.isnan(stride):
        return "irregular"
    found = _ACCESSED.search(text)
    return "coalesced" if abs(stride) <= size_of_type(found[1] if found else "float") else "strided"
