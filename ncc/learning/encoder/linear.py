"""The encoder of functions and modules: patterns of code to a vector that is near those of similar code.

A bag of patterns (`ncc.learning.encoder.patterns`) is weighted by how rare each is, kind by kind, and goes through one
linear map. Its first directions tell classes of programs apart, the others functions from each other, both by what
changes least between the programs of a class, and between a function's builds by other levels and compilers. Code of
classes that were not there in training crowds around those that it resembles, so what it shares with these is taken
off.

References: Fisher 1936 and Rao 1948 (linear discriminants); Hatch et al. 2006 (within-class covariance normalization,
which carries over to classes that were not there in training); Hara et al. 2015 (localised centring, against hubs: here
around the known classes). Nets trained by contrast on the same classes know these too well, and find others worse: see
the benchmarks.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import convert
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints, offsets
from ncc.errors import AssetError, InputError
from ncc.ir.reader.module import Module
from ncc.learning.encoder.patterns import BITS, KINDS, PatternCounts, count_patterns
from ncc.system.files.models import read_model, write_model

Level = Literal["module", "function"]

FORMAT_VERSION = 3
_SMALLEST = np.float32(1e-12)
_SHARPEST = 60
_ARRAYS = ("keys", "rarity", "weights", "scale", "centre", "anchors")


@dataclass(frozen=True, eq=False)
class LinearEncoder:
    """A linear map of patterns.

    Attributes:
        keys: (m,) uint32 patterns that it knows, ascending.
        rarity: (m,) float32, how much each counts.
        weights: (m, dim) int8, rounded.
        scale: (m,) float32, what a pattern's weights are multiplied by.
        centre: (dim,) float32, taken off.
        anchors: (k, num_classes) float32 places of length 1 of the known classes in the first directions.
        num_classes: The first directions, which tell classes of programs apart.
        repulsion: Share of the mean of the nearest anchors that is taken off.
        sharpness: How much more an anchor counts in that mean the nearer it is: exp(sharpness · cosine).
        share: Level → length of their part of a vector; the whole has length 1.
        about: How it was made.
    """

    keys: NDArray[np.uint32]
    rarity: Floats32
    weights: NDArray[np.int8]
    scale: Floats32
    centre: Floats32
    anchors: Floats32
    num_classes: int
    repulsion: float
    sharpness: float
    share: Mapping[Level, float]
    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Check shapes and values."""
        patterns, dim = self.weights.shape if self.weights.ndim == 2 else (0, 0)
        shapes = [self.keys.shape, self.rarity.shape, self.scale.shape, self.centre.shape]
        types = [str(array.dtype) for array in (self.keys, self.rarity, self.weights, self.scale, self.centre)]
        if types != ["uint32", "float32", "int8", "float32", "float32"] or not patterns:
            raise InputError(f"an encoder of {types}")
        if shapes != [(patterns,)] * 3 + [(dim,)] or not 0 <= self.num_classes <= dim:
            raise InputError(f"an encoder with {self.weights.shape} and {shapes}, {self.num_classes} for classes")
        if (np.diff(self.keys.astype(np.int64)) <= 0).any() or self.keys[-1] >> BITS >= len(KINDS):
            raise InputError("an encoder whose patterns are not in order, or of a kind that is not known")
        if self.anchors.dtype != np.float32 or self.anchors.shape[1:] != (self.num_classes,):
            raise InputError(f"an encoder with anchors of {self.anchors.dtype} and {self.anchors.shape}")
        if not all(np.isfinite(array).all() for array in (self.rarity, self.scale, self.centre, self.anchors)):
            raise InputError("an encoder with numbers that are not finite")
        if not (0 <= self.repulsion <= 1 and 0 <= self.sharpness <= _SHARPEST):
            raise InputError(f"an encoder with the repulsion {self.repulsion} and the sharpness {self.sharpness}")
        if set(self.share) != {"module", "function"} or not all(0 <= share <= 1 for share in self.share.values()):
            raise InputError(f"an encoder with the shares {dict(self.share)}")

    def __repr__(self) -> str:
        return f"LinearEncoder({len(self.keys)} patterns → {self.dim})"

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return len(self.centre)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of what it learnt."""
        import hashlib

        share = sorted(self.share.items())
        settings = (
            (self.num_classes, self.repulsion, self.sharpness, share)
            if len(self.anchors)
            else (self.num_classes, share)
        )
        digest = hashlib.sha256(repr(settings).encode())
        for name in _ARRAYS:
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return digest.hexdigest()[:12]

    def vectors(self, module: Module, bag: Ints, level: Level) -> Floats32:
        """Vectors of bags of a module's functions, see `count_patterns`: (num_bags, dim) float32 of length 1."""
        return self.encode(count_patterns(module, bag), level)

    def encode(self, counts: PatternCounts, level: Level) -> Floats32:
        """Vectors of bags of patterns, (n, dim) float32 of length 1; 0 where it knows none of a bag's patterns."""
        start, column, value = pattern_values(counts, self.keys, self.rarity)
        value *= self.scale[column]
        found = np.zeros((len(start) - 1, self.dim), np.float32)
        for row in np.flatnonzero(np.diff(start)).tolist():
            part = slice(start[row], start[row + 1])
            found[row] = value[part] @ self.weights[column[part]].astype(np.float32) - self.centre
        by_class, by_function = np.split(found, [self.num_classes], axis=1)
        share = self.share[level]
        by_class[:] = share * unit_rows(self._apart(unit_rows(by_class)))
        by_function[:] = np.sqrt(1 - share**2) * unit_rows(by_function)
        return found

    def _apart(self, places: Floats32) -> Floats32:
        """Places of length 1 in the first directions, without what they share with the nearest anchors."""
        if not len(self.anchors) or not self.repulsion:
            return places
        apart = places.copy()
        for row in np.flatnonzero(places.any(axis=1)).tolist():  # alone: a vector's bits depend on no other bag
            near = np.exp(self.sharpness * (self.anchors @ places[row]))
            apart[row] -= self.repulsion * (near / near.sum() @ self.anchors)
        return apart


