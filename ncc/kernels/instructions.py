"""A decoded IR statement: its operands and immediates, types, callee, and the register that it reads.

Registers are the numbers that a GPU's hardware has for a thread, by the names of OpenCL, CUDA, AMD and SPIR-V; SPIR-V's
are built-in variables (SYCL, the translator of Khronos), functions with a number, or LLVM's own intrinsics.
"""

import math
import re
import tomllib
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from ncc.ir.reader.module import Module, NodeKind

_SCALAR_BYTES = {"half": 2.0, "bfloat": 2.0, "float": 4.0, "double": 8.0, "x86_fp80": 16.0, "fp128": 16.0}
_MAX_BYTES = 2.0**62
_INTEGER_TYPE = re.compile(r"i(\d{1,8})")
_GEP = re.compile(r"getelementptr (?:(?:inbounds|nusw|nuw|inrange\([^)]*\)) )*")
_LANES = re.compile(r"<(?:vscale x )?(\d{1,9}) x ")
_ARRAY = re.compile(r"[\[<](\d{1,19}) x (.*)[\]>]", re.DOTALL)

_LITERALS = {"true": 1.0, "false": 0.0, "null": 0.0, "zeroinitializer": 0.0}
_PHI = re.compile(r"\[ ([^,\]]+), %[^\]]+\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+(?:e[+-]?\d+)?)?")
_WHOLE = re.compile(r"-?\d{1,38}")
_PREDICATES = frozenset(("eq", "ne", "slt", "ult", "sle", "ule", "sgt", "ugt", "sge", "uge"))

_REGISTER = re.compile(
    r"(?:ptx\.sreg\.|amdgcn\.|_Z\d+get_|__spirv_(?:BuiltIn)?|llvm\.spv\.)([A-Za-z._]+?)(?:[._]([xyz])v?|[ijv]|\.i\d+)?$"
)
_WITHOUT_AXIS = frozenset(("laneid", "warpsize"))
_THREAD = re.compile(r"get_(?:global|local)_(?:linear_)?id|BuiltIn(?:LocalInvocationIndex|GlobalLinearId)")
_DIMENSION = re.compile(r"\(i32 (?:noundef )?([012])\)")
_WHOLE_LOAD = re.compile(r"load (?:volatile )?i")
_VARIABLE = re.compile(r"@(__spirv_BuiltIn\w+)")
_ELEMENT = re.compile(r"getelementptr[^(]*\((.*?), i\d+ (\d+)\)")
_LANE = re.compile(r", i\d+ ([012])$")

_CALLS = {
    "": re.compile(r"^llvm\.(?:lifetime|assume|experimental\.noalias|invariant)|^__translate_sampler"),
    "barrier": re.compile(r"[bB]arrier|__syncthreads|mem_fence"),
    "atomic": re.compile(r"atom(?:ic)?_"),
    "thread_query": re.compile(
        r"get_(?:global|local|group|num|work|enqueued|sub_group)_|ptx\.sreg|amdgcn\.work(?:item|group)\.id"
        r"|__spirv_(?:BuiltIn)?(?:Global|Local|Num|Workgroup|EnqueuedWorkgroup|Sub[gG]roup)\w*(?:I[dn]|Size|Workgroups|Offset)"
        r"|llvm\.spv\.(?:thread|group|flattened|global|local|num|workgroup|wave|subgroup)\."
    ),
}
"""Kind of work → names of functions of that kind; the first match counts."""
_ONCE = frozenset(("", "barrier", "atomic", "thread_query", "branch", "call"))
_SCALAR = frozenset(("getelementptr", "extractelement", "insertelement", "shufflevector"))
"""Kinds and opcodes that count once, regardless of vector lanes."""
_MANGLED = re.compile(r"_Z(\d{1,3})(.*)", re.DOTALL)
_LLVM_INTRINSIC = re.compile(r"llvm\.(?:nvvm\.|amdgcn\.)?(\w+)")
_PREFIX = re.compile(r"__nv_|__ocml_|fast_|__")
_OF_BUILTIN = {"conversion": re.compile(r"convert_"), "special": re.compile(r"native_|half_")}
_SUFFIX = re.compile(r"_f32|_f64|[fl]")


class Operations(NamedTuple):
    """The tables of ``operations.toml``, by builtin, opcode, precision and register."""

    builtins: dict[str, tuple[str, float]]
    opcodes: dict[str, str]
    flops: dict[str, dict[str, float]]
    integer: dict[str, tuple[float, float]]
    registers: dict[str, str]


