"""Code as this LLVM's -O2 would have left it, so that a function is like itself however it was compiled.

LLVM 17 and later read no typed pointers, and dropped most constant expressions one by one. So text for LLVM's passes is
first rewritten with opaque pointers, and without expressions that are gone.
"""

import re
from weakref import WeakKeyDictionary

from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.llvm import LLVMRefusalError, LLVMWork, print_module
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module

_TOKEN = re.compile(rb'c?"[^"\n]*"|[%@]"[^"\n]*"|[%@][\w.$-]+|\w[\w.]*|[ \t]+|\.\.\.|.')
_SIMPLE_TYPE = re.compile(rb"%|(?:i\d+|half|bfloat|float|double|fp128|x86_fp80|ppc_fp128|void|ptr|metadata)$")
_WORD_AND_STARS = re.compile(
    rb'(?P<type>%"[^"\n]*"|%[\w.$-]+|\b(?:i\d+|half|bfloat|float|double|fp128|x86_fp80|ppc_fp128))\*+|"[^"\n]*"'
)
_OPENING = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}
_SPACE = re.compile(rb"addrspace\(\d+\)$")
_GONE = re.compile(
    rb'"[^"\n]*"|'
    rb"(?<= )(?:(?P<compare>[if]cmp \w+)|(?P<choose>select)|(?P<cast>[sz]ext|fpext|fptrunc|fpto[su]i|[su]itofp)"
    rb"|mul|[su]div|[su]rem|shl|[al]shr|and|or)(?: exact| nuw| nsw)* \("
)
_FIRST_TYPE = re.compile(rb"(i\d+|ptr) ")
_STANDS_FOR = b"ncc.constant"
"""A variable from outside, whose address stands for the values of expressions that are gone."""
_read: "WeakKeyDictionary[Module, Module | None]" = WeakKeyDictionary()


def optimize_if_needed(module: Module, abstraction: Abstraction) -> Module | None:
    """The module as LLVM's optimiser leaves it; None where it is so already, nothing is left, or LLVM can't."""
    if not (module.is_unoptimized or module.has_typed_geps):
        return None
    if module not in _read:
        work = LLVMWork.OPTIMIZE if module.is_unoptimized else LLVMWork.SIMPLIFY
        try:
            printed = print_module(modern_text(module.ir), work)
            read = read_module(printed, name=module.name, abstraction=abstraction)
            _read[module] = read if read.num_functions else None
        except LLVMRefusalError:
            _read[module] = None
    return _read[module]


def modern_text(ir: bytes) -> bytes:
    """A module's text with opaque pointers and without the constant expressions that LLVM has no longer."""
    text = b"\n".join(map(_modern_line, ir.split(b"\n")))
    return text + b"\n@%s = external global i8\n" % _STANDS_FOR if b"@" + _STANDS_FOR in text else text


def _modern_line(line: bytes) -> bytes:
    if line.startswith((b"!", b";")):
        return line
    modern = line
    if b"*" in line:  # most are of a word's type, which are replaced at once
        modern = _WORD_AND_STARS.sub(lambda found: b"ptr" if found["type"] else found[0], line)
        modern = _with_opaque_pointers(modern) if b"*" in modern else modern
    return _without_gone_expressions(modern) if modern.startswith(b"  ") and b" (" in modern else modern


def _with_opaque_pointers(line: bytes) -> bytes:
    """Replaces each type that ends in a star, where a type is one word, or what its brackets hold."""
    tokens: list[bytes] = []
    begins: list[int] = []  # for each token that ends a type the token that the type begins with, -1 for others
    open_at: list[int] = []
    for found in _TOKEN.findall(line):
        token, begin = found, -1
        if token == b"*" and tokens and begins[-1] >= 0:
            begin = begins[-1]
            space = _SPACE.search(b"".join(tokens[-4:])) if tokens[-1] == b")" else None
            del tokens[begin:], begins[begin:]
            token = b"ptr " + space[0] if space else b"ptr"
        elif token in _OPENING.values():
            open_at.append(len(tokens))
        elif token in _OPENING and open_at:
            begin = open_at.pop()
            if token == b")":  # of a function's type, after that of what it returns; or of "T addrspace(1)"
                after = begin - (3 if tokens[begin - 1 : begin] == [b"addrspace"] else 2)
                begin = begins[after] if after >= 0 and tokens[begin - 1] in (b" ", b"addrspace") else -1
        elif _SIMPLE_TYPE.match(token):
            begin = len(tokens)
        tokens.append(token)
        begins.append(begin)
    return b"".join(tokens)


def _without_gone_expressions(line: bytes) -> bytes:
    """Replaces the outermost ones; what is in one that is left as it is stays, too."""
    parts, done = [], 0
    while found := _GONE.search(line, done):
        end = found.end()
        value = found[0]
        if not value.startswith(b'"'):
            end = _place_of(b")", line, found.end()) + 1
            kind = b"i1" if found["compare"] else _type_of(line[found.end() : end - 1], found)
            pointer = b"@" + _STANDS_FOR
            known = pointer if kind == b"ptr" else b"ptrtoint (ptr %s to %s)" % (pointer, kind) if kind else None
            value = known or line[found.start() : end]
        parts += [line[done : found.start()], value]
        done = end
    return b"".join([*parts, line[done:]])


def _type_of(operands: bytes, found: re.Match[bytes]) -> bytes | None:
    """The type of an expression's value, None for those that are seldom."""
    if found["cast"]:
        operands = operands.rpartition(b" to ")[2] + b" "
    elif found["choose"]:
        operands = operands[_place_of(b", ", operands, 0) + 2 :]
    kind = _FIRST_TYPE.match(operands)
    return kind[1] if kind else None


def _place_of(mark: bytes, text: bytes, begin: int) -> int:
    """Place of the first mark outside brackets that are opened after `begin`, or the text's end."""
    depth = 0
    for at in range(begin, len(text)):
        if not depth and text.startswith(mark, at):
            return at
        depth += {40: 1, 41: -1}.get(text[at], 0)
    return len(text)
