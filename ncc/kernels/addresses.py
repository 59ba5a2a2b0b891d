"""Addresses in a GPU kernel: their strides between threads, their memory, and the statements that access it.

Threads next to each other differ by one in ``get_global_id(0)``. A value's *stride* is how much it grows from one to
the next: 0 where all threads of a group have the same value, a number where it is known, infinite where it is linear
with a factor that is not known, and NaN where it is none of these (loaded from memory, say).
"""

import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ncc.arrays import Floats
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.instructions import Instruction, decode, definition, size_of_type, split_fields

_MAX_CALL_DEPTH, _MAX_CALLS, _MAX_STEPS = 4, 256, 64
_NUMBER_IN_GROUP = re.compile(r"get_sub_group_local_id|llvm\.spv\.flattened\.thread\.id")
_NEIGHBORS = ("tid.x", "global_id.x", "laneid")
"""Registers that increase by one from thread to thread."""
_LIMITING = frozenset(("smin", "smax", "umin", "umax", "min", "max"))
_POINTER_STEPS = frozenset(("getelementptr", "bitcast", "addrspacecast", "phi", "select", "freeze"))
"""Opcodes that derive a pointer from pointers."""
_PASSING = (
    "trunc", "zext", "sext", "fptrunc", "fpext", "sitofp", "uitofp", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast",
    "addrspacecast", "freeze",
)  # fmt: skip

SPACES = ("global", "local", "constant", "private")
"""Kinds of memory, by OpenCL's names."""
PATTERNS = ("uniform", "coalesced", "strided", "far", "irregular")
"""Access patterns of neighboring threads: the same address, contiguous, close, far apart, or unknown."""
# Number 4 is generic memory in SPIR, constant in CUDA: if that matters, pointers are followed to their origin.
_SPACE_OF_NUMBER = {1: "global", 2: "constant", 3: "local", 5: "private"}
_ADDRESS_SPACES = re.compile(r"!kernel_arg_addr_space !(\d+)")
_POINTER = re.compile(r"\bptr(?: addrspace\((\d+)\))? ")
_ACCESS = re.compile(r"(?:load|store) (?:atomic )?(?:volatile )?")
_GLOBAL = re.compile(r" = (.*?)\b(?:global|(constant)) ")
_CAST_FROM = re.compile(r"addrspacecast ptr addrspace\((\d+)\)")
_LENGTH = re.compile(r", i(?:32|64) (\d{1,18})")
_COPY = re.compile(r"llvm\.mem(?:cpy|move|set)")
_VECTOR_ACCESS = re.compile(r"v(load|store)a?(_half)?(\d{0,2})(?:_r\w+)?")
_VECTOR = re.compile(r"<\d+ x \w+>")
_TEXEL = re.compile(r"((?:read|write)_image)(?:f|h|i|ui)|tex_fetch|tex_element|surf_read|surf_write")
"""OpenCL's functions for images, and those that CUDA's textures and surfaces become."""
_WORD_BYTES = 8.0
ACCESSING = ("load", "store", "atomicrmw", "cmpxchg", "call")


def thread_strides(
    module: Module, function: int, arguments: dict[int, float] | None = None, keep_clamped: bool = False
) -> Floats:
    """Strides of a function's values by node, (num_nodes + 1,) float64; 0 for other nodes, and last for immediates."""
    # A phi behind a divergent branch counts as the same in all threads. With keep_clamped, a value within limits that
    # all threads share keeps its stride, and a vector that differs in its first lane alone has that lane's; heads for
    # devices were trained without.
    stride = _Strides(module, function, arguments or {}, keep_clamped, {}).stride
    return np.array([value or 0.0 for value in (*stride[: module.num_nodes], 0.0)])


def _join_strides(strides: list[float]) -> float | None:
    """Common stride of alternative values; None without alternatives."""
    if not strides:
        return None
    return strides[0] if all(value == strides[0] for value in strides) else math.nan


