"""Numbers of work-items as people write them."""

import re
from collections.abc import Sequence

from ncc.errors import InputError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def parse_sizes(given: str | Sequence[int], name: str = "sizes", most: int = 2**32) -> tuple[int, ...]:
    """Numbers of work-items from "1K:16M", in steps of 4, or "64,256"; K, M and G are powers of 1024.

    Args:
        given: The text, or the numbers.
        name: What messages call it.
        most: The largest that is allowed.

    Raises:
        InputError: It is neither, or has none or too large ones.

    Examples:
        >>> parse_sizes("1K:64K"), parse_sizes("64,100")
        ((1024, 4096, 16384, 65536), (64, 100))
    """
    sizes = _parsed(given) if isinstance(given, str) else tuple(given)
    if not sizes or not all(1 <= size <= most for size in sizes):
        raise InputError(
            f"{name} is {given!r}; expected whole numbers from 1 to {most:,}: a range such as 1K:16M, "
            "or a list such as 64,256"
        )
    return sizes


def _parsed(text: str) -> tuple[int, ...]:
    """The numbers; none where it is neither a range nor a list."""
    found = re.fullmatch(r"\s*(\d{1,12})([KMG]?)\s*:\s*(\d{1,12})([KMG]?)\s*", text, re.IGNORECASE)
    if found:
        first, last = (int(found[at]) * _UNITS[found[at + 1].upper()] for at in (1, 3))
        return tuple(first * 4**step for step in range(32) if 0 < first * 4**step <= last)
    parts = [re.fullmatch(r"\s*(\d{1,12})([KMG]?)\s*", part, re.IGNORECASE) for part in text.split(",")]
    return tuple(dict.fromkeys(int(part[1]) * _UNITS[part[2].upper()] if part else 0 for part in parts))
