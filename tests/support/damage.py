"""Ways to damage a model that is on disk, made from the model itself: its card, its tensors, and both files."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Card = dict[str, Any]
Tensors = dict[str, NDArray[Any]]

WRONG_VALUES: Mapping[str, Any] = {
    "null": None,
    "text": "x",
    "negative": -1,
    "huge": 2**70,
    "NaN": float("nan"),
    "empty list": [],
    "empty object": {},
    "true": True,
    "long text": "x" * 5000,
    "list of lists": [[1]],
}

FREE = ("about", "card", "report")
"""Fields in which anything may stand."""


def _ending_in_nan(array: NDArray[Any]) -> NDArray[Any]:
    spoilt = array.copy()
    spoilt.ravel()[-1:] = np.nan
    return spoilt


WRONG_TENSORS: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "cut": lambda array: array[1:] if array.ndim else array.reshape(1),
    "longer": lambda array: np.append(array, array[..., :1], axis=-1) if array.ndim else array.reshape(1),
    "boxed": lambda array: array[None],
    "scalar": lambda array: array.ravel()[0] if array.ndim else array[None],
    "not finite at its end": lambda array: _ending_in_nan(array) if array.dtype.kind == "f" else array[:0],
    "of another type": lambda array: array.astype(np.uint16),
}
WRONG_CARDS: Mapping[str, bytes] = {
    "empty": b"",
    "an open bracket": b"{",
    "a list": b"[]",
    "a number": b"1",
    "no UTF-8": b'{"format_version": "\xff"}',
    "deep": b"[" * 100_000,
    "a version with a point": b'{"format_version": 1.0}',
    "a version of many digits": b'{"format_version": ' + b"9" * 5000 + b"}",
}


def damaged_cards(card: Card, parent: str = "") -> Iterator[tuple[str, Card]]:
    """Cards without a field, or with another value of it, inside objects and first items of lists too."""
    for field, value in card.items():
        name = f"{parent}{field}"
        yield f"without {name}", {other: kept for other, kept in card.items() if other != field}
        for what, wrong in WRONG_VALUES.items():
            if type(wrong) is not type(value) or (wrong != value and wrong is not True):
                yield f"{name}: {what}", card | {field: wrong}
        if field in FREE:
            continue
        if isinstance(value, dict):
            for what, damaged in damaged_cards(value, f"{name}."):
                yield what, card | {field: damaged}
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for what, damaged in damaged_cards(value[0], f"{name}[0]."):
                yield what, card | {field: [damaged, *value[1:]]}
        elif isinstance(value, list) and value:
            for what, wrong in WRONG_VALUES.items():
                if type(wrong) is not type(value[0]):
                    yield f"{name}[0]: {what}", card | {field: [wrong, *value[1:]]}
            yield from ((f"{name}: {what}", card | {field: list_}) for what, list_ in _damaged_lists(value))


def _damaged_lists(values: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    if len(values) > 1:
        yield "one less", values[1:]
        if values[0] != values[1]:
            yield "one twice", [values[0], values[0], *values[2:]]


def damaged_tensors(tensors: Tensors) -> Iterator[tuple[str, Tensors]]:
    """Tensors of which one is missing or another, or one too many; each with what was done."""
    for name, array in tensors.items():
        yield f"without tensor {name}", {one: kept for one, kept in tensors.items() if one != name}
        for what, change in WRONG_TENSORS.items():
            changed = np.ascontiguousarray(change(array))
            parts = [(each.shape, each.dtype, each.tobytes()) for each in (array, changed)]
            if array.size and parts[0] != parts[1]:
                yield f"tensor {name} {what}", tensors | {name: changed}
    yield "a tensor too many", tensors | {"more": np.zeros(3, np.float32)}


def damage_file(path: Path) -> Iterator[str]:
    """Has a file end too soon, be missing, or be a device that never ends; it is whole again at the end."""
    whole = path.read_bytes()
    for keep in sorted(keep for keep in {0, 7, 8, 100, len(whole) // 2, len(whole) - 2} if 0 <= keep < len(whole)):
        path.write_bytes(whole[:keep])
        yield f"{keep} bytes of {path.name}"
    path.unlink()
    yield f"no {path.name}"
    path.symlink_to("/dev/zero")
    yield f"{path.name} without an end"
    path.unlink()
    path.write_bytes(whole)


def lying_headers(tensors: bytes) -> Iterator[tuple[str, bytes]]:
    """Files of safetensors whose header says another length, or types of numbers that ncc never writes."""
    for length in (2**64 - 1, 2**63, 10**8, 2**32):
        yield f"a header of {length} bytes", length.to_bytes(8, "little") + tensors[8:]
    size = 8 + int.from_bytes(tensors[:8], "little")
    for kind in (b"F16", b"F32", b"F64", b"I8", b"I32", b"I64"):
        for other in (b"BF16", b"F8_E5M2", b"F8_E4M3", b"C64"):
            header = tensors[8:size].replace(b'"' + kind + b'"', b'"' + other + b'"')
            if header != tensors[8:size]:
                named = f"{other.decode()} for {kind.decode()}"
                yield named, len(header).to_bytes(8, "little") + header + tensors[size:]
