"""Mutations of safetensors files: headers that lie, and files that are whole but have unexpected contents."""

import json
import random
import struct
from functools import lru_cache
from math import prod

from fuzz.json_mutation import mutate_json

__all__ = ["mutate_tensors"]

Tensor = tuple[str, list[int], bytes]

_WIDTHS = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
    "U32": 4, "F32": 4, "F64": 8, "I64": 8, "U64": 8, "C64": 8,
}  # fmt: skip
_PATTERNS = {
    1: (b"\0", b"\x80", b"\xff", b"\x7f", b"\x01"),
    2: (b"\0\0", b"\0\x7c", b"\0\xfc", b"\xff\xff", b"\xff\x7b", b"\x01\0"),
    4: (
        b"\0" * 4, b"\0\0\x80\x7f", b"\0\0\xc0\x7f", b"\xff" * 4, b"\xff\xff\x7f\x7f", b"\xff\xff\xff\x7f",
        b"\1" + b"\0" * 3,
    ),
    8: (
        b"\0" * 8, b"\0\0\0\0\0\0\xf0\x7f", b"\xff" * 8, b"\xff" * 6 + b"\xef\x7f", b"\xff" * 7 + b"\x7f",
        b"\1" + b"\0" * 7,
    ),
}  # fmt: skip
"""By width in bytes: zero, infinities, no numbers, the largest and the smallest."""


def mutate_tensors(dice: random.Random, data: bytes) -> bytes:
    """A file with a damaged header, or one that is whole, with tensors changed, reshaped, left out or added."""
    match dice.randrange(8):
        case 0:
            return _lying_length(dice, data)
        case 1 | 2:
            return _lying_header(dice, data)
        case 3 if not dice.randrange(4):
            return data[: dice.randrange(len(data))]
    metadata, tensors = _parsed(data)
    tensors = dict(tensors)
    for _ in range(dice.choice((1, 1, 1, 2))):
        if tensors:
            _change(dice, tensors)
    return _built(metadata, tensors)


@lru_cache(maxsize=256)
def _parsed(data: bytes) -> tuple[dict[str, str], dict[str, Tensor]]:
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    body = data[8 + length :]
    metadata = header.pop("__metadata__", {})
    return metadata, {
        name: (about["dtype"], about["shape"], body[slice(*about["data_offsets"])]) for name, about in header.items()
    }


def _built(metadata: dict[str, str], tensors: dict[str, Tensor]) -> bytes:
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    at = 0
    for name, (dtype, shape, body) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(body)]}
        at += len(body)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(body for _, _, body in tensors.values())


def _lying_length(dice: random.Random, data: bytes) -> bytes:
    (length,) = struct.unpack("<Q", data[:8])
    lies = (
        0,
        1,
        length - 1,
        length + 1,
        length + 8,
        len(data),
        len(data) - 8,
        10**8,
        2**31,
        2**32 - 1,
        2**63,
        2**64 - 1,
    )
    return struct.pack("<Q", dice.choice(lies)) + data[8:]


def _lying_header(dice: random.Random, data: bytes) -> bytes:
    (length,) = struct.unpack("<Q", data[:8])
    header = mutate_json(dice, data[8 : 8 + length].rstrip())
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


def _change(dice: random.Random, tensors: dict[str, Tensor]) -> None:
    name = dice.choice(list(tensors))
    dtype, shape, body = tensors[name]
    match dice.randrange(9):
        case 0:
            del tensors[name]
        case 1:
            tensors[dice.choice(("extra", name + "_", "training.", "process9.weights"))] = tensors[name]
        case 2:  # as many bytes, another type
            same = [other for other, width in _WIDTHS.items() if width == _WIDTHS[dtype] and other != dtype]
            tensors[name] = (dice.choice(same), shape, body)
        case 3:  # as many numbers, another type
            other = dice.choice(list(_WIDTHS))
            tensors[name] = (other, shape, dice.randbytes(prod(shape) * _WIDTHS[other]))
        case 4:
            shapes = ([prod(shape)], shape[::-1], [1, *shape], [*shape, 1], [*shape, 0], [0, *shape])
            new = list(dice.choice(shapes))
            tensors[name] = (dtype, new, body[: prod(new) * _WIDTHS[dtype]])
        case 5:  # fewer or more rows
            if shape:
                rows = max(0, dice.choice((0, 1, shape[0] - 1, shape[0] + 1, 2 * shape[0])))
                size = prod([rows, *shape[1:]]) * _WIDTHS[dtype]
                tensors[name] = (dtype, [rows, *shape[1:]], (body * 2 + bytes(64))[:size].ljust(size, b"\0"))
        case _:  # one number, or all of them
            width = _WIDTHS[dtype]
            pattern = dice.choice(_PATTERNS[width])
            count = len(body) // width
            at = dice.randrange(count + 1) * width
            one = body[:at] + pattern + body[at + width :]
            tensors[name] = (dtype, shape, one[: len(body)] if dice.randrange(4) else pattern * count)
