"""How much memory and output a compiler, or LLVM, may take for one file; environment variables change it."""

import math
import os

from ncc.errors import InputError

__all__ = ["GIGABYTE", "memory_limit", "output_limit"]

GIGABYTE = 2**30

_MEMORY = "NCC_MEMORY_GB"
_OUTPUT = "NCC_OUTPUT_GB"


def memory_limit(input_bytes: int = 0, *, bytes_for_each: int = 0) -> int:
    """Bytes of address space that one process may take.

    Args:
        input_bytes: Size of what it reads.
        bytes_for_each: How many bytes each of those may cost.

    Returns:
        What NCC_MEMORY_GB says; without it 4 GiB, or more where the input asks for more, but never more than the
        machine has.

    Raises:
        InputError: NCC_MEMORY_GB is no number above 0.
    """
    chosen = _gigabytes(_MEMORY)
    if chosen is not None:
        return chosen
    return min(max(4 * GIGABYTE, input_bytes * bytes_for_each), max(GIGABYTE, _physical_memory()))


def output_limit() -> int:
    """Bytes that one process may write to a file: what NCC_OUTPUT_GB says, else 2 GiB.

    Raises:
        InputError: NCC_OUTPUT_GB is no number above 0.
    """
    return _gigabytes(_OUTPUT) or 2 * GIGABYTE


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
        return 2**62
