"""C functions (IR reader, literals, contexts) on bytes and NumPy arrays; compiled when ncc is installed.

They know LLVM's printed form and nothing else of ncc. The packages that use them wrap their arrays in dataclasses.
"""

import ctypes
import functools
import itertools
import math
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints, Ints32
from ncc.errors import NccError

__all__ = ["OPCODES", "IRSyntaxError", "count_contexts", "find_literals", "read_text"]

_OPCODES = """
define ret br switch indirectbr invoke resume catchswitch catchret cleanupret unreachable callbr fneg add fadd sub fsub
mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor extractelement insertelement shufflevector extractvalue
insertvalue alloca load store fence cmpxchg atomicrmw getelementptr trunc zext sext fptrunc fpext fptoui fptosi uitofp
sitofp ptrtoint ptrtoaddr inttoptr bitcast addrspacecast icmp fcmp phi select freeze call va_arg landingpad catchpad
cleanuppad
"""
OPCODES: tuple[str, ...] = tuple(_OPCODES.split())
"""Names of the opcode numbers; ``define`` stands for a function's header, which is a statement too."""

READER_FIELDS = (
    ("opcode", np.uint8),
    ("text", np.int32),
    ("block", np.int32),
    ("result", np.int32),
    ("debug", np.int32),
    ("callee", np.int32),
    ("operand_start", np.int32),
    ("operand", np.int32),
    ("texts", np.uint8),
    ("texts_start", np.int64),
    ("node_kind", np.uint8),
    ("node_function", np.int32),
    ("node_def", np.int32),
    ("node_name", np.uint32),
    ("node_name_len", np.uint32),
    ("function_node", np.int32),
    ("function_first_statement", np.int32),
    ("function_first_block", np.int32),
    ("function_first_argument", np.int32),
    ("function_num_arguments", np.int32),
    ("function_is_kernel", np.uint8),
    ("block_node", np.int32),
    ("debug_id", np.uint32),
    ("debug_line", np.uint32),
    ("statement_at", np.uint32),
)

_KEEP_CALLEES, _KEEP_IMMEDIATES, _VERIFIED, _KEEP_CASTS = 1, 2, 4, 8
_OK, _SYNTAX, _MEMORY = range(3)
_SLICE_BYTES = 1 << 22
_SLICE_STEPS = 1 << 24
_SLICE_STATEMENTS = 1 << 16


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
    if not hasattr(library, "ncc_literals_open"):
        raise NccError(f"{path} is older than ncc's sources. Run 'pip install .' in its source folder again.")
    library.ncc_key.restype = None
    library.ncc_key.argtypes = [ctypes.c_uint64] * 2
    library.ncc_key(secrets.randbits(64), secrets.randbits(64))
    library.ncc_open.restype = ctypes.c_void_p
    library.ncc_open.argtypes = [ctypes.c_char_p, ctypes.c_int64, ctypes.c_uint32, ctypes.c_int32, ctypes.c_char_p]
    library.ncc_read.restype = ctypes.c_int32
    library.ncc_read.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    library.ncc_free.argtypes = [ctypes.c_void_p]
    library.ncc_view.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.ncc_status.argtypes = [ctypes.c_void_p] * 3
    library.ncc_count_open.restype = ctypes.c_void_p
    library.ncc_count_open.argtypes = [ctypes.c_int64] * 2 + [ctypes.c_void_p] * 5 + [ctypes.c_int32]
    library.ncc_count_run.restype = ctypes.c_int32
    library.ncc_count_run.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    library.ncc_counts.argtypes = [ctypes.c_void_p] * 3
    library.ncc_count_close.argtypes = [ctypes.c_void_p]
    library.ncc_literals_open.restype = ctypes.c_void_p
    library.ncc_literals_open.argtypes = [ctypes.c_char_p, ctypes.c_int64]
    library.ncc_literals_read.restype = ctypes.c_int32
    library.ncc_literals_read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    library.ncc_literals_view.argtypes = [ctypes.c_void_p] * 3
    library.ncc_literals_close.argtypes = [ctypes.c_void_p]
    return library


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
    """Reads LLVM IR text into arrays in one walk.

    Args:
        text: The module as any LLVM since 3.7 prints it.
        known_callees: Names, one a line, of external functions that keep their name in a statement; None
            abstracts every callee.
        keep_immediates: Small integers keep a bucket of their own.
        keep_casts: Casts of typed pointers to other ones are statements.
        max_fields: Structures of more scalars than this are written ``{...}``; None for no limit.
        timeout_s: Seconds after which reading is given up; None for no limit.
        verified: Whether LLVM has printed the text: words that the reader does not know are attributes, then.

    Returns:
        The arrays that ``READER_FIELDS`` names.

    Raises:
        IRSyntaxError: The text is not what the reader expects.
        TimeoutError: It took too long.
        MemoryError: There is not enough memory.
    """
    library = _library()
    flags = (0 if known_callees is None else _KEEP_CALLEES) | (_KEEP_IMMEDIATES if keep_immediates else 0)
    flags |= (_KEEP_CASTS if keep_casts else 0) | (_VERIFIED if verified else 0)
    limit = -1 if max_fields is None else max_fields
    reader = library.ncc_open(text, len(text), flags, limit, known_callees or b"")
    if not reader:
        raise MemoryError("no memory to read IR")
    try:
        deadline = time.monotonic() + (math.inf if timeout_s is None else timeout_s)
        while not library.ncc_read(reader, _SLICE_BYTES):  # Ctrl-C is heard between two calls
            if time.monotonic() > deadline:
                raise TimeoutError(f"reading IR took more than {timeout_s:g} s")
        offset, message = ctypes.c_int64(), ctypes.c_char_p()
        status = library.ncc_status(reader, ctypes.byref(offset), ctypes.byref(message))
        if status == _SYNTAX:
            raise IRSyntaxError((message.value or b"").decode(), offset.value)
        if status == _MEMORY:
            raise MemoryError("not enough memory to read IR")
        return _copy_arrays(library.ncc_view, reader, READER_FIELDS)
    finally:
        library.ncc_free(reader)


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
    """Counts, by their labels, the ordered pairs of distinct statements at most ``width`` hops apart.

    Two statements are one hop apart if they share a node.

    Args:
        statement_start: (num_statements + 1,) int64 offsets into ``statement_node``.
        statement_node: int32 nodes of each statement, without repetition.
        node_start: (num_nodes + 1,) int64 offsets into ``node_statement``.
        node_statement: int32 statements of each node, without repetition.
        label: (num_statements,) int32; a pair is counted only if both labels are at least 0.
        width: Number of hops, 1 or more.
        timeout_s: Seconds after which counting is given up; None for no limit.

    Returns:
        Labels of centres, labels of contexts and counts of the distinct pairs, in no particular order.

    Raises:
        TimeoutError: It took too long.
        MemoryError: There is not enough memory.
    """
    library = _library()
    num_statements, num_nodes = len(statement_start) - 1, len(node_start) - 1
    arrays = [np.ascontiguousarray(a) for a in (statement_start, statement_node, node_start, node_statement, label)]
    counter = library.ncc_count_open(num_statements, num_nodes, *(a.ctypes.data for a in arrays), width)
    if not counter:
        raise MemoryError("not enough memory to count contexts")
    try:
        deadline = time.monotonic() + (math.inf if timeout_s is None else timeout_s)
        while not (outcome := library.ncc_count_run(counter, _SLICE_STEPS)):  # Ctrl-C is heard between two calls
            if time.monotonic() > deadline:
                raise TimeoutError(f"counting contexts took more than {timeout_s:g} s")
        if outcome == _MEMORY:
            raise MemoryError("not enough memory to count contexts")
        data, length = (ctypes.c_void_p * 2)(), ctypes.c_int64()
        library.ncc_counts(counter, data, ctypes.byref(length))
        keys = _copy(data[0], length.value, np.uint64)
        counts = _copy(data[1], length.value, np.int64)
    finally:
        library.ncc_count_close(counter)
    occupied = counts > 0
    keys = keys[occupied]
    return (keys >> np.uint64(32)).astype(np.int32), (keys & np.uint64(0xFFFFFFFF)).astype(np.int32), counts[occupied]


