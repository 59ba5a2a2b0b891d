"""What a GPU kernel does to a machine, in numbers: work by kind and loop depth, memory accesses by pattern, divergence.

The features are those that decide between processors by what is known of their hardware: Grewe and O'Boyle (CC 2011)
and Magni et al. (PACT 2014) count instructions, memory accesses and coalesced ones in the source; here they come from
the IR, weighted by loop depth, with the pattern of every access worked out from the thread's number.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Ints32
from ncc.ir.reader.module import Module
from ncc.kernels.instructions import split_fields
from ncc.kernels.memory import PATTERNS, SPACES
from ncc.kernels.work import KernelCounts, count_kernel

_KINDS = (
    "integer", "float", "double", "division", "special", "conversion", "comparison", "branch", "divergent_branch",
    "barrier", "atomic", "call", "thread_query", "lane_shuffle",
)  # fmt: skip
_MEMORY = tuple(f"{space}_{what}" for space in SPACES for what in ("load", "store"))
_ACCESSES = tuple(f"global_{pattern}" for pattern in PATTERNS)
_COUNTED = _KINDS + _MEMORY + _ACCESSES + ("global_bytes", "flops")
_SHAPE = (
    "loops", "depth", "open_depth", "fixed_trips", "divergent_loops", "pointer_arguments", "scalar_arguments",
    "dimensions", "statements", "intensity", "coalesced_share", "divergent_share", "double_share", "bytes_per_access",
    "local_share",
)  # fmt: skip
FEATURE_NAMES: tuple[str, ...] = (
    *(f"once_{name}" for name in _COUNTED),
    *(f"weighted_{name}" for name in _COUNTED),
    *_SHAPE,
)
"""Names of a profile's features, in order."""


@dataclass(frozen=True, eq=False)
class KernelProfile:
    """What a kernel does.

    Attributes:
        features: (len(FEATURE_NAMES),) float64: logarithms, log1p, of counts; shares and intensities as they are.
        statement: (m,) int32 statements of the module that were counted, in module order.
        weight: (m,) float64 how often each runs for a thread, if every loop runs `TRIPS` times.
        pattern: (m,) str how neighbouring threads access memory there; empty where no global memory is accessed.
        divergent: (m,) bool branches that neighbouring threads may take differently.
    """

    features: Floats
    statement: Ints32
    weight: Floats
    pattern: NDArray[np.str_]
    divergent: Bools

    def to_dict(self) -> dict[str, float]:
        """Name of each feature → value."""
        return dict(zip(FEATURE_NAMES, self.features.tolist(), strict=True))


def profile_kernel(module: Module, function: int, without: Collection[int] = ()) -> KernelProfile:
    """Counts what a kernel and the functions that it calls do.

    Args:
        module: The module.
        function: Number of the kernel among the module's functions.
        without: Statements that are not counted, as if they did nothing; what others do stays as it is.

    Returns:
        The profile. A function called from several places counts as often as it is called.
    """
    counts = count_kernel(module, function, without)
    header = int(module.function_start[function])
    num_arguments = len(module.operands(header))
    pointers = min(_num_pointers(module.statement_text(header)), num_arguments)
    counts.shape["pointer_arguments"] = pointers
    counts.shape["scalar_arguments"] = num_arguments - pointers
    return _profile(counts)


def _num_pointers(header: str) -> int:
    """Arguments that are pointers, by the abstracted text of a ``define``."""
    arguments = header[header.find("(", header.find("@")) + 1 :].rpartition(")")[0]
    return sum(field.startswith("ptr") for field in split_fields(arguments))


def _profile(counts: KernelCounts) -> KernelProfile:
    once, weighted = counts.once, counts.weighted
    accesses = sum(weighted[name] for name in _ACCESSES)
    local = weighted["local_load"] + weighted["local_store"]
    branches = weighted["branch"] + weighted["divergent_branch"]
    shape = {
        **{name: math.log1p(counts.shape[name]) for name in ("loops", "fixed_trips", "divergent_loops", "statements")},
        **{
            name: float(counts.shape[name]) for name in ("depth", "open_depth", "pointer_arguments", "scalar_arguments")
        },
        "dimensions": float(len(counts.dimensions)),
        "intensity": math.log1p(weighted["flops"]) - math.log1p(weighted["global_bytes"]),
        "coalesced_share": (weighted["global_coalesced"] + weighted["global_uniform"]) / max(accesses, 1),
        "divergent_share": weighted["divergent_branch"] / max(branches, 1),
        "double_share": weighted["double"] / max(weighted["float"] + weighted["double"], 1),
        "bytes_per_access": weighted["global_bytes"] / max(accesses, 1),
        "local_share": local / max(local + accesses, 1),
    }
    features = [math.log1p(once[name]) for name in _COUNTED] + [math.log1p(weighted[name]) for name in _COUNTED]
    features += [shape[name] for name in _SHAPE]
    rows = sorted(counts.rows, key=lambda row: row.statement)
    return KernelProfile(
        features=np.array(features, np.float64),
        statement=np.array([row.statement for row in rows], np.int32),
        weight=np.array([row.weight for row in rows], np.float64),
        pattern=np.array([row.pattern for row in rows], np.str_),
        divergent=np.array([row.divergent for row in rows], bool),
    )
