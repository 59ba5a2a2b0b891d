"""Faults as compilers and people make them, put into modules: a type, a name or a line where it does not belong."""

import random
import re
from collections.abc import Callable, Sequence

__all__ = ["FAULTS", "add_fault"]

_TYPE = rb"(?<=[ (<])(?:i8|i32|i64|float|double|ptr|i8\*|i32\*)(?= %| \d|,)"
_LOCAL = rb"%[\w.]+"
_BINARY = rb"= (?:add|sub|mul|shl|and|or|xor|fadd|fsub|fmul|fdiv|icmp \w+|fcmp \w+)\b"
_OTHER_OPERATOR = {b"icmp eq": b"fcmp oeq", b"fadd": b"add", b"fsub": b"sub", b"fmul": b"mul", b"fdiv": b"sdiv"}


def _replace(pattern: bytes, new: Callable[[random.Random, bytes], bytes]) -> Callable[[random.Random, bytes], bytes]:
    """A fault that replaces one match of a pattern within functions."""

    def change(dice: random.Random, text: bytes) -> bytes:
        found = [match for match in re.finditer(pattern, text, re.MULTILINE) if _is_inside(text, match.start())]
        if not found:
            return text
        match = dice.choice(found)
        return text[: match.start()] + new(dice, match[0]) + text[match.end() :]

    return change


def _is_inside(text: bytes, position: int) -> bool:
    return text.rfind(b"\n}", 0, position) < text.rfind(b"\ndefine ", 0, position)


def _other(choices: Sequence[bytes]) -> Callable[[random.Random, bytes], bytes]:
    return lambda dice, old: dice.choice([choice for choice in choices if choice != old])


def _other_operator(_dice: random.Random, old: bytes) -> bytes:
    name = old.removeprefix(b"= ")
    return b"= " + _OTHER_OPERATOR.get(name, b"fcmp oeq" if b"icmp" in name else b"fadd")


def _other_local(dice: random.Random, text: bytes) -> bytes:
    """A value in the place of another one of the same function."""
    bodies = list(re.finditer(rb"^define .*?^}", text, re.MULTILINE | re.DOTALL))
    if not bodies:
        return text
    body = dice.choice(bodies)
    names = list(re.finditer(rb"(?<=[ (])" + _LOCAL + rb"(?=[,)\n ])", body[0]))
    if len(names) < 2:
        return text
    one, other = dice.sample(names, 2)
    return text[: body.start() + one.start()] + other[0] + text[body.start() + one.end() :]


def _nothing(_dice: random.Random, _old: bytes) -> bytes:
    return b""


def _twice(_dice: random.Random, line: bytes) -> bytes:
    return line + line


def _function_twice(dice: random.Random, text: bytes) -> bytes:
    bodies = re.findall(rb"^define .*?^}\n", text, re.MULTILINE | re.DOTALL)
    return text + dice.choice(bodies) if bodies else text


FAULTS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "another type": _replace(_TYPE, _other([b"i16", b"i32", b"i64", b"float", b"ptr"])),
    "another value": _other_local,
    "another operator": _replace(_BINARY, _other_operator),
    "another cast": _replace(
        rb"\b(?:trunc|zext|sext|bitcast|sitofp|fptosi|fpext|fptrunc|ptrtoint|inttoptr)(?= (?:\w+ )*?[\w*<])(?! \()",
        _other([b"trunc", b"zext", b"bitcast", b"fpext", b"fptosi", b"inttoptr"]),
    ),
    "another type behind a cast": _replace(
        rb"(?<= to )(?:i\d+|float|double|ptr)(?=$|,)", _other([b"i1", b"i99", b"half"])
    ),
    "another condition": _replace(rb"(?<=  br )i1(?= )", _other([b"i8", b"i32"])),
    "another return": _replace(rb"^  ret .*$", _other([b"  ret i13 0", b"  ret void", b"  ret double 1.0"])),
    "another label": _replace(rb"(?<=label )%[\w.]+", _other([b"%nowhere", b"%0"])),
    "another incoming block": _replace(rb"(?<=, )%[\w.]+(?= \])", _other([b"%nowhere", b"%entry", b"%0", b"%1"])),
    "an incoming value less": _replace(rb"(?<= \]), \[[^\]\n]*\](?=$|,)", _nothing),
    "no terminator": _replace(rb"^  (?:br|ret|unreachable).*\n", _nothing),
    "no definition": _replace(rb"^  %[\w.]+ = (?!phi).*\n", _nothing),
    "a value twice": _replace(rb"^  %[\w.]+ = .*\n", _twice),
    "a label twice": _replace(rb"^[\w.]+:.*\n", _twice),
    "a case twice": _replace(rb"^    i\d+ -?\d+, label %[\w.]+\n", _twice),
    "a function twice": _function_twice,
    "a phi behind": _replace(rb"^  %[\w.]+ = phi", lambda _, old: b"  fence seq_cst\n" + old),
}
"""What is wrong → how it is put into a text; the text itself where there is no place for it."""


def add_fault(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A module with a fault, which LLVM may yet find none."""
    while True:
        text = dice.choice(seeds)
        changed = FAULTS[dice.choice([*FAULTS])](dice, text)
        if changed != text:
            return changed
