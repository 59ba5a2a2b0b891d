"""Host code as a syntax tree: its functions, assignments, calls and macros, with their files and lines.

Headers that a file includes are merged into its text, and directives removed, before tree-sitter parses it.
"""

import re
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

HOST_SUFFIXES = frozenset((".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c", ".hip"))
"""Extensions of files that may contain a program's code."""
MAX_FILES = 64
_MAX_FILE_BYTES = 1_000_000
_MAX_LETTERS = 2_000_000
_MAX_SECONDS = 3.0  # for parsing and walking the tree
_PARSED_BYTES = 4096  # between two checks of the time
_MAX_NESTING = 400

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_CONTINUED = re.compile(r"(?:[^\n]*\\\n)+[^\n]*")
_DIRECTIVE = re.compile(r"\s*#\s*(\w*)\s*(.*)")
_LINE = re.compile(r'(\d+) "(.*)"')
_DEFINE = re.compile(r"(\w+)(?:\(([^()]*)\))?\s*(.*)")

_NAMES = frozenset(("identifier", "field_identifier", "type_identifier", "primitive_type"))


@dataclass(frozen=True, eq=False)
class Function:
    """A function with a body: its start and end, its parameters, and the enclosing function."""

    name: str
    begin: int
    end: int
    parameters: tuple[str, ...]
    defaults: dict[str, Node | None]
    body: Node
    outer: "Function | None"


class Macro(NamedTuple):
    """A macro's parameters (None for an object-like macro), its text, and its file and line."""

    parameters: tuple[str, ...] | None
    text: str
    place: str


class Assignment(NamedTuple):
    """An assignment to a name, and its position."""

    at: int
    value: Node


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def _parse(text: bytes) -> Node:
    """Parse as much of a text as the time limit allows."""
    deadline, end = time.monotonic() + _MAX_SECONDS, 0

    def read(at: int, _: object) -> bytes:
        nonlocal end
        end = at
        return text[at : at + _PARSED_BYTES] if time.monotonic() < deadline else b""

    _parser().parse(read)  # only to measure progress: nodes of this tree would have no text
    return _parser().parse(text[:end]).root_node


@cache
def parse_expression(text: str) -> Node | None:
    """Parse a single expression, such as a macro's text."""
    root = _parser().parse(f"auto _ = {text[:_PARSED_BYTES]};".encode()).root_node
    return None if root.has_error else part(root.named_child(0), "declarator", "value")


def part(node: Node | None, *names: str) -> Node | None:
    """Descendant of a node along a path of the grammar's field names."""
    for name in names:
        node = node.child_by_field_name(name) if node else None
    return node


def children(node: Node | None) -> list[Node]:
    """Nodes in a node."""
    return node.named_children if node else []


def arguments_of(call: Node | None) -> list[Node]:
    """Arguments of a call; none if they can't be read."""
    found = part(call, "arguments")
    return found.named_children if found and not found.has_error else []


def text_of(node: Node | None) -> str:
    """A node's text without blanks; members are written with a dot."""
    return "".join(source_text(node).split()).replace("->", ".").removeprefix("this.")


def source_text(node: Node | None) -> str:
    """A node's unchanged text."""
    return node.text.decode() if node and node.text else ""


def last_name(node: Node | None) -> str:
    """Last name in a call's function, a declarator or a qualified name."""
    while node and node.type not in _NAMES:
        inner = part(node, "declarator") or part(node, "name") or part(node, "field")
        node = inner or next(iter(reversed(node.named_children)), None)
    return text_of(node)


