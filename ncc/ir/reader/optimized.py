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

_TOKEN = rb'c?"[^"\n]*"|[%@]"[^"\n]*"|[%@][\w.$-]+|\w[\w.]*|[ \t]+|\.\.\.|.'
_SIMPLE_TYPE = rb"%|(?:i\d+|half|bfloat|float|double|fp128|x86_fp80|ppc_fp128|void|ptr|metadata)$"
_WORD_AND_STARS = (
    rb'(?P<type>%"[^"\n]*"|%[\w.$-]+|\b(?:i\d+|half|bfloat|float|double|fp128|x86_fp80|ppc_fp128))\*+|"[^"\n]*"'
)
_BRACKETS = {b"(": b")", b"[": b"]", b"{": b"}", b"<": b">"}
_GONE = (
    rb'"[^"\n]*"|'
    rb"(?<= )(?:(?P<compare>[if]cmp \w+)|(?P<choose>select)|(?P<cast>[sz]ext|fpext|fptrunc|fpto[su]i|[su]itofp)"
    rb"|mul|[su]div|[su]rem|shl|[al]shr|and|or)(?: exact| nuw| nsw)* \("
)
_PLACEHOLDER = b"@ncc.constant"
"""An external variable, whose address stands for the values of expressions that are gone."""
_read: "WeakKeyDictionary[Module, Module | None]" = WeakKeyDictionary()


def optimize_if_needed(module: Module, abstraction: Abstraction) -> Module | None:
    """Return the module as LLVM's optimizer leaves it; None if it is so already, nothing is left, or LLVM refuses."""
    if not (module.is_unoptimized or module.has_typed_geps):
        return None
    if module not in _read:
        work = LLVMWork.OPTIMIZE if module.is_unoptimized else LLVMWork.SIMPLIFY
        try:
            printed = print_module(modern_text(module.ir), work)
            optimized = read_module(printed, name=module.name, abstraction=abstraction)
            _read[module] = optimized if optimized.num_functions else None
        except LLVMRefusalError:
            _read[module] = None
    return _read[module]


def modern_text(ir: bytes) -> bytes:
    """Return a module's text with opaque pointers and without the constant expressions that LLVM has no longer."""
    text = b"\n".join(map(_modern_line, ir.split(b"\n")))
    return text + b"\n%s = external global i8\n" % _PLACEHOLDER if _PLACEHOLDER in text else text


def _modern_line(line: bytes) -> bytes:
    if line.startswith((b"!", b";")):
        return line
    if b"*" in line:  # most are of a word's type, which are replaced at once
        line = re.sub(_WORD_AND_STARS, lambda match: b"ptr" if match["type"] else match[0], line)
        line = _with_opaque_pointers(line) if b"*" in line else line
    return _replace_gone_expressions(line) if line.startswith(b"  ") and b" (" in line else line


def _with_opaque_pointers(line: bytes) -> bytes:
    """Replace each type that ends in a star: one word, or brackets and what they hold."""
    tokens: list[bytes] = []
    starts: list[int] = []  # for each token that ends a type the token that the type starts with, -1 for others
    open_at: list[int] = []
    for word in re.findall(_TOKEN, line):
        token, start = word, -1
        if token == b"*" and tokens and starts[-1] >= 0:
            start = starts[-1]
            space = re.search(rb"addrspace\(\d+\)$", b"".join(tokens[-4:])) if tokens[-1] == b")" else None
            del tokens[start:], starts[start:]
            token = b"ptr " + space[0] if space else b"ptr"
        elif token in _BRACKETS:
            open_at.append(len(tokens))
        elif token in _BRACKETS.values() and open_at:
            start = open_at.pop()
            if token == b")":  # of a function's type, after that of what it returns; or of "T addrspace(1)"
                after = start - (3 if tokens[start - 1 : start] == [b"addrspace"] else 2)
                start = starts[after] if after >= 0 and tokens[start - 1] in (b" ", b"addrspace") else -1
        elif re.match(_SIMPLE_TYPE, token):
            start = len(tokens)
        tokens.append(token)
        starts.append(start)
    return b"".join(tokens)


def _replace_gone_expressions(line: bytes) -> bytes:
    """Replace the outermost ones; what is in one that is left as it is stays, too."""
    parts, done = [], 0
    while match := re.compile(_GONE).search(line, done):
        end, value = match.end(), match[0]
        if not value.startswith(b'"'):
            end = _find_outside_brackets(b")", line, match.end()) + 1
            kind = b"i1" if match["compare"] else _value_type(line[match.end() : end - 1], match)
            value = line[match.start() : end]
            if kind:
                value = _PLACEHOLDER if kind == b"ptr" else b"ptrtoint (ptr %s to %s)" % (_PLACEHOLDER, kind)
        parts += [line[done : match.start()], value]
        done = end
    return b"".join([*parts, line[done:]])


def _value_type(operands: bytes, match: re.Match[bytes]) -> bytes | None:
    """Return the type of an expression's value, None for those that are rare."""
    if match["cast"]:
        operands = operands.rpartition(b" to ")[2] + b" "
    elif match["choose"]:
        operands = operands[_find_outside_brackets(b", ", operands, 0) + 2 :]
    kind = re.match(rb"(i\d+|ptr) ", operands)
    return kind[1] if kind else None


def _find_outside_brackets(mark: bytes, text: bytes, start: int) -> int:
    """Return the position of the first mark outside brackets that are opened after `start`, or the text's end."""
    depth = 0
    for position in range(start, len(text)):
        if not depth and text.startswith(mark, position):
            return position
        depth += {40: 1, 41: -1}.get(text[position], 0)
    return len(text)
