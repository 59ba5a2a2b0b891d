"""Reads pickles of plain data and NumPy arrays so that they can't run code or reach NumPy's own.

A pickle calls functions and gives objects their state. Here all that it can name is stand-ins, written in Python: NumPy
trusts what it is given as a state, and a wrong one ends the process.
"""

import io
import math
import pickle
import pickletools
from typing import Any

import numpy as np
from numpy.typing import NDArray


class RefusedPickleError(Exception):
    """A pickle names something that plain data have no need of."""


def read_pickle(data: bytes) -> Any:
    """What a pickle of any protocol holds: numbers, texts, containers and arrays of numbers.

    Raises:
        RefusedPickleError: It names anything else.
        Exception: It is damaged; of any type.
    """
    _check_lengths(data)
    found = _Unpickler(io.BytesIO(data), encoding="latin1").load()  # latin1: arrays that Python 2 pickled
    return _plain(found, set())


def _check_lengths(data: bytes) -> None:
    """Refuses a pickle that asks for memory that it does not fill: C's unpickler takes it first, and looks later."""
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in {"PUT", "BINPUT", "LONG_BINPUT"} and not 0 <= int(argument or 0) <= len(data):
            raise ValueError(f"place {argument} of the memo in a file of {len(data)} bytes")


def _plain(found: Any, seen: set[int]) -> Any:
    """Data with arrays in place of what stands for them."""
    if isinstance(found, _Array):
        return found.array
    if isinstance(found, dict | list | tuple) and found:
        if id(found) in seen:
            raise ValueError("a container that is in two places")
        seen.add(id(found))
    if isinstance(found, dict):
        return {_plain(name, seen): _plain(value, seen) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return type(found)(_plain(item, seen) for item in found)
    return found


class _Unpickler(pickle.Unpickler):
    """Reads plain data and NumPy arrays; whatever else a pickle names is refused before it can run."""

    def find_class(self, module: str, name: str) -> Any:
        """Stand-ins for the few functions that arrays are rebuilt with.

        Raises:
            RefusedPickleError: Any other name.
        """
        if module in {"numpy.core.multiarray", "numpy._core.multiarray"} and name in {"_reconstruct", "scalar"}:
            return _Reconstruct() if name == "_reconstruct" else _Scalar()
        if module in {"numpy.core.numeric", "numpy._core.numeric"} and name == "_frombuffer":
            return _FromBuffer()
        if module == "numpy" and name in {"ndarray", "dtype"}:
            return _Ndarray() if name == "ndarray" else _Dtype()
        if (module, name) == ("_codecs", "encode"):
            return _Latin1()
        raise RefusedPickleError(f"{module}.{name}")


# These have no dictionary, so that a pickle can't change them.


class _Ndarray:
    """The name alone."""

    __slots__ = ()


class _Array:
    """An array, once it has been given its state."""

    __slots__ = ("array",)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, is_fortran, data = state
        self.array = _array(data, kind, shape, "F" if is_fortran else "C")


class _Kind:
    """A type of numbers, whose state is the order of its bytes."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, order, *fields = state
        if order not in {"<", ">", "|", "="} or fields[:3] != [None, None, None]:
            raise ValueError(f"a type of numbers with the state {state!r:.80}")
        self.dtype = self.dtype.newbyteorder(order)


class _Dtype:
    """Makes types of numbers, and that of objects; others have a size of their own, which could be any."""

    __slots__ = ()

    def __call__(self, code: object, *_: object) -> _Kind:
        dtype = np.dtype(code) if isinstance(code, str) else np.dtype("V")
        if dtype.kind not in "biufO":
            raise ValueError(f"an array of {code!r:.80}")
        return _Kind(dtype)


class _Reconstruct:
    """Makes an array whose size comes with its data."""

    __slots__ = ()

    def __call__(self, kind: object, shape: object, _: object) -> _Array:
        if not isinstance(kind, _Ndarray) or shape != (0,):
            raise ValueError(f"an array of shape {shape!r:.80} before its data")
        return _Array()


class _Scalar:
    """Makes a number of NumPy's."""

    __slots__ = ()

    def __call__(self, kind: object, data: object) -> Any:
        return _array(data, kind, (1,), "C")[0]


class _FromBuffer:
    """Makes arrays, as pickles of protocol 5 hold them."""

    __slots__ = ()

    def __call__(self, data: object, kind: object, shape: object, order: object) -> _Array:
        array = _Array()
        array.array = _array(data, kind, shape, order)
        return array


class _Latin1:
    """How pickle protocols without bytes spell them."""

    __slots__ = ()

    def __call__(self, text: str, encoding: str) -> bytes:
        if encoding != "latin1":
            raise ValueError(f"bytes in encoding {encoding!r}")
        return text.encode(encoding)


def _array(data: object, kind: object, shape: object, order: object) -> NDArray[Any]:
    """An array of data that fill it."""
    if not isinstance(kind, _Kind) or not isinstance(shape, tuple) or order not in {"C", "F"}:
        raise TypeError(f"an array of shape {shape!r:.80} and order {order!r:.80}")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"an array of shape {shape!r:.80}")
    if kind.dtype.kind == "O":
        if not isinstance(data, list):
            raise TypeError("an array of objects without a list of them")
        flat = np.empty(len(data), object)
        flat[:] = data
        return flat.reshape(shape, order="C" if order == "C" else "F")
    content = data.encode("latin1") if isinstance(data, str) else data
    if not isinstance(content, bytes | bytearray) or len(content) != math.prod(shape) * kind.dtype.itemsize:
        raise ValueError(f"an array of shape {shape!r:.80} whose data do not fill it")
    if not content:
        return np.zeros(shape, kind.dtype)
    return np.frombuffer(content, kind.dtype).reshape(shape, order="C" if order == "C" else "F")
