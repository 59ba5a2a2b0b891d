"""Chooses what to measure next: the launch most informative about all others per second of measuring.

Log times are taken to be a Gaussian process over sizes and what kernels do, with an effect of each kernel that no other
shares. Measuring a launch lowers the variance of the shared part everywhere, by an amount that does not depend on the
time found; the launch with the largest sum of that per second is next (active learning as Cohn 1996).
"""

import numpy as np

from ncc.arrays import Bools, Floats, Ints

_OF_KERNEL = 0.3
_NOISE = 0.05
_SIZE_LENGTH = 1.5
_CODE_LENGTH = 1.0


def covariance_of(sizes: Floats, code: Floats) -> Floats:
    """Covariance of what launches share.

    Args:
        sizes: (n, s) float64 logarithms of sizes.
        code: (n, k) float64 what their kernels do.

    Returns:
        (n, n) float64, 1 on the diagonal.
    """
    near_sizes = np.exp(-0.5 * _distances(sizes) / _SIZE_LENGTH**2)
    scaled = (code - code.mean(axis=0)) / np.where(np.ptp(code, axis=0) > 0, code.std(axis=0), np.inf)
    near_code = np.exp(-0.5 * _distances(scaled) / (_CODE_LENGTH**2 * max(1, code.shape[1])))
    return near_sizes * (0.2 + 0.8 * near_code)


def _distances(rows: Floats) -> Floats:
    squares = (rows**2).sum(axis=1)
    return np.maximum(squares[:, None] + squares[None, :] - 2 * rows @ rows.T, 0)


class Chooser:
    """Keeps what is not known yet of launches, and says which of them to measure."""

    def __init__(self, sizes: Floats, code: Floats, kernel: Ints) -> None:
        """Begins knowing nothing.

        Args:
            sizes: (n, s) float64 logarithms of the sizes of all launches.
            code: (n, k) float64 what their kernels do.
            kernel: (n,) int64 numbers of their kernels.
        """
        self._shared = covariance_of(sizes, code)
        self._whole = self._shared + _OF_KERNEL * (kernel[:, None] == kernel[None, :])

    def choose(self, seconds: Floats, allowed: Bools) -> int:
        """The launch to measure next.

        Args:
            seconds: (n,) float64 what each would take.
            allowed: (n,) bool which may be measured; at least one.
        """
        gain = (self._shared**2).sum(axis=0) / (np.diag(self._whole) + _NOISE)
        return int(np.argmax(np.where(allowed, gain / seconds, -1.0)))

    def observe(self, launch: int) -> None:
        """Counts a launch as measured."""
        weight = self._whole[launch] / (self._whole[launch, launch] + _NOISE)
        self._shared = self._shared - np.outer(self._shared[:, launch], weight)
        self._whole = self._whole - np.outer(self._whole[:, launch], weight)
