"""Answers kept in files: made comparable, compared with what is kept, and written anew when asked."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

RELATIVE, ABSOLUTE = 1e-5, 1e-6
MOST_NUMBERS, MOST_EDGES, MOST_DIFFERENCES = 16, 100, 10
LEFT_OUT = re.compile(
    r"seconds|(.*_)?command|functions_from|versions?|python|llvm|compiler|confinement|hardware|data_folder|num_bytes"
)
"""Keys whose values differ from run to run, or from machine to machine; an index's bytes count letters of paths."""


def comparable(value: Any, *, roots: dict[str, str] | None = None) -> Any:
    """Returns an answer without what differs from run to run, floats at seven digits, and long parts as digests.

    Args:
        value: Plain data. Long arrays become their shape, their norm and one with weights, by which order is told, and
            the first eight; large graphs counts by kind and a digest.
        roots: Text → what stands for it, such as paths of temporary folders.
    """
    if isinstance(value, dict):
        if {"nodes", "edges"} <= value.keys() and len(value["edges"]) > MOST_EDGES:
            return {name: _summed(value[name]) for name in ("nodes", "edges")}
        if (
            isinstance(kernels := value.get("kernels"), list)
            and len(kernels) == 1
            and kernels[0].items() <= value.items()
        ):
            value = value | {"kernels": "the one above"}
        kept = {str(name): each for name, each in value.items() if not LEFT_OUT.fullmatch(str(name))}
        return {_short(name, roots): comparable(each, roots=roots) for name, each in kept.items()}
    if isinstance(value, list | tuple):
        return _listed(value, roots)
    if isinstance(value, float):
        return _rounded(value)
    return _short(value, roots) if isinstance(value, str) else value


def digest(value: Any) -> str:
    """Returns what plain data is told by, be it of any length."""
    text = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(text).hexdigest()[:16]


def differences(old: Any, new: Any, where: str = "$") -> Iterator[str]:
    """Yields JSON path, old and new value of all that differs by more than processors do."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            if name not in new or name not in old:
                yield f"{where}.{name}: {_told(old, name)} → {_told(new, name)}"
            else:
                yield from differences(old[name], new[name], f"{where}.{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{where}[{place}]")
    elif not _equal(old, new):
        yield f"{where}: {_cut(old)} → {_cut(new)}"


@dataclass(frozen=True)
class Goldens:
    """Kept answers, a file each.

    Args:
        folder: Where they lie.
        update: Whether to write what differs, and fail all the same.
    """

    folder: Path
    update: bool

    def check(self, name: str, found: Any) -> None:
        """Compares plain data with ``NAME.json``, text with ``NAME.txt``.

        An ``update`` writes what differs, says so, and fails, so that no run that passes ever writes.
        """
        is_text = isinstance(found, str)
        path = self.folder / f"{name}{'.txt' if is_text else '.json'}"
        kept = path.read_text(encoding="utf-8") if path.exists() else None
        if is_text:
            old, new = (kept or "").splitlines(), found.splitlines()
        else:
            old, new = json.loads(kept or "null"), json.loads(json.dumps(found))
        told = list(differences(old, new))
        if not told and kept is not None:
            return
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found if is_text else _lines(found), encoding="utf-8")
        head = f"{path.name}: {'written' if self.update else 'kept answer differs'}, {len(told)} differences"
        pytest.fail("\n".join([head, *told[:MOST_DIFFERENCES]]), pytrace=False)


def _listed(value: list[Any] | tuple[Any, ...], roots: dict[str, str] | None) -> Any:
    """A list as it is kept."""
    if (array := _numbers(value)) is not None and array.size > MOST_NUMBERS:
        flat = array.ravel()
        finite = np.where(np.isfinite(flat), flat, 0)
        norms = [float(np.linalg.norm(finite * weight)) for weight in (1, 1 + np.arange(len(flat)) % 13)]
        first = [_rounded(x) for x in flat[:8].tolist()]
        return {"shape": list(array.shape), "norms": [_rounded(norm) for norm in norms], "first": first}
    if len(value) > MOST_NUMBERS and all(isinstance(each, str) for each in value):
        return {
            "length": len(value),
            "digest": digest([_short(each, roots) for each in value]),
            "first": _short(value[0], roots),
        }
    return [comparable(each, roots=roots) for each in value]


def _lines(value: Any) -> str:
    """JSON with a line for each item of the outer levels, so that a difference can be read."""

    def spread(value: Any, depth: int) -> str:
        if depth and isinstance(value, dict) and value:
            inner = ",\n".join(f"{json.dumps(key)}: {spread(value[key], depth - 1)}" for key in sorted(value))
            return f"{{\n{inner}\n}}"
        if depth and isinstance(value, list) and value:
            return "[\n" + ",\n".join(spread(each, depth - 1) for each in value) + "\n]"
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    return spread(value, 2) + "\n"


def _summed(items: list[Any]) -> dict[str, Any]:
    kinds = Counter(item.get("kind", "") for item in items)
    return {"kinds": dict(sorted(kinds.items())), "digest": digest(sorted(json.dumps(item) for item in items))}


def _numbers(value: list[Any] | tuple[Any, ...]) -> np.ndarray | None:
    """An array of numbers alone, or None."""
    if not value or not isinstance(value[0], int | float | list | tuple):
        return None
    try:
        array = np.array(value)
    except ValueError:  # rows of different lengths
        return None
    return array if array.dtype.kind in "if" else None


def _rounded(value: float) -> float | str:
    return float(f"{value:.7g}") if math.isfinite(value) else str(value)


def _short(text: str, roots: dict[str, str] | None) -> str:
    for root, name in (roots or {}).items():
        text = text.replace(root, name)
    return text


def _equal(old: Any, new: Any) -> bool:
    numbers = [isinstance(one, int | float) and not isinstance(one, bool) for one in (old, new)]
    if all(numbers) and (isinstance(old, float) or isinstance(new, float)):
        return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(old) is type(new) and old == new


def _told(value: dict[str, Any], name: str) -> str:
    return _cut(value[name]) if name in value else "nothing"


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else f"{text[:120]}…"
