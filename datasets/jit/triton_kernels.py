"""Triton's kernels: element-wise, reductions, scans, a softmax, a layer's norm, matrix products, a gather, atomics."""
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

__all__ = ["compiled"]

_BLOCKS = (64, 256, 1024)
_TILES = (16, 32, 64)
_ARCHITECTURES = (70, 80, 90)
_TYPES = ("fp32", "fp16", "fp64", "i32")


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


@triton.jit
def product(x, y, n, block: tl.constexpr):
    rows, columns = tl.arange(0, block)[:, None], tl.arange(0, block)[None, :]
    found = tl.zeros((block, block), tl.float32)
    for k in range(0, n, block):
        a = tl.load(x + (tl.program_id(0) * block + rows) * n + k + columns).to(tl.float16)
        b = tl.load(x + (k + rows) * n + tl.program_id(1) * block + columns).to(tl.float16)
        found += tl.dot(a, b)
    tl.store(y + (tl.program_id(0) * block + rows) * n + tl.program_id(1) * block + columns, found)


def compiled() -> Iterator[tuple[str, str]]:
    """File names and IR: every kernel for three sizes of block, three architectures and four types of number."""
    for kernel in (axpy, total, largest, running, softmax, normed, gathered, counted, product):
        for block in _TILES if kernel is product else _BLOCKS:
            for number, kind in enumerate(_TYPES):
                architecture = _ARCHITECTURES[(number + block) % 3 or 1]
                yield f"{kernel.__name__}_{block}_{kind}.ll", _ir(kernel, block, kind, architecture)


def _ir(kernel: Any, block: int, kind: str, architecture: int) -> str:
    signature = {"x": f"*{kind}", "y": f"*{kind}", "n": "i32", "block": "constexpr"}
    source = ASTSource(fn=kernel, signature=signature, constexprs={"block": block})
    text: str = triton.compile(source, target=GPUTarget("cuda", architecture, 32)).asm["llir"]
    return text
