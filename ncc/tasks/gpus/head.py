"""`GpuHead`: time, bound and traffic of a launch from its columns, by trees that correct a roofline, in NumPy."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import convert

from ncc.arrays import Floats
from ncc.learning.heads.files import HeadFiles, HeadParts
from ncc.learning.heads.trees import TREE_DTYPES, Boosted, read_trees
from ncc.tasks.gpus.cards import load_cards

TARGETS = ("time", "spread", "compute", "traffic")
"""Predicted by trees: log time over the roofline's, log error of that, log odds of being compute-bound, log bytes."""
BOUNDS = ("least_time", "least_bytes")
"""Columns that answers are never below; see `ncc.tasks.gpus.columns.time_bounds`."""
_MIN_ERROR, _MAX_ERROR = 0.02, 3.0
_MAX_VALUE = 1e6


@dataclass(frozen=True, eq=False)
class LaunchEstimate:
    """Predictions for n launches.

    Attributes:
        log_time: (n,) float64 logarithm to base 10 of seconds.
        half_width: (n,) float64 half of the 80% interval of that.
        even_probability: (n,) that a launch is compute-bound, with equal class priors.
        probability: (n,) the same with the priors of training.
        log_traffic: (n,) float64 logarithm to base 10 of bytes.
        distance: (n,) float64 from the nearest launch of training, 1 at the edge of what is familiar.
    """

    log_time: Floats
    half_width: Floats
    even_probability: Floats
    probability: Floats
    log_traffic: Floats
    distance: Floats

    @property
    def confidence(self) -> Floats:
        """(n,) probability, with the priors of training, of the bound that is more probable at equal priors."""
        return np.where(self.even_probability > 0.5, self.probability, 1 - self.probability)


@dataclass(frozen=True, eq=False)
class GpuHead:
    """Everything that predicts launches on a card.

    Attributes:
        card: The card that launches were measured on.
        columns: Names of the k columns that it was trained on.
        trees: Of `TARGETS`.
        width: Half width of the interval per unit of expected error.
        odds: (2,) float64 slope and offset of log odds with equal class priors.
        common: Log odds of being compute-bound in training.
        middle, scale: (k,) float64 of the columns in training; scale 0 if constant.
        points: (m, k) float64 standardized launches of training.
        familiar: Distance up to which launches are like those.
        about: Data, command and scores; no answer needs it.
    """

    card: str
    columns: tuple[str, ...]
    trees: Boosted
    width: float
    odds: Floats
    common: float
    middle: Floats
    scale: Floats
    points: Floats
    familiar: float
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.card not in load_cards() or not {"physics", "distinct_bytes"} <= set(self.columns):
            raise ValueError(f"card {self.card!r:.40}, {len(self.columns)} columns")
        if not 0 < self.width < _MAX_VALUE or not 0 < self.familiar < _MAX_VALUE or not abs(self.common) < _MAX_VALUE:
            raise ValueError("a number is out of range")
        k = (len(self.columns),)
        for name, shape in (("odds", (2,)), ("middle", k), ("scale", k), ("points", (len(self.points), *k))):
            array = getattr(self, name)
            if array.shape != shape or not array.size or not (np.abs(array) <= _MAX_VALUE).all():
                raise ValueError(f"{name} is not finite, out of range, or of shape {array.shape}")

    def __repr__(self) -> str:
        return f"GpuHead({self.card}: {len(self.points)} launches, {len(self.trees.root)} trees)"

    def predict(self, rows: Mapping[str, float] | Floats) -> LaunchEstimate:
        """Predict for one launch's columns by name, or for (n, k) float64 of n launches."""
        values = rows if isinstance(rows, np.ndarray) else np.array([[rows[name] for name in self.columns]])
        targets = dict(zip(TARGETS, self.trees.predict(values).T, strict=True))
        roofline, moved = roofline_estimate(values, self.columns)
        least_time, least_bytes = (
            values[:, self.columns.index(name)] if name in self.columns else -np.inf for name in BOUNDS
        )
        odds = self.odds[0] * targets["compute"] + self.odds[1]
        return LaunchEstimate(
            log_time=np.maximum(roofline + targets["time"], least_time),
            half_width=self.width * expected_error(targets["spread"]),
            even_probability=1 / (1 + np.exp(-np.clip(odds, -30, 30))),
            probability=1 / (1 + np.exp(-np.clip(odds + self.common, -30, 30))),
            log_traffic=np.maximum(moved + targets["traffic"], least_bytes),
            distance=nearest_distance(standardize(values, self.middle, self.scale), self.points) / self.familiar,
        )


def roofline_estimate(values: Floats, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
    """(n,) log seconds and (n,) log bytes of the roofline, which trees correct."""
    return values[:, columns.index("physics")], np.maximum(values[:, columns.index("distinct_bytes")], 3.0)


def expected_error(log_error: Floats) -> Floats:
    """Expected size of an error from its logarithm, within limits."""
    return np.clip(np.exp(np.clip(log_error, -10, 10)), _MIN_ERROR, _MAX_ERROR)


def standardize(values: Floats, mean: Floats, scale: Floats) -> Floats:
    """Columns in units of their scale in training; 0 if they were constant."""
    return np.clip((values - mean) / np.where(scale > 0, scale, np.inf), -9, 9)


def nearest_distance(a: Floats, b: Floats) -> Floats:
    """(n,) root mean square distance from each row to the nearest of others."""
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T
    return np.sqrt(np.maximum(squared.min(axis=1), 0) / a.shape[1])


_DTYPES = {"odds": "f4", "middle": "f4", "scale": "f4", "points": "f2"}


def _split(head: GpuHead) -> HeadParts:
    card = {name: getattr(head, name) for name in ("card", "columns", "width", "common", "familiar", "about")}
    trees = {f"trees.{name}": getattr(head.trees, name).astype(kind) for name, kind in TREE_DTYPES.items()}
    return HeadParts(card, trees | {name: getattr(head, name).astype(kind) for name, kind in _DTYPES.items()})


def _join(parts: HeadParts) -> GpuHead:
    card, tensors = parts.card, parts.tensors
    columns = convert(card["columns"], tuple[str, ...])
    trees = read_trees({name: tensors[f"trees.{name}"] for name in TREE_DTYPES}, len(TARGETS), len(columns))
    numbers = {name: convert(card[name], float) for name in ("width", "common", "familiar")}
    if any(tensors[name].dtype.kind != "f" for name in _DTYPES):
        raise TypeError(f"{', '.join(_DTYPES)}: expected floats")
    with np.errstate(invalid="ignore"):
        arrays = {name: tensors[name].astype(np.float64) for name in _DTYPES}
    about = convert(card["about"], dict[str, Any])
    return GpuHead(convert(card["card"], str), columns, trees, about=about, **numbers, **arrays)  # type: ignore[arg-type]


_FILES: HeadFiles[GpuHead] = HeadFiles("GPU head", 1, {"trees": GpuHead}, {GpuHead: _split}, {GpuHead: _join})


def save_gpu_head(head: GpuHead, folder: str | Path) -> None:
    """Writes a head made by `ncc.train_gpu`.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    _FILES.save(head, folder)


def load_gpu_head(folder: GpuHead | str | os.PathLike[str] | None = None) -> GpuHead:
    """Reads a head that predicts launches of GPU kernels; a loaded one is returned unchanged.

    Args:
        folder: Written by `save_gpu_head` or ``ncc train gpu``; default the head that ships with ncc.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return _FILES.load(folder, "gpu")
