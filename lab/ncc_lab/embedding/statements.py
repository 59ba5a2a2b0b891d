"""Parses words of the vocabulary into opcode, flags, types and operands, to make questions from."""

import re
from dataclasses import dataclass, field

import numpy as np

from ncc.arrays import Ints32
from ncc.kernels.instructions import split_fields
from ncc.learning.embedding.vocabulary import Vocabulary

_SCALAR = r"(?:i\d+|half|bfloat|float|double|x86_fp80|fp128|ppc_fp128|ptr(?: addrspace\(\d+\))?)"
_VECTOR = rf"<(?:vscale x )?\d+ x {_SCALAR}>"
_TYPE = rf"(?:{_SCALAR}|{_VECTOR})"
_OPERAND = r"(?:<[%@]ID>|<INT[^>]*>|<FLOAT[^>]*>|poison|undef|null|zeroinitializer)"
_BINARY = re.compile(
    r"<%ID> = (?P<opcode>f?(?:add|sub|mul)|[usf]div|[usf]rem|shl|[la]shr|and|or|xor)(?P<flags>(?: [a-z]+)*?)"
    rf" (?P<type>{_TYPE}) (?P<first>{_OPERAND}), (?P<second>{_OPERAND})"
)
_CONVERSION = re.compile(rf"<%ID> = (?P<opcode>[a-z]+) (?P<source>{_TYPE}) <%ID> to (?P<target>{_TYPE})")
_EXTRACT = re.compile(
    rf"<%ID> = (?P<opcode>extractelement|extractvalue) (?P<type>{_VECTOR}|\{{.*\}}) <%ID>, (?P<index>\d+)"
)
_INSERT = re.compile(
    rf"<%ID> = (?P<opcode>insertelement|insertvalue) (?P<type>{_VECTOR}|\{{.*\}}) (?P<into>{_OPERAND}), "
    rf"(?P<value_type>.+) (?P<value>{_OPERAND}), (?P<index>\d+)"
)
_VECTOR_PARTS = re.compile(rf"<(?P<length>(?:vscale x )?\d+) x (?P<element>{_SCALAR})>")
_GENERAL = re.compile(
    r"…|\[N x |(?<![\w@.$-])(?:int|fp|struct|array|vector of)(?![\w.$-])|^(?!unreachable$)[a-z_0-9]+$|^<unknown>$"
)


@dataclass(frozen=True)
class Binary:
    """``<%ID> = opcode flags type first, second``."""

    opcode: str
    flags: str
    type: str
    operands: tuple[str, str]


@dataclass(frozen=True)
class Conversion:
    """``<%ID> = opcode source <%ID> to target``, without flags."""

    opcode: str
    source: str
    target: str


@dataclass(frozen=True)
class Element:
    """An element taken out of a vector or a structure, or put into one.

    Attributes:
        opcode: Extractelement, insertelement, extractvalue or insertvalue.
        type: Of the vector or structure.
        index: Which element.
        into: What is inserted into (``<%ID>``, ``poison``, …); empty where something is taken out.
        value: What is inserted; empty where something is taken out.
    """

    opcode: str
    type: str
    index: int
    into: str = ""
    value: str = ""


@dataclass(frozen=True)
class ParsedWords:
    """Words of the corpus by what they are, each with its row of the vocabulary."""

    binaries: dict[Binary, int] = field(default_factory=dict)
    conversions: dict[Conversion, int] = field(default_factory=dict)
    elements: dict[Element, int] = field(default_factory=dict)


def is_exact(text: str) -> bool:
    """Whether a word is a statement as it stands in a program, rather than a generalised form of one.

    Forms that lack no more than flags or an alignment can't be told from statements and count as such.

    >>> is_exact("<%ID> = add i32 <%ID>, <INT>"), is_exact("<%ID> = add int <%ID>, <INT>"), is_exact("add …")
    (True, False, False)
    """
    return not _GENERAL.search(text)


def exact_rows(vocabulary: Vocabulary) -> Ints32:
    """Rows of the words that stand for statements of the corpus (count above 0) and are not generalised forms."""
    seen = np.flatnonzero(vocabulary.counts > 0).tolist()
    return np.array([row for row in seen if is_exact(vocabulary.words[row])], np.int32)


def parse_words(vocabulary: Vocabulary) -> ParsedWords:
    """Takes apart the words that questions are made of, among those that stand for statements of the corpus."""
    parsed = ParsedWords()
    for row in exact_rows(vocabulary).tolist():
        text = vocabulary.words[row]
        if found := _BINARY.fullmatch(text):
            operands = (found["first"], found["second"])
            parsed.binaries[Binary(found["opcode"], found["flags"].strip(), found["type"], operands)] = row
        elif found := _CONVERSION.fullmatch(text):
            parsed.conversions[Conversion(found["opcode"], found["source"], found["target"])] = row
        elif found := _EXTRACT.fullmatch(text):
            parsed.elements[Element(found["opcode"], found["type"], int(found["index"]))] = row
        elif (found := _INSERT.fullmatch(text)) and _fits(found):
            element = Element(found["opcode"], found["type"], int(found["index"]), found["into"], found["value"])
            parsed.elements[element] = row
    return parsed


def _fits(insert: re.Match[str]) -> bool:
    """Whether what is inserted has the type of the place that it is put in."""
    vector = vector_parts(insert["type"])
    if vector:
        return vector[1] == insert["value_type"]
    fields = struct_fields(insert["type"])
    return int(insert["index"]) < len(fields) and fields[int(insert["index"])] == insert["value_type"]


def vector_parts(text: str) -> tuple[str, str] | None:
    """Length and element type of a vector type, or None of any other.

    >>> vector_parts("<4 x float>")
    ('4', 'float')
    """
    found = _VECTOR_PARTS.fullmatch(text)
    return (found["length"], found["element"]) if found else None


def struct_fields(text: str) -> tuple[str, ...]:
    """Types of the fields of a structure type, not of those nested in it; () for any other type.

    >>> struct_fields("{ i32, { ptr, i64 }, [2 x i8] }")
    ('i32', '{ ptr, i64 }', '[2 x i8]')
    """
    if not text.startswith("{ ") or not text.endswith(" }"):
        return ()
    return tuple(split_fields(text[2:-2]))
