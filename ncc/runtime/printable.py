"""Names and excerpts of a stranger's files, for people: nothing in them steers a terminal, or hides or turns text."""

__all__ = ["printable"]


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
