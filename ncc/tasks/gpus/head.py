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
from ncc.tasks.gpus.cards import CARDS

TARGETS = ("time", "spread", "compute", "traffic")
"""What trees say: log time over the roofline's, log error of that, log odds of being compute-bound, log bytes."""
LEAST = ("least_time", "least_bytes")
"""Columns that answers are never below; see `ncc.tasks.gpus.floors`."""
_FEWEST, _MOST = 0.02, 3.0
_LARGEST = 1e6


@dataclass(frozen=True, eq=False)
class Answer:
    """What a head says of n launches.

    Attributes:
        log_time: (n,) float64 logarithm to base 10 of seconds.
        half_width: (n,) float64 half of the 80 % interval of that.
        even_probability: (n,) that a launch is compute-bound, were there as many of these as of others.
        probability: (n,) the same where they are as common as in training.
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
    def sureness(self) -> Floats:
        """(n,) probability of the bound that is the more probable at even odds, as common as both are in training."""
        return np.where(self.even_probability > 0.5, self.probability, 1 - self.probability)


@dataclass(frozen=True, eq=False)
class GpuHead:
    """All that it takes to predict launches on a card.

    Attributes:
        card: The card that launches were measured on.
        columns: Names of the k columns that it was trained on.
        trees: Of `TARGETS`.
        width: Half width of the interval for each unit of spread.
        odds: (2,) float64 slope of log odds and what is added, for as many compute-bound launches as others.
        common: Log odds of being compute-bound in training.
        middle, scale: (k,) float64 of the columns in training; scale 0 where one was constant.
        points: (m, k) float64 standardised launches of training.
        familiar: Distance up to which launches count as like those.
        about: Data, command and scores; nothing that an answer needs.
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

    def __repr__(self) -> str:
        return f"GpuHead({self.card}: {len(self.points)} launches, {len(self.trees.root)} trees)"

    def answer(self, rows: Mapping[str, float] | Floats) -> Answer:
        """Says what it can of launches.

        Args:
            rows: Columns of one launch by name, or (n, k) float64 of n.
        """
        values = rows if isinstance(rows, np.ndarray) else np.array([[rows[name] for name in self.columns]])
        said = self.trees.predict(values)
        roofline, moved = physics_of(values, self.columns)
        least_time, least_bytes = (
            values[:, self.columns.index(name)] if name in self.columns else -np.inf for name in LEAST
        )
        odds = self.odds[0] * said[:, TARGETS.index("compute")] + self.odds[1]
        return Answer(
            log_time=np.maximum(roofline + said[:, TARGETS.index("time")], least_time),
            half_width=self.width * spread_of(said[:, TARGETS.index("spread")]),
            even_probability=1 / (1 + np.exp(-np.clip(odds, -30, 30))),
            probability=1 / (1 + np.exp(-np.clip(odds + self.common, -30, 30))),
            log_traffic=np.maximum(moved + said[:, TARGETS.index("traffic")], least_bytes),
            distance=nearest_distance(standardised(values, self.middle, self.scale), self.points) / self.familiar,
        )


def physics_of(values: Floats, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
    """(n,) log seconds and (n,) log bytes that physics says, which trees correct."""
    return values[:, columns.index("physics")], np.maximum(values[:, columns.index("distinct_bytes")], 3.0)


def spread_of(log_error: Floats) -> Floats:
    """Expected size of an error from its logarithm, within limits."""
    return np.clip(np.exp(np.clip(log_error, -10, 10)), _FEWEST, _MOST)


def standardised(values: Floats, middle: Floats, scale: Floats) -> Floats:
    """Columns in units of their spread in training; 0 where they did not differ."""
    return np.clip((values - middle) / np.where(scale > 0, scale, np.inf), -9, 9)


def nearest_distance(a: Floats, b: Floats) -> Floats:
    """(n,) root mean square distance from each row to the nearest of others."""
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T
    return np.sqrt(np.maximum(squared.min(axis=1), 0) / a.shape[1])


def _split(head: GpuHead) -> HeadParts:
    card = {name: getattr(head, name) for name in ("card", "columns", "width", "common", "familiar", "about")}
    trees = {f"trees.{name}": getattr(head.trees, name).astype(kind) for name, kind in TREE_DTYPES.items()}
    own = {name: getattr(head, name).astype("f4") for name in ("odds", "middle", "scale")}
    return HeadParts(card, {**trees, **own, "points": head.points.astype("f2")})


def _join(parts: HeadParts) -> GpuHead:
    """The head of two files."""
    card, tensors = parts.card, parts.tensors
    columns = convert(card["columns"], tuple[str, ...])
    name = convert(card["card"], str)
    if name not in CARDS or not {"physics", "distinct_bytes"} <= set(columns):
        raise ValueError(f"card {name!r:.40}, {len(columns)} columns")
    trees = read_trees({one: tensors[f"trees.{one}"] for one in TREE_DTYPES}, len(TARGETS), len(columns))
    width, common, familiar = (convert(card[one], float) for one in ("width", "common", "familiar"))
    if not 0 < width < _LARGEST or not 0 < familiar < _LARGEST or not abs(common) < _LARGEST:
        raise ValueError("a number is out of range")
    shapes = {"odds": (2,), "middle": (len(columns),), "scale": (len(columns),), "points": (-1, len(columns))}
    read = {}
    for one, shape in shapes.items():
        array = tensors[one]
        if array.dtype.kind != "f" or array.ndim != len(shape) or array.shape[-1] != shape[-1] or not array.size:
            raise ValueError(f"{one} is {array.dtype} of shape {array.shape}")
        read[one] = array.astype(np.float64)
        if not (np.abs(read[one]) <= _LARGEST).all():
            raise ValueError(f"{one} is not finite")
    about = convert(card["about"], dict[str, Any])
    return GpuHead(name, columns, trees, width, common=common, familiar=familiar, about=about, **read)


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
