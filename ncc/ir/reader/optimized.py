"""Optimizes code like -O2, so that a function's vector depends little on how it was compiled.

LLVM reads typed pointers as opaque ones, but has dropped most constant expressions one by one: text for its passes is
first rewritten without those that are gone.
"""

import re
from weakref import WeakKeyDictionary

from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.llvm import LLVMRefusalError, LLVMWork, print_module
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module

_GONE = (
    rb'"[^"\n]*"|'
    rb"(?<= )(?:(?P<compare>[if]cmp \w+)|(?P<choose>select)|(?P<cast>[sz]ext|fpext|fptrunc|fpto[su]i|[su]itofp)"
    rb"|mul|[su]div|[su]rem|shl|[al]shr|and|or)(?: exact| nuw| nsw)* \("
)
_PLACEHOLDER = b"@ncc.constant"
"""An external variable, whose address replaces the values of removed expressions."""
_read: "WeakKeyDictionary[Module, Module | None]" = WeakKeyDictionary()


def optimize_if_needed(module: Module, abstraction: Abstraction) -> Module | None:
    """Return the module after LLVM's optimizer; None if it was already optimized, nothing is left, or LLVM refuses."""
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
    """Return a module's text without constant expressions that LLVM has removed."""
    text = b"\n".join(map(_replace_gone_expressions, ir.split(b"\n")))
    return text + b"\n%s = external global i8\n" % _PLACEHOLDER if _PLACEHOLDER in text else text


def _replace_gone_expressions(line: bytes) -> bytes:
    """Replace the outermost expressions; those inside one that stays are kept, too."""
    if not line.startswith(b"  ") or b" (" not in line:
        return line
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
    """Return the type of an expression's value; None for rare expressions."""
    if match["cast"]:
        operands = operands.rpartition(b" to ")[2] + b" "
    elif match["choose"]:
        operands = operands[_find_outside_brackets(b", ", operands, 0) + 2 :]
    kind = re.match(rb"(?:(i\d+)|ptr|[^@,]*\*) ", operands)
    return kind and (kind[1] or b"ptr")


def _find_outside_brackets(mark: bytes, text: bytes, start: int) -> int:
    """Return the position of the first mark outside brackets that are opened after `start`, or the text's end."""
    depth = 0
    for position in range(start, len(text)):
        if not depth and text.startswith(mark, position):
            return position
        depth += {40: 1, 41: -1}.get(text[position], 0)
    return len(text)
