"""Makes names and excerpts of untrusted files printable: nothing controls a terminal, or hides or turns text."""

import re
from contextlib import suppress
from functools import lru_cache

import pydemumble

_LONGEST, _LONGEST_STOOD_FOR, _LONGEST_SHOWN = 4_000, 2**20, 300
_MADE_UNIQUE = re.compile(r"__(?:intern|static)__[0-9a-f]{16}$")
"""What clang adds to names of relocatable device code."""
_BACK = re.compile(r"S([0-9A-Z]*)_|T[0-9A-Z]*_|E")
"""What stands for a part of the name before it, and the end of a name within the name."""


def printable(text: object, *, lines: bool = True) -> str:
    r"""Text whose control, bidirectional and other invisible characters are escaped, as JSON escapes them.

    Args:
        text: To be shown.
        lines: Keep ends of lines and tabs, as messages have them; names must not have any.

    Examples:
        >>> print(printable("a\x1b[31m\u202eb\U000e0041\n", lines=False))
        a\u001b[31m\u202eb\udb40\udc41\u000a
    """
    text = str(text)
    if text.isprintable():
        return text
    kept = "\n\t" if lines else ""
    return "".join(sign if sign.isprintable() or sign in kept else _escaped(sign) for sign in text)


def _escaped(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


@lru_cache(maxsize=1 << 12)
def source_name(name: str) -> str:
    """A function's name as C++ or CUDA source has it, printable; one that no such compiler mangled stays as it is.

    Examples:
        >>> source_name("_Z6kernelPKfPfi"), source_name("main"), source_name("_Zx")
        ('kernel(float const*, float*, int)', 'main', '_Zx')
    """
    if name.startswith(("_Z", "__Z")) and len(name) <= _LONGEST and _stands_for(name) <= _LONGEST_STOOD_FOR:
        with suppress(TypeError):  # bytes that are not UTF-8
            name = _abridged(pydemumble.demangle(_MADE_UNIQUE.sub("", name[name.index("_Z") :]))) or name
    return printable(name, lines=False)


def _stands_for(name: str) -> int:
    """How many components a mangled name stands for, at most; one of 200 characters may stand for gigabytes.

    A substitution stands for no more than what comes before the first use of it, or of a newer one; a template's
    parameter for no more than what comes before the first use of any, within a name that holds no other.
    """
    total, arguments = len(name), 0
    sizes: dict[int, int] = {}
    has_names_within = "Z" in name[2:]
    for found in _BACK.finditer(name):
        if total > _LONGEST_STOOD_FOR:
            break
        if found[0] == "E":
            arguments = 0 if has_names_within else arguments
        elif found[0].startswith("T"):
            arguments = arguments or total
            total += arguments
        else:
            number = int(found[1], 36) + 1 if found[1] else 0
            if number not in sizes:
                sizes[number] = min((size for other, size in sizes.items() if other > number), default=total)
            total += sizes[number]
    return total


def _abridged(name: str) -> str:
    return name if len(name) <= _LONGEST_SHOWN else name[: _LONGEST_SHOWN - 1] + "…"
