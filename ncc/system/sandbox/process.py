"""Processes that untrusted input may crash, hang or fill: watched from outside, ended with all they started.

Compilers, the helper that LLVM runs in, workers of a corpus and of the fuzzer are all of this kind. Their limits and
rights are those of the command that `ncc.system.sandbox.confine.confine` makes, or those that a worker gives itself
(`ncc.system.workers.worker`). Nothing that a process writes fills this one's memory.
"""

import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Self

from ncc.errors import OutputError

HEAD = struct.Struct("<Q")
"""Before every message of `WatchedProcess.send` and `receive`: its length."""
LONGEST_MESSAGE = 2**26

_LONGEST_HEAD = 2**20
_LONGEST_TAIL = 2**16
_LONGEST_POLL_MS = 2**31 - 1
_PIECE = 2**20
_CAN_POLL = hasattr(select, "poll")  # Windows can't: there a process that hangs hangs who waits for its answer


class WatchedProcess:
    """A process and the pipes to it; what it writes to standard error is kept in a file.

    Use it as a context manager, or call `stop`.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] = subprocess.PIPE,
        stdout: int | IO[bytes] = subprocess.PIPE,
        keep_messages: bool = True,
        own_group: bool = True,
    ) -> None:
        """Starts it.

        Args:
            command: The executable and its arguments; no shell is involved.
            environment: All of its environment; default this process's.
            stdin: A file or `subprocess.DEVNULL` in place of the pipe.
            stdout: A file in place of the pipe.
            keep_messages: Keep what it writes to standard error, rather than passing it on.
            own_group: Start it in a group of its own, which keys of the terminal do not reach, so that one signal ends
                all that it started as well.

        Raises:
            OSError: It can't be started.
            OutputError: There is no room for temporary files.
        """
        self._owner = os.getpid()
        self._own_group = own_group
        with ExitStack() as files:
            self._messages = temporary_file(files) if keep_messages else None
            with nullcontext() if own_group else _without_interrupts():
                self.process = subprocess.Popen(
                    command,
                    stdin=stdin,
                    stdout=stdout,
                    stderr=self._messages,
                    env=None if environment is None else dict(environment),
                    bufsize=0,
                    start_new_session=own_group,
                )
            for pipe in filter(None, (self.process.stdin, self.process.stdout)):
                files.enter_context(pipe)
            self._files = files.pop_all()
        if self.process.stdin and _CAN_POLL:
            os.set_blocking(self.process.stdin.fileno(), False)  # a pipe takes what it has room for

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def answers(self) -> int:
        """The descriptor that its answers come from."""
        assert self.process.stdout
        return self.process.stdout.fileno()

    def write(self, data: bytes, deadline: float) -> None:
        """Writes to its standard input.

        Raises:
            BrokenPipeError: It has ended.
            TimeoutError: The deadline, of `time.monotonic`, passed before it took all.
        """
        assert self.process.stdin
        rest = memoryview(data)
        while rest:
            _wait_for(self.process.stdin.fileno(), select.POLLOUT if _CAN_POLL else 0, deadline)
            with suppress(BlockingIOError):
                rest = rest[os.write(self.process.stdin.fileno(), rest) :]

    def read(self, num_bytes: int, deadline: float) -> bytes:
        """Reads so many bytes of its standard output.

        Raises:
            EOFError: It has ended before.
            TimeoutError: The deadline, of `time.monotonic`, passed before.
        """
        pieces = []
        while num_bytes:
            _wait_for(self.answers, select.POLLIN if _CAN_POLL else 0, deadline)
            piece = os.read(self.answers, min(num_bytes, _PIECE))
            if not piece:
                raise EOFError
            pieces.append(piece)
            num_bytes -= len(piece)
        return b"".join(pieces)

    def send(self, message: bytes, deadline: float) -> None:
        """Sends a message to a process that uses `ncc.system.workers.worker`; raises as `write` does."""
        self.write(HEAD.pack(len(message)) + message, deadline)

    def receive(self, deadline: float, longest: int = LONGEST_MESSAGE) -> bytes:
        """The next message of such a process; raises as `read` does, EOFError for one beyond all measure too."""
        (length,) = HEAD.unpack(self.read(HEAD.size, deadline))
        if length > longest:
            raise EOFError
        return self.read(length, deadline)

    def hang_up(self) -> None:
        """Closes its standard input: it has no more to do."""
        assert self.process.stdin
        self.process.stdin.close()

    def ends_within(self, timeout_s: float) -> bool:
        """Waits for its end; where the system can, without a look every 50 ms, which is what Python's own wait does."""
        try:
            descriptor = os.pidfd_open(self.process.pid)
        except (AttributeError, OSError):  # no Linux, an old one, a container that forbids it; or it is reaped
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout_s)
            return self.process.returncode is not None
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(min(timeout_s * 1000, _LONGEST_POLL_MS)))
        finally:
            os.close(descriptor)

    def end(self) -> int:
        """Kills it and all that it started, or what is left of them; returns its exit code, negative for a signal."""
        if self.process.returncode is None:
            # the group may have gone, or (on macOS) only its unreaped leader is left; Windows has none
            with suppress(AttributeError, ProcessLookupError, PermissionError):
                if self._own_group:
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        return self.process.wait()

    def messages(self, longest: int = _LONGEST_HEAD) -> bytes:
        """What it has written to standard error; of long messages, beginning and end."""
        if self._messages is None:
            return b""
        size = self._messages.seek(0, os.SEEK_END)
        self._messages.seek(0)
        if size <= longest + _LONGEST_TAIL:
            return self._messages.read()
        head = self._messages.read(longest)
        self._messages.seek(-_LONGEST_TAIL, os.SEEK_END)
        return head + b"\n[...]\n" + self._messages.read()

    def forget_messages(self) -> None:
        """Drops what it has written to standard error; only while it is idle, since both share one file position."""
        if self._messages is not None:
            self._messages.seek(0)
            self._messages.truncate()

    def num_message_bytes(self) -> int:
        """How much it has written to standard error."""
        return self._messages.seek(0, os.SEEK_END) if self._messages else 0

    def stop(self, grace_s: float = 0.0) -> None:
        """Ends it, with time to end by itself first, and closes all files; in a fork, which has a copy, only these."""
        if self._owner != os.getpid():
            self.process.returncode = 0  # so that nobody waits for it: it is the parent's
        else:
            if grace_s:
                self.ends_within(grace_s)
            self.end()
        self._files.close()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A process that is started within it is never interrupted, from its first moment on; this one is, afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait_for(descriptor: int, event: int, deadline: float) -> None:
    if _CAN_POLL:
        poll = select.poll()
        poll.register(descriptor, event)
        left_ms = max(0.0, deadline - time.monotonic()) * 1000
        if not poll.poll(min(left_ms, _LONGEST_POLL_MS)):
            raise TimeoutError


