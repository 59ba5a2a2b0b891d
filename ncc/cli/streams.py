"""The command's standard streams: closed ones are redirected to nowhere, and output errors are reported."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast


class StandardOutputError(OSError):
    """Standard output can't be written."""


class _Output(io.TextIOWrapper):
    """Standard output whose errors can be told from those of other files."""

    def write(self, text: str, /) -> int:
        """As that of any stream."""
        try:
            return super().write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StandardOutputError(error.errno, error.strerror) from error

    def flush(self) -> None:
        """As that of any stream."""
        try:
            super().flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StandardOutputError(error.errno, error.strerror) from error


@contextmanager
def standard_streams() -> Iterator[None]:
    """Runs a command; its output is written when it ends, or a message says why not.

    Raises:
        SystemExit: With code 1 where standard output can't be written.
    """
    _open_missing()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _wrapped(sys.stdout)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader (head, less) has seen enough
        give_up_output()
    except StandardOutputError as error:
        give_up_output()
        try:
            print(f"ncc: standard output can't be written: {error.strerror}", file=sys.stderr)
        finally:
            sys.exit(1)


def give_up_output() -> None:
    """Has what is still in the buffer go nowhere when the process ends, which would fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_missing() -> None:
    """Opens streams that were closed by whoever started the command, which Python has None for."""
    # in this order: files that are opened later must not get the numbers of these
    if sys.stdin is None:
        sys.stdin = _nowhere(0, "r")
    if sys.stdout is None:
        sys.stdout = _nowhere(1, "w")
    if sys.stderr is None:
        sys.stderr = _nowhere(2, "w")


def _nowhere(number: int, mode: str) -> TextIO:
    opened = os.open(os.devnull, os.O_RDWR)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)
    return cast(TextIO, os.fdopen(number, mode, closefd=False))


def _wrapped(stream: io.TextIOWrapper) -> _Output:
    encoding, errors, line, through = stream.encoding, stream.errors, stream.line_buffering, stream.write_through
    return _Output(stream.detach(), encoding, errors, line_buffering=line, write_through=through)
