"""Pieces of C's text: functions, to where a bracket closes, what is assigned, parameters with what stands for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ncc.tasks.gpus.expressions import split_arguments

_FUNCTION = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^;{}]*)\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_NO_FUNCTION = frozenset(("if", "for", "while", "switch", "catch", "return", "sizeof", "else", "do"))


@dataclass(frozen=True)
class Body:
    """A function of a text: where it begins and ends, and its parameters."""

    name: str
    begin: int
    end: int
    parameters: list[str]
    defaults: dict[str, str]


def bodies_of(text: str) -> list[Body]:
    """Functions that have a body."""
    bodies = []
    for found in _FUNCTION.finditer(text):
        if found[1] in _NO_FUNCTION:
            continue
        texts = split_arguments(found[2])
        plain = [one.split("=")[0].replace("[]", "").strip() for one in texts]
        names = [(re.findall(r"\w+", one) or [""])[-1] for one in plain]
        defaults = {name: one.split("=", 1)[1] for name, one in zip(names, texts, strict=True) if "=" in one}
        bodies.append(Body(found[1], found.end(), closing(text, found.end() - 1), names, defaults))
    return bodies


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
