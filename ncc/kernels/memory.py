"""Which memory a kernel's statements access, how many bytes, and how the addresses of neighbouring threads lie."""

import functools
import math
import re
from dataclasses import dataclass

from ncc.arrays import Floats
from ncc.ir.reader.module import Module, NodeKind
from ncc.kernels.addresses import POINTER_STEPS, callee_name
from ncc.kernels.builtins import builtin_name
from ncc.kernels.instructions import leading_type, size_of_type, split_fields
from ncc.kernels.strides import add_strides

SPACES = ("global", "local", "constant", "private")
"""Kinds of memory, by OpenCL's names."""
PATTERNS = ("uniform", "coalesced", "strided", "far", "irregular")
"""How neighbouring threads access memory: the same, in one piece, close by, far apart, or anywhere."""

# Number 4 is generic memory for SPIR, constant for CUDA: where it matters, pointers are followed to where they start.
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
_MOST_STEPS = 64
_WORD_BYTES = 8.0


@dataclass(frozen=True)
class Access:
    """One access of memory by a statement.

    Attributes:
        what: "load" or "store".
        pointer: Node of the pointer, -1 for a constant.
        space: One of `SPACES`.
        num_bytes: How much is accessed.
        stride: Bytes between the addresses of neighbouring threads, see `ncc.kernels.addresses`.
        amount: Loads or stores that it counts as.
    """

    what: str
    pointer: int
    space: str
    num_bytes: float
    stride: float
    amount: float = 1.0


def argument_spaces(module: Module, function: int) -> dict[int, str]:
    """Node of each argument of a kernel that points somewhere → memory, where its metadata tells."""
    header = int(module.function_start[function])
    found = _ADDRESS_SPACES.search(module.statement_source(header))
    if not found:
        return {}
    numbers = [int(value) for value in re.findall(r"i32 (\d{1,9})", module.metadata_source(int(found[1])))]
    pairs = zip(module.operands(header), numbers, strict=False)
    # number 0 is of structures passed by value
    return {node: _SPACE_OF_NUMBER.get(space, "global") if space else "private" for node, space in pairs}


def access_pattern(stride: float, num_bytes: float) -> str:
    """One of `PATTERNS`, by the bytes between the addresses of neighbours and the bytes that each accesses."""
    if math.isnan(stride):
        return "irregular"
    if stride == 0:
        return "uniform"
    if abs(stride) <= num_bytes:
        return "coalesced"
    return "strided" if abs(stride) <= 16 * num_bytes else "far"


class PointerSpaces:
    """Finds the memory that a function's pointers point into.

    Args:
        module: The module.
        arguments: Node of an argument → memory, where it is known.
    """

    def __init__(self, module: Module, arguments: dict[int, str]) -> None:
        self.module = module
        self._found = dict(arguments)

    def find(self, pointer: int, number: str = "") -> str:
        """Memory by the number that the pointer's type names, or by where the pointer comes from."""
        if number and int(number[:9]) in _SPACE_OF_NUMBER:
            return _SPACE_OF_NUMBER[int(number[:9])]
        if pointer not in self._found:
            self._found[pointer] = self._trace(pointer)
        return self._found[pointer]

    def _trace(self, pointer: int) -> str:
        waiting: list[int] = [pointer]
        seen: set[int] = set()
        while waiting and len(seen) < _MOST_STEPS:
            node = waiting.pop()
            if node in self._found:
                return self._found[node]
            if node >= 0 and node not in seen:
                seen.add(node)
                origin = self._origin(node)
                if isinstance(origin, str):
                    return origin
                waiting += reversed(origin)
        return "global"

    def _origin(self, node: int) -> str | list[int]:
        """Memory that a pointer starts in, or the pointers that it is made of."""
        module, definition = self.module, int(self.module.node_definition[node])
        if module.node_kind[node] == NodeKind.GLOBAL:
            return self._space_of_global(node)
        opcode = module.opcode_name(definition) if module.node_kind[node] == NodeKind.RESULT else ""
        if opcode not in POINTER_STEPS:
            return "private" if opcode == "alloca" else "global"
        found = _CAST_FROM.search(module.statement_text(definition))
        if found and int(found[1][:9]) in _SPACE_OF_NUMBER:
            return _SPACE_OF_NUMBER[int(found[1][:9])]
        operands = module.operands(definition)
        if opcode == "phi":
            return operands[::2]
        return operands[1:] if opcode == "select" else operands[:1]

    def _space_of_global(self, node: int) -> str:
        """Local arrays become globals, and where the target has one memory only, constant ones as well."""
        found = _GLOBAL.search(self.module.global_source(node))
        number = re.search(r"addrspace\((\d{1,9})\)", found[1]) if found else None
        if number:
            return _SPACE_OF_NUMBER.get(int(number[1]), "constant")
        return "constant" if found and found[2] else "local"


