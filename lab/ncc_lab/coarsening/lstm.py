"""An ensemble of LSTMs on a kernel's statements in order, which gives log speedups at all factors but the first.

Reference: Ben-Nun et al. 2018, section 6.3 (task); predicting speedups in place of the best factor is ours.
"""

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from ncc.arrays import Floats, Floats32, Ints
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import kernel_words
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.network_numpy import Ensemble
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.coarsening.head import MAX_SPEEDUP, MIN_SPEEDUP
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples, complete_log_speedups


@dataclass(frozen=True, kw_only=True)
class LSTMTraining:
    """How the ensemble is trained: members, sizes of each, and the loop."""

    members: int = 3
    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(hidden=32, layers=1, pooling=("mean", "max"), last_dropout=0.5)
    )
    head: HeadConfig = field(default_factory=lambda: HeadConfig(dense=16, dropout=0.5))
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=15, batch_size=16, weight_decay=1.0))


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
        self._ensemble: Ensemble | None = None

    @property
    def identity(self) -> Any:
        """Embedding, kernels' words and options."""
        return self.embedding.vectors, self.words, asdict(self.training)

    def fit(self, samples: CoarseningSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train the ensemble on some rows, on log speedups standardized for each factor."""
        from torch import nn

        from ncc.learning.encoder.batches import SequenceData, Sequences, distinct_sequences
        from ncc.learning.encoder.network import EncoderNetwork, fit_ensemble

        training = self.training
        seeds = rng.integers(2**31, size=training.members).tolist()
        kernels, owner = distinct_sequences([self.words[row] for row in train_idx.tolist()])
        logs = complete_log_speedups(samples.runtime[train_idx])[:, 1:].astype(np.float32)
        mean, scale = logs.mean(axis=0), np.maximum(logs.std(axis=0), 1e-6)
        data = SequenceData(
            Sequences.of(kernels),
            (logs - mean) / scale,
            auxiliary=_one_hot(samples, train_idx),
            owner=owner,
            noise=1.0,
        )
        sizes = (len(FACTORS) - 1, training.encoder, training.head, len(samples.devices))
        make = partial(EncoderNetwork, self.embedding.vectors, *sizes)
        ensemble = fit_ensemble(make, data, nn.functional.mse_loss, training.loop, seeds)
        self._ensemble = ensemble.rescaled(mean, scale)

    def predict(self, samples: CoarseningSamples, test_idx: Ints, /) -> Floats:
        """Geometric mean over members of the expected speedup at each factor, (m, 6) float64."""
        assert self._ensemble
        device = _one_hot(samples, test_idx)
        logs = np.zeros((len(test_idx), len(FACTORS)))
        for i, row in enumerate(test_idx.tolist()):
            encoded = self._ensemble.encode(self.embedding.vectors[self.words[row]])
            logs[i, 1:] = self._ensemble.outputs(encoded, device[i : i + 1]).astype(np.float64).mean(axis=(0, 1))
        return np.clip(np.exp(np.minimum(logs, np.log(MAX_SPEEDUP))), MIN_SPEEDUP, MAX_SPEEDUP)


def load_words(samples: CoarseningSamples, ir: dict[str, bytes], embedding: Embedding) -> list[Ints]:
    """Load each row's kernel as words of an embedding."""
    words = {
        name: kernel_words(read_module(ir[name], name=name, abstraction=embedding.abstraction), embedding)
        for name in dict.fromkeys(samples.kernel.tolist())
    }
    return [words[name] for name in samples.kernel.tolist()]


def _one_hot(samples: CoarseningSamples, rows: Ints) -> Floats32:
    return (samples.device[rows][:, None] == np.array(samples.devices)).astype(np.float32)
