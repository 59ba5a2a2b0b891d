"""One input tried on one target: accepted, refused, or a finding."""

import os
import sys
import traceback
import warnings
from dataclasses import dataclass
from functools import cache

from fuzz.targets import Target
from ncc.errors import NccError

__all__ = ["Problem", "attempt"]

_MEMORY_MIB = 384
"""By how much a single input may raise the most memory that the process ever held."""


@dataclass(frozen=True)
class Problem:
    """A target's forbidden behavior.

    Attributes:
        kind: "exception" or "memory".
        where: The innermost line of ncc that was running, or of the target.
        message: Message of the exception, or a description of the problem.
    """

    kind: str
    where: str
    message: str


def attempt(target: Target, data: bytes) -> bool | Problem:
    """True for an input that was read, False for one that was refused, or what went wrong."""
    before = _peak_mib()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            target.run(data)
            accepted: bool | Problem = True
        except NccError as error:
            accepted = (
                False if str(error).strip() else Problem("exception", _where(error), "an error without a message")
            )
            if _out_of_memory(error):
                accepted = Problem("memory", _where(error), "ran out of memory on the way to its refusal")
        except Exception as error:
            accepted = Problem("exception", _where(error), f"{type(error).__name__}: {str(error)[:300]}")
    swelled = _peak_mib() - before
    if swelled > _MEMORY_MIB and not isinstance(accepted, Problem):
        return Problem("memory", "", f"held {swelled} MiB more than any input before")
    return accepted


def _peak_mib() -> int:
    """The most memory that this process has held; 0 where the system does not say.

    Not by `getrusage`, for which a process begins with the peak of the one that started it.
    """
    if sys.platform != "linux":
        return 0
    status = os.pread(_status_file(os.getpid()), 4096, 0)
    at = status.index(b"VmHWM:") + 6
    return int(status[at : status.index(b"kB", at)]) >> 10


@cache
def _status_file(process: int) -> int:
    """Stays open: it is read before and after every input."""
    return os.open(f"/proc/{process}/status", os.O_RDONLY)


def _out_of_memory(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _where(error: BaseException) -> str:
    """The innermost place in ncc, or else in the fuzzer."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/ncc/" in frame.filename.replace("\\", "/")] or frames
    path = own[-1].filename.replace("\\", "/")
    return f"{path[path.rfind('/ncc/') + 1 :]}:{own[-1].lineno} {own[-1].name}"