@cache
def operations() -> Operations:
    """Read kinds and costs of functions and opcodes, and names of registers."""
    tables = tomllib.loads(Path(__file__).with_name("operations.toml").read_text(encoding="utf-8"))
    flops = {precision: text.split() for precision, text in tables["flops"].items()}
    return Operations(
        {name: (row["kind"], row["amount"]) for row in tables["builtins"] for name in row["names"].split()},
        {opcode: kind for kind, opcodes in tables["opcodes"].items() for opcode in opcodes.split()},
        {precision: dict(zip(words[::2], map(float, words[1::2]), strict=True)) for precision, words in flops.items()},
        tables["integer_operations"],
        tables["registers"],
    )


class Instruction:
    """A statement of a function's body, whose text is parsed on first use."""

    def __init__(self, module: Module, statement: int) -> None:
        self.module, self.statement = module, statement
        # operands are nodes, -1 for immediates, and of a call the callee first; the result is a node, or -1
        self.opcode, self.operands = module.opcode_name(statement), module.operands(statement)
        self.result, self.block = int(module.result[statement]), int(module.basic_block[statement])

    @cached_property
    def text(self) -> str:
        """Its abstracted text."""
        return self.module.statement_text(self.statement)

    @cached_property
    def source(self) -> str:
        """Its text with immediates, without metadata and comments."""
        return self.module.statement_source(self.statement).split(", !", 1)[0].split(" ;", 1)[0]

    @cached_property
    def arguments(self) -> list[int]:
        """Its operands, of a call without the callee."""
        return self.operands[1:] if self.opcode == "call" else self.operands

    @cached_property
    def callee(self) -> str:
        """Name of the function that a call names; empty for calls of pointers."""
        node = int(self.module.callee[self.statement])
        is_named = node >= 0 and self.module.node_kind[node] in (NodeKind.FUNCTION, NodeKind.GLOBAL)  # or an alias
        return self.module.node_name(node) if is_named else ""

    @cached_property
    def called_function(self) -> int:
        """Index of the function that a call names, if it has a body, or -1."""
        return int(self.module.function_of_node[self.module.callee[self.statement]])

    @cached_property
    def builtin(self) -> str:
        """The callee's name in the source: ``_Z3expf``, ``expf``, ``llvm.exp.f32`` and ``__nv_expf`` are all exp."""
        name = self.callee
        if match := _MANGLED.match(name):
            name = match[2][: int(match[1])]
        elif match := _LLVM_INTRINSIC.match(name):
            name = match[1]
        if match := _PREFIX.match(name):
            name = name[match.end() :]
        builtins = operations().builtins
        for size in (1, 4):  # C's float and long double, and the types of AMD's library
            if name not in builtins and name[:-size] in builtins and _SUFFIX.fullmatch(name[-size:]):
                return name[:-size]
        return name

    @cached_property
    def work(self) -> dict[str, float]:
        """Counts by kind, without memory accesses; a call counts as one of a function without a body."""
        kind, amount = operations().opcodes.get(self.opcode, ""), 1.0
        if self.variable:
            kind = "thread_query"
        elif self.opcode == "call":
            kinds = [kind for kind, pattern in _CALLS.items() if pattern.search(self.callee)]
            kinds += [kind for kind, pattern in _OF_BUILTIN.items() if pattern.match(self.builtin)]
            kind, amount = (kinds[0], 1.0) if kinds else operations().builtins.get(self.builtin, ("call", 1.0))
        if not kind or (kind == "branch" and len(self.operands) < 2):
            return {}
        amount *= 1.0 if kind in _ONCE or self.opcode in _SCALAR else self.lanes
        is_double = kind == "float" and "double" in self.text
        is_float = kind in ("float", "special") or self.opcode in ("fdiv", "frem")
        return {"double" if is_double else kind: amount} | ({"flops": amount} if is_float else {})

    @cached_property
    def lanes(self) -> float:
        """Lanes of the first vector type in its text; 1 without one."""
        return float(match[1]) if (match := _LANES.search(self.text)) else 1.0

    @cached_property
    def inputs(self) -> list[tuple[int, float]]:
        """Nodes of operands, a phi's values or a call's arguments; for immediates -1 and the value, NaN if unknown."""
        text = self.source.partition(" = ")[2]
        if self.opcode == "phi":
            nodes, tokens = self.operands[::2], [value.strip() for value in _PHI.findall(text)]
        else:
            if "call" in text.split("@", 1)[0]:
                text = text[text.find("(", max(text.find("@"), 0)) + 1 : text.rfind(")")]
            nodes, fields = self.arguments, split_fields(text)[self.opcode == "getelementptr" :]
            tokens = [words[-1] for part in fields if (words := part.split())]
        if len(tokens) != len(nodes):
            tokens = [""] * len(nodes)
        values = [float(token) if _NUMBER.fullmatch(token) else _LITERALS.get(token, math.nan) for token in tokens]
        return list(zip(nodes, values, strict=True))

    @cached_property
    def index_sizes(self) -> list[float]:
        """Bytes per step of each index of an address; 0 for a structure's field, which is fixed."""
        match = _GEP.search(self.text)
        element = split_fields(self.text[match.end() :], separators=" ,")[0] if match else "i8"
        sizes = []
        for position, (_, number) in enumerate(self.inputs[1:]):
            is_field = position > 0 and element.startswith(("{", "<{"))
            if position:
                element = element_type(element, int(number) if is_field and math.isfinite(number) else None)
            sizes.append(0.0 if is_field else size_of_type(element))
        return sizes

    @cached_property
    def constant(self) -> int | None:
        """The last operand, if it is an immediate integer."""
        last = self.source.replace(",", " ").split()[-1]
        return int(last) if _WHOLE.fullmatch(last) else None

    @cached_property
    def predicate(self) -> str:
        """How an ``icmp`` compares."""
        return next((word for word in self.source.partition(" = ")[2].split()[1:] if word in _PREDICATES), "")

    @cached_property
    def variable(self) -> str:
        """SPIR-V's built-in variable that it loads, which is not a memory access; empty for other statements."""
        match = _VARIABLE.search(self.source) if self.opcode == "load" else None
        return match[1] if match else ""

    @cached_property
    def register(self) -> str:
        """The number that it reads: "tid.x", "ctaid.y", "global_id.z", "laneid"; empty for other statements."""
        name, axis = self.callee or self.variable, ""
        if self.opcode == "call" and (argument := _DIMENSION.search(self.source)):
            axis = "xyz"[int(argument[1])]
        elif self.opcode == "load" and _WHOLE_LOAD.search(self.source):
            element = _ELEMENT.search(self.source)  # counted in bytes, or in numbers of eight
            step = int(element[2]) // (8 if element[1].startswith("i8") else 1) if element else 0
            axis = "xyz"[step : step + 1]
        elif self.opcode == "extractelement" and (lane := _LANE.search(self.source)):
            vector = definition(self.module, self.operands[0])
            name, axis = vector.variable if vector else "", "xyz"[int(lane[1])]
        match, registers = _REGISTER.search(name), operations().registers
        register = registers.get(match[1], match[1]) if match else ""
        if not match or register not in registers.values():
            return ""
        if register in _WITHOUT_AXIS:
            return register
        axis = match[2] or axis
        return f"{register}.{axis}" if axis else ""

    @cached_property
    def queried_dimension(self) -> str:
        """Dimension whose thread number is read: "0" to "2", "?" if a value decides; empty for other statements."""
        kind, _, axis = self.register.partition(".")
        if kind in ("tid", "global_id"):
            return str("xyz".index(axis))
        match = _DIMENSION.search(self.source)
        dimension = match[1] if match else "0" if "()" in self.source else "?"
        return dimension if _THREAD.search(self.callee) else ""


