"""Host code as a syntax tree: its functions, assignments, calls and macros, with their files and lines.

Headers that a file includes are merged into its text, and directives removed, before tree-sitter parses it.
"""

import os
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
_MAX_SECONDS = 6.0  # of all that reads host code for an answer: ten times what the largest programs take
_EXPRESSION_BYTES = 4096
_MAX_NESTING = 400

# each takes time in proportion to a text, also to one that no quote, comment or line ends
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"([^"]+)"')
_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"?|'\\?"')|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)
_CONTINUED = re.compile(r"^(?:.*\\\n)+.*", re.MULTILINE)
_DIRECTIVE = re.compile(r"\s*#\s*(\w*)\s*(.*)")
_LINE = re.compile(r'(\d{1,9}) "(.*)"')
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
    place: tuple[str, int]


class Assignment(NamedTuple):
    """An assignment to a name, and its position."""

    at: int
    value: Node


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def new_deadline() -> float:
    """Return when reading of host code for an answer, if it starts now, has to end."""
    return time.monotonic() + _MAX_SECONDS


@cache
def parse_expression(text: str) -> Node | None:
    """Parse a single expression, such as a macro's text."""
    root = _parser().parse(f"auto _ = {text[:_EXPRESSION_BYTES]};".encode()).root_node
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

    def __init__(self, text: str, deadline: float) -> None:
        text = _COMMENT.sub(lambda found: found[1] or " " + "\n" * found[0].count("\n"), text[:_MAX_LETTERS])
        text = _CONTINUED.sub(lambda found: found[0].replace("\\\n", " ") + "\n" * found[0].count("\n"), text)
        self.macros: dict[str, Macro] = {}
        self._places: list[tuple[str, int]] = []
        lines = [line.encode() for line in self._preprocessed(text)]
        self._line_begins = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self.nodes = defaultdict[str, list[Node]](list)  # in order, by type
        self._collect(_parser().parse(b"\n".join(lines)).root_node, deadline)
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
        file, number = "-D", 0
        kept: list[tuple[bool | None, bool]] = [
            (None, False)
        ]  # conditions that hold, None where that is not known; and whether one around does not
        for line in text.split("\n"):
            number += 1
            self._places.append((file, number))
            directive, is_left_out = _DIRECTIVE.match(line), kept[-1][1] or kept[-1][0] is False
            yield "" if directive or is_left_out else line
            kind, rest = directive.groups() if directive else ("", "")
            if kind == "line" and (found := _LINE.match(rest)):
                number, file = int(found[1]) - 1, found[2]
            elif kind in ("ifdef", "ifndef"):
                is_known = rest in self.macros or not rest.startswith("_")  # not a macro of the compiler
                kept.append(((rest in self.macros) == (kind == "ifdef") if is_known else None, is_left_out))
            elif kind == "if":
                kept.append(({"0": False, "1": True}.get(rest.strip()), is_left_out))
            elif kind in ("else", "elif") and len(kept) > 1:
                holds, around = kept[-1]
                kept[-1] = (None if holds is None or kind == "elif" else not holds, around)
            elif kind == "endif" and len(kept) > 1:
                kept.pop()
            elif kind == "define" and not is_left_out and (found := _DEFINE.match(rest)):
                names = None if found[2] is None else tuple(name.strip() for name in found[2].split(","))
                self.macros[found[1]] = Macro(names, found[3].strip(), self._places[-1])

    def _collect(self, root: Node, deadline: float) -> None:
        """Collect nodes by type until the deadline, except where they are nested too deeply."""
        cursor, depth = root.walk(), 0
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
        innermost: dict[int, Node] = {}
        for node in reversed(self.nodes["assignment_expression"]):
            value = part(node, "right")
            if value:
                value = innermost[node.id] = innermost.get(value.id, value)
            if value and text_of(part(node, "operator")) in ("", "="):
                self.assigned[text_of(part(node, "left"))].append(Assignment(node.start_byte, value))
        for assignments in self.assigned.values():
            assignments.sort(key=lambda assignment: assignment.at)

    def place(self, at: int) -> str:
        """File and line of a position in the text."""
        return "{}:{}".format(*self._places[bisect_right(self._line_begins, at) - 1])

    def enclosing(self, at: int) -> Function | None:
        """The innermost function around a position."""
        index = bisect_right(self._functions, at, key=lambda function: function.begin) - 1
        function = self._functions[index] if index >= 0 else None
        while function and function.end <= at:
            function = function.outer
        return function


def may_read(file: Path, allowed: Sequence[str]) -> bool:
    """Return True for a file, not a pipe or device, in folders that a source may read; links count as their targets."""
    real = os.path.realpath(file)
    is_allowed = real in allowed or real.startswith(tuple(f"{folder}{os.sep}" for folder in allowed))
    return is_allowed and os.path.isfile(real)  # noqa: PTH113 - False for a name that is too long


def read_with_includes(path: Path, folders: Sequence[Path], seen: set[Path], allowed: Sequence[str]) -> str:
    """Read a file's text with the included headers of its folder."""
    if path in seen or len(seen) >= MAX_FILES:
        return ""
    seen.add(path)
    lines = [f'#line 1 "{path}"']
    for number, line in enumerate(read_text(path).split("\n"), 2):
        found = _INCLUDE.match(line)
        headers = [folder / found[1] for folder in (path.parent, *folders)] if found else []
        header = next((one for one in headers if one not in seen and may_read(one, allowed)), None)
        if header:
            lines += [read_with_includes(header, folders, seen, allowed), f'#line {number} "{path}"']
        else:
            lines.append("" if found else line)
    return "\n".join(lines)


def read_text(path: Path) -> str:
    """Read the start of a file, whatever its encoding."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_MAX_FILE_BYTES)