def find_literals(text: bytes, statement_at: NDArray[np.uint32]) -> tuple[Ints32, Ints32, list[bytes]]:
    """Finds the numbers and the names of globals in statements.

    Args:
        text: The module as `read_text` reads it.
        statement_at: (n,) uint32 offsets of statements in the text.

    Returns:
        For each statement where its literals end, (n,) int32; the literals, int32 indices; and the texts that they
        are indices of, a name with its ``@``.

    Raises:
        MemoryError: There is not enough memory.
    """
    library = _library()
    finder = library.ncc_literals_open(text, len(text))
    if not finder:
        raise MemoryError("no memory to find literals")
    try:
        for first in range(0, len(statement_at), _SLICE_STATEMENTS):  # Ctrl-C is heard between two calls
            part = np.ascontiguousarray(statement_at[first : first + _SLICE_STATEMENTS], np.uint32)
            if not library.ncc_literals_read(finder, part.ctypes.data, len(part)):
                raise MemoryError("not enough memory to find literals")
        fields = (("stop", np.int32), ("token", np.int32), ("texts", np.uint8), ("texts_start", np.int64))
        found = _copy_arrays(library.ncc_literals_view, finder, fields)
    finally:
        library.ncc_literals_close(finder)
    texts, bounds = found["texts"].tobytes(), found["texts_start"].tolist()
    return found["stop"], found["token"], [texts[one:two] for one, two in itertools.pairwise(bounds)]


def _copy_arrays(view: Any, owner: int, fields: Sequence[tuple[str, type]]) -> dict[str, NDArray[Any]]:
    data, lengths = (ctypes.c_void_p * len(fields))(), (ctypes.c_int64 * len(fields))()
    view(owner, data, lengths)
    return {
        name: _copy(address, length, dtype)
        for (name, dtype), address, length in zip(fields, data, lengths, strict=True)
    }


def _copy(address: int | None, length: int, dtype: type) -> NDArray[Any]:
    if not address or not length:
        return np.zeros(0, dtype)
    size = length * np.dtype(dtype).itemsize
    view = memoryview((ctypes.c_char * size).from_address(address))
    return np.array(np.frombuffer(view, dtype=dtype))
