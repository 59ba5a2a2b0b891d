"""Finds where declarations and statements of preprocessed C++ begin and end, to leave some out of a text.

No parser: braces, parentheses and semicolons tell blocks apart, and the words before a brace say what it belongs to.
"""

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\b\d[\w.\']*|\'(?:[^\'\\\n]|\\.)*\''
    r"|^[ \t]*#[^\n]*|[{}();]",
    re.DOTALL | re.MULTILINE,
)
_NESTED = functools.reduce(lambda inner, _: rf"\((?:[^()]|{inner})*\)", range(7), r"\([^()]*\)")
"""Parentheses in parentheses, as deep as attributes go."""
_ATTRIBUTE = re.compile(rf"(?:__attribute__|\balignas|__declspec)\s*{_NESTED}")
_TRANSPARENT = re.compile(r'\bnamespace\b[^;(){}]*$|\bextern\s*"C(?:\+\+)?"\s*$')
_CLASS = re.compile(r"\b(?:struct|class|union|enum)\b[^()]*$")
_ENUM = re.compile(r"\benum\b[^()]*$")
_TEMPLATE = re.compile(r"^\s*template\s*<.*?>\s*(?=\w|::|$)", re.DOTALL)
_LABEL = re.compile(r"^(?:\s|(?:public|private|protected)\s*:(?!:))*")
_DEVICE = re.compile(r"__attribute__\s*\(\(\s*(?:global|device)\s*\)\)|__(?:global|device)__")
_NAME = re.compile(r"(operator\s*[^\s\w(]+|operator\s*\(\)|~?\w+)\s*(?:<[^()]*>\s*)?\(")


@dataclass(eq=False)
class Block:
    """What stands between two braces.

    Attributes:
        begin: Where the declaration or statement begins that it belongs to.
        open: Place of its brace.
        kind: "file", "namespace", "class", "function", or "other" (inside of functions, and initial values).
        header: The text before its brace.
        parent: The block around it.
        close: Place of its closing brace.
        blocks: Blocks in it, in order.
        ends: Places of the semicolons in it, and of the braces that end a declaration or statement.
    """

    begin: int
    open: int
    kind: str
    header: str
    parent: "Block | None"
    close: int = -1
    blocks: list["Block"] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @property
    def is_device(self) -> bool:
        """Whether a function runs on the device."""
        return _DEVICE.search(self.header) is not None

    @property
    def is_whole(self) -> bool:
        """Whether it is left out with what it belongs to: values, also those of an enumeration."""
        return self.parent is not None and (self.kind == "other" or _ENUM.search(self.header) is not None)

    @property
    def name(self) -> str:
        """A function's name, as far as it is plain."""
        found = _NAME.search(_ATTRIBUTE.sub(" ", self.header))
        return found[1] if found else ""


class Scopes:
    """The blocks of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.file = Block(0, -1, "file", "", None, len(text))
        self._read()

    def at(self, place: int) -> list[Block]:
        """Blocks around a place, outermost first."""
        found = [self.file]
        while True:
            inner = found[-1].blocks
            number = bisect_right([block.open for block in inner], place) - 1
            if number < 0 or inner[number].close < place:
                return found
            found.append(inner[number])

    def unit(self, block: Block, place: int) -> tuple[int, int]:
        """Where the declaration or statement of a block begins and ends that a place is in."""
        number = bisect_right(block.ends, place - 1)
        begin = block.ends[number - 1] + 1 if number else block.open + 1
        end = block.ends[number] + 1 if number < len(block.ends) else block.close
        label = _LABEL.match(self.text[begin:end])
        return begin + (label.end() if label else 0), min(end, block.close - 1)

    def functions(self, block: Block | None = None) -> Iterator[Block]:
        """All functions that have a body."""
        for inner in (block or self.file).blocks:
            if inner.kind == "function":
                yield inner
            elif inner.kind in ("namespace", "class"):
                yield from self.functions(inner)

    def _read(self) -> None:
        block, begin, depth, depths = self.file, 0, 0, list[int]()
        for token in _TOKEN.finditer(self.text):
            sign, place = token[0], token.start()
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth = max(depth - 1, 0)
            elif sign == ";" and depth == 0:
                block.ends.append(place)
                begin = place + 1
            elif sign == "{":
                header = self.text[begin:place]
                inner = Block(begin, place, _kind(header, block, depth), header, block)
                block.blocks.append(inner)
                depths.append(depth)
                block, begin, depth = inner, place + 1, 0
            elif sign == "}" and block.parent is not None:
                block.close, closed = place, block
                block, depth = block.parent, depths.pop()
                if depth == 0 and self._ends(closed):
                    block.ends.append(place)
                    begin = place + 1
                else:
                    begin = closed.begin
        while block.parent is not None:
            block.close, block = len(self.text), block.parent

    def _ends(self, block: Block) -> bool:
        """Whether a block's closing brace ends what it belongs to; after a class or a value, a semicolon does."""
        if block.kind == "class":
            return False
        after = re.compile(r"\s*(.)").match(self.text, block.close + 1)
        return not (block.kind == "other" and after and after[1] in ";,.)]?:(+-*/=<>&|")


def _kind(header: str, around: Block, depth: int) -> str:
    if depth or around.kind in ("function", "other"):
        is_class = depth == 0 and _CLASS.search(_ATTRIBUTE.sub(" ", header)) is not None
        return "class" if is_class else "other"
    plain = _ATTRIBUTE.sub(" ", header)
    if _TRANSPARENT.search(plain):
        return "namespace"
    plain = _TEMPLATE.sub("", plain)
    if "(" in plain and not re.search(r"=\s*$", plain):
        return "function"
    return "class" if _CLASS.search(plain) else "other"
