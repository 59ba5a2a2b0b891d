"""Run a compiler with a time limit, leaving no process behind."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["FinishedProcess", "run_process"]


@dataclass(frozen=True, kw_only=True)
class FinishedProcess:
    """What a process left: its exit code (negative for a signal) and its output."""

    returncode: int
    stdout: bytes
    stderr: bytes


def run_process(
    command: Sequence[str], *, stdin: bytes | None, environment: Mapping[str, str], timeout_s: float
) -> FinishedProcess:
    """Run a command to its end.

    Args:
        command: the executable and its arguments; no shell is involved.
        stdin: what it reads from standard input; None closes it.
        environment: all of its environment.
        timeout_s: seconds after which the command and all its children are killed.

    Returns:
        Exit code and output.

    Raises:
        OSError: if the executable can't be started.
        subprocess.TimeoutExpired: if the time limit passed.
    """
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        # A group of its own, so that one signal reaches the children of a compiler driver as well.
        start_new_session=True,
    )
    with process:
        try:
            stdout, stderr = process.communicate(stdin, timeout=timeout_s)
        except BaseException:
            _kill_group(process)
            raise
    return FinishedProcess(returncode=process.returncode, stdout=stdout, stderr=stderr)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    if not hasattr(os, "killpg"):
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # The group has gone, or (on macOS) only its unreaped leader is left.
        process.kill()
