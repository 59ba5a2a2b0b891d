"""Reads LLVM IR, text or bitcode, of LLVM 3.7 to 22 into a `Module`.

Text of any version is read directly, typed pointers as opaque ones. LLVM itself reads bitcode, and is the judge of
text that the direct reader refuses: what LLVM verifies is read from its own printing, what it refuses is an `IRError`.
"""

import itertools
import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Ints32
from ncc.errors import InputError, IRError
from ncc.ir.reader import native
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.llvm import LLVMRefusalError, LLVMWork, print_module
from ncc.ir.reader.module import Module
from ncc.ir.reader.objects import is_bitcode, is_object, refuse_object
from ncc.system.files.reading import read_input

_MAX_EXCERPT = 120
_SECONDS, _BYTES_PER_SECOND = 60.0, 1e6
"""Time limit of reading: a minute plus the size at a hundredth of the usual speed."""


def read_module(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    abstraction: Abstraction | None = None,
    verify: bool = False,
) -> Module:
    """Read a module.

    Args:
        source: Path of an IR file (text, bitcode, or an object with bitcode), or the file's bytes.
        name: Name in messages; default: the path, or "<bytes>".
        abstraction: Rules for abstracting statements; default: `Abstraction()`.
        verify: Run LLVM's verifier first, which rejects text with typed pointers.

    Returns:
        The module; it may have no functions.

    Raises:
        InputError: The file is missing, empty, too large, or not LLVM IR.
        IRError: The IR can't be read, or LLVM's verifier rejects it; with line and column if known.

    Reference:
        Ben-Nun et al. 2018, section 4 (pre-processing).
    """
    if isinstance(source, bytes):
        data, name = source, name or "<bytes>"
    else:
        data, name = read_input(source), name or os.fspath(source)
    if not data.strip(b" \t\r\n"):
        raise InputError(f"{name}: the file is empty; expected LLVM IR")
    abstraction = abstraction or Abstraction()
    refuse_object(data, name)
    if is_bitcode(data) or is_object(data):
        return _read_text(print_canonically(data, name, verify=verify), name, "bitcode", abstraction)
    if b"\0" in data:
        raise InputError(
            f"{name}: not LLVM IR: neither text (it holds NUL bytes) nor bitcode (it lacks the magic number)"
        )
    if verify:
        print_canonically(data, name, verify=True)
    try:
        return _read_text(data, name, "direct", abstraction)
    except IRError as error:
        if error.line is None:
            raise
        try:
            printed = print_canonically(data, name, verify=True)
        except IRError as refusal:
            if refusal.line is None:
                raise error from refusal
            raise
        return _read_text(printed, name, "llvm", abstraction)


def print_canonically(data: bytes, name: str = "<bytes>", *, verify: bool = False) -> bytes:
    """Have LLVM parse text or bitcode of any version and print it in the current dialect."""
    try:
        return print_module(data, LLVMWork.VERIFY if verify else LLVMWork.PRINT)
    except LLVMRefusalError as error:
        if match := re.search(r"<string>:(\d+):(\d+): error: (.*)", str(error)):
            raise _ir_error(data, name, int(match[1]), int(match[2]), match[3]) from error
        kind = "bitcode" if is_bitcode(data) else "object file" if is_object(data) else "text"
        reason = " ".join(str(error).split()) or "LLVM gives no reason"
        raise IRError(f"{name}: LLVM can't read this {kind}: {reason}") from error


def seconds_for(num_bytes: int) -> float:
    """Return how long a module of a size may be worked on before it is given up."""
    return _SECONDS + num_bytes / _BYTES_PER_SECOND


def _ir_error(data: bytes, name: str, line: int, column: int, reason: str) -> IRError:
    lines = data.split(b"\n", line)
    text = lines[line - 1].decode("utf-8", "backslashreplace").rstrip() if line <= len(lines) else ""
    start = max(0, min(column - 1, len(text)) - _MAX_EXCERPT // 2)
    excerpt = text[start : start + _MAX_EXCERPT].strip()
    where = f"\n    {excerpt}" if excerpt else ""
    return IRError(f"{name}:{line}:{column}: {reason}{where}", line=line, column=column)


def _read_text(text: bytes, name: str, read_via: str, abstraction: Abstraction) -> Module:
    try:
        raw = native.read_text(
            text,
            known_callees=abstraction.known_callees,
            keep_immediates=abstraction.keep_immediates,
            keep_casts=abstraction.keep_casts,
            max_fields=abstraction.max_struct_fields,
            timeout_s=seconds_for(len(text)),
            verified=read_via != "direct",
        )
    except native.IRSyntaxError as error:
        where = name if read_via == "direct" else f"{name} (as LLVM prints it)"  # such as damaged bitcode
        line, start = text.count(b"\n", 0, error.offset) + 1, text.rfind(b"\n", 0, error.offset)
        raise _ir_error(text, where, line, error.offset - start, str(error)) from error
    except TimeoutError as error:
        raise IRError(f"{name}: {error}; expected far less for its {len(text):,} bytes") from error
    texts, bounds = raw.pop("texts").tobytes(), itertools.pairwise(raw.pop("texts_start").tolist())
    lines = _source_lines(raw.pop("debug"), raw.pop("debug_id"), raw.pop("debug_line"))
    raw["function_start"] = np.append(raw["function_start"], np.int32(len(raw["opcode"])))
    raw["function_block"] = np.append(raw["function_block"], np.int32(len(raw["basic_block_label"])))
    raw["function_is_kernel"] = raw["function_is_kernel"].astype(bool) | _annotated_kernels(text, raw)
    columns: dict[str, Any] = {column: raw[column] for column in raw.keys() & Module.__dataclass_fields__.keys()}
    return Module(
        name=name,
        read_via=read_via,
        texts=tuple(texts[start:end].decode("utf-8", "backslashreplace") for start, end in bounds),
        source_line=lines,
        ir=text,
        **columns,
    )


def _annotated_kernels(text: bytes, raw: dict[str, NDArray[Any]]) -> Bools:
    """Find functions that metadata marks as kernels, as CUDA's compilers did before LLVM 20: (num_functions,) bool."""
    nodes = raw["function_node"]
    if b'!"kernel"' not in text:
        return np.zeros(len(nodes), bool)
    names = {name.strip(b'"') for name in re.findall(rb'@("[^"]+"|[-\w.$]+), !"kernel", i32 1', text)}
    spans = zip(raw["_name_start"][nodes].tolist(), raw["_name_len"][nodes].tolist(), strict=True)
    return np.array([text[start : start + length] in names for start, length in spans], bool)


def _source_lines(debug: NDArray[Any], ids: NDArray[Any], lines: NDArray[Any]) -> Ints32:
    """Lines of the statements: ``debug`` is a metadata number, -1 for none, or -2 - line if it is inline."""
    reference = debug.astype(np.int64)
    line = np.where(reference <= -2, -2 - reference, 0)
    if len(ids):
        order = np.argsort(ids, kind="stable")
        index = np.minimum(np.searchsorted(ids[order], reference.clip(0)), len(ids) - 1)
        is_known = (reference >= 0) & (ids[order][index] == reference)
        line = np.where(is_known, lines[order][index], line)
    return line.astype(np.int32)
