"""The LSTM device mapper: trains ensembles on statement vectors, as a method for `evaluate` and for ``ncc train``.

Reference: Ben-Nun et al. 2018, section 6.2 (task, auxiliary inputs); predicting the ratio is ours.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ncc.devices.inputs import sample_sizes
from ncc.devices.lstm_head import LOG_SCALE_RANGE, NUM_AUXILIARY, LSTMMapperHead, auxiliary_features
from ncc.devices.samples import DeviceMappingSamples, load_legacy_ir
from ncc.embedding import Embedding
from ncc.encoder.batches import SequenceData, Sequences, distinct_sequences
from ncc.encoder.config import EncoderConfig, HeadConfig
from ncc.encoder.fit import fit_ensemble
from ncc.encoder.network import EncoderNetwork
from ncc.errors import InputError
from ncc.ir import read_module
from ncc.kernels.reading import kernel_words, source_words
from ncc.training import TrainingConfig

__all__ = ["Forms", "LSTMMethod", "RatioTraining", "load_words"]

Forms = tuple[NDArray[np.int64], ...]
"""A kernel as sequences of words, one for each form (legacy IR, compiled source) that it comes in.

The first form is the one that is tested."""


@dataclass(frozen=True, kw_only=True)
class RatioTraining:
    """How the ensemble is trained: members, sizes of each, and the loop."""

    members: int = 1
    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(hidden=64, pooling=("last", "mean", "max"), dropout=0.3)
    )
    head: HeadConfig = field(default_factory=lambda: HeadConfig(dropout=0.3))
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=15, batch_size=40))


def load_words(samples: DeviceMappingSamples, embedding: Embedding, folder: str | None = None) -> list[Forms]:
    """Reads every row's legacy IR, and compiles its source where that is sound.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    compiled = {source: source_words(source, embedding) for source in dict.fromkeys(map(str, samples.source))}
    rows = []
    for row, source in enumerate(map(str, samples.source)):
        name = samples.ir_name(row)
        module = read_module(legacy[name], name=name, abstraction=embedding.abstraction)
        form = compiled[source]
        rows.append((kernel_words(module, embedding), *(() if form is None else (form,))))
    return rows


class LSTMMethod:
    """An ensemble of networks as a method that `evaluate` can measure."""

    name = "lstm"
    kind: Final = "ours"
    slow = True
    version = "2"

    def __init__(self, embedding: Embedding, words: list[Forms], training: RatioTraining | None = None) -> None:
        """Keeps the kernels' words; nothing is trained before `fit`."""
        self.embedding = embedding
        self.words = words
        self.training = training or RatioTraining()
        self._fitted: LSTMMapperHead | None = None

    @property
    def identity(self) -> Any:
        """Embedding, kernels' words and options."""
        return self.embedding.vectors, self.words, asdict(self.training)

    def fit(
        self,
        samples: DeviceMappingSamples,
        train_idx: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        """Trains the ensemble on some rows, forgetting earlier folds.

        Rows whose kernels come to the same words (NPB's sizes differ in constants alone) are of one kernel.
        """
        training, values = self.training, np.stack([samples.transfer_bytes, samples.wgsize], axis=1)[train_idx]
        logs = np.log1p(values)
        mean, std = logs.mean(axis=0), np.maximum(logs.std(axis=0), 1e-6)
        seeds = rng.integers(2**31, size=training.members).tolist()
        kernels, owner = distinct_sequences([self.words[row][0] for row in train_idx.tolist()])
        forms_of = {self.words[row][0].tobytes(): self.words[row] for row in reversed(train_idx.tolist())}
        forms = [forms_of[kernel.tobytes()] for kernel in kernels]
        ends = np.cumsum([len(some) for some in forms])
        data = SequenceData(
            Sequences.of([form for some in forms for form in some]),
            samples.log_ratio[train_idx].astype(np.float32),
            auxiliary=auxiliary_features(values, mean, std),
            owner=owner,
            forms=[range(end - len(some), end) for some, end in zip(forms, ends.tolist(), strict=True)],
            noise=0.3,
        )
        make = partial(EncoderNetwork, self.embedding.vectors, 2, training.encoder, training.head, NUM_AUXILIARY)
        self._fitted = LSTMMapperHead(
            ensemble=fit_ensemble(make, data, laplace_loss, training.loop, seeds, progress),
            mean=mean,
            std=std,
            reference=sample_sizes(values),
            transfer_range=(float(values[:, 0].min()), float(values[:, 0].max())),
            embedding_id=self.embedding.fingerprint,
            platform=samples.platform,
        )

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Median, both ends of the 80 % interval, and probability of the GPU being faster: (m, 4) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """
        head = self._head()
        kernels, owner = distinct_sequences([self.words[row][0] for row in test_idx.tolist()])
        encoded = [head.ensemble.encode(self.embedding.vectors[kernel]) for kernel in kernels]
        rows = []
        for row, kernel in zip(test_idx.tolist(), owner.tolist(), strict=True):
            answer = head.predict(encoded[kernel], samples.transfer_bytes[row], samples.wgsize[row])
            rows.append((answer.log_ratio, *answer.interval, answer.probability_gpu))
        return np.array(rows)

    def to_head(self, about: dict[str, Any]) -> LSTMMapperHead:
        """What was fitted, with its card.

        Raises:
            InputError: Nothing was fitted yet.
        """
        return replace(self._head(), about=about)

    def _head(self) -> LSTMMapperHead:
        if self._fitted is None:
            raise InputError("fit the method before predicting")
        return self._fitted


def laplace_loss(output: Tensor, target: Tensor) -> Tensor:
    """Mean negative log-likelihood under Laplace distributions given as (location, log scale)."""
    log_scale = output[:, 1].clamp(*LOG_SCALE_RANGE)
    return ((output[:, 0] - target).abs() * torch.exp(-log_scale) + log_scale).mean()
