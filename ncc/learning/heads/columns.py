"""Feature columns of models: standardization as in training, and distances between rows."""

import numpy as np

from ncc.arrays import Floats


def standardize(columns: Floats, mean: Floats, scale: Floats, limit: float) -> Floats:
    """Columns in units of their scale in training, clipped so that linear models stay in range; 0 if constant."""
    return np.clip((columns - mean) / np.where(scale > 0, scale, np.inf), -limit, limit)


def scaled_distances(a: Floats, b: Floats) -> Floats:
    """(n, m) float64 root mean squared differences between rows."""
    squared = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.sqrt(np.maximum(squared, 0) / a.shape[1])
