"""Limits on file sizes, and on what a compiler or LLVM may use; environment variables change them."""

import math
import os

from ncc.errors import InputError

GIGABYTE = 2**30

_UNKNOWN_BYTES = 2**62


def memory_limit(input_bytes: int = 0, *, bytes_for_each: int = 0) -> int:
    """Return the address space of a process: NCC_MEMORY_GB, or 4 GiB or more for large input, if the machine has it."""
    chosen = _from_environment("NCC_MEMORY_GB")
    if chosen is not None:
        return chosen
    return min(max(4 * GIGABYTE, input_bytes * bytes_for_each), max(GIGABYTE, _physical_memory()))


def fair_share(jobs: int) -> int:
    """Return the memory of one of several workers: NCC_MEMORY_GB, or an equal share of the machine, at least 4 GiB."""
    physical = _physical_memory()
    return memory_limit(physical // jobs if physical < _UNKNOWN_BYTES else 0, bytes_for_each=1)


def output_limit() -> int:
    """Return the bytes that one process may write to a file: NCC_OUTPUT_GB, or 2 GiB."""
    return _from_environment("NCC_OUTPUT_GB") or 2 * GIGABYTE


def input_limit() -> int:
    """Return the bytes of a file that is read whole: NCC_INPUT_GB, or 2 GiB."""
    return _from_environment("NCC_INPUT_GB") or 2 * GIGABYTE


def refuse_size(name: str, size: int) -> None:
    """Raise `InputError` for a file of a size beyond `input_limit`, before it is read."""
    if size > input_limit():
        raise InputError(
            f"{name}: has {size:,} bytes, more than {input_limit() / GIGABYTE:.3g} GB; NCC_INPUT_GB allows more"
        )


def _from_environment(variable: str) -> int | None:
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
    except (AttributeError, ValueError, OSError):  # not every system has these
        return _UNKNOWN_BYTES
