"""Parses words of the vocabulary into opcode, flags, types and operands, to make questions from."""

import re
from dataclasses import dataclass
from typing import NamedTuple

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


class Binary(NamedTuple):
    """``<%ID> = opcode flags type first, second``."""

    opcode: str
    flags: str
    type: str
    operands: tuple[str, str]


class Conversion(NamedTuple):
    """``<%ID> = opcode source <%ID> to target``, without flags."""

    opcode: str
    source: str
    target: str


@dataclass(frozen=True)
class Element:
    """An element taken out of a vector or a structure, or put into one: then ``into`` and ``value`` say what."""

    opcode: str
    type: str
    index: int
    into: str = ""
    value: str = ""


class ParsedWords(NamedTuple):
    """Words of the corpus by what they are, each with its row of the vocabulary."""

    binaries: dict[Binary, int]
    conversions: dict[Conversion, int]
    elements: dict[Element, int]


def is_exact(text: str) -> bool:
    """Return whether a word is a statement as it stands in a program, rather than a generalized form of one.

    Forms that lack no more than flags or an alignment can't be told from statements and count as such.

    >>> is_exact("<%ID> = add i32 <%ID>, <INT>"), is_exact("<%ID> = add int <%ID>, <INT>"), is_exact("add …")
    (True, False, False)
    """
    return not _GENERAL.search(text)


def exact_rows(vocabulary: Vocabulary) -> Ints32:
    """Return the rows of words that stand for statements of the corpus (count above 0), not of generalized forms."""
    seen = np.flatnonzero(vocabulary.counts > 0).tolist()
    return np.array([row for row in seen if is_exact(vocabulary.words[row])], np.int32)


def parse_words(vocabulary: Vocabulary) -> ParsedWords:
    """Take apart the words that questions are made of, among those that stand for statements of the corpus."""
    parsed = ParsedWords({}, {}, {})
    for row in exact_rows(vocabulary).tolist():
        text = vocabulary.words[row]
        if match := _BINARY.fullmatch(text):
            operands = (match["first"], match["second"])
            parsed.binaries[Binary(match["opcode"], match["flags"].strip(), match["type"], operands)] = row
        elif match := _CONVERSION.fullmatch(text):
            parsed.conversions[Conversion(match["opcode"], match["source"], match["target"])] = row
        elif match := _EXTRACT.fullmatch(text):
            parsed.elements[Element(match["opcode"], match["type"], int(match["index"]))] = row
        elif match := _INSERT.fullmatch(text):
            index, vector = int(match["index"]), vector_parts(match["type"])
            places = [vector[1]] * (index + 1) if vector else struct_fields(match["type"])
            if index < len(places) and places[index] == match["value_type"]:
                element = Element(match["opcode"], match["type"], index, match["into"], match["value"])
                parsed.elements[element] = row
    return parsed


def vector_parts(text: str) -> tuple[str, str] | None:
    """Return length and element type of a vector type, ("4", "float"); None of any other."""
    match = _VECTOR_PARTS.fullmatch(text)
    return (match["length"], match["element"]) if match else None


def struct_fields(text: str) -> tuple[str, ...]:
    """Return the types of the fields of a structure type, not of those nested in it; () for any other type.

    >>> struct_fields("{ i32, { ptr, i64 }, [2 x i8] }")
    ('i32', '{ ptr, i64 }', '[2 x i8]')
    """
    if not text.startswith("{ ") or not text.endswith(" }"):
        return ()
    return tuple(split_fields(text[2:-2]))
