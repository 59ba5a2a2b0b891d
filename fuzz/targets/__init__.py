"""Targets: a name, real inputs to start from, how they are mutated, and the function under test."""

import importlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

__all__ = ["Target", "all_targets", "find_target"]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Something that reads what strangers send.

    Attributes:
        name: Also the beginning of findings' file names.
        seeds: Makes the inputs to start from, once a process.
        mutate: From a generator and the seeds to the bytes to be tried.
        run: May return, or raise an `NccError`; whatever else it does is a finding.
        weight: Share of the executions.
        timeout_s: Seconds without an answer after which the process is given up.
        fast: Whether an execution takes a millisecond or so, and no other process.
        planted: Misbehaves on purpose, and runs only if it is requested by name.
    """

    name: str
    seeds: Callable[[], Sequence[Any]]
    mutate: Callable[[random.Random, Sequence[Any]], bytes]
    run: Callable[[bytes], None]
    weight: float = 1.0
    timeout_s: float = 20.0
    fast: bool = True
    planted: bool = False
    _made: list[Sequence[Any]] = field(default_factory=list, repr=False)

    def input(self, seed: int, index: int) -> bytes:
        """The input of a number, which follows from the seed and the target's name alone."""
        if not self._made:
            self._made.append(self.seeds())
        return self.mutate(random.Random(f"{seed}/{self.name}/{index}"), self._made[0])


_MODULES = {
    "ir": ("ll", "ll-described", "ar", "bc"),
    "models": ("embedding", "mapper", "coarsening", "classifier", "predict-device", "predict-coarsening"),
    "counts": ("counts", "merge", "report"),
    "database": ("database",),
    "tables": ("devmap-table", "coarsening-tables", "recipe"),
    "checkpoints": ("checkpoint",),
    "archives": ("tar", "gzip"),
    "index": ("index",),
    "sizes": ("size-rules",),
    "source": ("opencl", "c"),
    "planted": tuple(f"planted-{what}" for what in ("abort", "hang", "raise", "memory", "swell", "exit")),
}
"""Module → the names of its targets, so that no more is imported than a run needs."""


@cache
def find_target(name: str) -> Target:
    """A target by its name.

    Raises:
        KeyError: There is none.
    """
    for module, names in _MODULES.items():
        if name in names:
            targets: tuple[Target, ...] = importlib.import_module(f"fuzz.targets.{module}").TARGETS
            return next(target for target in targets if target.name == name)
    raise KeyError(name)


def all_targets() -> tuple[Target, ...]:
    """Every target, planted ones last."""
    return tuple(find_target(name) for names in _MODULES.values() for name in names)
