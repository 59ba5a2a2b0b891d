"""What a GPU kernel does to a machine, in numbers: work by kind and loop depth, memory accesses by pattern, divergence.

The features are those that decide between processors by what is known of their hardware: Grewe and O'Boyle (CC 2011)
and Magni et al. (PACT 2014) count instructions, memory accesses and coalesced ones in the source; here they come from
the IR, weighted by loop depth, with the pattern of every access worked out from the thread's number.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.graph.loops import find_loops
from ncc.graph.threads import callee_name, size_of_type, thread_strides
from ncc.ir import Module, NodeKind

__all__ = ["FEATURE_NAMES", "KernelProfile", "profile_kernel"]

TRIPS = 8.0
"""Times that a loop is taken to run where the code does not say."""
_DEEPEST = 4
_HEAVIEST = 1e12

KINDS = (
    "integer", "float", "double", "division", "special", "conversion", "comparison", "branch", "divergent_branch",
    "barrier", "atomic", "call", "thread_query", "lane_shuffle",
)  # fmt: skip
SPACES = ("global", "local", "constant", "private")
PATTERNS = ("uniform", "coalesced", "strided", "far", "irregular")
MEMORY = tuple(f"{space}_{what}" for space in SPACES for what in ("load", "store"))
ACCESSES = tuple(f"global_{pattern}" for pattern in PATTERNS)
_COUNTED = KINDS + MEMORY + ACCESSES + ("global_bytes", "flops")
SHAPE = (
    "loops", "depth", "open_depth", "fixed_trips", "divergent_loops", "pointer_arguments", "scalar_arguments", "dimensions", "statements",
    "intensity", "coalesced_share", "divergent_share", "double_share", "bytes_per_access", "local_share",
)  # fmt: skip
FEATURE_NAMES: tuple[str, ...] = (
    *(f"once_{name}" for name in _COUNTED),
    *(f"weighted_{name}" for name in _COUNTED),
    *SHAPE,
)
"""Names of a profile's features, in order."""

_FLOAT_OPS = frozenset(("fadd", "fsub", "fmul", "fneg"))
_INTEGER_OPS = frozenset("add sub mul shl lshr ashr and or xor getelementptr".split())
_DIVISIONS = frozenset("udiv sdiv urem srem fdiv frem".split())
_CONVERSIONS = frozenset("trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp".split())
_LANES = frozenset(("extractelement", "insertelement", "shufflevector"))
_SPECIAL = re.compile(
    r"(?:^|_Z\d+|llvm\.|native_|half_|__nv_)(?:a?(?:sin|cos|tan)h?(?:pi)?|sincos|exp(?:2|10|m1)?|log(?:2|10|1p)?|pow[nr]?"
    r"|r?sqrt|cbrt|hypot|erfc?|[lt]gamma|atan2|fmod|rootn|length|normalize|distance|divide|recip)\b|sqrt|native_|half_"
)
_BARRIER = re.compile(r"barrier|__syncthreads|mem_fence")
_ATOMIC = re.compile(r"atom(?:ic)?_")
_COPY = re.compile(r"llvm\.mem(?:cpy|move|set)")
_QUERY = re.compile(r"get_(?:global|local|group|num|work|enqueued)_|ptx\.sreg")
_SPACE_NUMBER = re.compile(r"ptr addrspace\((\d+)\)")
_SPACE_OF_NUMBER = {0: "private", 1: "global", 2: "constant", 3: "local", 4: "constant"}
_ADDRESS_SPACES = re.compile(r"!kernel_arg_addr_space !(\d+)")
_ACCESSED = re.compile(r"(?:load|store) (?:atomic )?(?:volatile )?(.*?)(?:, ptr| <%ID>, ptr| <[A-Z]+>, ptr)")
_POINTER_STEPS = frozenset(("getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"))


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

    features: NDArray[np.float64]
    statement: NDArray[np.int32]
    weight: NDArray[np.float64]
    pattern: NDArray[np.str_]
    divergent: NDArray[np.bool_]

    def to_dict(self) -> dict[str, float]:
        """Name of each feature → value."""
        return dict(zip(FEATURE_NAMES, self.features.tolist(), strict=True))


