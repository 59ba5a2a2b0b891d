"""Numba's CUDA kernels: a sum of vectors, a reduction, a matrix product, a histogram, shuffles, bodies that attract.

LLVM optimises what Numba writes, as NVIDIA's compiler does on the way to a card; no driver and no toolkit is needed.
"""
# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Iterator

import llvmlite.binding as llvm
from numba import cuda, types
from numba.cuda.compiler import compile_cuda

__all__ = ["compiled"]

_CARD = (8, 0)


def axpy(number, factor, x, y):
    i = cuda.grid(1)
    if i < number:
        y[i] += factor * x[i]


def summed(x, total):
    shared = cuda.shared.array(256, types.float32)
    own = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + own
    shared[own] = x[i] if i < x.shape[0] else 0.0
    cuda.syncthreads()
    half = 128
    while half > 0:
        if own < half:
            shared[own] += shared[own + half]
        cuda.syncthreads()
        half //= 2
    if own == 0:
        cuda.atomic.add(total, 0, shared[0])


def product(a, b, c):
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        found = c[row, column]
        for i in range(a.shape[1]):
            found += a[row, i] * b[i, column]
        c[row, column] = found


def counted(x, bins):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i] % bins.shape[0], 1)


def summed_by_warps(x, y):
    i = cuda.grid(1)
    value = x[i]
    for far in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, far)
    if cuda.laneid == 0:
        y[i // 32] = value


def attracted(place, speed):
    i = cuda.grid(1)
    if i >= place.shape[0]:
        return
    x, y = 0.0, 0.0
    for j in range(place.shape[0]):
        dx, dy = place[j, 0] - place[i, 0], place[j, 1] - place[i, 1]
        near = 1.0 / math.sqrt(dx * dx + dy * dy + 1e-9)
        x += dx * near * near * near
        y += dy * near * near * near
    speed[i, 0] += x
    speed[i, 1] += y


def _optimised(text: str) -> str:
    module = llvm.parse_assembly(text)
    llvm.initialize_native_target()
    machine = llvm.Target.from_default_triple().create_target_machine()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    return str(module)


def compiled() -> Iterator[tuple[str, str]]:
    """File names and IR: every kernel for numbers of 32 and of 64 bits."""
    for bits in (32, 64):
        real, whole = getattr(types, f"float{bits}"), getattr(types, f"int{bits}")
        row, matrix, numbers = real[::1], real[:, ::1], whole[::1]
        kernels = {
            axpy: (types.int32, real, row, row), summed: (row, row), product: (matrix, matrix, matrix),
            counted: (numbers, numbers), summed_by_warps: (row, row), attracted: (matrix, matrix),
        }  # fmt: skip
        for kernel, kinds in kernels.items():
            made = compile_cuda(kernel, types.void, kinds, cc=_CARD)
            [text] = made.library.llvm_strs
            yield f"{kernel.__name__}_{bits}.ll", _optimised(text)
