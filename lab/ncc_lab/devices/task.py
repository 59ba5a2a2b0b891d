"""Device mapping as a task to evaluate."""

from collections.abc import Sequence

import numpy as np

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc.learning.heads.figures import Bootstrap
from ncc.tasks.devices.published import DeviceMappingSamples
from ncc_lab.devices.metrics import DeviceMetrics, measure
from ncc_lab.devices.protocols import INDEPENDENT_UNITS, splits
from ncc_lab.evaluation import SEED, Score, Task
from ncc_lab.runs import Method

_ROUNDING = 1e-9

DeviceMethod = Method[DeviceMappingSamples]
"""What can be measured: it predicts what is known of log(CPU time / GPU time) of each row.

One number, (m,) or (m, 1): the log ratio, positive where the GPU is faster, or a score of that sign of a method that
knows no ratios; 0 stands for the CPU. Three, (m, 3): median, low and high end of the interval that should hold the
measured value in 80 % of rows. Four, (m, 4): also the probability that the GPU is faster. The first number alone
decides on the device.
"""

DeviceScore = Score[DeviceMetrics]


class DeviceMapping(Task[DeviceMappingSamples, DeviceMetrics]):
    """The rows of one platform's table."""

    units = INDEPENDENT_UNITS
    widths = (1, 3, 4)

    def __init__(self, samples: DeviceMappingSamples) -> None:
        super().__init__(samples)
        self.platform = samples.platform

    def folds(self, protocol: str, seed: int) -> Sequence[Split]:
        """Return folds as `fold_seed` says."""
        return tuple(splits(self.samples, protocol, fold_seed(protocol, seed)))

    def groups(self, protocol: str) -> np.ndarray:
        """Return the name of each row's kernel, application or suite."""
        return self.samples.groups(INDEPENDENT_UNITS[protocol])

    def measure(
        self, protocol: str, predicted: Floats, rows: Ints, bootstrap: Bootstrap | None = None
    ) -> DeviceMetrics:
        """Score the devices chosen, and the intervals where there are some."""
        intervals = predicted[:, :, 1:3] if predicted.shape[2] > 1 else None
        groups = self.groups(protocol)[rows]
        return measure(self.samples.log_ratio[rows], predicted[:, :, 0] > 0, groups, bootstrap, intervals)

    def perfect(self) -> Floats:
        """Return the measured log ratios."""
        return self.samples.log_ratio[:, None]

    def check(self, predicted: Floats) -> None:
        """Refuse medians outside their intervals, and probabilities that are none."""
        if predicted.shape[2] > 1:
            median, low, high = np.moveaxis(predicted[..., :3], -1, 0)
            wrong = (low > median + _ROUNDING) | (median > high + _ROUNDING)
            if wrong.any():
                raise InputError(f"the median is outside its interval in {wrong.sum()} predictions")
        if predicted.shape[2] > 3 and ((predicted[..., 3] < 0) | (predicted[..., 3] > 1)).any():
            raise InputError("expected probabilities between 0 and 1, found others")


def fold_seed(protocol: str, seed: int) -> int:
    """Return the seed of a run's folds.

    The folds of `published` are the papers', the same in every run, and `suite` has one way of making them. Those of
    `kernel` and `application` come from the run's seed, so that the spread over seeds includes that of the folds.
    """
    return SEED if protocol in ("published", "suite") else seed
