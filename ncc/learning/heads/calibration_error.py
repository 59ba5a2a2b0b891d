"""Calibration error of stated confidence, and accuracy among the most confident answers.

Reference: Guo et al. 2017, section 2 (calibration).
"""

from collections.abc import Sequence

import numpy as np

from ncc.arrays import Bools, Floats


def calibration_error(confidence: Floats, right: Bools, bins: int, least: float = 0.0) -> float:
    """Mean distance between confidence and accuracy over bins of confidence, from the least that can be to 1."""
    place = np.minimum(((confidence - least) / (1 - least) * bins).astype(int), bins - 1)
    gap = np.bincount(place, confidence, bins) - np.bincount(place, right, bins)
    return float(np.abs(gap).sum() / len(right))


def accuracy_of_surest(right: Bools, sureness: Floats, percents: Sequence[int] = range(10, 101, 10)) -> list[float]:
    """Share that is right among the surest, so many percent of all, one at least."""
    order = np.argsort(-sureness, kind="stable")
    return [float(right[order[: max(len(order) * percent // 100, 1)]].mean()) for percent in percents]
