"""Reads LLVM IR, text or bitcode, of LLVM 3.7 to 22 into a `Module`.

Text of any version is read directly, typed pointers as opaque ones. LLVM itself reads bitcode, and is the judge of
text that the direct reader refuses: what LLVM accepts is read from its own printing, what it refuses is an `IRError`.
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

_LLVM_POSITION = re.compile(r"<string>:(\d+):(\d+): error: (.*)")
_LONGEST_EXCERPT = 120
_SECONDS, _BYTES_PER_SECOND = 60.0, 1e6
"""Reading is given up after so long: a hundredth of the usual speed, on top of a minute."""
_KERNEL_ANNOTATION = re.compile(rb'@("[^"]+"|[-\w.$]+), !"kernel", i32 1')


def read_module(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    abstraction: Abstraction | None = None,
    verify: bool = False,
) -> Module:
    """Reads a module.

    Args:
        source: Path of a file of IR: text, bitcode, or an object with bitcode in it; or the file's bytes.
        name: What messages call it; default the path, or "<bytes>".
        abstraction: What statements keep; default `Abstraction()`.
        verify: Run LLVM's verifier first; text with typed pointers is refused then.

    Returns:
        The module; one without functions is valid and has no statements.

    Raises:
        InputError: The file is missing, empty, too large, or neither LLVM IR text nor bitcode, and holds none.
        IRError: LLVM can't read it either, or its verifier refuses it; with line and column where they are known.

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
        return _from_printed(print_canonically(data, name, verify=verify), name, "bitcode", abstraction)
    if b"\0" in data:
        raise InputError(
            f"{name}: not LLVM IR: neither text (it holds NUL bytes) nor bitcode (it lacks the magic number)"
        )
    if verify:
        print_canonically(data, name, verify=True)
    try:
        return _from_text(data, name, "direct", abstraction)
    except native.IRSyntaxError as problem:
        return _as_llvm_sees_it(data, name, abstraction, problem)


def print_canonically(data: bytes, name: str = "<bytes>", *, verify: bool = False) -> bytes:
    """Text or bitcode of any version, parsed by LLVM and printed in the current dialect."""
    try:
        return print_module(data, LLVMWork.VERIFY if verify else LLVMWork.PRINT)
    except LLVMRefusalError as error:
        raise _llvm_refusal(str(error), data, name) from error


def _as_llvm_sees_it(data: bytes, name: str, abstraction: Abstraction, problem: native.IRSyntaxError) -> Module:
    """Text that the direct reader refused: LLVM's verdict, and its printing where it accepts the text."""
    try:
        printed = print_canonically(data, name)
    except IRError as refusal:
        if refusal.line is not None:
            raise
        raise _error_at(data, name, problem) from refusal
    return _from_printed(printed, name, "llvm", abstraction)


def _from_printed(printed: bytes, name: str, read_via: str, abstraction: Abstraction) -> Module:
    """A module from LLVM's printing, which LLVM does not check: damaged bitcode has blocks without an end."""
    try:
        return _from_text(printed, name, read_via, abstraction)
    except native.IRSyntaxError as problem:
        raise _error_at(printed, f"{name} (as LLVM prints it)", problem) from problem


def _llvm_refusal(message: str, data: bytes, name: str) -> IRError:
    found = _LLVM_POSITION.search(message)
    if not found:
        summary = " ".join(message.split()) or "LLVM gives no reason"
        return IRError(f"{name}: LLVM can't read this {_kind(data)}: {summary}")
    line, column = int(found[1]), int(found[2])
    return _ir_error(data, name, line, column, found[3])


def _kind(data: bytes) -> str:
    return "bitcode" if is_bitcode(data) else "object file" if is_object(data) else "text"


def _error_at(data: bytes, name: str, problem: native.IRSyntaxError) -> IRError:
    line = data.count(b"\n", 0, problem.offset) + 1
    column = problem.offset - (data.rfind(b"\n", 0, problem.offset) + 1) + 1
    return _ir_error(data, name, line, column, str(problem))


