"""Run a compiler confined and within limits, leaving no process behind and nothing unbounded in memory."""

import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

from ncc.errors import OutputError
from ncc.runtime.confinement import Permissions, confine, launcher_failure
from ncc.runtime.limits import memory_limit, output_limit

__all__ = ["FinishedProcess", "run_process"]

_LONGEST_HEAD = 2**20
_LONGEST_TAIL = 2**16
_NO_SPACE = b"No space left on device"
_LITTLE_SPACE = 2**22
_LONGEST_POLL_MS = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class FinishedProcess:
    """What a process left.

    Attributes:
        returncode: Its exit code; negative for a signal.
        stdout: Its output; empty where it failed.
        stderr: Its messages; of long ones, beginning and end.
        is_full: Whether it wrote as much as it may.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    is_full: bool = False


def run_process(
    command: Sequence[str],
    *,
    stdin: bytes | None,
    environment: Mapping[str, str],
    timeout_s: float,
    permissions: Permissions,
) -> FinishedProcess:
    """Run a command to its end, within the limits of `ncc.runtime.limits`.

    Args:
        command: The path of the executable, and its arguments; no shell is involved.
        stdin: What it reads from standard input; None closes it.
        environment: All of its environment.
        timeout_s: Seconds of wall time after which the command and all its children are killed.
        permissions: The files that it may use.

    Returns:
        Exit code and output.

    Raises:
        OSError: If the executable can't be started.
        OutputError: If there is no room for temporary files.
        subprocess.TimeoutExpired: If the time limit passed.
    """
    output_bytes = output_limit()
    limited = confine(command, permissions, memory_bytes=memory_limit(), file_bytes=output_bytes, end_with_parent=True)
    with ExitStack() as files:
        # Files, not pipes: what a compiler writes without end fills them up to the limit, not this process's memory.
        given = None if stdin is None else _temporary(files, stdin)
        stdout, stderr = _temporary(files), _temporary(files)
        process = subprocess.Popen(
            limited,
            stdin=subprocess.DEVNULL if given is None else given,
            stdout=stdout,
            stderr=stderr,
            env=dict(environment),
            # A group of its own, so that one signal reaches the children of a compiler driver as well.
            start_new_session=True,
        )
        with process:
            _wait(process, timeout_s)
        said = _ends(stderr)
        if failure := launcher_failure(process.returncode, said):
            raise failure
        if process.returncode and _NO_SPACE in said and _is_disk_full():  # a source can make a compiler say anything
            raise OutputError(f"{tempfile.gettempdir()}: the compiler's output can't be written: the disk is full")
        is_full = max(file.seek(0, os.SEEK_END) for file in (stdout, stderr)) >= output_bytes
        stdout.seek(0)
        output = b"" if process.returncode else stdout.read()
        return FinishedProcess(returncode=process.returncode, stdout=output, stderr=said, is_full=is_full)


def _temporary(files: ExitStack, content: bytes = b"") -> IO[bytes]:
    try:
        file: IO[bytes] = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        file.write(content)
        file.seek(0)
    except OSError as error:
        raise OutputError(f"no temporary file can be written: {error.strerror or error}; is the disk full?") from error
    return file


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float) -> None:
    try:
        if not _ends_within(process, timeout_s):
            raise subprocess.TimeoutExpired(process.args, timeout_s)
    finally:
        _kill_group(process)  # or what is left of it
        process.wait()


def _ends_within(process: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    """Waits for the end; where the system can, without a look every 50 ms, which is what Python's own wait does."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # no Linux, an old one, or a container that forbids it
        try:
            process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(min(timeout_s * 1000, _LONGEST_POLL_MS)))
    finally:
        os.close(descriptor)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    if not hasattr(os, "killpg"):
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # The group has gone, or (on macOS) only its unreaped leader is left.
        process.kill()


def _is_disk_full() -> bool:
    return shutil.disk_usage(tempfile.gettempdir()).free < _LITTLE_SPACE


def _ends(file: IO[bytes]) -> bytes:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= _LONGEST_HEAD + _LONGEST_TAIL:
        return file.read()
    head = file.read(_LONGEST_HEAD)
    file.seek(-_LONGEST_TAIL, os.SEEK_END)
    return head + b"\n[...]\n" + file.read()
