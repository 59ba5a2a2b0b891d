"""Triton's kernels: element-wise, reductions, scans, a softmax, a layer's norm, a gather, atomics; and on tiles."""
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from datasets.jit.triton_tiles import attention, biased, masked_product, product, transposition

__all__ = ["compiled"]

_BLOCKS = (64, 256, 1024)
_TILES = (16, 32, 64)
_ARCHITECTURES = (70, 80, 90)
_TYPES = ("fp32", "fp16", "fp64", "i32", "bf16")
_NO_PRODUCTS = ("fp64", "i32")


@triton.jit
def axpy(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def total(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.atomic_add(y, tl.sum(tl.load(x + i, mask=i < n, other=0), axis=0))


@triton.jit
def largest(x, y, n, block: tl.constexpr):
    i = tl.arange(0, block)
    found = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0)
    tl.store(y + tl.program_id(0), tl.max(found, axis=0))


@triton.jit
def running(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, tl.cumsum(tl.load(x + i, mask=i < n, other=0), axis=0), mask=i < n)


@triton.jit
def softmax(x, y, n, block: tl.constexpr):
    i = tl.arange(0, block)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=-1000).to(tl.float32)
    powers = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + tl.program_id(0) * n + i, powers / tl.sum(powers, axis=0), mask=i < n)


@triton.jit
def normed(x, y, n, block: tl.constexpr):
    i = tl.arange(0, block)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0).to(tl.float32)
    apart = tl.where(i < n, row - tl.sum(row, axis=0) / n, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, axis=0) / n + 1e-5)
    tl.store(y + tl.program_id(0) * n + i, apart * scale, mask=i < n)


@triton.jit
def gathered(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    place = tl.load(x + i, mask=i < n, other=0).to(tl.int32)
    tl.store(y + i, tl.load(x + place % n, mask=i < n), mask=i < n)


@triton.jit
def counted(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.atomic_add(y + tl.load(x + i, mask=i < n, other=0).to(tl.int32) % 64, 1, mask=i < n)


def compiled() -> Iterator[tuple[str, str]]:
    """File names and IR: every kernel for three sizes of block, three architectures and five types of number.

    Half of them know that pointers and sizes are multiples of 16, as Triton mostly finds when it runs, and read whole
    vectors.
    """
    of_tiles = (product, masked_product, attention, transposition)
    for kernel in (axpy, total, largest, running, softmax, normed, gathered, counted, biased, *of_tiles):
        for block in _TILES if kernel in of_tiles else _BLOCKS:
            for number, kind in enumerate(_TYPES):
                if kernel is masked_product and kind in _NO_PRODUCTS:
                    continue
                is_aligned = (number + block // 16) % 2 == 1
                architecture = _ARCHITECTURES[(number + block) % 3 or 1]
                yield f"{kernel.__name__}_{block}_{kind}.ll", _ir(kernel, block, kind, architecture, is_aligned)


def _ir(kernel: Any, block: int, kind: str, architecture: int, is_aligned: bool) -> str:
    signature = {"x": f"*{kind}", "y": f"*{kind}", "n": "i32", "block": "constexpr"}
    aligned = {(argument,): [["tt.divisibility", 16]] for argument in range(3)} if is_aligned else {}
    source = ASTSource(fn=kernel, signature=signature, constexprs={"block": block}, attrs=aligned)
    options = {"num_warps": 8 if block > 32 else 4}
    text: str = triton.compile(source, target=GPUTarget("cuda", architecture, 32), options=options).asm["llir"]
    return text
