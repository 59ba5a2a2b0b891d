"""Grewe, Wang and O'Boyle's device mapper: a decision tree on four combinations of static counts.

Reference: Grewe et al., Portable Mapping of Data Parallel Programs to OpenCL for Heterogeneous Systems, CGO 2013.
"""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from ncc.arrays import Floats
from ncc_lab.controls import sklearn_method
from ncc_lab.devices.devmap import DeviceMethod, as_score, labels_of
from ncc_lab.devices.samples import COUNT_NAMES, DeviceMappingSamples


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


def grewe() -> DeviceMethod:
    """Return a decision tree of depth 5 on the four features, grown by information gain as C4.5 grows it.

    Depth and the 5 rows a leaf are those of the later re-run that the published figures are from. The seed only chooses
    between equally good splits.

    Reference:
        Grewe et al. 2013; Cummins et al., PACT 2017, case study A (the re-run).
    """
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=5, min_samples_leaf=5)
    return as_score(sklearn_method("Grewe et al.", _features, tree, labels=labels_of, kind="published", draws=False))


def _features(samples: DeviceMappingSamples, _seed: int) -> Floats:
    return grewe_features(samples.counts)


def _quotient(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
