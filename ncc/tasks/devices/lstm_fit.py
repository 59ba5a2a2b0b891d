"""Fits an `LSTMTimes`: LSTMs on a kernel's statements, with the launch's sizes and what a thread does.

Reference: Ben-Nun et al. 2018, section 6.2 (statements and auxiliary inputs); times on every device are ours.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from torch import nn

from ncc.arrays import Floats
from ncc.learning.encoder.batches import SequenceData, Sequences
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.lstm_fit import fit_ensemble
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_numpy import Ensemble
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.devices.columns import LAUNCH
from ncc.tasks.devices.head import LSTMTimes, distinct_kernels

_EPOCHS = (5, 30)


@dataclass(frozen=True, kw_only=True)
class LSTMTimesTraining:
    """How an `LSTMTimes` is trained.

    Attributes:
        members: Networks.
        encoder: Sizes of each.
        head: Those of its last layers. Batches hold many launches of few kernels, so that norms are over features.
        batch_size: Launches a step.
        steps: About so many, in 5 to 30 epochs.
    """

    members: int = 1
    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(hidden=64, layers=1, pooling=("last", "mean", "max"), last_dropout=0.2)
    )
    head: HeadConfig = field(default_factory=lambda: HeadConfig(dense=128, norm="layer", dropout=0.1))
    batch_size: int = 32
    steps: int = 1500

    def loop(self, launches: int) -> TrainingConfig:
        """The loop over so many launches."""
        epochs = int(np.clip(self.steps * self.batch_size // launches, *_EPOCHS))
        return TrainingConfig(epochs=epochs, batch_size=self.batch_size)


def fit_lstm_times(
    columns: Floats,
    sequences: NDArray[np.object_],
    targets: Floats,
    seed: int,
    training: LSTMTimesTraining | None = None,
) -> LSTMTimes:
    """Trains on n launches.

    Args:
        columns: (n, NUM_COLUMNS) float64, see `ncc.tasks.devices.columns.launch_columns`.
        sequences: (n,) of (time, dim) float32 vectors of statements.
        targets: (n, d) float64 mean log time and ratios, these bent.
        seed: Of weights and of training.
        training: How.
    """
    training = training or LSTMTimesTraining()
    chosen = columns[:, LAUNCH]
    scale = np.where(np.ptp(chosen, axis=0) > 0, chosen.std(axis=0), 0.0)
    kernels, owner = distinct_kernels(sequences)
    ends = np.cumsum([len(kernel) for kernel in kernels])
    middle, spread = targets.mean(axis=0), np.maximum(targets.std(axis=0), 1e-6)
    untrained = LSTMTimes(Ensemble(()), chosen.mean(axis=0), scale)
    data = SequenceData(
        Sequences.of([np.arange(end - len(kernel), end) for kernel, end in zip(kernels, ends.tolist(), strict=True)]),
        ((targets - middle) / spread).astype(np.float32),
        auxiliary=untrained.auxiliary(columns),
        owner=owner,
        noise=1.0,
    )
    vectors = np.concatenate(kernels).astype(np.float32)
    make = partial(EncoderNetwork, vectors, targets.shape[1], training.encoder, training.head, len(LAUNCH))
    seeds = np.random.default_rng(seed).integers(2**31, size=training.members).tolist()
    ensemble = fit_ensemble(
        make, data, partial(nn.functional.huber_loss, delta=0.3), training.loop(len(columns)), seeds
    )
    outputs = middle.astype(np.float32), spread.astype(np.float32)
    return LSTMTimes(ensemble.rescaled(*outputs), untrained.mean, untrained.scale)