def accesses_of(
    module: Module, statement: int, operands: list[int], stride: Floats, spaces: PointerSpaces
) -> list[Access]:
    """Finds what a load, a store, an atomic operation or a call of a function without a body accesses.

    Args:
        module: The module.
        statement: Number of the statement.
        operands: Its operands, less the function that it calls.
        stride: (num_nodes,) float64 from `ncc.kernels.addresses.thread_strides`.
        spaces: Memory that the function's pointers point into.
    """
    text, opcode = module.statement_text(statement), module.opcode_name(statement)
    if opcode == "call":
        name = callee_name(module, statement)
        if _COPY.match(name):
            return _copied(module.statement_source(statement), name, operands, stride, spaces)
        found = _VECTOR_ACCESS.fullmatch(builtin_name(name))
        return _vector_access(found, text, operands, stride, spaces) if found and len(operands) > 1 else []
    pointer = operands[1 if opcode == "store" else 0]
    type_, number = _accessed(text, opcode)
    what = "store" if opcode == "store" else "load"
    return [Access(what, pointer, spaces.find(pointer, number), size_of_type(type_), _stride_at(stride, pointer))]


def _stride_at(stride: Floats, node: int) -> float:
    return float(stride[node]) if node >= 0 else 0.0


@functools.lru_cache(maxsize=4096)
def _accessed(text: str, opcode: str) -> tuple[str, str]:
    """Type of what is accessed, and the number of the memory, empty if the text has none."""
    pointers = _POINTER.findall(text)
    if opcode in ("load", "store"):  # the pointer is the last operand
        found = _ACCESS.search(text)
        return leading_type(text[found.end() :]) if found else "float", pointers[-1] if pointers else ""
    fields = split_fields(text)
    return leading_type(fields[1]) if len(fields) > 1 else "float", pointers[0] if pointers else ""


def _copied(source: str, name: str, operands: list[int], stride: Floats, spaces: PointerSpaces) -> list[Access]:
    """A block copy or fill, as one access for each eight bytes."""
    length = _LENGTH.search(source)
    num_bytes = float(length[1]) if length else _WORD_BYTES
    numbers = re.findall(r"\bptr(?: addrspace\((\d+)\))?", source.split("(", 1)[-1])
    pointers = operands[:1] if ".memset" in name else operands[:2]
    numbers += [""] * len(pointers)  # typed pointers
    return [
        Access(
            what,
            pointer,
            spaces.find(pointer, number),
            num_bytes,
            _stride_at(stride, pointer),
            max(num_bytes / _WORD_BYTES, 1.0),
        )
        for what, pointer, number in zip(("store", "load"), pointers, numbers, strict=False)
    ]


def _vector_access(
    found: re.Match[str], text: str, operands: list[int], stride: Floats, spaces: PointerSpaces
) -> list[Access]:
    """OpenCL's ``vload4(offset, pointer)`` and its like, whose offset counts whole vectors."""
    what, half, lanes = found.groups()
    vector, numbers = _VECTOR.search(text), _POINTER.findall(text)
    num_bytes = 2.0 * int(lanes or 1) if half else size_of_type(vector[0] if vector else "float")
    offset, pointer = operands[-2:]
    distance = add_strides(_stride_at(stride, pointer), _stride_at(stride, offset) * num_bytes)
    return [Access(what, pointer, spaces.find(pointer, numbers[-1] if numbers else ""), num_bytes, distance)]
