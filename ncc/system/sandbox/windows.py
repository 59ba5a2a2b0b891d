"""Windows' counterparts of the POSIX calls that processes need."""

import _winapi
import msvcrt
import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import IO

assert sys.platform == "win32"

_PAUSE_S = 0.002


def can_read(pipe: IO[bytes], timeout_s: float) -> bool:
    """Wait until a pipe holds something or has ended; False if the time is up first."""
    deadline = time.monotonic() + timeout_s
    with suppress(BrokenPipeError):
        while not _winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe.fileno()), 0)[0]:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE_S)
    return True


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, unless it has ended."""
    if process.poll() is None:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)


def read_at(file: int, num_bytes: int, offset: int) -> bytes:
    """Read a part of a file that no process writes to any more."""
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, num_bytes)