class _Counts:
    """Counts of one kernel while its functions are gone through."""

    def __init__(self) -> None:
        self.once: Counter[str] = Counter()
        self.weighted: Counter[str] = Counter()
        self.shape: Counter[str] = Counter()
        self.dimensions: set[str] = set()
        self.rows: list[tuple[int, float, str, bool]] = []

    def add(self, kind: str, weight: float, amount: float = 1.0) -> None:
        self.once[kind] += amount  # type: ignore[assignment]
        self.weighted[kind] += weight * amount  # type: ignore[assignment]


def profile_kernel(module: Module, function: int) -> KernelProfile:
    """Counts what a kernel and the functions that it calls do.

    Args:
        module: The module.
        function: Number of the kernel among the module's functions.

    Returns:
        The profile. A function called from several places counts as often as it is called.
    """
    counts = _Counts()
    number = {int(node): f for f, node in enumerate(module.function_node)}
    spaces = _argument_spaces(module, function)
    queue: list[tuple[int, float, dict[int, float], dict[int, str], int]] = [(function, 1.0, {}, spaces, 0)]
    while queue:
        current, base, strides, spaces, level = queue.pop(0)
        calls = _count_function(module, current, base, strides, spaces, counts, number)
        if level < _DEEPEST:  # of calls; OpenCL has no recursion, but any IR may come this way
            queue += [(*call, level + 1) for call in calls]
    header = module.operand[module.operand_start[module.function_start[function]] :]
    text = module.statement_text(int(module.function_start[function]))
    num_arguments = len(module.operand[slice(*module.operand_start[module.function_start[function] :][:2])])
    pointers = min(text.split("(", 1)[-1].count("ptr"), num_arguments, len(header))
    counts.shape["pointer_arguments"] += pointers
    counts.shape["scalar_arguments"] += num_arguments - pointers
    return _profile(counts)


def _profile(counts: _Counts) -> KernelProfile:
    once, weighted = counts.once, counts.weighted
    accesses = sum(weighted[name] for name in ACCESSES)
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
    features += [shape[name] for name in SHAPE]
    rows = sorted(counts.rows)
    return KernelProfile(
        features=np.array(features, np.float64),
        statement=np.array([row[0] for row in rows], np.int32),
        weight=np.array([row[1] for row in rows], np.float64),
        pattern=np.array([row[2] for row in rows], np.str_),
        divergent=np.array([row[3] for row in rows], bool),
    )


def _count_function(
    module: Module,
    function: int,
    base: float,
    strides_of_arguments: dict[int, float],
    spaces: dict[int, str],
    counts: _Counts,
    number: dict[int, int],
) -> list[tuple[int, float, dict[int, float], dict[int, str]]]:
    """Counts one function's statements; returns the calls of functions that have a body."""
    stride = thread_strides(module, function, strides_of_arguments)
    runs, depth = _count_loops(module, function, counts)
    calls = []
    for statement in range(int(module.function_start[function]) + 1, int(module.function_start[function + 1])):
        block = int(module.block[statement])
        weight = min(base * runs.get(block, 1.0), _HEAVIEST)
        operands = module.operand[module.operand_start[statement] : module.operand_start[statement + 1]].tolist()
        text = module.statement_text(statement)
        opcode = _opcode(text)
        pattern, divergent = "", False
        counts.shape["statements"] += 1
        if opcode in ("load", "store", "atomicrmw", "cmpxchg"):
            pattern = _count_access(module, text, opcode, operands, stride, spaces, weight, counts)
        elif opcode == "call":
            callee = int(module.callee[statement])
            if callee in number:
                calls.append(_called(module, number[callee], weight, operands[1:], stride, spaces))
            elif _COPY.search(callee_name(module, statement)):
                _count_copy(module, statement, operands[1:], stride, spaces, weight, counts)
            else:
                _count_call(module, statement, weight, counts)
        elif opcode in ("br", "switch"):
            divergent = bool(operands and operands[0] >= 0 and stride[operands[0]] != 0)
            if len(operands) > 1:
                counts.add("divergent_branch" if divergent else "branch", weight)
                counts.shape["divergent_loops"] += int(divergent and depth[block] > 0)
        else:
            _count_arithmetic(opcode, text, weight, counts)
        counts.rows.append((statement, weight, pattern, divergent))
    return calls