class SourceTree:
    """The syntax tree of host code, and its parts by name."""

    def __init__(self, text: str) -> None:
        text = _COMMENT.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text[:_MAX_LETTERS])
        text = _CONTINUED.sub(lambda found: found[0].replace("\\\n", " ") + "\n" * found[0].count("\n"), text)
        self.macros: dict[str, Macro] = {}
        self._places: list[str] = []
        lines = [line.encode() for line in self._preprocessed(text)]
        self._line_begins = list(accumulate((len(line) + 1 for line in lines), initial=0))
        root = _parse(b"\n".join(lines))
        self.nodes = defaultdict[str, list[Node]](list)  # in order, by type
        self._collect(root)
        self._functions = list(self._find_functions())
        self.functions = defaultdict[str, list[Function]](list)
        for function in self._functions:
            self.functions[function.name].append(function)
        self.calls = defaultdict[str, list[Node]](list)
        for call in self.nodes["call_expression"]:
            self.calls[last_name(part(call, "function"))].append(call)
        # positions at which a name's address is taken, or it is incremented
        self.changed = defaultdict[str, list[int]](list)
        counted = {node.start_byte for loop in self.nodes["for_statement"] if (node := part(loop, "update"))}
        for node in self.nodes["pointer_expression"] + self.nodes["update_expression"]:
            if node.start_byte not in counted:
                self.changed[text_of(part(node, "argument"))].append(node.start_byte)
        blocks = ((part(node, "condition"), part(node, "consequence")) for node in self.nodes["if_statement"])
        self.conditions = [(node, block.start_byte, block.end_byte) for node, block in blocks if node and block]
        self.types = {
            text_of(part(node, "name")): node for node in self.nodes["struct_specifier"] if part(node, "body")
        }
        for alias in self.nodes["type_definition"] + self.nodes["alias_declaration"]:
            if type_ := part(alias, "type"):
                self.types[text_of(part(alias, "name")) or last_name(part(alias, "declarator"))] = type_
        self.assigned = defaultdict[str, list[Assignment]](list)
        self.variables: dict[str, tuple[Node, Node]] = {}  # their types and declarators
        self._find_variables()

    def _preprocessed(self, text: str) -> Iterator[str]:
        """Yield lines of code, empty for directives and what they disable; record macros and the origins of lines."""
        file, number, kept = "-D", 0, list[bool | None]()  # truth of enclosing conditions; None if unknown
        for line in text.split("\n"):
            number += 1
            self._places.append(f"{file}:{number}")
            directive = _DIRECTIVE.match(line)
            yield "" if directive or False in kept else line
            kind, rest = directive.groups() if directive else ("", "")
            if kind == "line" and (found := _LINE.match(rest)):
                number, file = int(found[1]) - 1, found[2]
            elif kind in ("ifdef", "ifndef"):
                is_known = rest in self.macros or not rest.startswith("_")  # not a macro of the compiler
                kept.append((rest in self.macros) == (kind == "ifdef") if is_known else None)
            elif kind == "if":
                kept.append({"0": False, "1": True}.get(rest.strip()))
            elif kind in ("else", "elif") and kept:
                kept[-1] = None if kept[-1] is None or kind == "elif" else not kept[-1]
            elif kind == "endif" and kept:
                kept.pop()
            elif kind == "define" and False not in kept and (found := _DEFINE.match(rest)):
                names = None if found[2] is None else tuple(name.strip() for name in found[2].split(","))
                self.macros[found[1]] = Macro(names, found[3].strip(), self._places[-1])

    def _collect(self, root: Node) -> None:
        """Collect nodes by type, except where they are nested too deeply."""
        cursor, depth, deadline = root.walk(), 0, time.monotonic() + _MAX_SECONDS
        while time.monotonic() < deadline:
            if (node := cursor.node) and node.is_named:
                self.nodes[node.type].append(node)
            if depth < _MAX_NESTING and cursor.goto_first_child():
                depth += 1
                continue
            while depth and not cursor.goto_next_sibling():
                cursor.goto_parent()
                depth -= 1
            if not depth:
                return

    def _find_functions(self) -> Iterator[Function]:
        function: Function | None = None
        for node in self.nodes["function_definition"]:
            body, declarator = part(node, "body"), part(node, "declarator")
            while declarator and declarator.type != "function_declarator":
                declarator = part(declarator, "declarator")
            if body and declarator:
                parameters = [
                    (last_name(part(one, "declarator")), one) for one in children(part(declarator, "parameters"))
                ]
                while function and function.end <= body.start_byte:
                    function = function.outer
                function = Function(
                    last_name(declarator),
                    body.start_byte,
                    body.end_byte,
                    tuple(name for name, _ in parameters),
                    {name: part(parameter, "default_value") for name, parameter in parameters},
                    body,
                    function,
                )
                yield function

    def _find_variables(self) -> None:
        for kind in ("declaration", "parameter_declaration", "optional_parameter_declaration"):
            for declaration in self.nodes[kind]:
                type_ = part(declaration, "type")
                for declarator in declaration.children_by_field_name("declarator"):
                    name = last_name(declarator)
                    if type_ and name:
                        self.variables.setdefault(name, (type_, declarator))
                    if declarator.type == "function_declarator" and self.enclosing(declarator.start_byte):
                        # a constructor's call is parsed as a function declaration
                        call = parse_expression(f"dim3{source_text(part(declarator, 'parameters'))}")
                        self.assigned[name] += [Assignment(declarator.start_byte, call)] if call else []
        for node in self.nodes["init_declarator"]:
            if value := part(node, "value"):
                self.assigned[last_name(node)].append(Assignment(node.start_byte, value))
        for node in self.nodes["assignment_expression"]:
            value = part(node, "right")
            while value and value.type == "assignment_expression":
                value = part(value, "right")
            if value and text_of(part(node, "operator")) in ("", "="):
                self.assigned[text_of(part(node, "left"))].append(Assignment(node.start_byte, value))
        for assignments in self.assigned.values():
            assignments.sort(key=lambda assignment: assignment.at)

    def place(self, at: int) -> str:
        """File and line of a position in the text."""
        return self._places[bisect_right(self._line_begins, at) - 1]

    def enclosing(self, at: int) -> Function | None:
        """The innermost function around a position."""
        index = bisect_right(self._functions, at, key=lambda function: function.begin) - 1
        function = self._functions[index] if index >= 0 else None
        while function and function.end <= at:
            function = function.outer
        return function


def read_with_includes(path: Path, folders: Sequence[Path], seen: set[Path]) -> str:
    """Read a file's text with the included headers of its folder."""
    if path in seen or len(seen) >= MAX_FILES:
        return ""
    seen.add(path)
    text = read_text(path)

    def included(found: re.Match[str]) -> str:
        for folder in (path.parent, *folders):
            if (folder / found[1]).is_file():
                line = text.count("\n", 0, found.start()) + 2
                return f'{read_with_includes(folder / found[1], folders, seen)}\n#line {line} "{path}"'
        return ""

    return f'#line 1 "{path}"\n{_INCLUDE.sub(included, text)}'


def read_text(path: Path) -> str:
    """Read the start of a file, whatever its encoding."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_MAX_FILE_BYTES)
