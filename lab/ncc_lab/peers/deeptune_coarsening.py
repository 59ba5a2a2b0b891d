"""DeepTune and DeepTune-TL: an LSTM over source tokens, trained from scratch or first on device mapping.

Departures from the published program, none of which gives it less to learn from: the text is that of the row's own
kernel (see `samples`); outputs are a softmax, not sigmoids under a cross-entropy that expects probabilities that add up
to 1; padding is not read, where the program reads it as words before the first; and where training has the rows of
several devices, one model learns them all, with the device as an input, in place of a model for each.

Reference: Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, sections 3 and 5.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ncc.arrays import Floats, Floats32, Ints
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples
from ncc_lab.coarsening.coarsening import device_inputs
from ncc_lab.devices.samples import DeviceMappingSamples
from ncc_lab.peers.deeptune import DeepTune, SourceVocabulary
from ncc_lab.peers.recurrent import RecurrentMethod, RecurrentTraining, Words


def deeptune_training(hidden: int = 64, loop: TrainingConfig | None = None) -> RecurrentTraining:
    """Return the published size, epochs and learning rate, over the last 1,024 tokens.

    All training rows are one batch: the published 64 is more than the 16 rows that a device has for training.
    """
    loop = loop or TrainingConfig(epochs=50, batch_size=128, learning_rate=1e-3, weight_decay=0.0)
    return RecurrentTraining(hidden=hidden, longest=1024, train_vectors=True, loop=loop)


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """What transfers from one task to another: the tokens, their vectors and the LSTM layers."""

    tokens: tuple[str, ...]
    tensors: dict[str, Floats32]


class _Pretraining(DeepTune):
    """Device mapping's DeepTune, for what it has learned."""

    def language_model(self) -> LanguageModel:
        assert self._model is not None
        tensors = {name: tensor.numpy().copy() for name, tensor in self._model.encoder.state_dict().items()}
        return LanguageModel(self._vocabulary.tokens, tensors)


def pretrain_language_model(
    samples: DeviceMappingSamples, seed: int = 204, training: RecurrentTraining | None = None
) -> LanguageModel:
    """Train DeepTune on all rows of device mapping, and return what can be transferred.

    Some kernels of thread coarsening come from the suites that device mapping has as well. Their texts are seen here,
    as in the original, but no answer of thread coarsening.
    """
    method = _Pretraining(training)
    method.fit(samples, np.arange(len(samples)), np.random.default_rng(seed))
    return method.language_model()


class CoarseningDeepTune(RecurrentMethod[CoarseningSamples]):
    """The method; see the module."""

    num_classes = len(FACTORS)
    code_outputs = False

    def __init__(self, start: LanguageModel | None = None, training: RecurrentTraining | None = None) -> None:
        super().__init__(training or deeptune_training())
        self.name = "DeepTune-TL" if start else "DeepTune"
        self._start = start
        self._vocabulary = SourceVocabulary(())

    @property
    def identity(self) -> Any:
        """Options of the training, and what it starts from."""
        start = (self._start.tokens, self._start.tensors) if self._start else None
        return super().identity, start

    def predict(self, samples: CoarseningSamples, test_idx: Ints, /) -> Floats:
        """Return each factor's probability, (m, 6) float64."""
        return self.probabilities(samples, test_idx)

    def learn_words(self, samples: CoarseningSamples, train_idx: Ints, rng: np.random.Generator) -> Floats32:
        """Take the tokens that training starts from, or those of the training rows' sources; draw first vectors."""
        start = self._start
        self._vocabulary = (
            SourceVocabulary(start.tokens) if start else SourceVocabulary.of(set(samples.source[train_idx]))
        )
        return rng.uniform(-0.05, 0.05, (len(self._vocabulary), self.training.hidden)).astype(np.float32)

    def read_words(self, samples: CoarseningSamples, rows: Ints) -> list[Words]:
        """Return the tokens of some rows' sources."""
        return self._vocabulary.encode_all(samples.source[rows].tolist())

    def auxiliary(self, samples: CoarseningSamples, rows: Ints) -> Floats:
        """Return the device."""
        return device_inputs(samples)[rows]

    def labels(self, samples: CoarseningSamples, rows: Ints) -> Ints:
        """Return the best factor."""
        return samples.best[rows]

    def initialize(self, model: EncoderNetwork) -> None:
        """Let gates begin by keeping their state, as in the original's library: it matters over hundreds of tokens."""
        hidden = self.training.hidden
        with torch.no_grad():
            for layer in model.encoder.ahead:
                layer.get_parameter("bias_ih_l0")[hidden : 2 * hidden] += 1.0
        if self._start:
            tensors = {name: torch.from_numpy(array.copy()) for name, array in self._start.tensors.items()}
            model.encoder.load_state_dict(tensors)
