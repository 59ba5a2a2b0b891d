"""`LSTMMapperHead`: log(CPU time / GPU time) of a kernel from its statements in order, in NumPy."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.devices.inputs import INTERVAL, RatioPrediction, checked_ratio, fill_sizes
from ncc.encoder.inference import Ensemble
from ncc.errors import AssetError, InputError
from ncc.kernels.reading import Kernel

__all__ = ["LOG_SCALE_RANGE", "NUM_AUXILIARY", "LSTMMapperHead", "auxiliary_features", "predict_mixture"]

Array = NDArray[np.float64]

LOG_SCALE_RANGE = (-3.0, 2.0)
_BUMPS = np.linspace(-2.0, 2.0, 9)
_BUMP_WIDTH = 0.4
_FARTHEST = 10.0  # standard deviations: sizes beyond are as good as these, and a straight line would say e^400
NUM_AUXILIARY = 2 * (1 + len(_BUMPS))
_LARGEST_LOG = 100.0
"""Of what is said of sizes: e¹⁰⁰ bytes are out of this world."""


@dataclass(frozen=True, eq=False)
class LSTMMapperHead:
    """An ensemble of networks that give the location and the log scale of a Laplace distribution each.

    Attributes:
        ensemble: The networks.
        mean, std: (2,) float64 of the logarithms of transfer bytes and work-group sizes in training.
        reference: (m, 2) float64 pairs (transfer bytes, work-group size) that stand for a missing input.
        transfer_range: Smallest and largest transfer in training, in bytes.
        embedding_id: Fingerprint of the embedding that the vectors come from.
        platform: Name of the devices that were measured, such as "amd" or "nvidia".
        about: Data, command and scores, as the card in the JSON file; nothing that an answer needs.
    """

    ensemble: Ensemble
    mean: Array
    std: Array
    reference: Array
    transfer_range: tuple[float, float]
    embedding_id: str
    platform: str
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that the parts fit each other.

        Raises:
            InputError: A shape is wrong, or a number is out of range.
        """
        shapes = (self.mean.shape, self.std.shape, self.reference.shape[1:])
        if shapes != ((2,), (2,), (2,)) or not len(self.reference):
            raise InputError(f"mean, std and reference are of shapes {shapes}")
        low, high = self.transfer_range
        if not (np.abs(self.mean) <= _LARGEST_LOG).all() or not 0 <= low <= high < np.exp(_LARGEST_LOG):
            raise InputError("mean or transfer_range is out of range")
        if not ((self.std > 1e-9) & (self.std <= _LARGEST_LOG)).all():
            raise InputError("std is out of range")
        if not ((self.reference >= 0) & np.isfinite(self.reference)).all():
            raise InputError("reference is out of range")
        for member in self.ensemble.members:
            if (member.head.num_outputs, member.head.num_auxiliary) != (2, NUM_AUXILIARY):
                raise InputError(f"a network of {member.head.num_outputs} outputs, {member.head.num_auxiliary} inputs")

    def answers(
        self,
        kernel: Kernel,
        transfers: Sequence[float | None],
        wgsize: float | None,
        without: Collection[int] = (),
        global_size: float | None = None,  # noqa: ARG002 (not known to these heads)
    ) -> list[RatioPrediction]:
        """`predict` for a kernel that was read, at several sizes of its data, as if some statements were not there."""
        encoded = self.ensemble.encode(kernel.sequence(without))
        return [self.predict(encoded, transfer, wgsize) for transfer in transfers]

    def predict(
        self, encoded: NDArray[np.float32], transfer_bytes: float | None = None, wgsize: float | None = None
    ) -> RatioPrediction:
        """Predicts for one kernel.

        Args:
            encoded: From ``ensemble.encode``, (members, vector_size) float32.
            transfer_bytes: Bytes moved between host and device; None covers what was seen in training.
            wgsize: Work-items a work-group; None likewise.

        Raises:
            InputError: A size is out of its range; see `ncc.devices.inputs.check_sizes`.
            AssetError: The answer is no ratio that two devices can have: the head's file was damaged, or forged.
        """
        sizes = np.stack(fill_sizes(self.reference, transfer_bytes, wgsize), axis=1)
        auxiliary = auxiliary_features(sizes, self.mean, self.std)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self.ensemble.outputs(encoded, auxiliary).reshape(-1, 2)
        if not np.isfinite(outputs).all():
            raise AssetError("the device-mapping head's answer is not finite; its file is damaged")
        return checked_ratio(predict_mixture(outputs))


def auxiliary_features(values: Array, mean: Array, std: Array) -> NDArray[np.float32]:
    """Transfer bytes and work-group sizes as the head takes them: (n, 2 * (1 + number of bumps)) float32.

    The logarithm, standardised, and Gaussian bumps along it: which device wins turns over and back as data grows, and
    a straight line can't say so.

    Args:
        values: (n, 2) transfer bytes and work-group sizes.
        mean: (2,) of log1p of the same in training.
        std: (2,) likewise.
    """
    standard = np.clip((np.log1p(values) - mean) / std, -_FARTHEST, _FARTHEST)
    bumps = np.exp(-0.5 * ((standard[:, :, None] - _BUMPS) / _BUMP_WIDTH) ** 2)
    return np.concatenate([standard[:, :, None], bumps], axis=2).reshape(len(values), -1).astype(np.float32)


def mixture_cdf(location: Array, scale: Array, x: float) -> float:
    """Probability that a mixture of Laplace distributions with equal weights lies below x."""
    z = (x - location) / scale
    below = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))
    return float(below.mean())


def mixture_quantile(location: Array, scale: Array, probability: float) -> float:
    """Where the mixture's distribution function reaches a probability, by bisection."""
    low, high = float((location - 40 * scale).min()), float((location + 40 * scale).max())
    for _ in range(60):
        middle = (low + high) / 2
        if mixture_cdf(location, scale, middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def predict_mixture(outputs: NDArray[np.floating]) -> RatioPrediction:
    """What an ensemble's outputs say.

    Args:
        outputs: (members, 2) location and log scale of a Laplace distribution each.
    """
    location = outputs[:, 0].astype(np.float64)
    scale = np.exp(np.clip(outputs[:, 1], *LOG_SCALE_RANGE)).astype(np.float64)
    tail = (1 - INTERVAL) / 2
    low, middle, high = (mixture_quantile(location, scale, q) for q in (tail, 0.5, 1 - tail))
    return RatioPrediction(middle, (low, high), 1 - mixture_cdf(location, scale, 0.0))