def _add_strides(a: float, b: float) -> float:
    """Sum of strides; one that is linear with an unknown factor stays so."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    return math.inf if math.isinf(a) or math.isinf(b) else a + b


def _multiply(inst: Instruction, strides: list[float]) -> float:
    """A product, or a shift to the left."""
    is_shift = inst.opcode == "shl"
    if any(math.isnan(value) for value in strides) or (is_shift and strides[1]):
        return math.nan
    if not any(strides):
        return 0.0
    if inst.operands[1] >= 0 or inst.constant is None:
        # thread index times a uniform value; its square is not linear
        return math.inf if 0.0 in strides else math.nan
    factor = 2.0 ** min(inst.constant, 62) if is_shift else inst.constant
    return strides[0] * factor if factor else 0.0


def _shift_down(inst: Instruction, strides: list[float]) -> float:
    """A shift to the right, as in the pair of shifts that extends a sign."""
    if inst.operands[1] >= 0:
        return math.nan if any(strides) else 0.0
    divided = strides[0] / 2.0 ** (64 if inst.constant is None else min(inst.constant, 64))
    return divided if divided == 0 or math.isinf(divided) or abs(divided) >= 1 else math.nan


def _address(inst: Instruction, strides: list[float]) -> float:
    """Stride of an address in bytes: every index counts as often as the elements below it are large."""
    total = strides[0]
    for index, size in zip(strides[1:], inst.index_sizes, strict=True):
        if index != 0:
            total = _add_strides(total, index * size if math.isfinite(index) else index)
    return total


def _insert(inst: Instruction, strides: list[float]) -> float:
    """Stride of a vector's first lane, if the other lanes are equal in all threads."""
    kept, other = strides[:2] if inst.constant else strides[1::-1]
    return kept if other == 0 else math.nan


_STRIDE_OF: dict[str, Callable[[Instruction, list[float]], float | None]] = {
    **dict.fromkeys(_PASSING, lambda _, strides: strides[0]),
    **dict.fromkeys(("add", "or", "fadd"), lambda _, strides: _add_strides(strides[0], strides[1])),
    **dict.fromkeys(("sub", "fsub"), lambda _, strides: _add_strides(strides[0], -strides[1])),
    # remainder by a constant: the stride stays, except at wraparound
    **dict.fromkeys(
        ("urem", "srem", "and"),
        lambda inst, strides: strides[0] if inst.operands[1] < 0 or not any(strides) else math.nan,
    ),
    **dict.fromkeys(("mul", "fmul", "shl"), _multiply),
    **dict.fromkeys(("ashr", "lshr"), _shift_down),
    # an atomic operation returns what another thread left
    **dict.fromkeys(("cmpxchg", "atomicrmw"), lambda *_: math.nan),
    "select": lambda _, strides: _join_strides(strides[1:]) if strides[0] == 0 else math.nan,
    "getelementptr": _address,
    "insertelement": _insert,
    "alloca": lambda *_: 0.0,
}
"""Opcode → stride of a result from its operands' strides; for other opcodes 0 if all operands are uniform, else NaN."""


class _Strides:
    """Strides of a function's values, None if not known yet; strides of callees' results are shared."""

    def __init__(
        self,
        module: Module,
        function: int,
        arguments: dict[int, float],
        keep_clamped: bool,
        returned: dict[tuple[int, tuple[float | None, ...]], float],
        depth: int = 0,
    ) -> None:
        self.module, self.keep_clamped, self.returned, self.depth = module, keep_clamped, returned, depth
        body, num_nodes = decode(module, function), module.num_nodes
        # The content of a variable is num_nodes after it. Operand -1, an immediate, reads the last 0.
        self.stride: list[float | None] = [0.0] * (2 * num_nodes + 1)
        for node, value in arguments.items():
            self.stride[node] = value
        users: defaultdict[int, list[Instruction]] = defaultdict(list)
        for inst in body:
            for node in set(inst.operands):
                users[node].append(inst)
        variables: set[int] = set()  # allocas that are only ever loaded and stored whole, as in IR without optimization
        self.private: set[int] = set()  # all other pointers into memory of the thread alone
        for inst in body:
            if inst.opcode == "alloca":
                is_variable = all(_is_whole(user, inst.result) for user in users[inst.result])
                (variables if is_variable else self.private).add(inst.result)
            elif inst.opcode in _POINTER_STEPS and not self.private.isdisjoint(inst.operands):
                self.private.add(inst.result)
        self.content = {node: node + num_nodes for node in variables}
        targets = {
            inst: self.content.get(inst.operands[1], -1) if inst.opcode == "store" else inst.result for inst in body
        }
        targets = {inst: target for inst, target in targets.items() if target >= 0}
        for target in targets.values():
            self.stride[target] = None
        # a value goes from unknown to a stride and perhaps to NaN, never back, so this ends in any order
        queue, waiting = deque(targets), set(targets)
        while queue:
            inst = queue.popleft()
            waiting.discard(inst)
            target, result = targets[inst], self._result(inst)
            before = self.stride[target]
            if result is None or before == result or (before is not None and math.isnan(before)):
                continue
            self.stride[target] = result
            again = [user for user in users[target % num_nodes] if user in targets and user not in waiting]
            queue += again
            waiting.update(again)

    def join(self, nodes: Iterable[int]) -> float | None:
        """Common stride of alternative nodes, ignoring unknown ones; None if all are unknown."""
        return _join_strides([stride for node in nodes if (stride := self.stride[node]) is not None])

    def _result(self, inst: Instruction) -> float | None:
        """Stride of the value that a statement defines or stores; None while its operands are unknown."""
        if inst.register:
            return 1.0 if inst.register in _NEIGHBORS else 0.0
        if inst.opcode in ("phi", "store"):
            stored = () if inst.opcode == "phi" else (self.content[inst.operands[1]],)
            return self.join([*stored, *inst.operands[::2]])
        if inst.opcode == "load" and inst.operands[0] in self.content:
            return self.join([self.content[inst.operands[0]]])
        strides = [stride for node in inst.operands if (stride := self.stride[node]) is not None]
        if len(strides) < len(inst.operands):
            return None
        handler = self._call if inst.opcode in ("call", "invoke", "callbr") else _STRIDE_OF.get(inst.opcode)
        if handler and (self.keep_clamped or inst.opcode != "insertelement"):
            return handler(inst, strides)
        is_loaded = inst.opcode == "load" and (inst.operands[0] in self.private or inst.variable)
        return 0.0 if not any(strides) and not is_loaded else math.nan

    def _call(self, inst: Instruction, strides: list[float]) -> float:
        arguments = strides[1:]
        if inst.queried_dimension or _NUMBER_IN_GROUP.search(inst.callee):
            return 0.0 if inst.queried_dimension in ("1", "2") else 1.0
        if inst.called_function >= 0:
            return self._returned(inst.called_function, arguments)
        if self.keep_clamped and inst.builtin in _LIMITING and 0.0 in arguments:
            return next((value for value in arguments if value != 0), 0.0)
        return math.nan if any(arguments) or "atomic" in inst.work else 0.0

    def _returned(self, function: int, arguments: list[float]) -> float:
        """Stride of the result of a function with a body."""
        key = (function, tuple(None if math.isnan(value) else value for value in arguments))
        if key not in self.returned:
            self.returned[key] = math.nan  # recursive calls
            if self.depth < _MAX_CALL_DEPTH and len(self.returned) < _MAX_CALLS:
                formal = self.module.operands(int(self.module.function_start[function]))
                strides = dict(zip(formal, arguments, strict=False))
                called = _Strides(self.module, function, strides, self.keep_clamped, self.returned, self.depth + 1)
                returns = (inst.operands for inst in decode(self.module, function) if inst.opcode == "ret")
                joined = called.join(chain.from_iterable(returns))
                self.returned[key] = 0.0 if joined is None else joined
        return self.returned[key]


