"""C functions (IR reader, literals, graph, contexts) on bytes and NumPy arrays; compiled when ncc is installed."""

import ctypes
import functools
import itertools
import math
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

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
"""Names of the opcode numbers; ``define`` stands for a function's header, which is a statement too."""


def _fields(columns: str) -> tuple[tuple[str, np.dtype[Any]], ...]:
    return tuple((name, np.dtype(kind)) for name, kind in (column.split(":") for column in columns.split()))


_READER_FIELDS = _fields("""
opcode:u1 text_id:i4 basic_block:i4 result:i4 debug:i4 callee:i4 operand_start:i4 operand:i4 texts:u1 texts_start:i8
node_kind:u1 node_function:i4 node_definition:i4 _name_start:u4 _name_len:u4 function_node:i4 function_start:i4
function_block:i4 function_first_argument:i4 function_num_arguments:i4 function_is_kernel:u1 basic_block_label:i4
debug_id:u4 debug_line:u4 statement_offset:u4
""")
"""What C reads, in its order; most are columns of a module, and named so."""
GRAPH_COLUMNS = _fields("""
opcode:u1 node_kind:u1 basic_block:i4 result:i4 callee:i4 operand_start:i4 operand:i4 node_definition:i4
basic_block_label:i4 function_start:i4
""")
"""Columns of a module that the graph is built from."""
_GRAPH_FIELDS = _fields("source:i4 target:i4 statement:i4 kind:u1 effect_statement:i4")
_COUNT_FIELDS = _fields("key:u8 count:i8")
_LITERAL_FIELDS = _fields("stop:i4 token:i4 texts:u1 texts_start:i8")

_MEMORY, _REFUSED = 2, 3
_SLICE_BYTES = 1 << 22
_SLICE_STEPS = 1 << 24
_SLICE_STATEMENTS = 1 << 16
_TEXT, _POINTER, _LONG, _INT = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "ncc_key": (None, ctypes.c_uint64, ctypes.c_uint64),
    "ncc_open": (_POINTER, _TEXT, _LONG, ctypes.c_uint32, _INT, _TEXT),
    "ncc_read": (_INT, _POINTER, _LONG),
    "ncc_refusal": (_TEXT, _POINTER, _POINTER),
    "ncc_view": (None, _POINTER, _POINTER, _POINTER),
    "ncc_free": (None, _POINTER),
    "ncc_graph_open": (_POINTER, _POINTER, _POINTER),
    "ncc_graph_build": (_INT, _POINTER),
    "ncc_graph_num_control": (_LONG, _POINTER),
    "ncc_graph_view": (None, _POINTER, _POINTER, _POINTER),
    "ncc_graph_close": (None, _POINTER),
    "ncc_count_open": (_POINTER, _LONG, _LONG, *[_POINTER] * 5, _INT),
    "ncc_count_run": (_INT, _POINTER, _LONG),
    "ncc_count_view": (None, _POINTER, _POINTER, _POINTER),
    "ncc_count_close": (None, _POINTER),
    "ncc_literals_open": (_POINTER, _TEXT, _LONG, _POINTER, _LONG),
    "ncc_literals_read": (_INT, _POINTER, _LONG),
    "ncc_literals_view": (None, _POINTER, _POINTER, _POINTER),
    "ncc_literals_close": (None, _POINTER),
}
"""Function → type of its result, types of its arguments."""


