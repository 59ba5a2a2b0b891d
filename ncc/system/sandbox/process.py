"""Processes that untrusted input may crash, hang or fill: watched from outside, ended with all they started."""

import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import IO

from ncc.errors import OutputError

if sys.platform == "win32":
    from ncc.system.sandbox import windows
    from ncc.system.sandbox.windows import read_at
else:
    import select
    from os import pread as read_at

HEAD = struct.Struct("<Q")
"""Length of a message, before it."""

_MAX_MESSAGE_BYTES, _PIECE_BYTES = 2**26, 2**20
_MAX_HEAD_BYTES, _MAX_TAIL_BYTES = 2**20, 2**16
_MAX_POLL_MS = 2**31 - 1
_SIGNALS = {-number: number.name for number in signal.Signals}


class WatchedProcess(AbstractContextManager["WatchedProcess"]):
    """A process, pipes to it, and a file for its standard error; use it as a context manager, or call `stop`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] = subprocess.PIPE,
        stdout: int | IO[bytes] = subprocess.PIPE,
        is_attached: bool = False,
    ) -> None:
        """Start it in its process group, out of reach of the terminal's keys, or attached to ours and our messages."""
        self._owner, self._own_group = os.getpid(), not is_attached
        with ExitStack() as files:
            self.stderr = temporary_file(files)
            # a worker that is attached never gets Ctrl-C, from its first moment on
            blocked = {signal.SIGINT} if is_attached else ()
            mask = sys.platform != "win32" and signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
            try:
                self.process = subprocess.Popen(
                    command,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=None if is_attached else self.stderr,
                    env=None if environment is None else dict(environment),
                    bufsize=0,
                    start_new_session=not is_attached,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
                )
            finally:
                if sys.platform != "win32":
                    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for pipe in filter(None, (self.process.stdin, self.process.stdout)):
                files.enter_context(pipe)
            if self.process.stdin and sys.platform != "win32":
                os.set_blocking(self.process.stdin.fileno(), False)  # a pipe may accept only a part
            self._files = files.pop_all()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def has_answer(self, timeout_s: float) -> bool:
        """Wait until it has written something or ended; False if the time is up first."""
        if sys.platform == "win32":
            return windows.can_read(self.process.stdout, timeout_s)
        return _poll(self.process.stdout, select.POLLIN, timeout_s)

    def write(self, data: bytes, deadline: float) -> None:
        """Write to its standard input until a `time.monotonic`; TimeoutError, or another OSError if it has ended."""
        assert self.process.stdin
        rest = memoryview(data)
        while rest:
            # on Windows a pipe waits for its reader
            if sys.platform != "win32" and not _poll(self.process.stdin, select.POLLOUT, deadline - time.monotonic()):
                raise TimeoutError
            rest = rest[self.process.stdin.write(rest) or 0 :]

    def read(self, num_bytes: int, deadline: float) -> bytes:
        """Read its standard output until a `time.monotonic`; EOFError if it has ended, or TimeoutError."""
        assert self.process.stdout
        data = bytearray()
        while len(data) < num_bytes:
            if not self.has_answer(deadline - time.monotonic()):
                raise TimeoutError
            if not (piece := self.process.stdout.read(min(num_bytes - len(data), _PIECE_BYTES))):
                raise EOFError
            data += piece
        return bytes(data)

    def send(self, message: bytes, deadline: float) -> None:
        """Send a message to a process that uses `ParentPipe`; raises like `write`."""
        self.write(HEAD.pack(len(message)) + message, deadline)

    def receive(self, deadline: float, max_bytes: int = _MAX_MESSAGE_BYTES) -> bytes:
        """Receive a message of such a process; raises like `read`, and EOFError for one that is too long."""
        (length,) = HEAD.unpack(self.read(HEAD.size, deadline))
        if length > max_bytes:
            raise EOFError
        return self.read(length, deadline)

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end; True if it came in time."""
        # Python's wait polls every 50 ms; it is for macOS, containers that forbid pidfd, and reaped processes
        with suppress(AttributeError, OSError), os.fdopen(os.pidfd_open(self.process.pid), "rb", 0) as process:
            return _poll(process, select.POLLIN, timeout_s)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(min(timeout_s, _MAX_POLL_MS / 1000))
        return self.process.returncode is not None

    def end(self) -> int:
        """Kill it and all its remaining descendants; return its exit code, negative for a signal."""
        if sys.platform == "win32":
            windows.kill_tree(self.process)
        elif self.process.returncode is None and self._own_group:
            with suppress(ProcessLookupError, PermissionError):  # on macOS, if only its unreaped leader is left
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        return self.process.wait()

    def terminate(self) -> None:
        """Ask it to end; kill it on Windows, where that is the only way."""
        if sys.platform == "win32":
            windows.kill_tree(self.process)
        else:
            self.process.terminate()

    def messages(self, max_bytes: int = _MAX_HEAD_BYTES) -> bytes:
        """Return its standard error; only start and end if it is long."""
        file = self.stderr.fileno()
        size = os.fstat(file).st_size
        if size <= max_bytes + _MAX_TAIL_BYTES:
            return read_at(file, size, 0)
        return read_at(file, max_bytes, 0) + b"\n[...]\n" + read_at(file, _MAX_TAIL_BYTES, size - _MAX_TAIL_BYTES)

    def forget_messages(self) -> None:
        """Discard its standard error; only while it is idle, since both processes share one file position."""
        self.stderr.seek(0)
        self.stderr.truncate()

    def stop(self, grace_s: float = 0.0) -> None:
        """End it, after some time to exit by itself, and close all files; in a fork, only close the copies."""
        if self._owner != os.getpid():
            self.process.returncode = 0  # it is the parent's to wait for
        else:
            self.wait(grace_s)
            self.end()
        self._files.close()


def _poll(stream: IO[bytes] | int | None, event: int, timeout_s: float) -> bool:
    poll = select.poll()
    poll.register(stream, event)  # type: ignore[arg-type]
    return bool(poll.poll(min(max(timeout_s, 0.0) * 1000, _MAX_POLL_MS)))


def python_command(code: str) -> list[str]:
    """Return the command that runs code in another interpreter, with the same path of modules and without buffers."""
    path = [entry or str(Path.cwd()) for entry in sys.path]
    return [sys.executable, "-u", "-P", "-c", f"import sys; sys.path[:] = {path!r}; {code}"]


def signal_name(returncode: int) -> str | None:
    """Return the name of the signal that ended a process, else its number; None if it exited."""
    return _SIGNALS.get(returncode, str(-returncode)) if returncode < 0 else None


def temporary_file(files: ExitStack, content: bytes = b"") -> IO[bytes]:
    """Open a temporary file that the stack closes; `OutputError` if there is no room for it."""
    try:
        file: IO[bytes] = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        file.write(content)
        file.seek(0)
    except OSError as error:
        raise OutputError(f"no temporary file can be written: {error.strerror or error}; is the disk full?") from error
    return file