def _ir_error(data: bytes, name: str, line: int, column: int, what: str) -> IRError:
    lines = data.split(b"\n", line)
    text = lines[line - 1].decode("utf-8", "backslashreplace").rstrip() if line <= len(lines) else ""
    start = max(0, min(column - 1, len(text)) - _LONGEST_EXCERPT // 2)
    excerpt = text[start : start + _LONGEST_EXCERPT].strip()
    shown = f"\n    {excerpt}" if excerpt else ""
    return IRError(f"{name}:{line}:{column}: {what}{shown}", line=line, column=column)


def seconds_for(num_bytes: int) -> float:
    """How long a module of so many bytes may be worked on before it is given up."""
    return _SECONDS + num_bytes / _BYTES_PER_SECOND


def _from_text(text: bytes, name: str, read_via: str, abstraction: Abstraction) -> Module:
    timeout_s = seconds_for(len(text))
    try:
        raw = native.read_text(
            text,
            known_callees=abstraction.known_callees,
            keep_immediates=abstraction.keep_immediates,
            keep_casts=abstraction.keep_casts,
            max_fields=abstraction.max_struct_fields,
            timeout_s=timeout_s,
            verified=read_via != "direct",
        )
    except TimeoutError as error:
        raise IRError(f"{name}: {error}; it has {len(text):,} bytes, which are expected to take far less") from error
    num_statements, num_blocks = len(raw["opcode"]), len(raw["basic_block_label"])
    return Module(
        name=name,
        read_via=read_via,
        opcode=raw["opcode"],
        text_id=raw["text"],
        texts=_strings(raw["texts"], raw["texts_start"]),
        basic_block=raw["basic_block"],
        result=raw["result"],
        callee=raw["callee"],
        source_line=_source_lines(raw["debug"], raw["debug_id"], raw["debug_line"]),
        operand_start=raw["operand_start"],
        operand=raw["operand"],
        node_kind=raw["node_kind"],
        node_function=raw["node_function"],
        node_definition=raw["node_def"],
        basic_block_label=raw["basic_block_label"],
        function_node=raw["function_node"],
        function_start=np.append(raw["function_first_statement"], np.int32(num_statements)),
        function_block=np.append(raw["function_first_block"], np.int32(num_blocks)),
        function_is_kernel=raw["function_is_kernel"].astype(bool) | _annotated_kernels(text, raw),
        _statement_at=raw["statement_at"],
        _name_start=raw["node_name"],
        _name_len=raw["node_name_len"],
        _ir=text,
    )


def _annotated_kernels(text: bytes, raw: dict[str, NDArray[Any]]) -> Bools:
    """Functions that metadata marks as kernels, as CUDA's compilers did before LLVM 20: (num_functions,) bool."""
    if b'!"kernel"' not in text:
        return np.zeros(len(raw["function_node"]), bool)
    named = {name.strip(b'"') for name in _KERNEL_ANNOTATION.findall(text)}
    nodes = raw["function_node"].tolist()
    starts, lengths = raw["node_name"][nodes].tolist(), raw["node_name_len"][nodes].tolist()
    return np.array(
        [text[start : start + length] in named for start, length in zip(starts, lengths, strict=True)], bool
    )


def _strings(text: NDArray[Any], start: NDArray[Any]) -> tuple[str, ...]:
    whole = text.tobytes()
    bounds = start.tolist()
    return tuple(whole[begin:end].decode("utf-8", "backslashreplace") for begin, end in itertools.pairwise(bounds))


def _source_lines(debug: NDArray[Any], ids: NDArray[Any], lines: NDArray[Any]) -> Ints32:
    """Lines of the statements: ``debug`` is a metadata number, -1 for none, or -2 - line where it stood inline."""
    reference = debug.astype(np.int64)
    found = np.where(reference <= -2, -2 - reference, 0)
    if len(ids):
        order = np.argsort(ids, kind="stable")
        at = np.minimum(np.searchsorted(ids[order], reference.clip(0)), len(ids) - 1)
        known = (reference >= 0) & (ids[order][at] == reference)
        found = np.where(known, lines[order][at], found)
    return found.astype(np.int32)
