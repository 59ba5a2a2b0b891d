"""Triton's kernels on tiles: matrix products, attention, a transposition, a bias with GELU and dropout."""
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl

__all__ = ["attention", "biased", "masked_product", "product", "transposition"]


@triton.jit
def product(x, y, n, block: tl.constexpr):
    """In half precision, on sizes that blocks divide."""
    rows, columns = tl.arange(0, block)[:, None], tl.arange(0, block)[None, :]
    found = tl.zeros((block, block), tl.float32)
    for k in range(0, n, block):
        a = tl.load(x + (tl.program_id(0) * block + rows) * n + k + columns).to(tl.float16)
        b = tl.load(x + (k + rows) * n + tl.program_id(1) * block + columns).to(tl.float16)
        found += tl.dot(a, b)
    tl.store(y + (tl.program_id(0) * block + rows) * n + tl.program_id(1) * block + columns, found)


@triton.jit
def masked_product(x, y, n, block: tl.constexpr):
    """In the type of its numbers, on any size, with the blocks in an order that caches like."""
    across = tl.cdiv(n, block)
    group = tl.program_id(0) // (4 * across)
    height = min(across - group * 4, 4)
    i = ((group * 4 + tl.program_id(0) % height) * block + tl.arange(0, block))[:, None]
    j = (tl.program_id(0) % (4 * across) // height * block + tl.arange(0, block))[None, :]
    found = tl.zeros((block, block), tl.float32)
    for start in range(0, n, block):
        k = start + tl.arange(0, block)
        a = tl.load(x + i * n + k[None, :], mask=(i < n) & (k[None, :] < n), other=0)
        b = tl.load(x + k[:, None] * n + j, mask=(k[:, None] < n) & (j < n), other=0)
        found = tl.dot(a, b, found, out_dtype=tl.float32)
    tl.store(y + i * n + j, tl.maximum(found, 0.01 * found), mask=(i < n) & (j < n))


@triton.jit
def attention(x, y, n, block: tl.constexpr):
    """Softmax of a row of scores while they are computed: x holds queries, keys and values, 64 numbers each."""
    rows, inside = tl.program_id(0) * block + tl.arange(0, block), tl.arange(0, 64)
    query = tl.load(x + rows[:, None] * 64 + inside[None, :], mask=rows[:, None] < n, other=0).to(tl.float16)
    highest = tl.full((block,), float("-inf"), tl.float32)
    total, found = tl.zeros((block,), tl.float32), tl.zeros((block, 64), tl.float32)
    for start in range(0, n, block):
        columns = start + tl.arange(0, block)
        there = columns[:, None] < n
        key = tl.load(x + (n + columns[:, None]) * 64 + inside[None, :], mask=there, other=0).to(tl.float16)
        score = tl.dot(query, tl.trans(key)) * 0.125
        score = tl.where(columns[None, :] <= rows[:, None], score, float("-inf"))
        top = tl.maximum(highest, tl.max(score, axis=1))
        powers, shrunk = tl.exp2(score - top[:, None]), tl.exp2(highest - top)
        value = tl.load(x + (2 * n + columns[:, None]) * 64 + inside[None, :], mask=there, other=0).to(tl.float16)
        found = found * shrunk[:, None] + tl.dot(powers.to(tl.float16), value)
        total, highest = total * shrunk + tl.sum(powers, axis=1), top
    tl.store(y + rows[:, None] * 64 + inside[None, :], found / total[:, None], mask=rows[:, None] < n)


@triton.jit
def transposition(x, y, n, block: tl.constexpr):
    """Of a matrix, tile by tile."""
    i = tl.program_id(0) * block + tl.arange(0, block)[:, None]
    j = tl.program_id(1) * block + tl.arange(0, block)[None, :]
    tile = tl.load(x + i * n + j, mask=(i < n) & (j < n))
    tl.store(y + tl.trans(j) * n + tl.trans(i), tl.trans(tile), mask=(tl.trans(j) < n) & (tl.trans(i) < n))


@triton.jit
def biased(x, y, n, block: tl.constexpr):
    """GELU of numbers and a bias, a tenth of them dropped."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    number = tl.load(x + i, mask=i < n).to(tl.float32) + tl.load(y + i % 64).to(tl.float32)
    smooth = 0.5 * number * (1 + tl.erf(number * 0.70710678))
    tl.store(y + i, tl.where(tl.rand(42, i) > 0.1, smooth / 0.9, 0.0), mask=i < n)
