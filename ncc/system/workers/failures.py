"""One-line reports of exceptions, caused by the input, the disk, or a defect of ncc."""

import errno
import logging
from collections.abc import Mapping
from pathlib import Path
from traceback import extract_tb

from ncc.errors import NccError, OutputError

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE}


def failure_reason(name: str, error: Exception) -> str:
    """Describe why an input failed; raise `OutputError` for causes outside the input, such as a full disk."""
    if isinstance(error, OutputError):
        raise error
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        raise OutputError(f"{name}: {error}") from error
    return str(error) if isinstance(error, NccError) else summarize_failure(name, error)


def is_defect(error: BaseException) -> bool:
    """Return True if only ncc can be to blame, not a lack of memory, the system or deep nesting."""
    return not isinstance(error, MemoryError | RecursionError | OSError)


def summarize_failure(name: str, error: BaseException) -> str:
    """Describe an unplanned exception about an input."""
    if isinstance(error, MemoryError):
        return f"{name}: needs more memory than it may take"
    if isinstance(error, RecursionError):
        return f"{name}: is nested too deep"
    if isinstance(error, OSError):
        other = f" ({error.filename})" if error.filename and str(error.filename) != name else ""
        return f"{name}: can't be read: {error.strerror or error}{other}"
    return f"{name}: {describe_defect(error)}"


def describe_defect(error: BaseException) -> str:
    """Describe a defect of ncc by type, message and location."""
    frames = extract_tb(error.__traceback__)
    location = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{location}; a defect of ncc, please report it"


class Warnings(logging.Handler):
    """A context that collects the library's warnings, each with the functions that it reports as skipped."""

    def __enter__(self) -> dict[str, Mapping[str, str]]:
        self._collected: dict[str, Mapping[str, str]] = {}
        logging.getLogger("ncc").addHandler(self)
        return self._collected

    def __exit__(self, *_: object) -> None:
        logging.getLogger("ncc").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a warning."""
        if record.levelno >= logging.WARNING:
            self._collected[record.getMessage()] = getattr(record, "skipped_functions", {})