def _opcode(text: str) -> str:
    words = text.split(" = ", 1)[-1].split(" ", 2)
    return words[1] if words[0] in ("tail", "musttail", "notail") else words[0]


def _count_arithmetic(opcode: str, text: str, weight: float, counts: _Counts) -> None:
    lanes = _lanes(text)
    if opcode in _FLOAT_OPS:
        counts.add("double" if "double" in text else "float", weight, lanes)
        counts.add("flops", weight, lanes)
    elif opcode in _INTEGER_OPS:
        counts.add("integer", weight, lanes)
    elif opcode in _DIVISIONS:
        counts.add("division", weight, lanes)
        counts.add("flops", weight, lanes if opcode.startswith("f") else 0.0)
    elif opcode in _CONVERSIONS:
        counts.add("conversion", weight, lanes)
    elif opcode in ("icmp", "fcmp", "select"):
        counts.add("comparison", weight, lanes)
    elif opcode in _LANES:
        counts.add("lane_shuffle", weight)


def _lanes(text: str) -> float:
    found = re.search(r"<(\d+) x ", text)
    return float(found[1]) if found else 1.0


def _count_call(module: Module, statement: int, weight: float, counts: _Counts) -> None:
    name = callee_name(module, statement)
    text = module.statement_text(statement)
    if name.startswith(("llvm.lifetime", "llvm.assume", "llvm.experimental.noalias")):
        return
    if _BARRIER.search(name):
        counts.add("barrier", weight)
    elif _ATOMIC.search(name):
        counts.add("atomic", weight)
    elif _QUERY.search(name):
        counts.add("thread_query", weight)
        if "get_global_id" in name or "get_local_id" in name:
            counts.dimensions.add(module.statement_source(statement).rsplit("(", 1)[-1][:12])
    elif "fmuladd" in name or re.search(r"(?:_Z\d|\.)(?:fma|mad)", name):
        counts.add("double" if "double" in text else "float", weight, 2 * _lanes(text))
        counts.add("flops", weight, 2 * _lanes(text))
    elif _SPECIAL.search(name):
        counts.add("special", weight, _lanes(text))
        counts.add("flops", weight, _lanes(text))
    else:
        counts.add("call", weight)


def _count_access(
    module: Module,
    text: str,
    opcode: str,
    operands: list[int],
    stride: NDArray[np.float64],
    spaces: dict[int, str],
    weight: float,
    counts: _Counts,
) -> str:
    """Counts an access of memory; returns its pattern if it is one of global memory."""
    pointer = operands[1 if opcode == "store" else 0]
    space = _space(module, text, pointer, spaces)
    if opcode in ("atomicrmw", "cmpxchg"):
        counts.add("atomic", weight)
    counts.add(f"{space}_{'store' if opcode == 'store' else 'load'}", weight)
    if space != "global":
        return ""
    found = _ACCESSED.search(text)
    size = size_of_type(found[1]) if found else 4.0
    pattern = _pattern(float(stride[pointer]) if pointer >= 0 else 0.0, size)
    counts.add(f"global_{pattern}", weight)
    counts.add("global_bytes", weight, size)
    return pattern


