"""The LSTM of ``ncc train coarsening --model lstm`` as a method to compare.

Reference: Ben-Nun et al. 2018, section 6.3 (task); predicting speedups in place of the best factor is ours.
"""

from dataclasses import asdict
from typing import Any, Final

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.coarsening.head import LSTMHead
from ncc.tasks.coarsening.samples import CoarseningSamples
from ncc.tasks.coarsening.train import LSTMTraining, fit_lstm


class LSTMMethod:
    """An ensemble of networks on the rows' kernels as words of an embedding; it predicts speedups, (m, 6)."""

    name = "lstm"
    kind: Final = "ours"
    slow = True
    version = "1"

    def __init__(self, embedding: Embedding, words: list[Ints], training: LSTMTraining | None = None) -> None:
        self.embedding = embedding
        self.words = words
        self.training = training or LSTMTraining()
        self._head: LSTMHead | None = None

    @property
    def identity(self) -> Any:
        """Embedding, kernels' words and options."""
        return self.embedding.vectors, self.words, asdict(self.training)

    def fit(self, samples: CoarseningSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train the ensemble on some rows."""
        self._head = fit_lstm(samples, self.words, self.embedding, self.training, rng, train_idx)

    def predict(self, samples: CoarseningSamples, test_idx: Ints, /) -> Floats:
        """Expected speedup at each factor, (m, 6) float64."""
        head = self._head
        assert head
        encoded = [head.ensemble.encode(self.embedding.vectors[self.words[row]]) for row in test_idx.tolist()]
        devices = samples.device[test_idx].tolist()
        return np.stack([head.speedups(kernel, device) for kernel, device in zip(encoded, devices, strict=True)])
