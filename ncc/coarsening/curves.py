"""Speedup as a function of the coarsening factor: what was measured, and a guess at what was not."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["complete_log_speedups"]


def complete_log_speedups(runtime: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of all speedups over no coarsening; factors that were not measured are extrapolated.

    Large factors are missing where a kernel has no work left to merge, or failed. A parabola in log2(factor) through
    the origin is fitted to what was measured of a row and followed beyond it, but never upwards, so that what was not
    tried is not believed to be better than what was.

    Args:
        runtime: Runtimes at factors 1, 2, 4 …, (n, k) float64; NaN where not measured. A row is wholly NaN, or has
            been measured up to some factor.

    Returns:
        log(runtime at factor 1 / runtime), (n, k) float64; NaN for rows that are wholly NaN.
    """
    with np.errstate(invalid="ignore"):
        curves = np.log(runtime[:, :1] / runtime)
    doublings = np.arange(runtime.shape[1], dtype=np.float64)
    shape = np.stack([doublings, doublings**2], axis=1)
    for curve in curves:
        num = int(np.isfinite(curve).sum())
        if num == 0:
            continue
        coefficients = np.linalg.lstsq(shape[:num], curve[:num], rcond=None)[0]
        for k in range(num, len(curve)):
            curve[k] = min(float(shape[k] @ coefficients), curve[k - 1])
    return curves