class IRSyntaxError(Exception):
    """The text breaks the grammar that the reader knows, at ``offset`` bytes from its start."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@functools.cache
def _library() -> ctypes.CDLL:
    path = Path(__file__).with_name("_kernels.so")
    if not path.exists():
        raise NccError(f"{path} is missing: ncc was not installed. Run 'pip install .' in its source folder.")
    library = ctypes.CDLL(str(path))
    for name, (result, *arguments) in _SIGNATURES.items():
        if not hasattr(library, name):
            raise NccError(f"{path} is older than ncc's sources. Run 'pip install .' in its source folder again.")
        getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
    library.ncc_key(secrets.randbits(64), secrets.randbits(64))
    return library


def _session(
    owner: int | None,
    step: Callable[[int], int],
    view: Callable[..., None],
    close: Callable[[int], None],
    fields: Sequence[tuple[str, np.dtype[Any]]],
    *,
    refuse: Callable[[int], Exception] | None = None,
    task: str,
    timeout_s: float | None = None,
) -> dict[str, NDArray[Any]]:
    """Copies of what a C object holds once it has stepped to its end; it is closed in any case."""
    if not owner:
        raise MemoryError(f"not enough memory for {task}")
    try:
        deadline = time.monotonic() + (math.inf if timeout_s is None else timeout_s)
        while not (outcome := step(owner)):  # Ctrl-C is heard between two calls
            if time.monotonic() > deadline:
                raise TimeoutError(f"{task} took more than {timeout_s:g} s")
        if outcome == _REFUSED and refuse:
            raise refuse(owner)
        if outcome == _MEMORY:
            raise MemoryError(f"not enough memory for {task}")
        data, lengths = (_POINTER * len(fields))(), (_LONG * len(fields))()
        view(owner, data, lengths)
        copies = {}
        for (name, dtype), address, length in zip(fields, data, lengths, strict=True):
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
    """Read LLVM IR text, as any LLVM since 3.7 prints it, into its arrays in one walk."""
    library = _library()
    settings = (known_callees is not None, keep_immediates, verified, keep_casts)
    flags = sum(1 << bit for bit, is_set in enumerate(settings) if is_set)

    def refuse(reader: int) -> IRSyntaxError:
        offset = _LONG()
        return IRSyntaxError(library.ncc_refusal(reader, ctypes.byref(offset)).decode(), offset.value)

    return _session(
        library.ncc_open(text, len(text), flags, -1 if max_fields is None else max_fields, known_callees or b""),
        lambda reader: library.ncc_read(reader, _SLICE_BYTES),
        library.ncc_view,
        library.ncc_free,
        _READER_FIELDS,
        refuse=refuse,
        task="reading IR",
        timeout_s=timeout_s,
    )


def build_graph(
    name: str, columns: Sequence[NDArray[Any]], num_functions: int, max_control: int
) -> dict[str, NDArray[Any]]:
    """Build the edges of a contextual flow graph, ordered by statement."""
    library = _library()

    def refuse(graph: int) -> InputError:
        return InputError(
            f"{name}: its branches alone would make {library.ncc_graph_num_control(graph):,} edges of the graph, of "
            f"{len(columns[0]):,} statements; expected at most {max_control:,}"
        )

    arrays = [np.ascontiguousarray(array, dtype) for array, (_, dtype) in zip(columns, GRAPH_COLUMNS, strict=True)]
    pointers = (_POINTER * len(arrays))(*(array.__array_interface__["data"][0] for array in arrays))
    sizes = (_LONG * 5)(len(arrays[0]), len(arrays[1]), len(arrays[8]), num_functions, max_control)
    return _session(
        library.ncc_graph_open(pointers, sizes),
        library.ncc_graph_build,
        library.ncc_graph_view,
        library.ncc_graph_close,
        _GRAPH_FIELDS,
        refuse=refuse,
        task="building the graph",
    )


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
    """Count pairs of statements at most ``width`` hops apart by (num_statements,) labels, of which -1 is none."""
    library = _library()
    num_statements, num_nodes = len(statement_start) - 1, len(node_start) - 1
    arrays = [np.ascontiguousarray(a) for a in (statement_start, statement_node, node_start, node_statement, label)]
    pairs = _session(
        library.ncc_count_open(num_statements, num_nodes, *(a.ctypes.data for a in arrays), width),
        lambda counter: library.ncc_count_run(counter, _SLICE_STEPS),
        library.ncc_count_view,
        library.ncc_count_close,
        _COUNT_FIELDS,
        task="counting contexts",
        timeout_s=timeout_s,
    )
    occupied = pairs["count"] > 0
    keys = pairs["key"][occupied]
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32), pairs["count"][occupied]


def find_literals(text: bytes, statement_at: NDArray[np.uint32]) -> tuple[Ints32, Ints32, list[bytes]]:
    """Find the numbers and the names of globals in statements of a text, which start at (n,) uint32 offsets."""
    library = _library()
    starts = np.ascontiguousarray(statement_at, np.uint32)
    arrays = _session(
        library.ncc_literals_open(text, len(text), starts.ctypes.data, len(starts)),
        lambda finder: library.ncc_literals_read(finder, _SLICE_STATEMENTS),
        library.ncc_literals_view,
        library.ncc_literals_close,
        _LITERAL_FIELDS,
        task="finding literals",
    )
    texts, bounds = arrays["texts"].tobytes(), arrays["texts_start"].tolist()
    return arrays["stop"], arrays["token"], [texts[start:end] for start, end in itertools.pairwise(bounds)]