@lru_cache(maxsize=8)
def decode(module: Module, function: int) -> tuple[Instruction, ...]:
    """The statements of a function, its ``define`` left out."""
    return tuple(Instruction(module, statement) for statement in module.body(function))


def definition(module: Module, node: int) -> Instruction | None:
    """The statement that defines a node, if any."""
    if node < 0 or module.node_kind[node] != NodeKind.RESULT:
        return None
    function = int(module.node_function[node])
    return decode(module, function)[int(module.node_definition[node]) - module.body(function).start]


def size_of_type(text: str) -> float:
    """Bytes of a type: 8 for pointers and unknown types, without padding for structures."""
    text = text.strip()
    if text in _SCALAR_BYTES:
        return _SCALAR_BYTES[text]
    if match := _INTEGER_TYPE.fullmatch(text):
        return max(1.0, int(match[1]) / 8)
    if match := _ARRAY.fullmatch(text):
        return min(int(match[1]) * size_of_type(match[2]), _MAX_BYTES)
    if fields := _fields_of(text):
        return min(sum(size_of_type(field) for field in fields), _MAX_BYTES)
    return 8.0


def element_type(text: str, index: int | None) -> str:
    """Type of an array's element or a structure's field; the type itself if its parts are unknown."""
    if match := _ARRAY.fullmatch(text.strip()):
        return match[2]
    fields = _fields_of(text.strip())
    return fields[index] if index is not None and 0 <= index < len(fields) else text


def split_fields(text: str, brackets: str = "{[<(}]>)", separators: str = ",") -> list[str]:
    """Split a text at separators outside brackets and strip the parts."""
    opening, closing = brackets[: len(brackets) // 2], brackets[len(brackets) // 2 :]
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in opening) - (character in closing)
        if character in separators and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def _fields_of(text: str) -> list[str]:
    """Fields of a structure that is spelled out; none for other types and for truncated structures."""
    if not text.startswith(("{", "<{")) or "..." in text:
        return []
    return [field for field in split_fields(text.strip("<>")[1:-1]) if field]
