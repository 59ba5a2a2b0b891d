"""Numba's functions: loops over arrays, a stencil, a matrix product, a histogram, a search, a sort, a simulation."""
# mypy: disable-error-code="no-untyped-def"

import math
from collections.abc import Iterator

import numpy as np
from numba import float32, float64, int64, njit

__all__ = ["compiled"]


def axpy(x, y):
    for i in range(x.shape[0]):
        y[i] += 2 * x[i]


def total(x, y):
    found = x[0]
    for i in range(1, x.shape[0]):
        found += x[i] * y[i]
    return found


def smoothed(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = (x[i - 1] + 2 * x[i] + x[i + 1]) / 4


def waves(x, y):
    for i in range(x.shape[0]):
        y[i] = math.exp(-x[i] * x[i]) * math.sin(x[i]) + math.sqrt(abs(x[i]))


def counted(x, y):
    for i in range(x.shape[0]):
        y[int(x[i]) % y.shape[0]] += 1


def sorted_in_place(x, y):
    for i in range(1, x.shape[0]):
        value, at = x[i], i
        while at > 0 and x[at - 1] > value:
            x[at] = x[at - 1]
            at -= 1
        x[at] = value
    y[0] = x[0]


def found_in(x, y):
    low, high = 0, x.shape[0]
    while low < high:
        middle = (low + high) // 2
        if x[middle] < y[0]:
            low = middle + 1
        else:
            high = middle
    return low


def on_the_whole(x, y):
    return np.sum(np.where(x > y, x - y, 0)) / (x.size + 1)


def product(x, y):
    size = int(math.sqrt(x.shape[0]))
    for i in range(size):
        for j in range(size):
            one = x[0] * 0
            for k in range(size):
                one += x[i * size + k] * x[k * size + j]
            y[i * size + j] = one


_FUNCTIONS = (axpy, total, smoothed, waves, counted, sorted_in_place, found_in, on_the_whole, product)


def compiled() -> Iterator[tuple[str, str]]:
    """File names and IR: every function for three types of number, with and without fast mathematics."""
    for function in _FUNCTIONS:
        for kind in (float32, float64, int64):
            for fast in (False, True):
                made = njit((kind[:], kind[:]), fastmath=fast)(function)
                [text] = made.inspect_llvm().values()
                yield f"{function.__name__}_{kind}{'_fast' * fast}.ll", text
