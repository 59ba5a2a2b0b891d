"""Limits on file sizes, and on what a compiler or LLVM may use; environment variables change them."""

import math
import os
from pathlib import Path

from ncc.errors import InputError

GIGABYTE = 2**30

_MEMORY = "NCC_MEMORY_GB"
_OUTPUT = "NCC_OUTPUT_GB"
_INPUT = "NCC_INPUT_GB"
_UNKNOWN = 2**62


def memory_limit(input_bytes: int = 0, *, bytes_for_each: int = 0) -> int:
    """Bytes of address space that one process may take.

    Args:
        input_bytes: Size of what it reads.
        bytes_for_each: How many bytes each of those may cost.

    Returns:
        What NCC_MEMORY_GB says; without it 4 GiB, or more where the input asks for more, but never more than the
        machine has.

    Raises:
        InputError: NCC_MEMORY_GB is not a number above 0.
    """
    chosen = _gigabytes(_MEMORY)
    if chosen is not None:
        return chosen
    return min(max(4 * GIGABYTE, input_bytes * bytes_for_each), max(GIGABYTE, _physical_memory()))


def fair_share(jobs: int) -> int:
    """What the user allows one process, else the machine's memory by the number of workers, if that is enough."""
    physical = _physical_memory()
    return memory_limit(physical // jobs if physical < _UNKNOWN else 0, bytes_for_each=1)


def output_limit() -> int:
    """Bytes that one process may write to a file: what NCC_OUTPUT_GB says, else 2 GiB.

    Raises:
        InputError: NCC_OUTPUT_GB is not a number above 0.
    """
    return _gigabytes(_OUTPUT) or 2 * GIGABYTE


def input_limit() -> int:
    """Bytes that a file may have that is read whole: what NCC_INPUT_GB says, else 2 GiB.

    Raises:
        InputError: NCC_INPUT_GB is not a number above 0.
    """
    return _gigabytes(_INPUT) or 2 * GIGABYTE


def refuse_large(path: str | os.PathLike[str]) -> None:
    """Looks at a file's size before it is read.

    Raises:
        InputError: It has more than `input_limit` allows.
        OSError: It can't be looked at.
    """
    refuse_size(os.fspath(path), Path(path).stat().st_size)


def refuse_size(name: str, size: int) -> None:
    """Refuses a file that has more bytes than `input_limit` allows, by an `InputError`."""
    if size > input_limit():
        raise InputError(
            f"{name}: has {size:,} bytes, more than {input_limit() / GIGABYTE:.3g} GB; {_INPUT} allows more"
        )


def _gigabytes(variable: str) -> int | None:
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < 2**32:
        raise InputError(f"the environment variable {variable} is {text!r}; expected a number of gigabytes above 0")
    return max(1, int(number * GIGABYTE))


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # systems that don't tell
        return _UNKNOWN
