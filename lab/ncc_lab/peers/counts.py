"""Published methods on static counts: Grewe et al.'s tree, and Magni et al.'s cascade of networks.

References: Grewe, Wang, O'Boyle, Portable Mapping of Data Parallel Programs to OpenCL for Heterogeneous Systems, CGO
2013; Magni, Dubach, O'Boyle, Automatic Optimization of Thread-Coarsening for Graphics Processors, PACT 2014.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.tasks.coarsening.train import FACTORS
from ncc_lab.coarsening.samples import CoarseningSamples
from ncc_lab.controls import sklearn_method
from ncc_lab.devices.devmap import DeviceMethod, as_score, labels_of
from ncc_lab.devices.samples import COUNT_NAMES, DeviceMappingSamples
from ncc_lab.frame import Method, Subset


def grewe_features(counts: Floats) -> Floats:
    """Combine static counts, (n, 8), to the features F1 to F4 of the paper, (n, 4); a quotient by 0 counts as 0.

    These are communication against computation, coalesced fraction of the memory accesses, local against global
    accesses times the work-group size, and computation against memory accesses.
    """
    column = dict(zip(COUNT_NAMES, counts.T, strict=True))
    comp, mem, transfer = column["comp"], column["mem"], column["transfer"]

    def quotient(above: Floats, below: Floats) -> Floats:
        return np.divide(above, below, out=np.zeros_like(above), where=below != 0)

    return np.stack(
        [
            quotient(transfer, comp + mem),
            quotient(column["coalesced"], mem),
            quotient(column["localmem"], mem) * column["wgsize"],
            quotient(comp, mem),
        ],
        axis=1,
    )


def grewe() -> DeviceMethod:
    """Return a decision tree of depth 5 on the four features, grown by information gain as C4.5 grows it.

    Depth and the 5 rows a leaf are those of the later re-run that the published figures are from (Cummins et al.,
    PACT 2017, case study A). The seed only chooses between equally good splits.
    """
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=5, min_samples_leaf=5)
    return as_score(sklearn_method("Grewe et al.", _features, tree, labels=labels_of, kind="published", draws=False))


def _features(samples: DeviceMappingSamples, _seed: int) -> Floats:
    return grewe_features(samples.counts)


def magni_cascade(hidden: int = 32, max_steps: int = 500) -> Method[CoarseningSamples]:
    """Return Magni et al.'s model: a small network for each device decides after each doubling whether to double again.

    Inputs are the seven principal components of the static counts of the kernel as coarsened so far; the answer in
    training is whether the best factor is larger. The cascade ends at the first no, or if there are no components
    because the kernel can't be coarsened further. DeepTune's re-run of this model searches through twelve sizes and
    four numbers of steps inside each fold; with some eighty rows to train on, one hidden layer does as well and costs a
    fiftieth.

    Reference: Magni et al. 2014, sections 4 and 5.
    """

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], rng: np.random.Generator) -> Floats:
        models: dict[str, MLPClassifier | bool] = {}
        table = train.table
        for device in np.unique(table.device[train.rows]).tolist():
            rows = train.rows[table.device[train.rows] == device]
            row, factor = np.nonzero(np.isfinite(table.components[rows]).all(axis=2))
            goes_on = factor < table.best[rows][row]
            seed = int(rng.integers(2**31))
            if len(np.unique(goes_on)) == 1:
                models[device] = bool(goes_on[0])
                continue
            model = MLPClassifier((hidden,), max_iter=max_steps, random_state=seed)
            with warnings.catch_warnings():
                # training ends after a number of steps on purpose: with so few rows, converging is over-fitting
                warnings.simplefilter("ignore", ConvergenceWarning)
                models[device] = model.fit(table.components[rows][row, factor], goes_on)

        def descend(device: str, components: Floats) -> int:
            if device not in models:
                raise InputError(f"no model for device {device!r}; expected one of {', '.join(models)}")
            model, factors = models[device], np.flatnonzero(np.isfinite(components).all(axis=1)).tolist()
            for factor in factors:
                if not (model if isinstance(model, bool) else model.predict(components[[factor]])[0]):
                    return int(factor)
            return int(factors[-1])

        rows = test.rows.tolist()
        chosen = [descend(str(test.table.device[row]), test.table.components[row]) for row in rows]
        return np.eye(len(FACTORS))[chosen]

    return Method("Magni et al.", "published", predict, (hidden, max_steps), version="2")
