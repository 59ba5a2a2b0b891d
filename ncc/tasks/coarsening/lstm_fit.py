"""Thread coarsening by the LSTM: an ensemble on statement vectors, as a method for `evaluate` and for ``ncc train``.

What was tried stands in ``benchmarks/README.md``.

Reference: Ben-Nun et al. 2018, section 6.3 (task); predicting speedups in place of the best factor is ours.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
from torch import nn

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import kernel_words
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.batches import SequenceData, Sequences, distinct_sequences
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.lstm_fit import fit_ensemble
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.coarsening.lstm_head import LSTMCoarseningHead, device_columns
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples, complete_log_speedups


@dataclass(frozen=True, kw_only=True)
class SpeedupTraining:
    """How the ensemble is trained: members, sizes of each, and the loop."""

    members: int = 3
    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(hidden=32, layers=1, pooling=("mean", "max"), last_dropout=0.5)
    )
    head: HeadConfig = field(default_factory=lambda: HeadConfig(dense=16, dropout=0.5))
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=15, batch_size=16, weight_decay=1.0))


def load_words(samples: CoarseningSamples, ir: dict[str, bytes], embedding: Embedding) -> list[Ints]:
    """Each row's kernel as words of an embedding.

    Args:
        samples: The n samples.
        ir: Name of the kernel → its IR (see `load_kernel_ir`).
        embedding: Where statements are looked up.
    """
    words = {
        name: kernel_words(read_module(ir[name], name=name, abstraction=embedding.abstraction), embedding)
        for name in dict.fromkeys(samples.kernel.tolist())
    }
    return [words[name] for name in samples.kernel.tolist()]


class LSTMMethod:
    """An ensemble of networks that predict the logarithms of the speedups, as a method that `evaluate` can measure."""

    name = "lstm"
    kind: Final = "ours"
    slow = True
    version = "1"

    def __init__(self, embedding: Embedding, words: list[Ints], training: SpeedupTraining | None = None) -> None:
        """Keeps the kernels' words; nothing is trained before `fit`."""
        self.embedding = embedding
        self.words = words
        self.training = training or SpeedupTraining()
        self._fitted: LSTMCoarseningHead | None = None

    @property
    def identity(self) -> Any:
        """Embedding, kernels' words and options."""
        return self.embedding.vectors, self.words, asdict(self.training)

    def fit(
        self,
        samples: CoarseningSamples,
        train_idx: Ints,
        rng: np.random.Generator,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        """Trains the ensemble on some rows, forgetting earlier folds."""
        training = self.training
        seeds = rng.integers(2**31, size=training.members).tolist()
        kernels, owner = distinct_sequences([self.words[row] for row in train_idx.tolist()])
        logs = complete_log_speedups(samples.runtime[train_idx])[:, 1:].astype(np.float32)
        mean, scale = logs.mean(axis=0), np.maximum(logs.std(axis=0), 1e-6)
        data = SequenceData(
            Sequences.of(kernels),
            (logs - mean) / scale,
            auxiliary=device_columns(samples.device[train_idx].tolist(), samples.devices),
            owner=owner,
            noise=1.0,
        )
        make = partial(
            EncoderNetwork,
            self.embedding.vectors,
            len(FACTORS) - 1,
            training.encoder,
            training.head,
            len(samples.devices),
        )
        ensemble = fit_ensemble(make, data, nn.functional.mse_loss, training.loop, seeds, progress)
        self._fitted = LSTMCoarseningHead(
            ensemble=ensemble.rescaled(mean, scale),
            devices=samples.devices,
            factors=FACTORS,
            spread=np.ones(2),
            embedding_id=self.embedding.fingerprint,
        )

    def predict(self, samples: CoarseningSamples, test_idx: Ints) -> Floats:
        """The expected speedup at each of `FACTORS`, (m, 6) float64."""
        head = self._head()
        kernels, owner = distinct_sequences([self.words[row] for row in test_idx.tolist()])
        encoded = [head.ensemble.encode(self.embedding.vectors[kernel]) for kernel in kernels]
        devices = samples.device[test_idx].tolist()
        return np.stack([head.speedups(encoded[k], device) for k, device in zip(owner, devices, strict=True)])

    def to_head(self, spread: Floats, about: dict[str, Any]) -> LSTMCoarseningHead:
        """What was fitted, as it answers.

        Args:
            spread: (2,) float64, see `CoarseningHead`.
            about: The card.
        """
        return replace(self._head(), spread=spread, about=about)

    def _head(self) -> LSTMCoarseningHead:
        if self._fitted is None:
            raise InputError("fit the method before predicting")
        return self._fitted
