"""Names and excerpts of a stranger's files, for people: nothing in them steers a terminal, or hides or turns text."""

from functools import lru_cache

_LONGEST = 10_000
"""Of mangled names; one may stand for a name thousands of times as long."""
_LONGEST_SHOWN = 300


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
    if name.startswith(("_Z", "__Z")) and len(name) <= _LONGEST:
        try:
            from cpp_demangle import demangle

            name = _abridged(demangle(name[name.index("_Z") :]))
        except (ModuleNotFoundError, ValueError):  # it is no name of theirs, or the platform has no wheel
            pass
    return printable(name, lines=False)


def _abridged(name: str) -> str:
    return name if len(name) <= _LONGEST_SHOWN else name[: _LONGEST_SHOWN - 1] + "…"
