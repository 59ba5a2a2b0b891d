"""Every type and constant of LLVM's language references, 3.7 to 22, each with the versions that can write it.

``«T»`` stands for a pointer to T and ``«1:T»`` for one in address space 1, which versions with typed pointers and those
with opaque ones write otherwise.
"""

import re
from dataclasses import dataclass

from tests.support.text import rows

__all__ = ["VERSIONS", "Form", "constants_of", "globals_of", "types_of", "written"]

VERSIONS = (3.7, 3.8, 3.9, *map(float, range(4, 25)))

_POINTER = re.compile(r"«(?:(\d):)?([^«»]*)»")


@dataclass(frozen=True)
class Form:
    """A way to write a type, or a constant of a type, and the versions that have it."""

    text: str
    since: float
    until: float
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text}".strip()


def written(text: str, typed: bool) -> str:
    """A form as text of LLVM."""

    def pointer(found: re.Match[str]) -> str:
        space = f" addrspace({found[1]})" if found[1] else ""
        return f"{found[2]}{space}*" if typed else f"ptr{space}"

    while (text := _POINTER.sub(pointer, before := text)) != before:
        pass
    return text


def types_of(version: float) -> list[Form]:
    """The types of first class that a version has."""
    return [form for form in TYPES if form.since <= version <= form.until]


def constants_of(version: float) -> list[Form]:
    """The constants that a version has."""
    return [form for form in CONSTANTS if form.since <= version <= form.until]


def globals_of(version: float) -> str:
    """What the forms name, with pointers yet to be written."""
    scalable = "" if version < 9 else "declare void @scaled(<vscale x 4 x i32>)\n"
    return f"""%s = type {{ i32, «void («%s»)» }}
%hidden = type opaque
@g = global i32 0
@h = global i32 1
@text = constant [4 x i8] c"abc\\00"
@pair = global [2 x i32] zeroinitializer
@table = global {{ [3 x «i8»] }} zeroinitializer
@far = addrspace(1) global i32 0
declare void @d()
define void @blocks() {{
  br label %there
there:
  ret void
}}
{scalable}"""


FORMS = [
    Form(text, float(since), float(until), kind.removeprefix("type"))
    for text, kind, since, until in rows("language.txt")
]
TYPES = [form for form in FORMS if not form.kind]
CONSTANTS = [form for form in FORMS if form.kind]
