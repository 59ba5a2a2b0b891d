"""Thread coarsening as a task to evaluate."""

from collections.abc import Mapping, Sequence

import numpy as np

from ncc.arrays import Floats, Ints, Split
from ncc.learning.heads.figures import Bootstrap
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples
from ncc_lab.coarsening.metrics import CoarseningMetrics, measure
from ncc_lab.coarsening.protocols import INDEPENDENT_UNITS, splits
from ncc_lab.evaluation import Score, Task
from ncc_lab.runs import Method

CoarseningMethod = Method[CoarseningSamples]
"""What can be measured: it predicts (m, 6) float64, a number for each of `FACTORS`; the highest is its choice."""

CoarseningScore = Score[CoarseningMetrics]


class ThreadCoarsening(Task[CoarseningSamples, CoarseningMetrics]):
    """Pairs of kernel and device."""

    units = INDEPENDENT_UNITS
    widths = (len(FACTORS),)

    def folds(self, protocol: str, _seed: int, /) -> Sequence[Split]:
        """Return the same folds for every seed: the protocols leave nothing to chance."""
        return splits(self.samples, protocol)

    def groups(self, protocol: str) -> np.ndarray:
        """Return the name or the text of each row's kernel."""
        return self.samples.groups(INDEPENDENT_UNITS[protocol])

    def measure(
        self, protocol: str, predicted: Floats, rows: Ints, bootstrap: Bootstrap | None = None
    ) -> CoarseningMetrics:
        """Score the factors chosen."""
        return measure(self.samples.runtime[rows], predicted.argmax(axis=2), self.groups(protocol)[rows], bootstrap)

    def perfect(self) -> Floats:
        """Return 1 for the best factor and 0 for all others."""
        return np.eye(len(FACTORS))[self.samples.best]

    def parts(self) -> Mapping[str, Ints]:
        """Return the rows of each device."""
        device = self.samples.device
        return {str(name): np.flatnonzero(device == name) for name in dict.fromkeys(device.tolist())}
