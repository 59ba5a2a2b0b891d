"""Straight lines in one feature, shrunk as in ridge regression: all features, penalties and outputs at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lines", "fit_lines"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lines:
    """A line for each penalty, feature and output.

    Args:
        offset: (penalties, features, outputs) float64.
        slope: Per unit of the feature, (penalties, features, outputs) float64.
    """

    offset: Array
    slope: Array

    def at(self, features: Array) -> Array:
        """Return the lines' values at a sample's features, (k,), each line at its own: (penalties, k, outputs)."""
        return self.offset + self.slope * features[None, :, None]


def fit_lines(features: Array, values: Array, penalties: Sequence[float]) -> Lines:
    """Fit a line to every output by every feature alone.

    Features are standardised first, so that a penalty means the same for all: it stands beside the number of samples,
    and a slope becomes n / (n + penalty) of what it is by least squares. A feature that never varies has no slope.

    Args:
        features: (n, k) float64.
        values: (n, outputs) float64.
        penalties: 0 or more each; infinity leaves the mean alone.
    """
    mean, centre = values.mean(axis=0), features.mean(axis=0)
    deviation = features - centre
    squares = (deviation**2).sum(axis=0)
    varies = squares > 1e-12 * np.maximum(1.0, (features**2).sum(axis=0))
    steep = np.zeros((features.shape[1], values.shape[1]))
    np.divide(deviation.T @ (values - mean), squares[:, None], out=steep, where=varies[:, None])
    shrink = np.array([len(features) / (len(features) + penalty) for penalty in penalties])
    slope = shrink[:, None, None] * steep
    return Lines(mean - slope * centre[:, None], slope)
