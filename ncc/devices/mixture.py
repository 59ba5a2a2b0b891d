"""What LSTM heads that predict log(CPU time / GPU time) take beside the kernel, and what their outputs mean."""

import numpy as np
from numpy.typing import NDArray

from ncc.devices.head import INTERVAL, RatioPrediction

__all__ = [
    "LOG_SCALE_RANGE",
    "NUM_AUXILIARY",
    "auxiliary_features",
    "mixture_cdf",
    "mixture_quantile",
    "predict_mixture",
]

LOG_SCALE_RANGE = (-3.0, 2.0)
_BUMPS = np.linspace(-2.0, 2.0, 9)
_BUMP_WIDTH = 0.4
_FARTHEST = 10.0  # standard deviations: sizes beyond are as good as these, and a straight line would say e^400
NUM_AUXILIARY = 2 * (1 + len(_BUMPS))

Array = NDArray[np.float64]


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