def _is_whole(user: Instruction, variable: int) -> bool:
    """Whether a statement only loads or stores a variable and does not use its address otherwise."""
    if user.opcode == "store":
        return user.operands[0] != variable
    return user.opcode == "load" or user.callee.startswith("llvm.lifetime")


@dataclass(frozen=True)
class Access:
    """One or several loads or stores: the pointer's node, one of `SPACES`, bytes, and the stride in bytes."""

    kind: str
    pointer: int
    space: str
    num_bytes: float
    stride: float
    count: float = 1.0

    @property
    def pattern(self) -> str:
        """One of `PATTERNS`, from the bytes between neighbors' addresses and the bytes of an access."""
        if math.isnan(self.stride):
            return "irregular"
        if self.stride == 0:
            return "uniform"
        if abs(self.stride) <= self.num_bytes:
            return "coalesced"
        return "strided" if abs(self.stride) <= 16 * self.num_bytes else "far"


def argument_spaces(module: Module, function: int) -> dict[int, str]:
    """Node of each pointer argument of a kernel → memory, if metadata names it."""
    header = int(module.function_start[function])
    if not (match := _ADDRESS_SPACES.search(module.statement_source(header))):
        return {}
    numbers = [int(value) for value in re.findall(r"i32 (\d{1,9})", module.metadata_source(int(match[1])))]
    pairs = zip(module.operands(header), numbers, strict=False)
    # number 0 is of structures passed by value
    return {node: _SPACE_OF_NUMBER.get(space, "global") if space else "private" for node, space in pairs}


def find_space(module: Module, spaces: dict[int, str], pointer: int, number: str = "") -> str:
    """Memory by the address space in a pointer's type, or by its origin; results are added to `spaces` by node."""
    if number and int(number[:9]) in _SPACE_OF_NUMBER:
        return _SPACE_OF_NUMBER[int(number[:9])]
    if pointer not in spaces:
        found = (spaces.get(node) or _first_space(module, node) for node in pointer_sources(module, pointer))
        spaces[pointer] = next(filter(None, found), "global")
    return spaces[pointer]


def _first_space(module: Module, node: int) -> str:
    """Memory that a pointer starts in; empty if it is derived from other pointers."""
    if module.node_kind[node] == NodeKind.GLOBAL:
        # local arrays become globals; so do constant ones if the target has only one memory
        match = _GLOBAL.search(module.global_source(node))
        number = re.search(r"addrspace\((\d{1,9})\)", match[1]) if match else None
        if number:
            return _SPACE_OF_NUMBER.get(int(number[1]), "constant")
        return "constant" if match and match[2] else "local"
    inst = definition(module, node)
    if not inst or inst.opcode not in _POINTER_STEPS:
        return "private" if inst and inst.opcode == "alloca" else "global"
    return _SPACE_OF_NUMBER.get(int(match[1][:9]), "") if (match := _CAST_FROM.search(inst.text)) else ""


