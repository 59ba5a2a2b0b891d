"""Numbers of bytes and times as people write and read them: 64 KB, 16MiB, 1e6, 12 ms, 3.5 h."""

import math
import re

from ncc.errors import InputError

LARGEST_BYTES = 1e15
"""No machine moves more at a time."""

_SIZE = re.compile(r"(?P<number>[-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?inf|nan) *(?:(?P<prefix>[kmgt])(?P<binary>i?))?b?", re.I)
_UNITS = ("B", "KiB", "MiB", "GiB")
_DECIMAL_UNITS = ("B", "KB", "MB", "GB", "TB")
_DURATIONS = (
    (730 * 864e5, 365.25 * 864e5, "years"), (48 * 36e5, 864e5, "days"), (120 * 6e4, 36e5, "h"), (120e3, 6e4, "min"),
    (1e3, 1e3, "s"), (0, 1, "ms"),
)  # fmt: skip
"""From so many ms on, in a unit of so many ms."""
_POWERS = {None: 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_bytes(text: str) -> float:
    """Bytes from a number with or without a unit: B, KB, MB, GB, TB (powers of 1000) or KiB to TiB (of 1024).

    Raises:
        InputError: It is neither.

    Examples:
        >>> parse_bytes("64KiB"), parse_bytes("1 GB"), parse_bytes("1e6"), parse_bytes("1.5MB")
        (65536.0, 1000000000.0, 1000000.0, 1500000.0)
    """
    found = _SIZE.fullmatch(text.strip())
    try:
        number = float(found["number"]) if found else math.nan
    except ValueError:
        found = None
    if not found:
        raise InputError(f"{text!r:.40} is not a size; expected bytes, such as 65536, 64KiB, 16MB or 1GB")
    return float(number * (1024 if found["binary"] else 1000) ** _POWERS[found["prefix"] and found["prefix"].lower()])


def parse_items(text: str) -> float:
    """Work-items from a number with or without K, M or G, powers of 1024, as `ncc measure` takes its sizes.

    Raises:
        InputError: It is neither.

    Examples:
        >>> parse_items("1M"), parse_items("1e6"), parse_items("64K")
        (1048576.0, 1000000.0, 65536.0)
    """
    number = text.strip().lower()
    unit = number[-1] if number.endswith(("k", "m", "g")) else None
    try:
        return float(number.removesuffix(unit or "")) * 1024 ** _POWERS[unit]
    except ValueError:
        raise InputError(
            f"{text!r:.40} is not a number of work-items; expected one such as 65536, 64K or 1e6"
        ) from None


def readable_bytes(size: float) -> str:
    """Bytes in the largest binary unit that leaves 1 or more, to three digits.

    Examples:
        >>> [readable_bytes(size) for size in (12, 1023.9999, 30800, 2.0**20, 2.0**45)]
        ['12 B', '1 KiB', '30.1 KiB', '1 MiB', '32768 GiB']
    """
    power = 0
    while round(size) >= 1024 and power < len(_UNITS) - 1:
        size, power = size / 1024, power + 1
    return f"{size:.3g} {_UNITS[power]}" if size < 999.5 else f"{size:.0f} {_UNITS[power]}"


def decimal_bytes(size: float) -> str:
    """Bytes in the largest decimal unit that leaves 1 or more, to three digits.

    Examples:
        >>> [decimal_bytes(size) for size in (12, 999.9, 30800, 67108864, 6.44e9, 3e15)]
        ['12 B', '1 KB', '30.8 KB', '67.1 MB', '6.44 GB', '3000 TB']
    """
    power = 0
    while round(size) >= 1000 and power < len(_DECIMAL_UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.3g} {_DECIMAL_UNITS[power]}" if size < 999.5 else f"{size:.0f} {_DECIMAL_UNITS[power]}"


def readable_estimate(time: float, low: float, high: float) -> str:
    """A time in ms and the ends of its interval, each in a unit that leaves few digits, named once if it is one.

    Examples:
        >>> [readable_estimate(time, time / 9, time * 9) for time in (2.5, 12e3, 2e9)]
        ['2.5 ms (0.278 to 22.5)', '12 s (1.33 to 108)', '23.1 days (2.57 to 208)']
        >>> readable_estimate(9e12, 8e3, 9e16)
        '285 years (8 s to 2,851,928 years)'
    """
    (middle, unit), *ends = map(_duration, (time, low, high))
    share = all(other == unit for _, other in ends)
    first, last = (number if share else f"{number} {other}" for number, other in ends)
    return f"{middle} {unit} ({first} to {last})"


def _duration(time: float) -> tuple[str, str]:
    scale, unit = next((scale, unit) for least, scale, unit in _DURATIONS if time >= least)
    number = time / scale
    return (f"{number:,.0f}" if number >= 999.5 else f"{number:.3g}"), unit
