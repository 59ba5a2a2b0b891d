"""Finds the start and end of declarations and statements in preprocessed C++, to remove some of them.

No parser: braces, parentheses and semicolons tell blocks apart, and the words before a brace say what it belongs to.
"""

import functools
import re
from bisect import bisect_right
from dataclasses import dataclass, field

_TOKEN = (
    r'(?sm)R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|\b\d[\w.\']*|\'(?:[^\'\\\n]|\\.)*\''
    r"|^[ \t]*#[^\n]*|[{}();]"
)
_NESTED = functools.reduce(lambda inner, _: rf"\((?:[^()]|{inner})*\)", range(7), r"\([^()]*\)")
"""Parentheses in parentheses, as deep as attributes go."""
_ATTRIBUTE = rf"(?:__attribute__|\balignas|__declspec)\s*{_NESTED}"
_TRANSPARENT = r'\bnamespace\b[^;(){}]*$|\bextern\s*"C(?:\+\+)?"\s*$'
_CLASS = r"\b(?:struct|class|union|enum)\b[^()]*$"
_ENUM = r"\benum\b[^()]*$"
_TEMPLATE = r"(?s)^\s*template\s*<.*?>\s*(?=\w|::|$)"
_LABEL = r"^(?:\s|(?:public|private|protected)\s*:(?!:))*"
_DEVICE = r"__attribute__\s*\(\(\s*(?:global|device)\s*\)\)|__(?:global|device)__"
_NAME = r"(operator\s*[^\s\w(]+|operator\s*\(\)|~?\w+)\s*(?:<[^()]*>\s*)?\("


@dataclass(eq=False)
class Block:
    """Text between two braces, its header, the enclosing block and the inner blocks in order."""

    start: int
    """Start of the declaration or statement that it belongs to."""
    open: int
    kind: str
    """One of "file", "namespace", "class", "function", and "other" (inside of functions, and initial values)."""
    header: str
    parent: "Block | None"
    close: int = -1
    blocks: list["Block"] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Positions of its semicolons, and of braces that end a declaration or statement."""

    @property
    def is_device(self) -> bool:
        """Whether a function runs on the device."""
        return re.search(_DEVICE, self.header) is not None

    @property
    def is_whole(self) -> bool:
        """Whether it is removed with its parent: values, also those of an enumeration."""
        return self.parent is not None and (self.kind == "other" or re.search(_ENUM, self.header) is not None)

    @property
    def name(self) -> str:
        """The plain part of a function's name."""
        match = re.search(_NAME, re.sub(_ATTRIBUTE, " ", self.header))
        return match[1] if match else ""


class Scopes:
    """The blocks of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.file = Block(0, -1, "file", "", None, len(text))
        block, start, depth, depths = self.file, 0, 0, list[int]()
        for token in re.finditer(_TOKEN, text):
            sign, position = token[0], token.start()
            if sign == "(":
                depth += 1
            elif sign == ")":
                depth = max(depth - 1, 0)
            elif sign == ";" and depth == 0:
                block.ends.append(position)
                start = position + 1
            elif sign == "{":
                header = text[start:position]
                inner = Block(start, position, _kind(header, block, depth), header, block)
                block.blocks.append(inner)
                depths.append(depth)
                block, start, depth = inner, position + 1, 0
            elif sign == "}" and block.parent is not None:
                block.close, closed = position, block
                block, depth = block.parent, depths.pop()
                is_end = depth == 0 and self._ends(closed)
                start = position + 1 if is_end else closed.start
                if is_end:
                    block.ends.append(position)
        while block.parent is not None:
            block.close, block = len(text), block.parent

    def at(self, position: int) -> list[Block]:
        """Return the blocks around a position, outermost first."""
        around = [self.file]
        while True:
            inner = around[-1].blocks
            index = bisect_right(inner, position, key=lambda block: block.open) - 1
            if index < 0 or inner[index].close < position:
                return around
            around.append(inner[index])

    def unit(self, block: Block, position: int) -> tuple[int, int]:
        """Return start and end of the declaration or statement of a block at a position."""
        index = bisect_right(block.ends, position - 1)
        start = block.ends[index - 1] + 1 if index else block.open + 1
        end = block.ends[index] + 1 if index < len(block.ends) else block.close
        label = re.match(_LABEL, self.text[start:end])
        return start + (label.end() if label else 0), min(end, block.close - 1)

    def _ends(self, block: Block) -> bool:
        """Return True if a closing brace ends its declaration; a class or a value ends with a semicolon."""
        if block.kind == "class":
            return False
        after = re.compile(r"\s*(.)").match(self.text, block.close + 1)
        return not (block.kind == "other" and after and after[1] in ";,.)]?:(+-*/=<>&|")


def _kind(header: str, around: Block, depth: int) -> str:
    plain = re.sub(_ATTRIBUTE, " ", header)
    if depth or around.kind in ("function", "other"):
        return "class" if depth == 0 and re.search(_CLASS, plain) else "other"
    if re.search(_TRANSPARENT, plain):
        return "namespace"
    plain = re.sub(_TEMPLATE, "", plain)
    if "(" in plain and not re.search(r"=\s*$", plain):
        return "function"
    return "class" if re.search(_CLASS, plain) else "other"
