"""Mutations of JSON that keep it JSON, for the most part: other types, odd numbers, depth, missing and doubled keys."""

import json
import random
from functools import lru_cache
from typing import Any

__all__ = ["mutate_json", "mutate_value"]

_MARK = "\x01raw"
# what json.dumps can't be made to write
_RAW = {
    "deep list": "[" * 100_000,
    "deep and whole": "[" * 5_000 + "]" * 5_000,
    "deep object": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "inf": "1e999",
    "digits": "9" * 5_000,
    "minus zero": "-0",
    "exponent": "1e-999999999",
    "lone surrogate": '"\\ud800"',
    "nul": '"a\\u0000b"',
    "no value": "",
    "twice": '{"a": 1, "a": [2]}',
}
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 255, 65_536, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63,
    2**64, -(2**63) - 1, 10**30, 0.5, 1.5, -0.5, 1e-300, 1e-30, 1e30, 1e38, 1e39, 1e200, 1e308, -1e308, float("nan"),
    float("inf"), float("-inf"), "", "0", "1", "nan", "inf", "-1", "a", "x" * 5_000, "../../etc/passwd",
    "-fplugin=x.so", "\U0001f600", [], {}, [[]], [{}], {"": None}, [None], [1, "a", None], [1e308] * 3,
    {"a": {"b": []}},
)  # fmt: skip


def mutate_json(dice: random.Random, text: bytes) -> bytes:
    """The text with one to three values changed."""
    whole = _parsed(text)
    for _ in range(dice.choice((1, 1, 2, 3))):
        whole = mutate_value(dice, whole)
    out = json.dumps(whole, ensure_ascii=bool(dice.randrange(2)))
    for name, raw in _RAW.items():
        out = out.replace(json.dumps(f"{_MARK}{name}"), raw)
    if not dice.randrange(12):
        out = _doubled_key(dice, out)
    return out.encode("utf-8", "surrogatepass")


@lru_cache(maxsize=256)
def _parsed(text: bytes) -> Any:
    return json.loads(text)


def mutate_value(dice: random.Random, value: Any) -> Any:
    """A copy with one change somewhere inside; what is not changed is shared with the original."""
    if not value or not isinstance(value, dict | list) or not dice.randrange(8):
        return _changed(dice, value)
    if isinstance(value, list):
        at = dice.randrange(len(value))
        return [*value[:at], mutate_value(dice, value[at]), *value[at + 1 :]]
    key = dice.choice(list(value))
    if dice.randrange(3):
        return value | {key: mutate_value(dice, value[key])}
    other = dice.choice(list(value))
    return dice.choice(
        (
            {name: one for name, one in value.items() if name != key},
            {(name + "_" if name == key else name): one for name, one in value.items()},
            value | {key: value[other], other: value[key]},
            value | {dice.choice(("extra", "", "__proto__", "about")): value[key]},
        )
    )


def _changed(dice: random.Random, value: Any) -> Any:
    """Another value in a value's place, now and then of the same kind."""
    if not dice.randrange(6):
        return _MARK + dice.choice(list(_RAW))
    if dice.randrange(3):
        return dice.choice(_VALUES)
    return dice.choice(_alike(dice, value))


def _alike(dice: random.Random, value: Any) -> tuple[Any, ...]:
    """Values that a careless reader would take for one like this."""
    if isinstance(value, list) and value:
        at = dice.randrange(len(value))
        one = value[at]
        rest = value[:at] + value[at + 1 :]
        repeated = value[:at] + [one] * 50 + value[at:]
        return (value[:at], rest, [*value, one], repeated, value[::-1], dict.fromkeys(map(str, value[:20]), one))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (-value, value + 1, value - 1, value * 2, str(value), [value], float(value) + 0.5)
    if isinstance(value, str):
        return (value + "x", value[:-1], value.upper(), [value], list(value[:20]), {value: value})
    return _VALUES


def _doubled_key(dice: random.Random, text: str) -> str:
    """The same key once more, with another value; readers take the last."""
    end = text.find('": ', dice.randrange(min(len(text), 5_000) + 1))
    if end < 0:
        return text
    start = text.rfind('"', 0, end)
    return f"{text[:start]}{text[start : end + 3]}{json.dumps(dice.choice(_VALUES[:24]))}, {text[start:]}"
