"""Source from strangers, through the compiler to a module: OpenCL C and C."""

import random
from collections.abc import Sequence

from fuzz.checks import check_module
from fuzz.mutation import mutate_bytes
from fuzz.samples import ROOT
from fuzz.targets import Target
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.reader import read_module

__all__ = ["TARGETS"]

_TIMEOUT_S = 5.0
_TOKENS = (
    b'{ } ( ) [ ] ; , * & # ## "" \' \\ /* */ // ... int float4 double __global __local __kernel void const struct'
    b" typedef union goto for(;;) while(1) switch case sizeof __attribute__ asm inline static extern 0x7fffffff 1e999"
    b" #if #endif #define #include #pragma __COUNTER__ _Pragma __builtin_constant_p __VA_ARGS__ \n#line \xff \0"
).split(b" ")


def _opencl() -> list[bytes]:
    places = [*(ROOT / "datasets" / "samples").glob("*.cl"), *(ROOT / "tests").glob("*/*/sources/*.cl")]
    return [path.read_bytes() for path in sorted(places)]


def _c() -> list[bytes]:
    places = [
        *(ROOT / "datasets" / "samples").glob("*.c"),
        *(ROOT / "tests" / "ir" / "frontend" / "sources").glob("*.c"),
    ]
    return [path.read_bytes() for path in sorted(places)]


def _mutate(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    return mutate_bytes(dice, seeds, _TOKENS)


def _compile(language: str, data: bytes) -> None:
    options = CompileOptions(language=language, timeout_s=_TIMEOUT_S)
    check_module(read_module(compile_source(data, options).ir))


def _compile_opencl(data: bytes) -> None:
    _compile("opencl", data)


def _compile_c(data: bytes) -> None:
    _compile("c", data)


TARGETS = (
    Target(name="opencl", seeds=_opencl, mutate=_mutate, run=_compile_opencl, weight=0.04, timeout_s=60, fast=False),
    Target(name="c", seeds=_c, mutate=_mutate, run=_compile_c, weight=0.02, timeout_s=60, fast=False),
)