def pointer_sources(module: Module, pointer: int) -> Iterator[int]:
    """A pointer and the pointers that it is derived from, as far as they can be followed."""
    waiting, seen = [pointer], set[int]()
    while waiting and len(seen) < _MAX_STEPS:
        node = waiting.pop()
        if node >= 0 and node not in seen:
            seen.add(node)
            yield node
            inst = definition(module, node)
            if inst and inst.opcode in _POINTER_STEPS:
                sources = inst.operands[1:] if inst.opcode == "select" else inst.operands[:1]
                waiting += reversed(inst.operands[::2] if inst.opcode == "phi" else sources)


def base_argument(module: Module, pointer: int, arguments: Sequence[int]) -> int:
    """Index of the argument, of some nodes, that a pointer starts from; -1 for others."""
    sources = pointer_sources(module, pointer)
    return next((arguments.index(node) for node in sources if node in arguments), -1)


def accesses_of(inst: Instruction, stride: Floats, spaces: dict[int, str]) -> list[Access]:
    """Memory that an operation or a call without a body accesses, by `thread_strides`, (num_nodes,) float64."""
    if inst.variable or inst.opcode not in ACCESSING or inst.called_function >= 0:
        return []
    numbers, count, offset = _POINTER.findall(inst.text), 1.0, -1
    if inst.opcode != "call":
        kind, is_plain = "store" if inst.opcode == "store" else "load", inst.opcode in ("load", "store")
        fields, match = split_fields(inst.text), _ACCESS.search(inst.text)
        accessed = inst.text[match.end() :] if match else fields[1] if len(fields) > 1 and not is_plain else "float"
        num_bytes = size_of_type(split_fields(accessed, separators=" ,")[0])
        # a load's or store's pointer is the last operand
        accessed_by = [(kind, inst.operands[kind == "store"], (numbers or [""])[-1 if is_plain else 0])]
    elif _COPY.match(inst.callee):  # an access for each eight bytes
        length = _LENGTH.search(inst.source)
        num_bytes = float(length[1]) if length else _WORD_BYTES
        count = max(num_bytes / _WORD_BYTES, 1)
        pointers = inst.arguments[: 1 if ".memset" in inst.callee else 2]
        numbers = [*re.findall(r"\bptr(?: addrspace\((\d+)\))?", inst.source.split("(", 1)[-1]), "", ""]
        accessed_by = list(zip(("store", "load"), pointers, numbers, strict=False))
    elif (vector := _VECTOR_ACCESS.fullmatch(inst.builtin)) and len(inst.arguments) >= 2:
        kind, half, lanes = vector.groups()  # OpenCL's vload4(offset, pointer), whose offset counts whole vectors
        type_match = _VECTOR.search(inst.text)
        num_bytes = 2.0 * int(lanes or 1) if half else size_of_type(type_match[0] if type_match else "float")
        offset, pointer = inst.arguments[-2:]
        accessed_by = [(kind, pointer, numbers[-1] if numbers else "")]
    elif (texel := _TEXEL.fullmatch(inst.builtin)) and len(inst.arguments) >= 2:
        kind, pointer = "store" if "write" in texel[0] else "load", inst.arguments[0]
        num_bytes, offset = _texel(inst, is_opencl=bool(texel[1]))
        accessed_by = [(kind, pointer, "")]
    else:
        return []
    accesses = []
    for kind, pointer, number in accessed_by:
        distance = _add_strides(float(stride[pointer]), float(stride[offset]) * num_bytes)
        space = find_space(inst.module, spaces, pointer, number)
        accesses.append(Access(kind, pointer, space, num_bytes, distance, count))
    return accesses


def _texel(inst: Instruction, is_opencl: bool) -> tuple[float, int]:
    """Bytes of an image's element in the kernel, and the node of its coordinates, or of the first one."""
    if is_opencl:  # (image, coordinates, color), or with a sampler between the first two
        vectors, is_read = _VECTOR.findall(inst.text), inst.builtin.startswith("read")
        has_sampler = is_read and len(inst.arguments) > 2
        return size_of_type(vectors[0 if is_read else -1]) if vectors else 16.0, inst.arguments[1 + has_sampler]
    variable = definition(inst.module, inst.arguments[-1])  # of the result
    element = variable.text.partition("alloca ")[2].partition(",")[0] if variable else ""
    return size_of_type(element) if element else 4.0, inst.arguments[1]
