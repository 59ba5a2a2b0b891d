"""Limits on file sizes, and on what a compiler or LLVM may use; environment variables change them."""

import os
from contextlib import suppress

from ncc.errors import InputError

GIGABYTE = 2**30


def memory_limit(needed_bytes: int = 0) -> int:
    """Return the memory of a process: NCC_MEMORY_GB, or 4 GiB or what it needs, if the machine has it."""
    default = min(max(4 * GIGABYTE, needed_bytes), max(GIGABYTE, physical_memory()))
    return _from_environment("NCC_MEMORY_GB") or default


def output_limit() -> int:
    """Return the bytes that one process may write to a file: NCC_OUTPUT_GB, or 2 GiB."""
    return _from_environment("NCC_OUTPUT_GB") or 2 * GIGABYTE


def input_limit() -> int:
    """Return the bytes of a file that is read whole: NCC_INPUT_GB, or 2 GiB."""
    return _from_environment("NCC_INPUT_GB") or 2 * GIGABYTE


def refuse_size(name: str, size: int) -> None:
    """Raise `InputError` for a file of a size beyond `input_limit`, before it is read."""
    if size > input_limit():
        raise InputError(f"{name}: has {size:,} bytes, more than {input_limit() / GIGABYTE:.3g} GB; raise NCC_INPUT_GB")


def _from_environment(variable: str) -> int | None:
    if not (text := os.environ.get(variable)):
        return None
    with suppress(ValueError):
        if 0 < (number := float(text)) < 2**32:
            return max(1, int(number * GIGABYTE))
    raise InputError(f"the environment variable {variable} is {text!r}; expected a number of gigabytes above 0")


def physical_memory() -> int:
    """Return the machine's memory in bytes; on Windows, which has no limits, the default limit of a process."""
    if not hasattr(os, "sysconf"):
        return 4 * GIGABYTE
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