def _count_copy(
    module: Module,
    statement: int,
    operands: list[int],
    stride: NDArray[np.float64],
    spaces: dict[int, str],
    weight: float,
    counts: _Counts,
) -> None:
    """Counts a block copy or fill as one access for each eight bytes."""
    length = re.search(r", i(?:32|64) (\d+)", module.statement_source(statement))
    size = float(length[1]) if length else 8.0
    for what, pointer in zip(("store", "load"), operands[: 1 if ".memset" in callee_name(module, statement) else 2]):
        space = _space(module, "", pointer, spaces)
        counts.add(f"{space}_{what}", weight, max(size / 8, 1.0))
        if space == "global":
            counts.add(f"global_{_pattern(float(stride[pointer]), size)}", weight, max(size / 8, 1.0))
            counts.add("global_bytes", weight, size)


def _pattern(stride: float, size: float) -> str:
    if math.isnan(stride):
        return "irregular"
    if stride == 0:
        return "uniform"
    if abs(stride) <= size:
        return "coalesced"
    return "strided" if abs(stride) <= 16 * size else "far"


def _space(module: Module, text: str, pointer: int, spaces: dict[int, str]) -> str:
    """Memory that a pointer points into: by its type, or by where it comes from."""
    if named := _SPACE_NUMBER.findall(text):
        return _SPACE_OF_NUMBER.get(int(named[-1]), "global")
    for _ in range(64):
        if pointer < 0 or module.node_kind[pointer] == NodeKind.GLOBAL:
            return "local"  # OpenCL's local arrays become globals where the target has no memory of that kind
        if pointer in spaces:
            return spaces[pointer]
        definition = int(module.node_definition[pointer])
        if module.node_kind[pointer] != NodeKind.RESULT or definition < 0:
            return "global"
        opcode = _opcode(module.statement_text(definition))
        if opcode == "alloca":
            return "private"
        if opcode not in _POINTER_STEPS:
            return "global"
        start = int(module.operand_start[definition]) + (opcode == "select")
        pointer = int(module.operand[start])
    return "global"


def _argument_spaces(module: Module, function: int) -> dict[int, str]:
    """Memory that a kernel's arguments point into, from its metadata, where that tells."""
    header = int(module.function_start[function])
    found = _ADDRESS_SPACES.search(module.statement_source(header))
    if not found:
        return {}
    numbers = [int(value) for value in re.findall(r"i32 (\d+)", module.metadata_source(int(found[1])))]
    arguments = module.operand[module.operand_start[header] : module.operand_start[header + 1]].tolist()
    pairs = zip(arguments, numbers, strict=False)
    return {node: _SPACE_OF_NUMBER.get(space, "global") for node, space in pairs if space}


def _called(
    module: Module, callee: int, weight: float, actual: list[int], stride: NDArray[np.float64], spaces: dict[int, str]
) -> tuple[int, float, dict[int, float], dict[int, str]]:
    """A call as work to do: the function, how often it runs, and what is known of its arguments."""
    header = int(module.function_start[callee])
    formal = module.operand[module.operand_start[header] : module.operand_start[header + 1]].tolist()
    pairs = [(node, value) for node, value in zip(formal, actual, strict=False) if value >= 0]
    return (
        callee,
        weight,
        {node: float(stride[value]) for node, value in pairs},
        {node: _space(module, "", value, spaces) for node, value in pairs},
    )


def _count_loops(module: Module, function: int, counts: _Counts) -> tuple[dict[int, float], Counter[int]]:
    """Counts loops; returns how often each block runs, and its depth."""
    runs: dict[int, float] = {}
    depth: Counter[int] = Counter()
    open_depth: Counter[int] = Counter()  # of loops whose end depends on the input
    fixed: dict[int, float] = {}
    for loop in find_loops(module, function):
        counts.shape["loops"] += 1
        depth.update(loop.blocks)
        open_depth.update(loop.blocks if loop.trips is None else ())
        for block in loop.blocks:
            runs[block] = runs.get(block, 1.0) * (loop.trips or TRIPS)
            fixed[block] = fixed.get(block, 1.0) * (loop.trips or 1.0)
    for name, values in (("depth", depth), ("open_depth", open_depth), ("fixed_trips", fixed)):
        counts.shape[name] = max(counts.shape[name], *values.values(), 0)  # type: ignore[call-overload]
    return runs, depth
