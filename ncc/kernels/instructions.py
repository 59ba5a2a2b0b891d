"""Types as statements write them: their sizes, and what lies inside of them."""

import re

_SCALAR_BYTES = {"half": 2.0, "bfloat": 2.0, "float": 4.0, "double": 8.0, "x86_fp80": 16.0, "fp128": 16.0}
_POINTER_BYTES = 8.0
_MOST_BYTES = 2.0**62

_INTEGER = re.compile(r"i(\d{1,8})")
_LANES = re.compile(r"<(?:vscale x )?(\d{1,9}) x ")
_ARRAY = re.compile(r"[\[<](\d{1,19}) x (.*)[\]>]", re.DOTALL)


def size_of_type(text: str) -> float:
    """Bytes of a type; structures without padding, 8 for pointers and for what is not known."""
    text = text.strip()
    if text in _SCALAR_BYTES:
        return _SCALAR_BYTES[text]
    if found := _INTEGER.fullmatch(text):
        return max(1.0, int(found[1]) / 8)
    if found := _ARRAY.fullmatch(text):
        return min(int(found[1]) * size_of_type(found[2]), _MOST_BYTES)
    if fields := _fields_of(text):
        return min(sum(size_of_type(field) for field in fields), _MOST_BYTES)
    return _POINTER_BYTES


def element_type(text: str, index: int | None) -> str:
    """Type of an element of an array or a structure; the type itself where nothing is known to lie inside.

    Args:
        text: The type.
        index: Number of a structure's field, None if it is not known.
    """
    if found := _ARRAY.fullmatch(text.strip()):
        return found[2]
    fields = _fields_of(text.strip())
    return fields[index] if index is not None and 0 <= index < len(fields) else text


def lanes_of(text: str) -> float:
    """Lanes of the first vector type in a statement's text, 1 if there is none."""
    found = _LANES.search(text)
    return float(found[1]) if found else 1.0


def leading_type(text: str) -> str:
    """The type that a text begins with: all before the first blank or comma that stands outside of brackets."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "{[<(") - (character in "}]>)")
        if character in " ," and depth == 0:
            return text[:at]
    return text


def split_fields(text: str, brackets: str = "{[<(}]>)") -> list[str]:
    """Splits a text at the commas that stand outside of brackets; no blanks are left around the parts."""
    opening, closing = brackets[: len(brackets) // 2], brackets[len(brackets) // 2 :]
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in opening) - (character in closing)
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _fields_of(text: str) -> list[str]:
    """Fields of a structure that is written out; none for other types, and for structures that were cut."""
    if not text.startswith(("{", "<{")) or "..." in text:
        return []
    return [field for field in split_fields(text.strip("<>")[1:-1]) if field]
