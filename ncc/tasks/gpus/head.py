"""`GpuHead`: time, bound and traffic of a launch from its features, by trees that correct a roofline, in NumPy."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.heads.columns import scaled_distances, standardize
from ncc.learning.heads.files import DISTINCT, ModelFormat, Stored, check_shapes
from ncc.learning.heads.trees import Boosted
from ncc.system.files.hub import Shareable
from ncc.tasks.gpus.specs import load_specs

INTERVAL = 0.8
TARGETS = ("time", "spread", "compute", "traffic")
"""Targets of the trees: log time over the roofline's, its log error, log odds of compute-bound, log bytes."""
BOUNDS = ("least_time", "least_bytes")
"""Columns of lower bounds; see `ncc.tasks.gpus.features.time_bounds`."""
_NEEDED = {"roofline_time", "compulsory_bytes", "sector_bytes", "log_l2_ratio"}
_LEAST_SHARE, _KNOWN = -4.0, 0.5
"""Log of the fraction of a time that counts, and of bytes that are known."""
_AMOUNTS = ("compulsory_bytes", "broadcast_read_bytes", "buffer_bytes", "all_buffers", "least_bytes")
_LARGEST = {
    "roofline_time": -4.0, "threads": 5.5, "blocks": 3.5, "grid_x": 3.5, "time_waves": -5.0, "sector_bytes": 7.5,
    "reuse": 2.0,
}  # fmt: skip
"""Logarithms at which features are clipped: seconds (50 launches' overhead), threads, blocks, bytes."""
_MIN_ERROR, _MAX_ERROR = 0.02, 3.0
_MAX_VALUE = 1e6
MAX_STANDARD = 9.0


@dataclass(frozen=True, eq=False)
class LaunchEstimate:
    """Predictions for n launches."""

    log_time: Floats  # (n,) float64 logarithm to base 10 of seconds
    half_width: Floats  # (n,) float64 half of the 80% interval of that
    balanced_probability: Floats  # (n,) probability of compute-bound, with equal class priors
    probability: Floats  # (n,) the same with the class priors of training
    log_traffic: Floats  # (n,) float64 logarithm to base 10 of bytes
    distance: Floats  # (n,) float64 distance from the nearest launch of training, 1 at the limit of familiar ones


_Positive = Annotated[float, Meta(ge=1e-6, lt=_MAX_VALUE)]


@dataclass(frozen=True, eq=False)
class GpuHead(Shareable):
    """A trained predictor of launches on a GPU."""

    _noun = "gpu_head"

    gpu: str  # the GPU of the measurements
    feature_names: Annotated[tuple[str, ...], DISTINCT]  # names of its k features
    trees: Boosted  # of `TARGETS`
    interval_scale: _Positive  # half width of the interval per unit of expected error
    # (2,) float64 slope and offset of log odds with equal class priors
    logit_calibration: Annotated[Floats, Stored("f4", _MAX_VALUE)]
    prior_log_odds: Annotated[float, Meta(gt=-_MAX_VALUE, lt=_MAX_VALUE)]  # log odds of being compute-bound in training
    mean: Annotated[Floats, Stored("f4", _MAX_VALUE)]  # (k,) float64 of the features in training; scale 0 if constant
    scale: Annotated[Floats, Stored("f4", _MAX_VALUE)]
    train_points: Annotated[Floats, Stored("f2", _MAX_VALUE)]  # (m, k) float64 standardized launches of training
    in_domain_radius: _Positive  # distance up to which launches are familiar
    card: dict[str, Any] = field(default_factory=dict)  # data, command and scores; not needed for answers

    def __post_init__(self) -> None:
        if self.gpu not in load_specs() or not set(self.feature_names) >= _NEEDED:
            raise InputError(f"GPU {self.gpu!r:.40} is unknown, or features are missing")
        k, points = len(self.feature_names), max(len(self.train_points), 1)
        check_shapes(self, logit_calibration=(2,), mean=(k,), scale=(k,), train_points=(points, k))
        if self.trees.num_targets != len(TARGETS) or self.trees.column.max() >= k:
            raise InputError("trees have other features or targets than the head")

    def _save(self, folder: Path) -> None:
        FORMAT.save(self, folder)

    def __repr__(self) -> str:
        return f"GpuHead({self.gpu}: {len(self.train_points)} launches, {len(self.trees.root)} trees)"

    def predict(self, values: Floats) -> LaunchEstimate:
        """Predict for (n, k) float64 features of n launches."""
        targets = dict(zip(TARGETS, self.trees.predict(relative_sizes(values, self.feature_names)).T, strict=True))
        roofline, moved = rooflines(values, self.feature_names)
        least_time, least_bytes = (
            values[:, self.feature_names.index(name)] if name in self.feature_names else -np.inf for name in BOUNDS
        )
        points = standardize(values, self.mean, self.scale, MAX_STANDARD)
        slope, offset = self.logit_calibration
        log_odds = slope * targets["compute"] + offset
        return LaunchEstimate(
            log_time=np.maximum(roofline + targets["time"], least_time),
            half_width=self.interval_scale * expected_error(targets["spread"]),
            balanced_probability=1 / (1 + np.exp(-np.clip(log_odds, -30, 30))),
            probability=1 / (1 + np.exp(-np.clip(log_odds + self.prior_log_odds, -30, 30))),
            log_traffic=np.maximum(moved + targets["traffic"], least_bytes),
            distance=scaled_distances(points, self.train_points).min(axis=1) / self.in_domain_radius,
        )


def relative_sizes(values: Floats, columns: tuple[str, ...]) -> Floats:
    """(n, k) float64 features of trees: times and bytes relative to the launch's, and clipped sizes."""
    # the correction no longer depends on the data size once the roofline is far above the launch overhead
    result, index = values.copy(), {name: number for number, name in enumerate(columns)}
    roofline, sectors = values[:, index["roofline_time"]], values[:, index["sector_bytes"]]
    for name, number in index.items():
        column = values[:, number]
        if name in ("roofline", "least_time") or (name.startswith("time_") and name != "time_waves"):
            result[:, number] = np.maximum(column - roofline, _LEAST_SHARE)
        elif name in _AMOUNTS:
            result[:, number] = np.where(column > _KNOWN, np.clip(column - sectors, -5, 5), -9)
        elif name in _LARGEST:
            result[:, number] = np.minimum(column, _LARGEST[name])
    result[:, index["log_l2_ratio"]] = np.clip(values[:, index["log_l2_ratio"]], -1, 1)
    return result


def rooflines(values: Floats, columns: tuple[str, ...]) -> tuple[Floats, Floats]:
    """(n,) log seconds and (n,) log bytes of the roofline, before correction by trees."""
    return values[:, columns.index("roofline_time")], np.maximum(values[:, columns.index("compulsory_bytes")], 3.0)


def expected_error(log_error: Floats) -> Floats:
    """Expected magnitude of an error from its logarithm, within limits."""
    return np.clip(np.exp(np.clip(log_error, -10, 10)), _MIN_ERROR, _MAX_ERROR)


FORMAT: ModelFormat[GpuHead] = ModelFormat("GPU head", 3, Annotated[GpuHead, Stored(bound=_MAX_VALUE)], "ncc train gpu")


def load_gpu_head(folder: GpuHead | str | os.PathLike[str] | None = None) -> GpuHead:
    """Read a head that predicts launches of GPU kernels; a loaded one is returned unchanged.

    Args:
        folder: Folder written by ``save`` or ``ncc train gpu``, or name, such as "org/name@revision", of a
            repository on the Hugging Face hub; default: the shipped head.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FORMAT.load(folder, "gpu")
