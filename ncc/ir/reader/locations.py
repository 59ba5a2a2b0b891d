"""Where functions are: by the module's debug information in the source, else in the IR's own text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ncc.ir.reader.module import Module

_NODE = re.compile(
    rb"^!(\d+) = (?:distinct )?!DI(File|Subprogram|Location|LexicalBlock|LexicalBlockFile)\((.*)\)\r?$", re.MULTILINE
)
_FIELD = re.compile(rb'(\w+): (?:"((?:[^"\\]|\\.)*)"|!?(\d+))')
_DEBUG = re.compile(r"!dbg !(\d+)[^\"]*$")

_DEEPEST = 256
"""Nesting of blocks that is looked through."""

_Fields = dict[bytes, bytes]


@dataclass(frozen=True)
class Location:
    """Where a function is.

    Attributes:
        file: As debug information names it; empty where there is none and the lines are those of the IR.
        first_line: Of its definition, from 1.
        last_line: The last one that its statements name, or that of its end in the IR.
    """

    file: str
    first_line: int
    last_line: int


def function_locations(module: Module) -> list[Location]:
    """The location of each function that has a body, in order."""
    nodes = _debug_nodes(module)
    last = _last_lines(nodes)
    locations = []
    for number, start in enumerate(module.function_start[:-1].tolist()):
        found = _DEBUG.search(module.statement_source(start).removesuffix("{").rstrip())
        kind, fields = nodes.get(found[1].encode(), (b"", {})) if found else (b"", {})
        line = int(fields.get(b"line", b"0")) if kind == b"Subprogram" and found else 0
        if found and line:
            file = _file_name(nodes.get(fields.get(b"file", b""), (b"", {}))[1])
            locations.append(Location(file, line, max(line, last.get(found[1].encode(), 0))))
        else:
            locations.append(_location_in_ir(module, number))
    return locations


def header_files(module: Module, function: int, statements: Iterable[int]) -> list[str]:
    """The file that each statement's line is in; empty for the file of a function, and where it is not known."""
    nodes = _debug_nodes(module)

    def file_of(statement: int) -> str:
        source = module.statement_source(statement).removesuffix("{").rstrip() if statement >= 0 else ""
        debug = _DEBUG.search(source)
        fields = nodes.get(debug[1].encode(), (b"", {}))[1] if debug else {}
        for _ in range(_DEEPEST):
            if b"file" in fields or b"scope" not in fields:
                break
            fields = nodes.get(fields[b"scope"], (b"", {}))[1]
        return _file_name(nodes.get(fields.get(b"file", b""), (b"", {}))[1])

    own = file_of(int(module.function_start[function]))
    return ["" if (file := file_of(statement)) == own else file for statement in statements]


def _debug_nodes(module: Module) -> dict[bytes, tuple[bytes, _Fields]]:
    return {
        number: (kind, {name: text or digits for name, text, digits in _FIELD.findall(fields)})
        for number, kind, fields in _NODE.findall(module.ir)
    }


def _last_lines(nodes: dict[bytes, tuple[bytes, _Fields]]) -> dict[bytes, int]:
    """Subprogram → the last line of its own, without those of functions that were inlined into it."""
    last: dict[bytes, int] = {}
    for kind, fields in nodes.values():
        if kind != b"Location" or b"inlinedAt" in fields:
            continue
        scope = fields.get(b"scope", b"")
        for _ in range(_DEEPEST):  # in a stranger's file, blocks may hold each other
            outer_kind, outer = nodes.get(scope, (b"", {}))
            if not outer_kind.startswith(b"Lexical"):
                break
            scope = outer.get(b"scope", b"")
        last[scope] = max(last.get(scope, 0), int(fields.get(b"line", b"0")))
    return last


def _file_name(fields: _Fields) -> str:
    name, folder = (fields.get(key, b"").decode("utf-8", "backslashreplace") for key in (b"filename", b"directory"))
    return name if name.startswith("/") or not folder else f"{folder}/{name}"


def _location_in_ir(module: Module, number: int) -> Location:
    begin, end = module.function_start[number : number + 2].tolist()
    first, last = np.searchsorted(module.line_ends, module.statement_offset[[begin, end - 1]]).tolist()
    closing = module.ir.find(b"\n}", int(module.statement_offset[end - 1]))
    return Location(
        "", first + 1, int(np.searchsorted(module.line_ends, closing + 1)) + 1 if closing >= 0 else last + 1
    )
