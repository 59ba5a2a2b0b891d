"""Magni et al.'s model: a small neural network decides after each doubling whether to coarsen further.

A model for each device. Inputs are the seven principal components of the static counts of the kernel as coarsened so
far; the answer in training is whether the best factor is larger. The cascade ends at the first no, or where there are
no components because the kernel can't be coarsened further.

Reference: Magni, Dubach, O'Boyle, Automatic Optimization of Thread-Coarsening for Graphics Processors, PACT 2014,
sections 4 and 5.
"""

import warnings
from typing import Any, Final

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import InputError
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples


class MagniCascade:
    """The cascade; see the module.

    DeepTune's re-run of this model searches through twelve sizes and four numbers of steps inside each fold; with
    some eighty rows to train on, one hidden layer does as well and costs a fiftieth.
    """

    name = "Magni et al."
    kind: Final = "published"
    slow = False
    version = "1"

    def __init__(self, hidden: int = 32, max_steps: int = 500) -> None:
        self.identity: Any = {"hidden": hidden, "max_steps": max_steps}
        self._models: dict[str, MLPClassifier | bool] = {}

    def fit(self, samples: CoarseningSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train a network for each device of the training rows."""
        self._models = {}
        for device in np.unique(samples.device[train_idx]).tolist():
            rows = train_idx[samples.device[train_idx] == device]
            inputs, further = _decisions(samples, rows)
            seed = int(rng.integers(2**31))
            if len(np.unique(further)) == 1:
                self._models[device] = bool(further[0])
                continue
            hidden, steps = self.identity.values()
            model = MLPClassifier((hidden,), max_iter=steps, random_state=seed)
            with warnings.catch_warnings():
                # training ends after a number of steps on purpose: with so few rows, converging is over-fitting
                warnings.simplefilter("ignore", ConvergenceWarning)
                self._models[device] = model.fit(inputs, further)

    def predict(self, samples: CoarseningSamples, test_idx: Ints, /) -> Floats:
        """Return 1 for the factor at which the cascade ends and 0 for all others, (m, 6) float64."""
        chosen = [self._descend(str(samples.device[row]), samples.components[row]) for row in test_idx]
        return np.eye(len(FACTORS))[chosen]

    def _descend(self, device: str, components: Floats) -> int:
        if device not in self._models:
            raise InputError(f"no model for device {device!r}; expected one of {', '.join(self._models)}")
        model = self._models[device]
        known = np.flatnonzero(np.isfinite(components).all(axis=1))
        for factor in known.tolist():
            further = model if isinstance(model, bool) else bool(model.predict(components[[factor]])[0])
            if not further:
                return int(factor)
        return int(known[-1])


def _decisions(samples: CoarseningSamples, rows: Ints) -> tuple[Floats, Bools]:
    """Components, (m, 7), and whether to coarsen further, (m,), of each row at each factor that it has been given."""
    best = samples.best[rows]
    row, factor = np.nonzero(np.isfinite(samples.components[rows]).all(axis=2))
    return samples.components[rows][row, factor], factor < best[row]
