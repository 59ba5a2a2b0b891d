"""Size rules: comments of a kernel's source that say how large its launch and its arguments are."""

import math
import random
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from fuzz.mutation import mutate_bytes
from fuzz.targets import Target
from ncc.errors import InputError
from ncc.kernels.measure.arguments import Argument, NDRange, fill, launch_range, read_annotations
from ncc.kernels.measure.sources import SHIPPED_KERNELS

__all__ = ["TARGETS"]

_NAMES = ("N", "X", "Y", "L", "W", "i")
_NUMBERS = (
    "0",
    "1",
    "-1",
    "0.5",
    "-0.0",
    "64",
    "1e18",
    "9e18",
    "1e308",
    "1e400",
    "4096",
    "9223372036854775807",
    "0x7f",
)
_ODD = ("True", "1j", "'a'", "None", "...", "()", "M", "f(1)", "[i]", "\0", "1_0", "١", "N if N else 1", "lambda: 1")
_OPERATORS = ("+", "-", "*", "/", "%", "//", " + ", " * ", "**", "<<", "@", "and")
_KEYS = ("size", "values", "below", "items", "local")
_TOKENS = tuple(
    token.encode() for token in (*_NAMES, *_NUMBERS, *_ODD, *_OPERATORS, *_KEYS, "// ncc: k: ", ",", "(", ")")
)
_SCALARS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double", "float3")
_SPACES = ("global", "constant", "local", "private")
_MAX_REPEATS = 20_000
_MAX_FILLED_BYTES = 1 << 16


def _rules() -> list[bytes]:
    """The comments of every kernel that ships, and those of no kernel."""
    shipped = [
        b"".join(line for line in path.read_bytes().splitlines(keepends=True) if line.startswith(b"// ncc:"))
        for path in sorted(SHIPPED_KERNELS.glob("*.cl"))
    ]
    own = (
        b"// ncc: k: local 64, items W / 4\n// ncc: k.a: size N + 1, values 8 * i % 7\n// ncc: b: below (X - 1) * Y\n",
    )
    return [*filter(None, shipped), *own]


def _expression(dice: random.Random, depth: int) -> str:
    if not depth or not dice.randrange(3):
        return dice.choice(dice.choice((_NAMES, _NAMES, _NUMBERS, _NUMBERS, _ODD if not dice.randrange(8) else _NAMES)))
    left, right = (_expression(dice, depth - 1) for _ in range(2))
    return dice.choice(
        (f"({left}{dice.choice(_OPERATORS[:8])}{right})", f"{left}{dice.choice(_OPERATORS)}{right}", f"-{left}")
    )


def _mutate(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Rules with other bytes, rules of expressions by chance, or a part of a rule very often."""
    match dice.randrange(4):
        case 0:
            return mutate_bytes(dice, seeds, _TOKENS)
        case 1:
            part, times = dice.choice((*_TOKENS, b" ", b"\t", b"1+", b"N*", b"9e9*")), dice.randrange(_MAX_REPEATS)
            return b"// ncc: k: local " + part * times + dice.choice((b"1", b"N", b"", b"\n"))
    rules = (f"// ncc: {dice.choice(('k', 'k.a', 'a'))}: {dice.choice(_KEYS)} {_expression(dice, 4)}" for _ in range(3))
    return "\n".join(rules).encode()


def _read(data: bytes) -> None:
    annotations = read_annotations(data.decode("utf-8", "replace"))
    for index, name in enumerate(annotations):
        kernel, _, argument = name.rpartition(".")
        for size, wgsize in ((1, 1), (4096, 64), (2**32, 1024)):
            dimensions = 1 + (index + size) % 3
            with suppress(InputError):
                nd_range = launch_range(kernel or name, annotations, dimensions, size, wgsize)
                _check_range(nd_range, dimensions)
                type_name, space = _SCALARS[(index + size) % len(_SCALARS)], _SPACES[(index + wgsize) % len(_SPACES)]
                _check_argument(Argument(kernel or "k", argument, type_name, space, False, annotations), nd_range)


def _check_range(nd_range: NDRange, dimensions: int) -> None:
    assert len(nd_range.global_size) == len(nd_range.local_size) == dimensions
    assert all(type(items) is int for items in (*nd_range.global_size, *nd_range.local_size))
    assert all(items >= 1 for items in nd_range.local_size)
    pairs = zip(nd_range.global_size, nd_range.local_size, strict=True)
    assert all(items >= group and items % group == 0 for items, group in pairs)
    assert math.prod(nd_range.global_size) < 2**63
    assert nd_range.names["N"] == math.prod(nd_range.global_size)


def _check_argument(argument: Argument, nd_range: NDRange) -> None:
    dtype, width = argument.element
    elements = 1 if argument.space == "private" else argument.elements(nd_range)
    assert 1 <= elements < 2**34
    if argument.space != "private":
        assert argument.num_bytes(nd_range) == np.dtype(dtype).itemsize * width * elements
    if np.dtype(dtype).itemsize * width * elements <= _MAX_FILLED_BYTES:
        values = fill(argument, nd_range, np.random.default_rng(0))
        assert (values.shape, values.dtype) == ((width * elements,), dtype)
        assert np.isfinite(values).all()


TARGETS = (Target(name="size-rules", seeds=_rules, mutate=_mutate, run=_read, weight=6),)
