"""Calibration error: the difference between confidence and accuracy."""

import numpy as np

from ncc.arrays import Bools, Floats


def calibration_error(confidence: Floats, right: Bools, bins: int, lowest: float = 0.0) -> float:
    """Mean difference between confidence and accuracy over bins of confidence, from the lowest possible to 1."""
    place = np.minimum(((confidence - lowest) / (1 - lowest) * bins).astype(int), bins - 1)
    gap = np.bincount(place, confidence, bins) - np.bincount(place, right, bins)
    return float(np.abs(gap).sum() / len(right))
