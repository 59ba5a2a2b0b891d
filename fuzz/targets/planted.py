"""Targets that misbehave on purpose: proof that the rig would see it. They run only where they are named."""

import os
import random
import time
from collections.abc import Sequence

from fuzz.targets import Target
from ncc.errors import InputError

__all__ = ["TARGETS"]


def _letters() -> list[bytes]:
    return [b"fine", b"refused"]


def _choose(wrong: bytes, dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    return wrong if not dice.randrange(20) else dice.choice(seeds)


def _target(wrong: bytes) -> Target:
    return Target(
        name=f"planted-{wrong.decode()}",
        seeds=_letters,
        mutate=lambda dice, seeds: _choose(wrong, dice, seeds),
        run=_misbehave,
        timeout_s=0.5 if wrong == b"hang" else 20.0,
        planted=True,
    )


def _misbehave(data: bytes) -> None:
    match data:
        case b"refused":
            raise InputError("refused")
        case b"abort":
            os.abort()
        case b"hang":
            time.sleep(3600)
        case b"raise":
            raise ZeroDivisionError("planted")
        case b"memory":
            bytearray(1 << 40)
        case b"swell":
            b"x" * (600 << 20)
        case b"exit":
            os._exit(0)


TARGETS = tuple(_target(wrong) for wrong in (b"abort", b"hang", b"raise", b"memory", b"swell", b"exit"))
