"""DeepTune and DeepTune-TL: an LSTM over the tokens of the source text, untrained or trained on device mapping first.

Departures from the published program, none of which gives it less to learn from: the text is that of the row's own
kernel (see `samples`); outputs are a softmax, not sigmoids under a cross-entropy that expects probabilities that add up
to 1; padding is not read, where the program reads it as words before the first; and where training has the rows of
several devices, one model learns them all, with the device as an input, in place of a model for each.

Reference: Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, sections 3 and 5.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.coarsening.samples import DEVICES, FACTORS, CoarseningSamples
from ncc.devices.samples import DeviceMappingSamples
from ncc.encoder.lstm import LSTMHead, LSTMHeadConfig
from ncc.errors import InputError
from ncc.study.coarsening.controls import device_inputs
from ncc.study.peers.deeptune import DeepTune as DeviceDeepTune
from ncc.study.peers.deeptune import SourceVocabulary
from ncc.study.peers.recurrent import RecurrentTraining
from ncc.training import TrainingConfig, train

__all__ = ["DeepTune", "DeepTuneTraining", "LanguageModel", "pretrain_language_model"]

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

_LANGUAGE_MODEL = ("vectors", "lstm.")


@dataclass(frozen=True, kw_only=True)
class DeepTuneTraining:
    """Size of the network and its training; the defaults are the published ones.

    All training rows are one batch: the published 64 is more than the 16 rows that a device has for training.

    Args:
        hidden: Dimensions of the tokens' vectors, and units of each of the two LSTM layers.
        longest: Tokens of a text that are read, the last ones of a longer text.
        loop: Epochs, rows a batch, learning rate; its seed is not used.
    """

    hidden: int = 64
    longest: int = 1024
    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(epochs=50, batch_size=128, learning_rate=1e-3, weight_decay=0.0)
    )


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """What transfers from one task to another: the tokens, their vectors and the LSTM layers.

    Args:
        tokens: The vocabulary's tokens.
        tensors: Name of the parameter in `LSTMHead` → float32 array.
    """

    tokens: tuple[str, ...]
    tensors: dict[str, NDArray[np.float32]]


class _Pretraining(DeviceDeepTune):
    """Device mapping's DeepTune, for what it has learnt."""

    def language_model(self) -> LanguageModel:
        assert self._model is not None
        state = self._model.state_dict()
        tensors = {name: tensor.numpy().copy() for name, tensor in state.items() if name.startswith(_LANGUAGE_MODEL)}
        return LanguageModel(self._vocabulary.tokens, tensors)


def pretrain_language_model(
    samples: DeviceMappingSamples, seed: int = 204, training: RecurrentTraining | None = None
) -> LanguageModel:
    """Train DeepTune on all rows of device mapping, and return what can be transferred.

    Some kernels of thread coarsening come from the suites that device mapping has as well. Their texts are seen here,
    as in the original, but no answer of thread coarsening.

    Args:
        samples: A platform's samples.
        seed: Of the training.
        training: Size and training; None for the published ones.
    """
    method = _Pretraining(training)
    method.fit(samples, np.arange(len(samples)), np.random.default_rng(seed))
    return method.language_model()


class DeepTune:
    """The method; see the module.

    Args:
        start: What training starts from: DeepTune-TL; None for DeepTune.
        training: Size and training; None for the defaults. A language model must be of the same size.
    """

    kind: Final = "published"
    slow = True
    version = "1"

    def __init__(self, start: LanguageModel | None = None, training: DeepTuneTraining | None = None) -> None:
        self.name = "DeepTune-TL" if start else "DeepTune"
        self._start = start
        self._training = training or DeepTuneTraining()
        self._vocabulary = SourceVocabulary(())
        self._model: LSTMHead | None = None

    @property
    def identity(self) -> Any:
        """Options of the training, and what it starts from."""
        start = (self._start.tokens, self._start.tensors) if self._start else None
        return asdict(self._training), start

    def fit(self, samples: CoarseningSamples, train_idx: Rows, rng: np.random.Generator, /) -> None:
        """Train a new network on the training rows, in as many threads as torch has been given."""
        seed = int(rng.integers(2**31))
        config = LSTMHeadConfig(
            num_outputs=len(FACTORS),
            num_auxiliary=len(DEVICES),
            hidden=self._training.hidden,
            dropout=0.0,
            pooled=False,
            train_vectors=True,
        )
        if self._start:
            self._vocabulary = SourceVocabulary(self._start.tokens)
        else:
            self._vocabulary = SourceVocabulary.of(set(samples.source[train_idx]))
        vectors = rng.uniform(-0.05, 0.05, (len(self._vocabulary), self._training.hidden)).astype(np.float32)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._model = LSTMHead(vectors, config)
            _open_forget_gates(self._model)
            if self._start:
                tensors = {name: torch.from_numpy(array.copy()) for name, array in self._start.tensors.items()}
                self._model.load_state_dict(self._model.state_dict() | tensors)
            train(
                self._model,
                self._rows(samples, train_idx),
                nn.functional.cross_entropy,
                replace(self._training.loop, seed=seed),
            )

    def predict(self, samples: CoarseningSamples, test_idx: Rows, /) -> Array:
        """Return each factor's probability, (m, 6) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """
        if self._model is None:
            raise InputError("fit the method before predicting")
        inputs, _ = self._rows(samples, test_idx).gather(np.arange(len(test_idx)))
        with torch.no_grad():
            return torch.softmax(self._model(*inputs), dim=1).numpy().astype(np.float64)

    def _rows(self, samples: CoarseningSamples, rows: Rows) -> "_Rows":
        sources = list(dict.fromkeys(samples.source[rows].tolist()))
        words = [self._vocabulary.encode(source)[-self._training.longest :] for source in sources]
        owner = np.array([sources.index(source) for source in samples.source[rows].tolist()])
        # a hidden answer is -1, which no loss takes
        return _Rows(words, owner, device_inputs(samples)[rows].astype(np.float32), samples.best[rows])


class _Rows:
    """Rows as training data; those of one text run through the LSTM together."""

    def __init__(
        self, words: Sequence[NDArray[np.int64]], owner: Rows, device: NDArray[np.float32], best: Rows
    ) -> None:
        self.words = [torch.from_numpy(sequence) for sequence in words]
        self.owner = owner
        self.device = torch.from_numpy(device)
        self.best = torch.from_numpy(best)

    def __len__(self) -> int:
        return len(self.owner)

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[Rows]:
        """All rows in random order, cut into batches of like size: batch normalisation can't do with one row."""
        order = rng.permutation(len(self))
        return [np.sort(rows) for rows in np.array_split(order, -(-len(order) // batch_size))]

    def batch(self, samples: Rows, _rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        return self.gather(samples)

    def gather(self, rows: Rows) -> tuple[tuple[Tensor, ...], Tensor]:
        """The model's inputs for some rows, each text once, and the best factors."""
        texts, owner = np.unique(self.owner[rows], return_inverse=True)
        sequences = [self.words[text] for text in texts.tolist()]
        lengths = torch.tensor([len(sequence) for sequence in sequences])
        padded = nn.utils.rnn.pad_sequence(sequences, batch_first=True)
        return (padded, lengths, self.device[rows], torch.from_numpy(owner)), self.best[rows]


def _open_forget_gates(model: LSTMHead) -> None:
    """Lets gates begin by keeping their state, as in the original's library: it matters over hundreds of tokens."""
    for name, tensor in model.named_parameters():
        if name.startswith("lstm.bias_ih"):
            with torch.no_grad():
                tensor[model.config.hidden : 2 * model.config.hidden] += 1.0
