"""C functions (IR reader, literals, graph, contexts) on bytes and NumPy arrays; compiled when ncc is installed."""

import ctypes
import functools
import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32
from ncc.errors import InputError, NccError

_OPCODES = """
define ret br switch indirectbr invoke resume catchswitch catchret cleanupret unreachable callbr fneg add fadd sub fsub
mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor extractelement insertelement shufflevector extractvalue
insertvalue alloca load store fence cmpxchg atomicrmw getelementptr trunc zext sext fptrunc fpext fptoui fptosi uitofp
sitofp ptrtoint ptrtoaddr inttoptr bitcast addrspacecast icmp fcmp phi select freeze call va_arg landingpad catchpad
cleanuppad
"""
OPCODES: tuple[str, ...] = tuple(_OPCODES.split())
"""Opcode names by number; ``define`` is a function's header, which is also a statement."""


def _fields(columns: str) -> tuple[tuple[str, np.dtype[Any]], ...]:
    return tuple((name, np.dtype(kind)) for name, kind in (column.split(":") for column in columns.split()))


GRAPH_COLUMNS = _fields("""
opcode:u1 node_kind:u1 basic_block:i4 result:i4 callee:i4 operand_start:i4 operand:i4 node_definition:i4
basic_block_label:i4 function_start:i4
""")
"""Columns of a module that the graph is built from."""
_MEMORY, _REFUSED = 2, 3
_TEXT, _POINTER, _LONG, _INT = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32


class _Task(NamedTuple):
    """Work of C on an object that it opens, steps to its end, looks at and closes."""

    name: str
    functions: tuple[str, str, str, str]
    arguments: tuple[Any, ...]
    """Types of the arguments that open it."""
    slice_size: int | None
    """Size of a step; None does everything in one."""
    fields: Sequence[tuple[str, np.dtype[Any]]]
    """Arrays that it holds in the end, in the order of C."""


_READ = _Task(
    "reading IR",
    ("ncc_open", "ncc_read", "ncc_view", "ncc_free"),
    (_TEXT, _LONG, ctypes.c_uint32, _INT, _TEXT),
    1 << 22,  # bytes
    _fields("""
    opcode:u1 text_id:i4 basic_block:i4 result:i4 debug:i4 callee:i4 operand_start:i4 operand:i4 texts:u1 texts_start:i8
    node_kind:u1 node_function:i4 node_definition:i4 _name_start:u4 _name_len:u4 function_node:i4 function_start:i4
    function_block:i4 function_first_argument:i4 function_num_arguments:i4 function_is_kernel:u1 basic_block_label:i4
    debug_id:u4 debug_line:u4 statement_offset:u4
    """),  # most are columns of a module with the same names
)
_BUILD = _Task(
    "building the graph",
    ("ncc_graph_open", "ncc_graph_build", "ncc_graph_view", "ncc_graph_close"),
    (_POINTER, _POINTER),
    None,
    _fields("source:i4 target:i4 statement:i4 kind:u1 effect_statement:i4"),
)
_COUNT = _Task(
    "counting contexts",
    ("ncc_count_open", "ncc_count_run", "ncc_count_view", "ncc_count_close"),
    (_LONG, _LONG, *[_POINTER] * 5, _INT),
    1 << 24,  # steps from a statement to another
    _fields("key:u8 count:i8"),
)
_FIND = _Task(
    "finding literals",
    ("ncc_literals_open", "ncc_literals_read", "ncc_literals_view", "ncc_literals_close"),
    (_TEXT, _LONG, _POINTER, _LONG),
    1 << 16,  # statements
    _fields("stop:i4 token:i4 texts:u1 texts_start:i8"),
)