def wait_for_answers(processes: Sequence[WatchedProcess], timeout_s: float) -> list[WatchedProcess]:
    """Those that have something to say, or have ended, by the time that one has or the time is up."""
    if not _CAN_POLL:
        return list(processes)
    poll = select.poll()
    for process in processes:
        poll.register(process.answers, select.POLLIN)
    ready = {descriptor for descriptor, _ in poll.poll(min(timeout_s * 1000, _LONGEST_POLL_MS))}
    return [process for process in processes if process.answers in ready]


def python_command(code: str) -> list[str]:
    """The command that runs code in another interpreter, which finds the modules that this one does."""
    path = [entry or str(Path.cwd()) for entry in sys.path]
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {path!r}; {code}"]


def signal_name(returncode: int) -> str | None:
    """The name of the signal that ended a process, its number where it has none; None for one that exited."""
    if returncode >= 0:
        return None
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return str(-returncode)


def last_words(exit_code: int) -> str:
    """How a worker ended, in words."""
    name = signal_name(exit_code)
    if name is None:
        return f"its worker ended with exit code {exit_code}"
    perhaps = ", for want of memory perhaps" if name == "SIGKILL" else ""
    return f"its worker was killed by signal {-exit_code}" + (f" ({name})" if name.isalnum() else "") + perhaps


def temporary_file(files: ExitStack, content: bytes = b"") -> IO[bytes]:
    """A file without a name, at its beginning, which the stack closes.

    Raises:
        OutputError: There is no room for it.
    """
    try:
        file: IO[bytes] = files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        file.write(content)
        file.seek(0)
    except OSError as error:
        raise OutputError(f"no temporary file can be written: {error.strerror or error}; is the disk full?") from error
    return file
