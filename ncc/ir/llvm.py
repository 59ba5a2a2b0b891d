"""LLVM at arm's length: it parses text and bitcode in a process of its own.

On input that it did not expect (nesting 10,000 deep, damaged bitcode, an odd data layout) LLVM does not always return
an error: it overflows its stack or calls abort(), which would end the caller's Python process. Here it ends a helper,
which is started when it is first needed, serves every later request, and is started anew after a crash.
"""

import atexit
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

__all__ = ["LLVMRefusalError", "print_module"]

_HELPER = Path(__file__).with_name("llvm_helper.py")
_LONGEST_REASON = 500


class LLVMRefusalError(Exception):
    """LLVM refuses the input; the message is its own, or says how it died."""


class _Helper:
    def __init__(self) -> None:
        self.pid = os.getpid()
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(_HELPER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )

    def ask(self, data: bytes) -> bytes:
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(len(data).to_bytes(8, "little"))
            self.process.stdin.write(data)
            self.process.stdin.flush()
            head = self.process.stdout.read(9)
        except BrokenPipeError:
            head = b""
        if len(head) < 9:
            raise LLVMRefusalError(f"LLVM crashes on this input{self.last_words()}")
        answer = self.process.stdout.read(int.from_bytes(head[1:], "little"))
        if head[0]:
            raise LLVMRefusalError(answer.decode("utf-8", "backslashreplace"))
        return answer

    def last_words(self) -> str:
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().decode("utf-8", "backslashreplace").strip().splitlines()
        reason = said[-1] if code == 1 and said else next((line for line in said if "ERROR" in line), "")
        return f" (exit code {code})" + (f": {reason[:_LONGEST_REASON]}" if reason else "")

    def stop(self) -> None:
        if self.pid == os.getpid():
            self.process.kill()
        else:  # a fork's copy: the helper belongs to the parent
            self.process.returncode = 0
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(BrokenPipeError):
                if pipe:
                    pipe.close()
        self.process.wait()


_lock = threading.Lock()
_helpers: list[_Helper] = []  # at most one


def print_module(data: bytes) -> bytes:
    """Text or bitcode as LLVM prints it.

    Raises:
        LLVMRefusalError: LLVM refuses it, or died of it.
    """
    with _lock:
        if _helpers and _helpers[0].pid != os.getpid():
            stop_helper()
        if not _helpers:
            _helpers.append(_Helper())
        answered = False
        try:
            answer = _helpers[0].ask(data)
            answered = True
        except LLVMRefusalError:
            answered = _helpers[0].process.poll() is None
            raise
        finally:
            if not answered:  # dead, or interrupted in the middle of an answer
                stop_helper()
    return answer


def stop_helper() -> None:
    """Ends the helper, if there is one; the next request starts another."""
    while _helpers:
        _helpers.pop().stop()


atexit.register(stop_helper)
