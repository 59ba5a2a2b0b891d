"""Pieces of C's text: to where a bracket closes, what is assigned, and parameters with what stands for them."""

import re
from collections.abc import Sequence


def closing(text: str, opening: int) -> int:
    """Where the bracket that opens at a place closes; the text's end if it does not."""
    close = {"(": ")", "{": "}", "[": "]"}[text[opening]]
    depth = 0
    for found in re.finditer(re.escape(text[opening]) + "|" + re.escape(close), text[opening:]):
        depth += 1 if found[0] != close else -1
        if depth == 0:
            return opening + found.start()
    return len(text)


def expression_at(text: str, begin: int) -> str:
    """What stands between an equals sign and the end of its statement or declarator."""
    depth = 0
    for at in range(begin, min(begin + 400, len(text))):
        sign = text[at]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if depth < 0 or (sign in ",;" and depth == 0):
            return text[begin:at].strip()
    return ""


def substituted(text: str, names: Sequence[str], values: Sequence[str]) -> str:
    """A text with parameters replaced by what stands for them."""
    by_name = {name.strip(): f"({value})" for name, value in zip(names, values, strict=False) if name.strip()}
    if not by_name:
        return text
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, by_name))})\b", lambda found: by_name[found[0]], text)