class IRSyntaxError(Exception):
    """The text violates the reader's grammar at ``offset`` bytes from its start."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@functools.cache
def _library() -> ctypes.CDLL:
    path = Path(__file__).with_name("_kernels.dll" if os.name == "nt" else "_kernels.so")
    if not path.exists():
        raise NccError(f"{path} is missing: ncc was not installed. Run 'pip install .' in its source folder.")
    library = ctypes.CDLL(str(path))
    signatures: dict[str, tuple[Any, ...]] = {
        "ncc_key": (None, ctypes.c_uint64, ctypes.c_uint64),
        "ncc_refusal": (_TEXT, _POINTER, _POINTER),
        "ncc_graph_num_control": (_LONG, _POINTER),
    }
    for task in (_READ, _BUILD, _COUNT, _FIND):
        step = (_INT, _POINTER, *([] if task.slice_size is None else [_LONG]))
        results = ((_POINTER, *task.arguments), step, (None, _POINTER, _POINTER, _POINTER), (None, _POINTER))
        signatures |= zip(task.functions, results, strict=True)
    for name, (result, *arguments) in signatures.items():
        if not hasattr(library, name):
            raise NccError(f"{path} is older than ncc's sources. Run 'pip install .' in its source folder again.")
        getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
    library.ncc_key(*np.frombuffer(os.urandom(16), np.uint64).tolist())
    return library


def _run(
    task: _Task, *arguments: Any, refuse: Callable[[int], Exception] | None = None, timeout_s: float | None = None
) -> dict[str, NDArray[Any]]:
    """Run a C object to its end, and copy its fields; it is closed in any case."""
    start, step, view, close = (getattr(_library(), name) for name in task.functions)
    amount = [] if task.slice_size is None else [task.slice_size]
    owner = start(*arguments)
    if not owner:
        raise MemoryError(f"not enough memory for {task.name}")
    try:
        deadline = time.monotonic() + (math.inf if timeout_s is None else timeout_s)
        while not (outcome := step(owner, *amount)):  # Ctrl-C is heard between two calls
            if time.monotonic() > deadline:
                raise TimeoutError(f"{task.name} took more than {timeout_s:g} s")
        if outcome == _REFUSED and refuse:
            raise refuse(owner)
        if outcome == _MEMORY:
            raise MemoryError(f"not enough memory for {task.name}")
        data, lengths = (_POINTER * len(task.fields))(), (_LONG * len(task.fields))()
        view(owner, data, lengths)
        copies = {}
        for (name, dtype), address, length in zip(task.fields, data, lengths, strict=True):
            size = length * dtype.itemsize
            copies[name] = np.frombuffer(ctypes.string_at(address, size) if size else b"", dtype)
        return copies
    finally:
        close(owner)


def read_text(
    text: bytes,
    *,
    known_callees: bytes | None,
    keep_immediates: bool = False,
    keep_casts: bool = False,
    max_fields: int | None = None,
    timeout_s: float | None = None,
    verified: bool = False,
) -> dict[str, NDArray[Any]]:
    """Read LLVM IR text, from any LLVM since 3.7, into arrays in one pass."""
    settings = (known_callees is not None, keep_immediates, verified, keep_casts)
    flags = sum(1 << bit for bit, is_set in enumerate(settings) if is_set)

    def refuse(reader: int) -> IRSyntaxError:
        offset = _LONG()
        return IRSyntaxError(_library().ncc_refusal(reader, ctypes.byref(offset)).decode(), offset.value)

    max_fields = -1 if max_fields is None else max_fields
    return _run(_READ, text, len(text), flags, max_fields, known_callees or b"", refuse=refuse, timeout_s=timeout_s)


def build_graph(
    name: str, columns: Sequence[NDArray[Any]], num_functions: int, max_control: int
) -> dict[str, NDArray[Any]]:
    """Build the edges of a contextual flow graph, ordered by statement."""

    def refuse(graph: int) -> InputError:
        num_edges, num_statements = _library().ncc_graph_num_control(graph), len(columns[0])
        return InputError(
            f"{name}: its branches alone would make {num_edges:,} edges of the graph, of {num_statements:,} "
            f"statements; expected at most {max_control:,}"
        )

    arrays = [np.ascontiguousarray(array, dtype) for array, (_, dtype) in zip(columns, GRAPH_COLUMNS, strict=True)]
    pointers = (_POINTER * len(arrays))(*(array.__array_interface__["data"][0] for array in arrays))
    sizes = (_LONG * 5)(len(arrays[0]), len(arrays[1]), len(arrays[8]), num_functions, max_control)
    return _run(_BUILD, pointers, sizes, refuse=refuse)


def count_contexts(
    statement_start: Ints,
    statement_node: Ints32,
    node_start: Ints,
    node_statement: Ints32,
    label: Ints32,
    *,
    width: int,
    timeout_s: float | None = None,
) -> tuple[Ints32, Ints32, Ints]:
    """Count pairs of statements at most ``width`` hops apart by (num_statements,) labels, -1 for none."""
    arrays = [np.ascontiguousarray(a) for a in (statement_start, statement_node, node_start, node_statement, label)]
    sizes = len(statement_start) - 1, len(node_start) - 1
    pairs = _run(_COUNT, *sizes, *(array.ctypes.data for array in arrays), width, timeout_s=timeout_s)
    occupied = pairs["count"] > 0
    keys = pairs["key"][occupied]
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32), pairs["count"][occupied]


def find_literals(text: bytes, statement_at: NDArray[np.uint32]) -> tuple[Ints32, Ints32, list[bytes]]:
    """Find the numbers and the names of globals in statements of a text, which start at (n,) uint32 offsets."""
    starts = np.ascontiguousarray(statement_at, np.uint32)
    arrays = _run(_FIND, text, len(text), starts.ctypes.data, len(starts))
    texts, bounds = arrays["texts"].tobytes(), arrays["texts_start"].tolist()
    return arrays["stop"], arrays["token"], [texts[start:end] for start, end in itertools.pairwise(bounds)]
