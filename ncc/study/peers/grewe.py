"""Grewe, Wang and O'Boyle's device mapper: a decision tree on four features combined of static counts.

Reference: Grewe et al., Portable Mapping of Data Parallel Programs to OpenCL for Heterogeneous Systems, CGO 2013.
"""

from typing import Any, Final

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ncc.arrays import Floats, Ints
from ncc.devices.samples import COUNT_NAMES, DeviceMappingSamples
from ncc.study.runs import fitted


def grewe_features(counts: Floats) -> Floats:
    """Combine static counts to the four features of the paper; a quotient by 0 counts as 0.

    Args:
        counts: Counts in the order of `COUNT_NAMES`, (n, 8) float64.

    Returns:
        Communication against computation, coalesced share of the memory accesses, local against global accesses times
        the work-group size, and computation against memory accesses, (n, 4) float64.

    Reference:
        Grewe et al. 2013, combined features F1 to F4.
    """
    column = dict(zip(COUNT_NAMES, counts.T, strict=True))
    comp, mem, transfer = column["comp"], column["mem"], column["transfer"]
    return np.stack(
        [
            _quotient(transfer, comp + mem),
            _quotient(column["coalesced"], mem),
            _quotient(column["localmem"], mem) * column["wgsize"],
            _quotient(comp, mem),
        ],
        axis=1,
    )


class Grewe:
    """A decision tree of depth 5 on the four features, grown by information gain as C4.5 grows it.

    Depth and the 5 rows a leaf are those of the later re-run that the published figures are from.

    Reference:
        Grewe et al. 2013; Cummins et al., PACT 2017, case study A (the re-run).
    """

    name = "Grewe et al."
    kind: Final = "published"
    slow = False
    version = "1"

    def __init__(self) -> None:
        self._tree: DecisionTreeClassifier | None = None

    @property
    def identity(self) -> Any:
        """Options of the tree."""
        return {"criterion": "entropy", "max_depth": 5, "min_samples_leaf": 5}

    def fit(self, samples: DeviceMappingSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Grow a new tree on the training rows; the random numbers only choose between equally good splits."""
        tree = DecisionTreeClassifier(**self.identity, random_state=int(rng.integers(2**31)))
        self._tree = tree.fit(grewe_features(samples.counts[train_idx]), samples.is_gpu[train_idx])

    def predict(self, samples: DeviceMappingSamples, test_idx: Ints, /) -> Floats:
        """Return the probability of GPU less one half for each row, (m,) float64."""
        tree = fitted(self._tree)
        probability = tree.predict_proba(grewe_features(samples.counts[test_idx]))
        return np.asarray(probability @ tree.classes_ - 0.5, dtype=np.float64)


def _quotient(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
