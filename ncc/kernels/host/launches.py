"""Launches of kernels in host code, CUDA's and OpenCL's: their sizes, arguments and buffers.

What is not known may follow from the sizes of a launch, where these are given: of ``(n + 255) / 256`` blocks there are
as many as the launch has.
"""

import logging
import math
import os
import re
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from tree_sitter import Node

from ncc.errors import InputError
from ncc.ir.frontend.allowed_paths import allowed_tree
from ncc.ir.frontend.languages import language_of
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.module import Module
from ncc.kernels.host.source import (
    HOST_SUFFIXES,
    MAX_FILES,
    SourceTree,
    arguments_of,
    children,
    last_name,
    may_read,
    new_deadline,
    part,
    read_with_includes,
    text_of,
)
from ncc.kernels.host.values import SIZES, Scope, Value, Values, is_number
from ncc.kernels.instructions import split_fields
from ncc.kernels.launch import Launch, argument_names, argument_types, block_of, converted
from ncc.kernels.reading import Source, load_kernels, split_kernel_name
from ncc.system.files.text import demangle, format_amount, format_bytes

logger = logging.getLogger(__name__)

_MAX_SITES = 1000
_MAX_SIZE = 2**40
_MAX_ALIASES = 4
_LAUNCHERS = re.compile("<<<|hipLaunchKernelGGL|nqueueNDRangeKernel")
# their first argument is a pointer; the third of those that copy is the number of bytes, else the second
_MEMORY = re.compile("(?:cuda|hip)(?:(Mem(?:cpy|set)(?:Async)?)|Malloc(?:Managed|Async|Host)?|HostAlloc)")
_BLOCK_THREADS = 256  # if the driver chooses
_NO_BLOCK = ("", "0", "NULL", "nullptr", "NullRange", "cl::NullRange")
_MAIN = re.compile(r"\bmain\s*\(")

Sizes = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class HostLaunch:
    """A kernel launch in host code; ``place`` is empty if there is none."""

    place: str = ""  # file and line of the launch
    grid: Sizes | None = None  # blocks (work-groups), if all are known
    block: Sizes | None = None  # threads of a block (local size)
    values: Mapping[int, float] = field(default_factory=dict)  # index of an argument → its value
    buffers: Mapping[int, float] = field(default_factory=dict)  # index of an argument → bytes of memory it points to
    # index of an argument, "grid" or "block" → source of its value, such as "main.cu:3"
    origins: Mapping[int | str, str] = field(default_factory=dict)
    inferred: Mapping[str, float] = field(default_factory=dict)  # names whose values follow from the launch's sizes
    # messages about sizes and arguments with another value in the text, and about an exceeded budget
    conflicts: tuple[str, ...] = ()

    def add_arguments(self, launch: Launch, module: Module, kernel: int) -> Launch:
        """Return the launch with values for its missing arguments."""
        names, types = list(argument_names(module, kernel).values()), argument_types(module, kernel)
        read = {
            names[index]: number
            for index, value in self.values.items()
            if index < len(names)
            and launch.arguments.keys().isdisjoint((str(index), names[index]))
            and (number := converted(value, types[index])) is not None
        }
        return replace(launch, arguments=read | dict(launch.arguments))

    def in_file(self, own: str) -> "HostLaunch":
        """Return the launch with locations in a file as line numbers only."""
        return replace(self, origins={key: place.replace(own, "line ") for key, place in self.origins.items()})

    def assumptions(self, names: Sequence[str]) -> tuple[str, ...]:
        """Describe the values read for arguments of these names, with their files and lines."""
        read: dict[int | str, str] = {"grid": f"grid = {self.grid}", "block": f"block = {self.block}"}
        for index, name in enumerate(names):
            if index in self.buffers:
                read[index] = f"{name}: {format_bytes(self.buffers[index], 1000)}"
            elif index in self.values:
                read[index] = f"{name} = {format_amount(self.values[index])}"
        return tuple(
            f"{read[key]} ({place})" for key, place in self.origins.items() if key in read and place != "--arg"
        )


@dataclass(frozen=True, eq=False)
class _Site:
    """A launch in the text: template arguments, sizes and arguments as expressions."""

    scope: Scope
    kernel: str
    template: list[Node]
    grid: Node | None
    block: Node | None
    arguments: Mapping[int, Node]
    is_opencl: bool = False  # its grid counts work-items

    def sizes(self, launch: Launch) -> "list[tuple[str, Node | None, Sequence[int]]]":
        """Name and expression of each size in the text, and its value at a launch."""
        threads = tuple(x * y for x, y in zip(launch.grid, launch.block, strict=True))
        grid = ("global size", self.grid, threads) if self.is_opencl else ("grid", self.grid, launch.grid)
        return [grid, ("block", self.block, launch.block)]


