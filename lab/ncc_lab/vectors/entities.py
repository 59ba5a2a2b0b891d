"""A statement as IR2Vec sees it: the kind of type that its result has, and the kinds of its operands.

Reference: VenkataKeerthy et al. 2020 (TACO 17:4), section 4: opcodes, types and operands as entities.
"""

import re
from collections.abc import Iterator

from ncc.learning.embedding.backoff import opcode_of
from ncc_lab.embedding.statements import struct_fields, vector_parts

_RESULT = re.compile(r"^<%ID> = ")
_LEADING = re.compile(
    r"^(?:(?:tail|musttail|notail) )?[a-z_0-9]+"
    r"(?: (?:nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw|volatile|atomic|weak|fast|nnan|ninf|nsz|arcp|contract"
    r"|afn|reassoc|inalloca|swifterror))*(?: |$)"
)
_PREDICATE = re.compile(
    r"^(?P<opcode>[if]cmp) (?:[a-z]+ )*?(?P<predicate>[uso]?(?:eq|ne|gt|ge|lt|le)|ord|uno|true|false)\b"
)
_VALUE = re.compile(
    r"<%ID>|<@ID>|<LABEL>|<(?:INT|FLOAT|STRING)[^>]*>|@[\w.$]+|\b(?:poison|undef|null|none|zeroinitializer|asm)\b"
)
_POINTER = re.compile(r"(?<!vector of )\bptr(?: addrspace\(\d+\))?$")
_CALLED = re.compile(r"\(| …")
_LITERAL_INDEX = re.compile(r", (?:\d+|N)$")
_INDICES = re.compile(r"(?P<type>.+) (?:<[%@]ID>|[a-z]+)(?P<indices>(?:, \d+)+)$")
_VECTOR = re.compile(r"<(?:vscale x )?\d+ x [^<>]+>")
_VECTOR_COMPARED = re.compile(r"[a-z]+ (?:<(?:vscale|\d)|vector of )")
_ARRAY_ELEMENT = re.compile(r"\[\d+ x (.*)\]")
_KINDS = (
    (re.compile(r"i\d+\b|int\b"), "integerty"),
    (re.compile(r"half\b|bfloat\b|float\b|double\b|x86_fp80\b|fp128\b|ppc_fp128\b|fp\b"), "floatty"),
    (re.compile(r"ptr\b"), "pointerty"),
    (re.compile(r"<?\{|struct\b"), "structty"),
    (re.compile(r"\[|array\b"), "arrayty"),
    (re.compile(r"<(?:vscale|\d)|vector of "), "vectorty"),
    (re.compile(r"void\b"), "voidty"),
    (re.compile(r"token\b"), "tokenty"),
    (re.compile(r"metadata\b"), "metadataty"),
)
_VOID = frozenset(
    ["store", "br", "switch", "indirectbr", "ret", "unreachable", "resume", "fence", "catchret", "cleanupret"]
)
_CONVERTED = re.compile(r" to (?!label\b)(.+)")


def result_type(text: str) -> str:
    """The kind of type of an instruction's result: voidty, integerty, floatty, pointerty, …; unknownty if not said.

    >>> result_type("<%ID> = fcmp olt <4 x float> <%ID>, <FLOAT>"), result_type("store i32 <INT>, ptr <%ID>, align 4")
    ('vectorty', 'voidty')
    """
    opcode = opcode_of(text)
    rest = _LEADING.sub("", _RESULT.sub("", text))
    if opcode in _VOID:
        return "voidty"
    if opcode in {"alloca", "getelementptr"}:
        return "pointerty"
    if opcode == "cmpxchg":
        return "structty"
    if opcode in {"icmp", "fcmp"}:
        return "vectorty" if _VECTOR_COMPARED.match(rest) else "integerty"
    return _kind_of(_type_text(opcode, rest))


def _type_text(opcode: str, rest: str) -> str:
    """What a text that gives the type of the result begins with; ``rest`` is what follows opcode and flags."""
    converted = _CONVERTED.search(rest)
    if converted:
        return converted[1]
    if opcode in {"select", "atomicrmw"}:
        return rest.partition(", ")[2]
    if opcode == "va_arg":
        return rest.rpartition(", ")[2]
    if opcode == "extractelement":
        found = _VECTOR.match(rest)
        parts = vector_parts(found[0]) if found else None
        return parts[1] if parts else rest.removeprefix("vector of ")
    if opcode == "extractvalue":
        return _field(rest)
    return rest


def _field(rest: str) -> str:
    """The type of the field that an extractvalue takes."""
    found = _INDICES.match(rest)
    if not found:
        return ""
    type_text = found["type"]
    for index in map(int, found["indices"].split(", ")[1:]):
        element = _ARRAY_ELEMENT.fullmatch(type_text)
        fields = (element[1],) * (index + 1) if element else struct_fields(type_text)
        if index >= len(fields):
            return ""
        type_text = fields[index]
    return type_text


def operand_kinds(text: str) -> Iterator[str]:
    """The kinds of an instruction's operands: function, pointer, constant or variable; and a comparison's predicate.

    The predicate is ``icmp_slt`` and so on, which newer vocabularies of LLVM have. Labels are variables.

    >>> list(operand_kinds("<%ID> = call i32 @strcmp(ptr <%ID>, ptr <@ID>)"))
    ['function', 'pointer', 'pointer']
    """
    opcode = opcode_of(text)
    body = _RESULT.sub("", text)
    values = list(_VALUE.finditer(body))
    if opcode == "shufflevector":
        values = values[:2]  # the mask is not an operand
    pointer = False
    for value in values:
        if value[0] == "<LABEL>":
            if opcode != "phi":
                yield "variable"
            continue
        if _CALLED.match(body, value.end()):
            yield "pointer" if value[0] in {"<%ID>", "asm"} else "function"
            continue
        before = body[: value.start()].rstrip(" [")
        if not before.endswith(","):
            pointer = bool(_POINTER.search(before))
        yield "pointer" if pointer else "variable" if value[0] == "<%ID>" else "constant"
    if opcode == "alloca" and not values and body != opcode:
        yield "constant"  # how many, which is not written where it is 1
    if opcode in {"extractelement", "insertelement"} and _LITERAL_INDEX.search(body):
        yield "constant"
    predicate = _PREDICATE.match(body)
    if predicate:
        yield f"{predicate['opcode']}_{predicate['predicate']}"


def _kind_of(type_text: str) -> str:
    return next((kind for pattern, kind in _KINDS if pattern.match(type_text)), "unknownty")
