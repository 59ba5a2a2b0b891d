"""The linear encoder of functions and modules: from code patterns to a vector close to those of similar code.

The first dimensions separate classes of programs, the others separate functions. Code of unseen classes clusters
around the known classes that it resembles, so the part that it shares with these is subtracted.

References: Fisher 1936 and Rao 1948 (linear discriminants); Hatch et al. 2006 (within-class covariance normalization,
which carries over to new classes); Hara et al. 2015 (localised centering, against hubs: here around the known classes).
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints, offsets
from ncc.errors import InputError
from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import l2_normalize
from ncc.learning.encoder.patterns import BITS, KINDS, PatternCounts, count_patterns
from ncc.learning.heads.files import ModelFormat, fingerprint
from ncc.system.files.hub import Shareable

Level = Literal["module", "function"]
Fraction = Annotated[float, Meta(ge=0, le=1)]

_SMALLEST = np.float32(1e-12)


@dataclass(frozen=True, eq=False)
class LinearEncoder(Shareable):
    """A linear map of patterns."""

    _noun = "encoder"

    pattern_ids: NDArray[np.uint32]  # (m,) known patterns, ascending
    idf: Floats32  # (m,) weight of each
    weights: NDArray[np.int8]  # (m, dim), rounded
    scale: Floats32  # (m,) factor of a pattern's weights
    center: Floats32  # (dim,), subtracted
    anchors: Floats32  # (k, num_classes) positions of length 1 of the known classes in the first dimensions
    num_classes: Annotated[int, Meta(ge=0)]  # the first dimensions, which separate classes of programs
    common_component_weight: Fraction  # factor of the mean of the nearest anchors, which is subtracted
    sharpness: Annotated[float, Meta(ge=0, le=60)]  # an anchor's weight in that mean is exp(sharpness · cosine)
    level_norms: dict[Level, Fraction]  # length of the first dimensions' part of a vector; the whole has length 1
    card: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        patterns, dim = self.weights.shape if self.weights.ndim == 2 else (0, 0)
        shapes = [self.pattern_ids.shape, self.idf.shape, self.scale.shape, self.center.shape, self.anchors.shape[1:]]
        if shapes != [(patterns,)] * 3 + [(dim,), (self.num_classes,)] or not patterns or self.num_classes > dim:
            raise InputError(f"shapes {self.weights.shape} and {shapes} don't match, or {self.num_classes} classes")
        if (np.diff(self.pattern_ids.astype(np.int64)) <= 0).any() or self.pattern_ids[-1] >> BITS >= len(KINDS):
            raise InputError("the encoder's patterns are not in order, or of an unknown kind")
        if len(self.level_norms) != 2:
            raise InputError(f"the encoder has the norms {self.level_norms}; expected two")

    def _save(self, folder: Path) -> None:
        FORMAT.save(self, folder)

    def __repr__(self) -> str:
        return f"LinearEncoder({len(self.pattern_ids)} patterns → {self.dim})"

    @property
    def dim(self) -> int:
        """Number of dimensions of its vectors."""
        return len(self.center)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of everything that vectors depend on."""
        norms = sorted(self.level_norms.items())
        settings = self.num_classes, self.common_component_weight, self.sharpness, norms
        arrays = self.pattern_ids, self.idf, self.weights, self.scale, self.center, self.anchors
        return fingerprint(settings, *arrays)

    def vectors(self, module: Module, bag: Ints, level: Level) -> Floats32:
        """Vectors of bags of a module's functions, see `count_patterns`: (num_bags, dim) float32 of length 1."""
        return self.encode(count_patterns(module, bag), level)

    def encode(self, counts: PatternCounts, level: Level) -> Floats32:
        """Vectors of bags of patterns, (n, dim) float32 of length 1; 0 for bags without known patterns."""
        start, column, value = pattern_values(counts, self.pattern_ids, self.idf)
        value *= self.scale[column]
        vectors = np.zeros((len(start) - 1, self.dim), np.float32)
        for row in np.flatnonzero(np.diff(start)).tolist():
            part = slice(start[row], start[row + 1])
            vectors[row] = value[part] @ self.weights[column[part]].astype(np.float32) - self.center
        by_class, by_function = np.split(vectors, [self.num_classes], axis=1)
        norm = self.level_norms[level]
        by_class[:] = norm * l2_normalize(self._remove_common_component(l2_normalize(by_class)))
        by_function[:] = np.sqrt(1 - norm**2) * l2_normalize(by_function)
        return vectors

    def _remove_common_component(self, positions: Floats32) -> Floats32:
        """Positions of length 1 in the first dimensions, without what they share with the nearest anchors."""
        if not len(self.anchors) or not self.common_component_weight:
            return positions
        apart = positions.copy()
        for row in np.flatnonzero(positions.any(axis=1)).tolist():  # separately: bits don't depend on other bags
            near = np.exp(self.sharpness * (self.anchors @ positions[row]))
            apart[row] -= self.common_component_weight * (near / near.sum() @ self.anchors)
        return apart


FORMAT: ModelFormat[LinearEncoder] = ModelFormat("linear encoder", 4, LinearEncoder, "ncc train encoder", "encoder")


def pattern_values(
    counts: PatternCounts, pattern_ids: NDArray[np.uint32], idf: Floats32
) -> tuple[Ints, Ints, Floats32]:
    """Weight the known patterns of bags: (1 + log count) × idf, those of a kind scaled to length 1 in each bag.

    Gives (n + 1,) offsets of the bags, and of each of their patterns its index among the (m,) known and its value.
    """
    column = np.minimum(np.searchsorted(pattern_ids, counts.key), len(pattern_ids) - 1)
    is_known = pattern_ids[column] == counts.key
    start, column = offsets(is_known)[counts.start], column[is_known]
    value = (1 + np.log(counts.times[is_known])) * idf[column]
    group = np.repeat(np.arange(len(start) - 1), np.diff(start)) * len(KINDS) + (pattern_ids[column] >> BITS)
    length = np.sqrt(np.bincount(group, value.astype(np.float64) ** 2, minlength=1))
    return start, column, (value / np.maximum(length[group], _SMALLEST)).astype(np.float32)
