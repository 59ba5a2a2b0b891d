"""ncc's classifier as a method that `evaluate` can measure: a network and n-grams, whose scores are added."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ncc.classification.network_fit import NetworkMethod, probabilities
from ncc.classification.ngram_fit import NgramMethod
from ncc.classification.samples import ProgramSamples

__all__ = ["NGRAM_FACTOR", "CombinedMethod"]

NGRAM_FACTOR = 4.5
"""What margins are multiplied by beside the network's scores: of no great effect on the validation programs."""


class CombinedMethod:
    """A network and a linear model on n-grams, trained apart."""

    kind: Final = "ours"
    slow = True
    version = "1"

    def __init__(self, network: NetworkMethod, ngrams: NgramMethod, name: str = "ncc") -> None:
        """Keeps both; nothing is trained before `fit`."""
        self.name = name
        self.network = network
        self.ngrams = ngrams

    @property
    def identity(self) -> Any:
        """Those of both, and how they are added."""
        return self.network.identity, self.ngrams.identity, NGRAM_FACTOR

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Trains both on some rows."""
        self.network.fit(samples, train_idx, rng)
        self.ngrams.fit(samples, train_idx, rng)

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the classes, all levels of a program together: (m, num_classes) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """
        return probabilities([self.scores(samples, level, test_idx) for level in samples.views])

    def scores(self, samples: ProgramSamples, level: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of programs at one of their levels: (m, num_classes) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """
        margins = self.ngrams.scores(samples, level, rows)
        return self.network.scores(samples, level, rows) + NGRAM_FACTOR * margins
