"""Mutations that know nothing of a format but its words: bytes flipped, cut, repeated, spliced, lines moved."""

import random
from collections.abc import Sequence

__all__ = ["mutate_bytes"]

_NUMBERS = (
    b"0 -1 1 127 128 255 256 65535 2147483647 2147483648 -2147483649 4294967295 4294967296 9223372036854775807"
    b" 9223372036854775808 18446744073709551616 1e308 1e-308 1e999 -1e999 nan inf -0 0.1 0x 1_000 000000000000000001"
).split()
_LONGEST = 60
_LONGEST_SPLICE = 300


def mutate_bytes(dice: random.Random, seeds: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """One of the seeds after one to four changes.

    Args:
        dice: Decides; the same state gives the same bytes.
        seeds: Inputs as they should be, at least one.
        tokens: Words of the format, which are put in whole.
    """
    data = bytearray(dice.choice(seeds))
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        at, length = dice.randrange(len(data) + 1), dice.randrange(1, _LONGEST)
        match dice.randrange(9):
            case 0:
                data[at : at + 1] = bytes([dice.randrange(256)])
            case 1:
                data[at : at + 1] = bytes([byte ^ 1 << dice.randrange(8) for byte in data[at : at + 1]])
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + length]
            case 4:
                other = dice.choice(seeds)
                start = dice.randrange(len(other) + 1)
                data[at:at] = other[start : start + dice.randrange(_LONGEST_SPLICE)]
            case 5:
                _move_line(dice, data)
            case 6:
                _other_number(dice, data, at)
            case 7 if not dice.randrange(8):
                del data[at:]
            case _:
                data[at : at + dice.randrange(3)] = dice.choice(tokens) + b" " if tokens else dice.randbytes(2)
    return bytes(data)


def _move_line(dice: random.Random, data: bytearray) -> None:
    """A line, chosen by a place in it, goes before another."""
    at, to = (data.find(b"\n", dice.randrange(len(data) + 1)) + 1 for _ in range(2))
    end = data.find(b"\n", at) + 1 or len(data)
    line = data[at:end]
    if dice.randrange(4):
        del data[at:end]
    data[to:to] = line


def _other_number(dice: random.Random, data: bytearray, at: int) -> None:
    """The next run of digits becomes another number."""
    start = next((i for i in range(at, min(at + _LONGEST, len(data))) if 48 <= data[i] <= 57), None)
    if start is not None:
        end = start
        while end < len(data) and 48 <= data[end] <= 57:
            end += 1
        data[start:end] = dice.choice(_NUMBERS)
