"""Floating-point operations as a profiler of an NVIDIA card counts them: an FMA as two, functions as what they become.

Profilers count the card's own instructions (FADD, FMUL, FFMA twice; the same of doubles), so that a division counts as
the multiplications around an approximate reciprocal, and a sign, a minimum or a rounding as nothing. The numbers are
those of the usual way through the code that NVIDIA's device library and assembler give sm_86, without the ways for
zeros, infinities and huge arguments; a square root of floats is the card's approximate one.
"""

import re

from ncc.kernels.builtins import builtin_name
from ncc.kernels.instructions import lanes_of

_SINGLE = """
div 10 rcp 5 sqrt 0 rsqrt 0 exp 10 exp2 0 exp10 10 expm1 20 log 24 log2 26 log10 25 log1p 28 sin 18 cos 18 sincos 24
tan 19 asin 21 acos 22 atan 21 atan2 30 sinh 12 cosh 12 tanh 13 asinh 39 acosh 30 atanh 32 pow 62 powi 12 cbrt 8
rcbrt 10 hypot 7 erf 15 erfc 53 erfinv 20 erfcinv 20 normcdf 67 lgamma 81 tgamma 100 fmod 8 remainder 10 sinpi 20
cospi 20 sincospi 24 fdim 1 round 1 fma 2 fmuladd 2 mad 2 norm3d 10 rnorm3d 6 fdivide 10 fdividef 1 j0 50 j1 50 y0 60
y1 60
"""
_DOUBLE = """
div 15 rcp 10 sqrt 13 rsqrt 8 exp 30 exp2 29 exp10 33 expm1 34 log 44 log2 47 log10 47 log1p 45 sin 21 cos 21 sincos 33
tan 45 asin 38 acos 38 atan 45 atan2 58 sinh 45 cosh 38 tanh 30 asinh 78 acosh 62 atanh 63 pow 125 powi 12 cbrt 14
rcbrt 17 hypot 17 erf 78 erfc 112 erfinv 95 erfcinv 90 normcdf 125 lgamma 150 tgamma 167 fmod 3 remainder 5 sinpi 24
cospi 24 sincospi 36 fdim 1 round 1 fma 2 fmuladd 2 mad 2 norm3d 17 rnorm3d 15 fdivide 15 j0 87 j1 87 y0 120 y1 120
"""
_SINGLE_OF_DOUBLE = {"div": 2.0}
"""Operations on floats that the card's code for doubles has: the test whether a quotient is an ordinary number."""
_ARITHMETIC = {"fadd": 1.0, "fsub": 1.0, "fmul": 1.0, "fneg": 1.0, "frem": 0.0}
_APPROXIMATE = re.compile(r"__(?!nv_)[a-z]|llvm\.nvvm|native_|half_|__nv_fast_")
_FAST = re.compile(r" (?:fast|afn|arcp) ")
_ONE = re.compile(r"fdiv [^,]*\b(?:float|double) 1\.0+(?:e\+0+)?,")


def _table(text: str) -> dict[str, float]:
    words = text.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


_OF_TYPE = {"single": _table(_SINGLE), "double": _table(_DOUBLE)}


def flops_of(opcode: str, callee: str, source: str) -> dict[str, float]:
    """Floating-point operations of a statement, by precision: "single", "double" or "half".

    Args:
        opcode: The statement's opcode.
        callee: Name of the function without a body that it calls; empty for others.
        source: The statement as the IR has it.

    >>> flops_of("fdiv", "", "%3 = fdiv float %1, %2")
    {'single': 10.0}
    """
    precision = "double" if "double" in source else "single" if "float" in source else "half"
    if opcode in _ARITHMETIC:
        return {precision: _ARITHMETIC[opcode] * lanes_of(source)}
    if opcode == "fdiv":
        name = "rcp" if _ONE.search(source) else "div"
        is_approximate = bool(_FAST.search(source))
    elif opcode == "call":
        name, is_approximate = builtin_name(callee), bool(_APPROXIMATE.match(callee) or _FAST.search(source))
    else:
        return {}
    table = _OF_TYPE.get(precision, {})
    if name not in table:
        return {}
    if is_approximate and precision == "single" and name not in ("fma", "fmuladd", "mad"):
        return {precision: lanes_of(source)}
    found = {precision: table[name] * lanes_of(source)}
    if precision == "double" and name in _SINGLE_OF_DOUBLE:
        found["single"] = _SINGLE_OF_DOUBLE[name] * lanes_of(source)
    return found


_WIDE = re.compile(r"\bi64\b")
_INTEGERS = {
    **dict.fromkeys(("add", "sub"), (0.4, 1.4)),
    **dict.fromkeys(("and", "or", "xor"), (0.75, 0.75)),
    **dict.fromkeys(("shl", "lshr", "ashr"), (1.5, 3.0)),
    "mul": (1.0, 1.0),
    "icmp": (0.4, 3.5),
    "select": (1.0, 1.0),
    "getelementptr": (0.3, 0.3),
    "sext": (0.2, 0.2),
    **dict.fromkeys(("udiv", "sdiv", "urem", "srem"), (16.0, 60.0)),
    "fdiv": (5.5, 5.5),
    "call": (2.5, 2.5),
}
"""Instructions for numbers of up to 32 bits, and of 64: means over the kernels of gpuFLOPBench, since the card's
assembler joins additions with multiplications and addresses, and takes what several addresses share once."""
_BY_CONSTANT = re.compile(r"[us](?:div|rem) .*, \d+$")
_CONSTANT_DIVISION = 3.5
_INTEGER_CALLS = frozenset(
    ("smin", "smax", "umin", "umax", "abs", "ctpop", "ctlz", "cttz", "fshl", "fshr", "bitreverse")
)


def integer_operations_of(opcode: str, callee: str, source: str, is_constant: bool) -> float:
    """Integer operations of a statement, as the card's instructions count.

    Args:
        opcode: The statement's opcode.
        callee: Name of the function without a body that it calls; empty for others.
        source: The statement as the IR has it.
        is_constant: Whether all operands but the first are constants, which an address's offset then takes.
    """
    costs = _INTEGERS.get(opcode)
    if costs is None or (opcode == "call" and builtin_name(callee) not in _INTEGER_CALLS):
        return 0.0
    if (opcode == "getelementptr" and is_constant) or (
        opcode == "select" and ("float" in source or "double" in source)
    ):
        return 0.0
    if _BY_CONSTANT.search(source.split(", !", 1)[0]):
        return _CONSTANT_DIVISION
    return costs[bool(_WIDE.search(source))] * (1.0 if opcode == "getelementptr" else lanes_of(source))
