"""Locations of functions: in the source if the module has debug information, else in the text of the IR."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ncc.ir.reader.module import Module, plain_name

_NODE = rb"(?m)^!(\d+) = (?:distinct )?!DI(File|Subprogram|Location|LexicalBlock|LexicalBlockFile)\((.*)\)\r?$"
_FIELD = rb'(\w+): (?:"((?:[^"\\]|\\.)*)"|!?(\d+))'
_DEBUG = r"!dbg !(\d+)[^\"]*$"
_WHOLE_PATH = r"(?:[A-Za-z]:)?[/\\]"
_MAX_DEPTH = 256
"""Maximum depth of nested scopes, which may contain each other in a forged file."""

_Node = tuple[bytes, dict[bytes, bytes]]
_NO_NODE: _Node = (b"", {})


@dataclass(frozen=True)
class Location:
    """Location of a function."""

    file: str  # as in debug information; empty if there is none, and lines are those of the IR
    first_line: int  # of its definition, from 1
    last_line: int  # the last line of its statements, or that of its end in the IR


class _DebugNodes(dict[bytes, _Node]):
    """Number → kind and fields of a module's debug information."""

    def __init__(self, module: Module) -> None:
        for number, kind, text in re.findall(_NODE, module.ir):
            self[number] = kind, {name: value or digits for name, value, digits in re.findall(_FIELD, text)}
        self._module = module

    def of_statement(self, statement: int) -> bytes:
        """Return the number of a statement's node."""
        source = self._module.statement_source(statement).removesuffix("{").rstrip() if statement >= 0 else ""
        debug = re.search(_DEBUG, source)
        return debug[1].encode() if debug else b""

    def file(self, number: bytes) -> str:
        """Return the file of a node, or of the nearest scope around it that names one."""
        fields = self.get(number, _NO_NODE)[1]
        for _ in range(_MAX_DEPTH):
            if b"file" in fields or b"scope" not in fields:
                break
            fields = self.get(fields[b"scope"], _NO_NODE)[1]
        fields = self.get(fields.get(b"file", b""), _NO_NODE)[1]
        name, folder = (plain_name(fields.get(key, b"")) for key in (b"filename", b"directory"))
        return name if re.match(_WHOLE_PATH, name) or not folder else f"{folder}/{name}"

    def last_lines(self) -> dict[bytes, int]:
        """Return the last line of each subprogram itself, without functions that were inlined into it."""
        last: dict[bytes, int] = {}
        for kind, fields in self.values():
            if kind == b"Location" and b"inlinedAt" not in fields:
                scope = fields.get(b"scope", b"")
                for _ in range(_MAX_DEPTH):
                    outer_kind, outer = self.get(scope, _NO_NODE)
                    if not outer_kind.startswith(b"Lexical"):
                        break
                    scope = outer.get(b"scope", b"")
                last[scope] = max(last.get(scope, 0), int(fields.get(b"line", b"0")))
        return last


def function_locations(module: Module) -> list[Location]:
    """Return the location of each function that has a body, in order."""
    nodes = _DebugNodes(module)
    last_lines = nodes.last_lines()
    locations = []
    for start, end in zip(module.function_start[:-1].tolist(), module.function_start[1:].tolist(), strict=True):
        number = nodes.of_statement(start)
        kind, fields = nodes.get(number, _NO_NODE)
        line = int(fields.get(b"line", b"0")) if kind == b"Subprogram" else 0
        if line:
            locations.append(Location(nodes.file(number), line, max(line, last_lines.get(number, 0))))
        else:
            offsets = module.statement_offset[[start, end - 1]]
            closing = module.ir.find(b"\n}", int(offsets[1])) + 1
            first, last = np.searchsorted(module.line_ends, [offsets[0], closing or offsets[1]]).tolist()
            locations.append(Location("", first + 1, last + 1))
    return locations


def header_files(module: Module, function: int, statements: Iterable[int]) -> list[str]:
    """Return the file that each statement's line is in; empty for that of the function, and if it is not known."""
    nodes = _DebugNodes(module)
    function_file = nodes.file(nodes.of_statement(int(module.function_start[function])))
    files = [nodes.file(nodes.of_statement(statement)) for statement in statements]
    return ["" if file == function_file else file for file in files]
