"""Text for people: names made printable, sizes and times with units, aligned columns, the command as typed."""

import os
import re
import shlex
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from pathlib import Path

from ncc.errors import InputError

MAX_BYTES = 1e15
"""Maximum number of bytes in an input."""

_MAX_MANGLED, _MAX_COMPONENTS, _MAX_DEMANGLED = 4_000, 2**20, 300
_UNIQUE_SUFFIX = r"__(?:intern|static)__[0-9a-f]{16}$"
"""Suffix that clang adds to names of relocatable device code."""
_BACK_REFERENCE = r"S([0-9A-Z]*)_|T[0-9A-Z]*_|E"
"""Substitutions and template parameters, which repeat a part before them, and the end of a nested name."""
_NUMBER = r"([-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?inf|nan)"
_DURATIONS = (
    (730 * 864e5, 365.25 * 864e5, "years"), (48 * 36e5, 864e5, "days"), (120 * 6e4, 36e5, "h"), (120e3, 6e4, "min"),
    (1e3, 1e3, "s"), (1, 1, "ms"), (1e-3, 1e-3, "µs"), (0, 1e-6, "ns"),
)  # fmt: skip
"""Minimum in ms, ms per unit, and name of each unit."""


def escape_control(text: object, *, lines: bool = True) -> str:
    """Escape control, bidirectional and other invisible characters as JSON does, except ends of lines and tabs."""
    text = str(text)
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    units = (char if char.isprintable() or char in kept else char.encode("utf-16-be", "surrogatepass") for char in text)
    return "".join(unit if isinstance(unit, str) else re.sub("(....)", r"\\u\1", unit.hex()) for unit in units)


def escape_html(value: object) -> str:
    """Escape one line of text for a page."""
    return escape(escape_control(value, lines=False))


def short_path(path: str) -> str:
    """Return an absolute path relative to the working directory if it is below that."""
    folder, whole = Path.cwd(), Path(os.path.normpath(path))
    return str(whole.relative_to(folder)) if whole.is_relative_to(folder) else path


@lru_cache(maxsize=1 << 12)
def demangle(name: str) -> str:
    """Return a function's name as in C++ or CUDA source, without control characters."""
    import pydemumble  # loads a shared library, which most answers don't need

    if name.startswith(("_Z", "__Z")) and len(name) <= _MAX_MANGLED and _num_components(name) <= _MAX_COMPONENTS:
        with suppress(TypeError):  # bytes that are not UTF-8
            demangled = pydemumble.demangle(re.sub(_UNIQUE_SUFFIX, "", name[name.index("_Z") :])) or name
            name = demangled if len(demangled) <= _MAX_DEMANGLED else demangled[: _MAX_DEMANGLED - 1] + "…"
    return escape_control(name, lines=False)


def _num_components(name: str) -> int:
    """Bound the components that a mangled name expands to; 200 characters may expand to gigabytes."""
    total, arguments = len(name), 0
    sizes: dict[int, int] = {}
    has_nested_names = "Z" in name[2:]
    for match in re.finditer(_BACK_REFERENCE, name):
        if total > _MAX_COMPONENTS:
            break
        if match[0] == "E":
            arguments = 0 if has_nested_names else arguments
        elif match[0].startswith("T"):
            arguments = arguments or total
            total += arguments
        else:
            index = int(match[1], 36) + 1 if match[1] else 0
            if index not in sizes:
                sizes[index] = min((size for other, size in sizes.items() if other > index), default=total)
            total += sizes[index]
    return total


def parse_bytes(text: str) -> float:
    """Parse bytes with or without a unit: B, KB, MB, GB, TB (powers of 1000) or KiB to TiB (of 1024)."""
    return _parse(text, r" *(?:([kmgt])(i?))?b?", 1000, "a size; expected bytes, such as 65536, 64KiB, 16MB or 1GB")


def parse_items(text: str) -> float:
    """Parse work-items with or without K, M or G, powers of 1024, like the sizes of `ncc measure`."""
    return _parse(text, "([kmg]?)()", 1024, "a number of work-items; expected one such as 65536, 64K or 1e6")


def _parse(text: str, units: str, base: int, expected: str) -> float:
    """Parse a number with a unit; the pattern's groups are the prefix and the mark of powers of 1024."""
    if match := re.fullmatch(_NUMBER + units, text.strip(), re.I):
        with suppress(ValueError):
            power = " kmgt".index((match[2] or " ").lower())
            return float(float(match[1]) * (1024 if match[3] else base) ** power)
    raise InputError(f"{text!r:.40} is not {expected}")


def format_amount(amount: float) -> str:
    """Format a number with all digits of a whole one below 10^12, else with six digits."""
    return f"{amount:,.0f}" if float(amount).is_integer() and abs(amount) < 1e12 else f"{amount:.6g}"


def format_bytes(size: float, base: int = 1024) -> str:
    """Format bytes in the largest unit of at least 1, binary or, with base 1000, decimal, with three digits."""
    units, power = ("B", "KiB", "MiB", "GiB") if base == 1024 else ("B", "KB", "MB", "GB", "TB"), 0
    while round(size) >= base and power < len(units) - 1:
        size, power = size / base, power + 1
    return f"{size:.3g} {units[power]}" if size < 999.5 else f"{size:.0f} {units[power]}"


def format_given_bytes(size: float) -> str:
    """Format bytes in a unit if that is exact, else as a number."""
    texts = (format_bytes(size, 1000), format_bytes(size))
    return next((text.replace(" ", "") for text in texts if parse_bytes(text) == size), f"{size:.15g}")


def pluralize(count: int, noun: str, ending: str = "s") -> str:
    """Format a number of things, with the ending of their plural unless it is 1."""
    return f"{count:,} {noun}{ending * (count != 1)}"


def format_interval(time: float, low: float, high: float) -> str:
    """Format a time in ms and its interval, in units that leave few digits; a common unit is printed once."""
    (middle, unit), *ends = map(_duration, (time, low, high))
    is_shared = all(other == unit for _, other in ends)
    first, last = (number if is_shared else f"{number} {other}" for number, other in ends)
    return f"{middle} {unit} ({first} to {last})"


def format_ends(low: float, high: float) -> str:
    """Format both ends of an interval of times in ms."""
    (first, unit), (last, other) = _duration(low), _duration(high)
    return f"{first} to {last} {other}" if unit == other else f"{first} {unit} to {last} {other}"


def format_duration(time: float) -> str:
    """Format a time in ms in a unit that leaves few digits."""
    return " ".join(_duration(time))


def _duration(time: float) -> tuple[str, str]:
    scale, unit = next((scale, unit) for least, scale, unit in _DURATIONS if time >= least)
    number = time / scale
    return (f"{number:,.0f}" if number >= 999.5 else f"{number:#.3g}".rstrip(".")), unit


def align_columns(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> list[str]:
    """Return rows as lines; columns in ``left`` are left-aligned, the others, with figures, right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = [str.ljust if index in left else str.rjust for index in range(len(widths))]
    return ["  ".join(map(lambda put, *cell: put(*cell), align, row, widths)).rstrip() for row in rows]


def command_line(program: str = "ncc") -> str:
    """Return the running command without parent folders, so that a card does not depend on the place."""
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    program = f"torchrun --nproc-per-node {ranks} -m {program}" if ranks > 1 else program
    return f"{program} {shlex.join(Path(word).name if '/' in word else word for word in sys.argv[1:])}"