class HostCode:
    """The launches in a text of host code."""

    def __init__(self, text: str, program_arguments: Sequence[str] | None = None) -> None:
        deadline = new_deadline()
        self.source = SourceTree(text, deadline)
        self.values = Values(self.source, program_arguments, deadline)
        self._allocated, self._copied = defaultdict[str, list[Node]](list), defaultdict[str, list[Node]](list)
        self._doubtful: set[tuple[str, str]] = set()  # sources of values that an explicit argument contradicts
        self._explicit: dict[int, float] = {}
        self._set = defaultdict[str, list[tuple[int, Value, Node]]](list)  # OpenCL's arguments by their kernel's text
        self._find_allocations()
        self._every_site = list(islice(self._sites(), _MAX_SITES))
        self._is_too_long = self.values.exceeded or len(self._every_site) == _MAX_SITES

    def has(self, kernel: str) -> bool:
        """Whether there is a launch of a kernel of this plain name."""
        return any(kernel == site.kernel for site in self._every_site)

    def launches(self, kernel: str, arguments: Mapping[str, float] | None = None) -> list[HostLaunch]:
        """Launches of a kernel, by its full name, in the text; explicit arguments take precedence."""
        plain, template = split_kernel_name(kernel)
        self.values.reset()
        sites = [site for site in self._every_site if site.kernel == plain and self._instance(site, template) >= 0]
        return [self._read(site, None, arguments or {}) for site in sites]

    def launch_at(self, kernel: str, launch: Launch) -> HostLaunch:
        """The launch of a kernel, by its full name, that fits these sizes best."""
        plain, template = split_kernel_name(kernel)
        sites = [site for site in self._every_site if site.kernel == plain]
        self.values.reset()
        best = max(sites, key=lambda site: (self._instance(site, template), self._fits(site, launch)), default=None)
        return self._read(best, launch, launch.arguments) if best else HostLaunch()

    def _read(self, site: _Site, launch: Launch | None, arguments: Mapping[str, float]) -> HostLaunch:
        values, origins = self.values, dict[int | str, str]()
        values.reset()
        self._doubtful.clear()
        self._explicit.clear()
        conflicts = [*self._give(site, arguments), *(self._infer(site, launch) if launch else ())]

        def read(key: int | str, read_value: Callable[[], Value]) -> Value:
            values.origins.clear()
            value = read_value()
            if value is None or not self._doubtful.isdisjoint(values.origins):
                return None
            places = dict.fromkeys(place for _, place in values.origins)
            origins[key] = ", ".join(places) or self.source.place(site.scope.at)
            return value

        grid = _sizes_of(read("grid", partial(values.value, site.grid, site.scope)))
        block = _sizes_of(read("block", partial(values.value, site.block, site.scope)))
        if site.is_opencl and grid:
            if block is None and text_of(site.block) in _NO_BLOCK:
                dimensions = max((axis for axis, size in enumerate(grid, 1) if size > 1), default=1)
                block = _sizes_of((*block_of(_BLOCK_THREADS, dimensions), 1, 1)[:3])
                origins["block"] = "assumed, the driver chooses"
            grid = _sizes_of(block and tuple(-(-size // width) for size, width in zip(grid, block, strict=True)))
        if launch:  # its sizes are not read here
            origins.clear()
        numbers, buffers = dict[int, float](), dict[int, float]()
        for number, node in site.arguments.items():
            if is_number(size := read(number, partial(self._buffer, node, site.scope))):
                buffers[number] = size
            elif is_number(value := read(number, partial(values.value, node, site.scope))):
                numbers[number] = float(value)
        numbers |= self._explicit
        origins |= dict.fromkeys(self._explicit, "--arg")
        if values.exceeded or self._is_too_long:
            conflicts.append("host code is too long to follow: some of its values are unknown")
        return HostLaunch(
            place=self.source.place(site.scope.at),
            grid=grid,
            block=block,
            values=numbers,
            buffers=buffers,
            origins=origins,
            inferred=dict(values.inferred),
            conflicts=tuple(conflicts),
        )

    def _infer(self, site: _Site, launch: Launch) -> Iterator[str]:
        """Infer unknown names from the sizes of a launch; yield sizes with other values in the text."""
        values = self.values
        for title, node, sizes in site.sizes(launch):
            for axis, size in enumerate(sizes):
                held = partial(self._axis, node, axis, site.scope)
                values.unknown.clear()
                if (known := held()) != size:
                    # a size in the text may be the default, without the program's arguments
                    arguments = [name for name in values.unknown if name.startswith("argv")]
                    others = [name for name in values.unknown if known is None and name not in arguments]
                    _solve(values.inferred, arguments + others, size, held)
                if (known := held()) is not None and known != size:
                    yield f"{title} {'xyz'[axis]} is {known:,} in the host code, {size:,} here"

    def _axis(self, node: Node | None, axis: int, scope: Scope) -> float | None:
        return _axes_of(self.values.value(node, scope))[axis]

    def _give(self, site: _Site, arguments: Mapping[str, float]) -> Iterator[str]:
        """Set names that are passed as explicit arguments of the kernel; yield arguments that can't be reconciled."""
        values = self.values
        functions = self.source.functions.get(site.kernel, ())
        parameters = functions[0].parameters if functions else ()
        for argument, value in arguments.items():
            number = parameters.index(argument) if argument in parameters else argument
            node = site.arguments.get(int(number)) if str(number).isdigit() else None
            if node is None:
                continue
            self._explicit[int(number)] = value
            self._give_name(node, site.scope.at, value)
            values.origins.clear()
            held = values.value(node, site.scope)
            if not is_number(held) or held == value or not values.origins:
                continue
            names = dict.fromkeys((name, None) for name, place in values.origins if place != "--arg")
            _solve(values.given, names, value, partial(self._axis, node, 0, site.scope))
            if values.given.keys().isdisjoint(names):
                self._doubtful |= set(values.origins)
                yield f"argument {argument} is {held:,} in the host code, {value:,.6g} here"

    def _give_name(self, node: Node, at: int, value: float) -> None:
        """Set the name of a value, following parameters to their callers."""
        while name := "" if node.type == "binary_expression" else _pointer_name(node):
            key, function = self.values.scope_of(name, at), self.source.enclosing(at)
            if key in self.values.given:
                return
            self.values.given[key] = value
            passed = self.values.passed(function, name) if function and name in function.parameters else iter(())
            node, (at, _) = next(passed, (node, Scope(at, {})))

    def _instance(self, site: _Site, template: str) -> int:
        """Number of template arguments that agree with an instance minus those that differ."""
        score = 0
        for node, meant in zip(site.template, split_fields(template[1:-1], "([{<>}])"), strict=False):
            plain = text_of(node)
            value = self.values.value(node, site.scope)
            known = f"{value:g}" if is_number(value) else plain if plain in SIZES else ""
            score += 0 if not known else 1 if known == meant else -1
        return score

    def _fits(self, site: _Site, launch: Launch) -> float:
        """Agreement of a launch in the text with the sizes; unknown sizes count neither way."""
        score = 0
        for _, node, sizes in site.sizes(launch):
            value = self.values.value(node, site.scope)
            for known, size in zip(_axes_of(value), sizes, strict=True):
                score += 0 if value is None or known is None else 1 if known == size else -1
        return score

    def _find_allocations(self) -> None:
        """Find sizes that are allocated for pointers, or copied to them, by name, and OpenCL's arguments."""
        for function, calls in self.source.calls.items():
            if match := _MEMORY.fullmatch(function):
                sizes, number = (self._copied, 2) if match[1] else (self._allocated, 1)
                for arguments in map(arguments_of, calls):
                    if len(arguments) > number:
                        sizes[_pointer_name(arguments[0])].append(arguments[number])
        for name, assignments in self.source.assigned.items():
            type_ = last_name(self.source.variables[name][0]) if name in self.source.variables else ""
            for _, node in assignments:
                if "Buffer" in (type_, last_name(part(node, "function"))[-6:]):  # cl::Buffer, clCreateBuffer
                    self._allocated[name] += (arguments_of(node) or node.named_children)[2:3]
        passed = [(node.start_byte, arguments_of(node)) for node in self.source.calls["clSetKernelArg"]]
        for node in self.source.calls["setArg"]:
            if variable := part(node, "function", "argument"):
                passed.append((node.start_byte, [variable, *arguments_of(node)]))
        for at, parts in passed:
            if len(parts) > 2:
                self._set[text_of(parts[0])].append((at, self.values.value(parts[1], Scope(at, {})), parts[-1]))

    def _buffer(self, node: Node | None, scope: Scope, depth: int = 0) -> float | None:
        """Bytes of the memory that an argument points to."""
        name = _pointer_name(node)
        if not name or depth > _MAX_ALIASES or not self.values.spend():
            return None
        nodes = self._allocated.get(name, ()) or self._copied.get(name, ())
        sizes = (self.values.rested(name, size, Scope(size.start_byte, {})) for size in nodes)
        known = (float(size) for size in sizes if is_number(size) and size > 0)
        # a part may be copied at a time
        if size := next(known, 0.0) if name in self._allocated else max(known, default=0.0):
            return size
        inner = (self._buffer(*definition, depth + 1) for definition in self.values.definitions(name, scope))
        return next(filter(None, inner), None)

    def _sites(self) -> Iterator[_Site]:
        for call in self.source.nodes["call_expression"]:
            if not self.values.spend(0):
                return
            target, arguments = part(call, "function"), arguments_of(call)
            function = last_name(target)
            sizes = next((children(node) for node in call.named_children if node.type == "kernel_call_syntax"), [])
            if len(sizes) > 1:
                yield _cuda_site(call, target, sizes, arguments)
            elif function == "hipLaunchKernelGGL" and len(arguments) > 3:
                yield _cuda_site(call, arguments[0], arguments[1:3], arguments[5:])
            elif function.endswith("EnqueueNDRangeKernel") and len(arguments) > 5:
                yield from self._opencl_site(call, arguments[1], arguments[4:6])
            elif function == "enqueueNDRangeKernel" and len(arguments) > 2:
                yield from self._opencl_site(call, arguments[0], arguments[2:4])

    def _opencl_site(self, call: Node, kernel: Node, sizes: list[Node]) -> Iterator[_Site]:
        calls = self._set.get(text_of(kernel), [])
        calls = [one for one in calls if one[0] < call.start_byte] or calls
        passed = {
            int(number) if is_number(number) else ordinal: node for ordinal, (_, number, node) in enumerate(calls)
        }
        for name in islice(self._kernel_names(kernel, Scope(call.start_byte, {})), 1):
            block = sizes[1] if len(sizes) > 1 else None
            yield _Site(Scope(call.start_byte, {}), name, [], sizes[0], block, passed, is_opencl=True)

    def _kernel_names(self, node: Node, scope: Scope, depth: int = 0) -> Iterator[str]:
        """Names of kernels that a variable may hold."""
        name = text_of(node)
        for _, value in self.source.assigned.get(name, [])[::-1]:
            texts = [
                text_of(one) for one in arguments_of(value) or value.named_children if one.type == "string_literal"
            ]
            yield from (text.strip('"') for text in texts[-1:])
        function = self.source.enclosing(scope.at)
        if function and name in function.parameters and depth < _MAX_ALIASES and self.values.spend():
            for passed, outer in self.values.passed(function, name):
                yield from self._kernel_names(passed, outer, depth + 1)


_host_code = lru_cache(maxsize=16)(HostCode)


def _cuda_site(call: Node, kernel: Node | None, sizes: list[Node], arguments: list[Node]) -> _Site:
    while kernel and kernel.type in ("parenthesized_expression", "call_expression"):  # HIP_KERNEL_NAME(kernel<int>)
        kernel = next(iter(arguments_of(kernel) or kernel.named_children), None)
    while kernel and kernel.type == "qualified_identifier":
        kernel = part(kernel, "name")
    scope, template = Scope(call.start_byte, {}), children(part(kernel, "arguments"))
    return _Site(scope, last_name(kernel), template, sizes[0], sizes[1], dict(enumerate(arguments)))


def _pointer_name(node: Node | None) -> str:
    """Name at the start of a pointer, an element's address or a cast of one; "" for other expressions."""
    while node:
        match node.type:
            case "identifier" | "field_expression" | "qualified_identifier":
                return text_of(node).rpartition("::")[2]
            case "cast_expression":
                node = part(node, "value")
            case "pointer_expression" | "subscript_expression":
                node = part(node, "argument")
            case "parenthesized_expression":
                node = node.named_children[0]
            case "binary_expression":
                node = part(node, "left")
            case "call_expression" if last_name(part(node, "function")) == "data":
                node = part(node, "function", "argument")
            case "call_expression" if last_name(part(node, "function")).endswith("cast"):
                node = next(iter(arguments_of(node)), None)
            case _:
                return ""
    return ""


def _solve(fixed: dict[Any, float], keys: Iterable[Any], size: float, value: Callable[[], float | None]) -> None:
    """Set the first key for which an expression, increasing in it, equals a size."""
    for key in keys:

        def amount(number: int, key: Any = key) -> float:
            fixed[key] = float(number)
            found = value()
            return math.inf if found is None else found

        number = 0 if amount(2) == math.inf else bisect_right(range(1, _MAX_SIZE), size, key=amount)
        if 0 < number < _MAX_SIZE - 1 and amount(number) == size:
            return
        del fixed[key]


def _axes_of(value: Value) -> list[int | None]:
    """Sizes of three dimensions; 1 for missing ones."""
    sizes = value if isinstance(value, tuple) else (value, 1, 1)
    return [None if size is None else math.floor(size) for size in sizes]


def _sizes_of(value: Value) -> Sizes | None:
    x, y, z = _axes_of(value)
    return None if x is None or y is None or z is None or min(x, y, z) < 1 else (x, y, z)


def host_source(source: Source) -> bytes | Path | None:
    """Return text as bytes, as `load_module` reads it, or the path of a source file; None without host code."""
    if isinstance(source, str) and "\n" in source:
        return source.encode()
    if isinstance(source, bytes):
        return source
    return Path(source) if os.path.isfile(source) and language_of(source) else None  # noqa: PTH113 - of any text


def read_host(
    source: bytes | Path,
    kernel: str,
    options: CompileOptions | None = None,
    program_arguments: Sequence[str] | None = None,
    deadline: float | None = None,
) -> HostCode:
    """Read the host code that launches a kernel: in a file (or text) and its includes, else in a file next to it.

    What is not read or followed by the deadline of an answer, also one about several kernels, is unknown.
    """
    options, deadline = options or CompileOptions(), deadline or new_deadline()
    defines = "".join(f"#define {one.replace('=', ' ', 1)}\n" for one in options.defines)
    given = None if program_arguments is None else tuple(program_arguments)
    plain, _ = split_kernel_name(kernel)

    def parsed(text: str) -> HostCode:
        code = _host_code(defines + text, given)
        code.values.deadline = deadline
        return code

    if isinstance(source, bytes):
        return parsed(f'#line 1 "source"\n{source.decode(errors="replace")}')
    path, folders = source, [Path(one) for one in options.include_paths]
    allowed = [os.path.realpath(one) for one in (*allowed_tree(path.parent), str(path), *options.include_paths)]
    own = read_with_includes(path, folders, set(), allowed)
    code = parsed(own)
    if code.has(plain):
        return code
    files = sorted(one for one in path.parent.glob("*") if one.suffix in HOST_SUFFIXES and may_read(one, allowed))
    for file in files[:MAX_FILES]:
        if time.monotonic() > deadline:
            break
        seen: set[Path] = set()
        text = read_with_includes(file, folders, seen, allowed)
        if plain not in text or not _LAUNCHERS.search(text):
            continue
        if _MAIN.search(text) is None:
            others = (read_with_includes(other, folders, seen, allowed) for other in files[:MAX_FILES])
            text += "".join(f"\n{other}" for other in others)
        parameters = "" if path in seen or path.suffix not in HOST_SUFFIXES else f"{own}\n"
        beside = parsed(parameters + text)
        if beside.has(plain):
            return beside
    return code


def find_launches(
    source: Source,
    kernel_name: str | None,
    grid: Sequence[int] | int | None,
    block: Sequence[int] | int | None,
    arguments: Mapping[str, float],
    options: CompileOptions | None = None,
    program_arguments: Sequence[str] | None = None,
) -> list[tuple[Module, int, Launch, HostLaunch]]:
    """Read kernels, all or by name, and find their launches: with the given sizes, or all those in host code."""
    module, kernels = load_kernels(source, kernel_name, options)
    if (grid is None) != (block is None):
        raise InputError(f"--{'block' if block is None else 'grid'} is missing; pass both, or none to read host code")
    found, missing, deadline = list[tuple[int, Launch, HostLaunch]](), list[str](), new_deadline()
    own = host_source(source)
    for kernel in kernels:
        name, names = module.function_names[kernel], list(argument_names(module, kernel).values())
        code = HostCode("") if own is None else read_host(own, name, options, program_arguments, deadline)
        numbered = {str(names.index(key)) if key in names else key: value for key, value in arguments.items()}
        if grid is not None and block is not None:
            launch = Launch.of(grid, block, arguments)
            found.append((kernel, launch, code.launch_at(name, replace(launch, arguments=numbered))))
            continue
        launches = code.launches(name, numbered)
        for host in launches:
            if host.grid and host.block:
                found.append((kernel, Launch.of(host.grid, host.block, arguments), host))
        if not found or found[-1][0] != kernel:
            why = f"its sizes at {launches[0].place} are not known" if launches else "no host code launches it"
            missing.append(f"{demangle(name)}: {why}; add --grid and --block, such as --grid 4096 --block 256")
    if not found:
        raise InputError(missing[0])
    for line in missing:
        logger.warning("%s", line)
    place = "source" if isinstance(own, bytes) else own
    return [(module, kernel, launch, host.in_file(f"{place}:")) for kernel, launch, host in found]
