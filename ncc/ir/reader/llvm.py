"""LLVM at arm's length: it parses text and bitcode in a separate process.

On damaged input LLVM may overflow its stack or call abort(), which would end the caller's Python process. Here it ends
a helper, which serves one request after the other, each within limits of time and memory, reads no files but its own,
and is restarted after a crash, a time limit or a large module.
"""

import atexit
import importlib.util
import os
import struct
import sys
import threading
import time
from enum import IntEnum
from pathlib import Path

from ncc.errors import NccError
from ncc.system.sandbox.confine import Permissions, check_confinement, confine, find_loaders, minimal_environment
from ncc.system.sandbox.limits import GIGABYTE, memory_limit, output_limit
from ncc.system.sandbox.process import WatchedProcess

_HELPER = Path(__file__).with_name("llvm_helper.py")
_MAX_REASON, _MAX_MESSAGES = 500, 2**16
_SECONDS = _START_SECONDS = 60.0
_SECONDS_PER_BYTE = 1e-6
_SECONDS_PER_OPTIMIZED_BYTE = 5e-5
"""Ten times the time of -O2, so that vectors don't depend on the load of a machine."""
_GRACE_SECONDS = 30
_MEMORY_PER_BYTE = 60
"""LLVM's memory per byte of input, which is 7 to 30 bytes."""
_LARGE = 2**24
"""A helper is replaced after a larger module, since the memory it keeps counts against the next limit."""

_REQUEST, _ANSWER = struct.Struct("<4Q"), struct.Struct("<BQ")
_FINE, _REFUSED, _MEMORY = range(3)
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/nix/store", "/gnu/store")


class LLVMWork(IntEnum):
    """Work that LLVM does on a module before it prints it."""

    PRINT = 0
    VERIFY = 1
    OPTIMIZE = 2
    SIMPLIFY = 3


class LLVMRefusalError(Exception):
    """LLVM refuses the input: its message, or how the process died."""


class _Helper(WatchedProcess):
    def __init__(self) -> None:
        super().__init__(_helper_command(), environment=minimal_environment())
        try:
            self.read(_ANSWER.size, time.monotonic() + _START_SECONDS)
        except (EOFError, TimeoutError) as error:
            code, lines = self.end(), self.message_lines()
            self.stop()
            reason = lines[-1][:_MAX_REASON] if lines else f"exit code {code}"
            raise NccError(f"LLVM's process can't be started: {reason}") from error

    def message_lines(self) -> list[str]:
        return self.messages(_MAX_MESSAGES).decode("utf-8", "backslashreplace").strip().splitlines()

    def ask(self, data: bytes, work: LLVMWork) -> bytes:
        memory_bytes = memory_limit(len(data) * _MEMORY_PER_BYTE)
        per_byte = _SECONDS_PER_OPTIMIZED_BYTE if work >= LLVMWork.OPTIMIZE else _SECONDS_PER_BYTE
        limit_s = _SECONDS + len(data) * per_byte
        deadline = time.monotonic() + limit_s
        try:
            self.write(_REQUEST.pack(len(data), memory_bytes, int(limit_s) + _GRACE_SECONDS, work), deadline)
            self.write(data, deadline)
            status, length = _ANSWER.unpack(self.read(_ANSWER.size, deadline))
            if length > output_limit():
                self.end()
                limit = f"{output_limit() / GIGABYTE:.3g} GB"
                raise LLVMRefusalError(f"LLVM printed more than {limit}; raise NCC_OUTPUT_GB")
            answer = self.read(length, deadline)
        except TimeoutError as error:
            self.end()
            raise LLVMRefusalError(f"LLVM did not finish within {limit_s:.3g} seconds and was stopped") from error
        except (OSError, EOFError) as error:
            raise LLVMRefusalError(_describe_death(self.process.wait(), self.message_lines(), memory_bytes)) from error
        self.forget_messages()  # it is idle; its warnings are not why LLVM refuses a later module
        if status == _MEMORY:
            self.end()
            raise LLVMRefusalError(_too_much_memory(memory_bytes))
        if status == _REFUSED:
            raise LLVMRefusalError(answer.decode("utf-8", "backslashreplace"))
        return answer


def _describe_death(code: int, messages: list[str], memory_bytes: int) -> str:
    if any("out of memory" in line or "MemoryError" in line or "bad_alloc" in line for line in messages):
        return _too_much_memory(memory_bytes)
    broken = next((index for index, line in enumerate(messages) if "LLVM ERROR: Broken module found" in line), 0)
    if broken:  # LLVM verifies some old modules while it reads them, and aborts
        return f"LLVM's verifier refuses it: {' '.join(' '.join(messages[:broken]).split())[:_MAX_REASON]}"
    is_last = code in (1, 125) and messages
    reason = messages[-1] if is_last else next((line for line in messages if "ERROR" in line), "")
    return f"LLVM crashes on this input (exit code {code})" + (f": {reason[:_MAX_REASON]}" if reason else "")


def _too_much_memory(memory_bytes: int) -> str:
    limit = f"{memory_bytes / GIGABYTE:.3g} GB"
    return f"LLVM needs more than {limit} of memory for this input; raise NCC_MEMORY_GB"


def _helper_command() -> list[str]:
    """Return the command of a helper that may read only the interpreter, its libraries, llvmlite and itself."""
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or not spec.submodule_search_locations:
        raise NccError("llvmlite is not installed: pip install llvmlite")
    library = Path(spec.submodule_search_locations[0])
    read = [str(_HELPER), str(library), f"{library}.libs", str(library.resolve()), "/etc/ld.so.cache", "/dev/null"]
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix, sys.base_exec_prefix)):
        read += [f"{prefix}/{part}" for part in ("lib", "lib64", "pyvenv.cfg")]
    permissions = Permissions(read=(*read, *_LIBRARIES), execute=(sys.executable, *find_loaders()))
    # without the user's site-packages and start-up files, which the helper doesn't need
    command = [sys.executable, "-I", "-S", "-B", str(_HELPER), str(library)]
    return confine(command, permissions, file_bytes=_MAX_MESSAGES)


_lock = threading.Lock()
_helpers: list[_Helper] = []  # at most one


def print_module(data: bytes, work: LLVMWork = LLVMWork.PRINT) -> bytes:
    """Have LLVM print text or bitcode, after some work."""
    check_confinement()  # the helper may have been started before confinement was required
    with _lock:
        if not _helpers:
            _helpers.append(_Helper())
        is_alive = False
        try:
            answer = _helpers[0].ask(data, work)
            is_alive = True
        except LLVMRefusalError:
            is_alive = _helpers[0].process.poll() is None
            raise
        finally:
            # dead, interrupted in the middle of an answer, or grown large
            if not is_alive or len(data) > _LARGE:
                stop_helper()
    return answer


def stop_helper() -> None:
    """End the helper, if there is one; the next request starts another."""
    while _helpers:
        _helpers.pop().stop()


def _forget_helper() -> None:
    """In a fork, forget the parent's helper, and the lock, whose thread may not exist here."""
    global _lock  # noqa: PLW0603 - who asks for the helper looks it up
    _lock = threading.Lock()
    stop_helper()


atexit.register(stop_helper)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget_helper)