def unit_rows(rows: Floats32) -> Floats32:
    """Rows of length 1, those of zeros left as they are."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), _SMALLEST)


def pattern_values(counts: PatternCounts, keys: NDArray[np.uint32], rarity: Floats32) -> tuple[Ints, Ints, Floats32]:
    """What stands for the patterns of bags: 1 + log count, by rarity, those of a kind of length 1 in each bag.

    Arrays:
        keys: (m,) uint32 patterns that are known, ascending; others are left out.
        rarity: (m,) float32, of each.

    Returns:
        (n + 1,) offsets of the bags, and of each of their patterns the place among those that are known, and its value.
    """
    column = np.minimum(np.searchsorted(keys, counts.key), len(keys) - 1)
    known = keys[column] == counts.key
    start, column = offsets(known)[counts.start], column[known]
    value = (1 + np.log(counts.times[known])) * rarity[column]
    group = np.repeat(np.arange(len(start) - 1), np.diff(start)) * len(KINDS) + (keys[column] >> BITS)
    length = np.sqrt(np.bincount(group, value.astype(np.float64) ** 2, minlength=1))
    return start, column, (value / np.maximum(length[group], _SMALLEST)).astype(np.float32)


def save_linear_encoder(encoder: LinearEncoder, folder: str | os.PathLike[str]) -> None:
    """Write ``encoder.safetensors`` and ``encoder.json``."""
    card = {
        "format_version": FORMAT_VERSION,
        "num_classes": encoder.num_classes,
        "num_anchors": len(encoder.anchors),
        "repulsion": encoder.repulsion,
        "sharpness": encoder.sharpness,
        "share": dict(encoder.share),
        "about": dict(encoder.about),
    }
    write_model(Path(folder), "encoder", card, {name: getattr(encoder, name) for name in _ARRAYS})


@cache
def load_shipped_encoder() -> LinearEncoder:
    """The encoder that ships with ncc, read once a process."""
    return load_linear_encoder(Path(__file__).parents[2] / "assets" / "encoder")


def load_linear_encoder(folder: str | os.PathLike[str]) -> LinearEncoder:
    """Read what `save_linear_encoder` wrote."""
    try:
        card, arrays = read_model(Path(folder), "encoder", FORMAT_VERSION, _ARRAYS)
    except AssetError as error:
        raise AssetError(f"{error}; `ncc train encoder` makes one") from error
    try:
        if len(arrays["anchors"]) != convert(card["num_anchors"], int):
            raise ValueError(f"{len(arrays['anchors'])} anchors")
        return LinearEncoder(
            **arrays,
            num_classes=convert(card["num_classes"], int),
            repulsion=convert(card["repulsion"], float),
            sharpness=convert(card["sharpness"], float),
            share=convert(card["share"], dict[Level, float]),
            about=convert(card["about"], dict[str, Any]),
        )
    except (LookupError, TypeError, ValueError, InputError) as error:
        raise AssetError(f"{folder}: not an encoder ({error}); it is damaged") from error
