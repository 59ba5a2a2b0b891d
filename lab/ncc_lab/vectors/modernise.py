"""Rewrites the original's abstracted statements as LLVM writes them since pointers lost their pointee types."""

import re

_ADDRESS_SPACE = re.compile(r" *(addrspace\(\d+\))$")
_NAME = re.compile(r'%"[^"]*"$|[\w.$%-]+$')
_TYPED_INDEX = re.compile(r", <TYP> (\d+)$")
_INSERTED = re.compile(r"(?P<start>insertelement <(?:vscale x )?\d+ x (?P<element>[^<>]+)> [^,]+,) <TYP> ")
_OPENING = {"}": "{", "]": "[", ">": "<", ")": "("}

_MARK = "\0"
"""Stands before and behind the address space of a pointer already rewritten, which is one word until the end."""
_MARKED = re.compile(f"{_MARK}([^{_MARK}]*){_MARK}")


def modernise_statement(text: str) -> str:
    """A statement of the original's vocabulary in today's form: ``ptr`` for typed pointers, element indices untyped.

    >>> modernise_statement("<%ID> = load i32, i32* <%ID>, align 4")
    '<%ID> = load i32, ptr <%ID>, align 4'
    >>> modernise_statement("store i32 (i8*)* <@ID>, i32 (i8*)* addrspace(1)* <%ID>")
    'store ptr <@ID>, ptr addrspace(1) <%ID>'
    >>> modernise_statement("<%ID> = insertelement <4 x float> <%ID>, <TYP> <%ID>, <TYP> 1")
    '<%ID> = insertelement <4 x float> <%ID>, float <%ID>, 1'
    """
    at = text.find("*")
    while at >= 0:
        before = text[:at]
        space = _ADDRESS_SPACE.search(before)
        start = _type_start(before[: space.start()] if space else before)
        if start is None:  # no pointer's star
            at = text.find("*", at + 1)
        else:
            text = f"{text[:start]}{_MARK}{space[1] if space else ''}{_MARK}{text[at + 1 :]}"
            at = text.find("*", start)
    text = _MARKED.sub(lambda pointer: f"ptr {pointer[1]}".rstrip(), text)
    text = _TYPED_INDEX.sub(r", \1", text)
    return _INSERTED.sub(r"\g<start> \g<element> ", text)


def _type_start(before: str) -> int | None:
    """Where the type that a text ends with begins, or None where it ends with none."""
    if before.endswith(_MARK):
        return before.rindex(_MARK, 0, -1)
    if before.endswith(")"):  # a function's type: what it returns stands before its parameters
        opening = _bracket_start(before)
        return None if opening is None else _type_start(before[:opening].rstrip())
    if before[-1:] in _OPENING:
        return _bracket_start(before)
    name = _NAME.search(before)
    return name.start() if name else None


def _bracket_start(before: str) -> int | None:
    """Where the bracket opens that the text closes with."""
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] in _OPENING) - (before[at] in _OPENING.values())
        if depth == 0:
            return at
    return None
