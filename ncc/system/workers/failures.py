"""How to report an unplanned exception: whether the input, the disk or ncc itself is to blame."""

import errno
import logging
from collections.abc import Mapping
from pathlib import Path
from traceback import extract_tb

from ncc.errors import NccError, OutputError

REPORT = "; a defect of ncc, please report it"
"""How the description of a defect ends."""

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EMFILE, errno.ENFILE}


def reason_of(name: str, error: Exception) -> str:
    """One line on why an input failed.

    Raises:
        OutputError: The disk is full or read-only, or no more files can be opened: no fault of the input.
    """
    if isinstance(error, OutputError):
        raise error
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        raise OutputError(f"{name}: can't be worked on: {error}") from error
    return str(error) if isinstance(error, NccError) else summarize_failure(name, error)


def is_defect(error: BaseException) -> bool:
    """Whether it can only be ncc's own fault: no lack of memory, no refusal of the system, no endless nesting."""
    return not isinstance(error, MemoryError | RecursionError | OSError)


def summarize_failure(name: str, error: Exception) -> str:
    """One line on why an input failed, in its terms where it asked too much, else as a defect of ncc with its place."""
    if isinstance(error, MemoryError):
        return f"{name}: needs more memory than it may take"
    if isinstance(error, RecursionError):
        return f"{name}: is nested too deep"
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename and str(error.filename) != name else ""
        return f"{name}: can't be read or worked on: {error.strerror or error}{where}"
    return f"{name}: {describe_failure(error)}"


def describe_failure(error: BaseException) -> str:
    """A defect of ncc in one line: type, message, and the place that raised it."""
    frames = extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {error}{place}{REPORT}"


class Warnings(logging.Handler):
    """Within it, what the library warns of is kept, once, each with the functions that it says are left out."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: dict[str, Mapping[str, str]] = {}

    def __enter__(self) -> dict[str, Mapping[str, str]]:
        logging.getLogger("ncc").addHandler(self)
        return self.told

    def __exit__(self, *_: object) -> None:
        logging.getLogger("ncc").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a warning."""
        self.told[record.getMessage()] = getattr(record, "left_out", {})
