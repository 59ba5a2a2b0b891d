"""The classifier that DeepTune and inst2vec share: two LSTM layers over a kernel's words, then its auxiliary inputs.

Departures from both published programs:

- outputs are a softmax, not sigmoids under a cross-entropy that expects probabilities that add up to 1;
- transfer and work-group size are standardised on the training rows; the programs feed them raw to a batch
  normalisation, which does the same but for its lag;
- padding is not read; the programs read it as words before the first;
- the learning rate is higher, warmed up and decays to 0, or 50 epochs would not do to learn the training rows;
- rows whose kernels read the same are next to each other in batches, so that most of the 247 distinct sequences run
  through the LSTM once an epoch in place of 680.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.devices.samples import DeviceMappingSamples
from ncc.encoder.lstm import LSTMHead, LSTMHeadConfig
from ncc.errors import InputError
from ncc.training import TrainingConfig, train

__all__ = ["RecurrentMethod", "RecurrentTraining", "Words"]

Words = NDArray[np.int64]
"""A kernel as row numbers of the vectors of its words, in order, (time,)."""

_NUM_DEVICES = 2
_CODE_LOSS_WEIGHT = 0.2


@dataclass(frozen=True, kw_only=True)
class RecurrentTraining:
    """Size of the classifier, and how it is trained.

    Args:
        hidden: Units of each LSTM layer.
        longest: Words of a kernel that are read, the last ones of a longer kernel; at least 1.
        train_vectors: Whether the words' vectors are trained with the rest.
        loop: Epochs, rows a batch, learning rate; its seed is not used.

    Raises:
        InputError: `longest` is below 1.
    """

    hidden: int
    longest: int
    train_vectors: bool
    loop: TrainingConfig

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise InputError(f"longest: expected at least 1, found {self.longest}")


class RecurrentMethod(ABC):
    """A method of device mapping that reads a kernel as a sequence of words.

    Args:
        training: Size of the classifier, and how it is trained.

    Attributes:
        name: Name for tables.

    Reference:
        Cummins et al., PACT 2017, section 3; Ben-Nun et al. 2018, section 6.2, which takes it over.
    """

    name: str
    kind: Final = "published"
    slow = True
    version = "1"

    def __init__(self, training: RecurrentTraining) -> None:
        self.training = training
        self._model: LSTMHead | None = None
        self._mean = self._std = np.zeros(2)

    @property
    def identity(self) -> Any:
        """Options of the training."""
        return asdict(self.training)

    @abstractmethod
    def learn_words(
        self, samples: DeviceMappingSamples, train_idx: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Learn what the words are from the rows `train_idx`, and return their first vectors, (words, dim) float32."""

    @abstractmethod
    def read_words(self, samples: DeviceMappingSamples, rows: NDArray[np.int64]) -> Sequence[Words]:
        """Return the kernel of each of some rows; every one has at least one word."""

    def fit(self, samples: DeviceMappingSamples, train_idx: NDArray[np.int64], rng: np.random.Generator, /) -> None:
        """Train a new classifier on the training rows, in one thread."""
        vectors = self.learn_words(samples, train_idx, rng)
        auxiliary = _auxiliary(samples, train_idx)
        self._mean, self._std = auxiliary.mean(axis=0), np.maximum(auxiliary.std(axis=0), 1e-9)
        data = self._rows(samples, train_idx)
        seed = int(rng.integers(2**31))
        config = LSTMHeadConfig(
            num_outputs=_NUM_DEVICES,
            num_auxiliary=auxiliary.shape[1],
            hidden=self.training.hidden,
            dropout=0.0,
            pooled=False,
            code_outputs=True,
            train_vectors=self.training.train_vectors,
        )
        with _one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._model = LSTMHead(vectors, config)
            _initialise(self._model)
            train(self._model, data, _loss, replace(self.training.loop, seed=seed))

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64], /) -> NDArray[np.float64]:
        """Return the probability of GPU less one half for each row, (m,) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """
        if self._model is None:
            raise InputError("fit the method before predicting")
        data = self._rows(samples, test_idx)
        score = np.empty(len(test_idx))
        with _one_thread(), torch.no_grad():
            for rows in data.in_batches(self.training.loop.batch_size, np.zeros(len(data.sequences))):
                inputs, _ = data.gather(rows)
                score[rows] = torch.softmax(self._model(*inputs)[:, :_NUM_DEVICES], dim=1)[:, 1].numpy() - 0.5
        return score

    def _rows(self, samples: DeviceMappingSamples, rows: NDArray[np.int64]) -> "_Rows":
        standard = (_auxiliary(samples, rows) - self._mean) / self._std
        words = [sequence[-self.training.longest :] for sequence in self.read_words(samples, rows)]
        return _Rows(words, standard.astype(np.float32), samples.is_gpu[rows])


class _Rows:
    """Rows of the table as training data: those of kernels that read the same are next to each other."""

    def __init__(self, words: Sequence[Words], auxiliary: NDArray[np.float32], is_gpu: NDArray[np.bool_]) -> None:
        distinct = {sequence.tobytes(): sequence for sequence in words}
        number = {key: i for i, key in enumerate(distinct)}
        self.sequences = [torch.from_numpy(sequence) for sequence in distinct.values()]
        self.owner = np.array([number[sequence.tobytes()] for sequence in words])
        self.auxiliary = torch.from_numpy(auxiliary)
        self.is_gpu = torch.from_numpy(is_gpu.astype(np.int64))

    def __len__(self) -> int:
        return len(self.owner)

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Batches of kernels of about the same length, in random order."""
        batches = self.in_batches(batch_size, rng.normal(0, 0.1, len(self.sequences)))
        return [batches[i] for i in rng.permutation(len(batches))]

    def in_batches(self, batch_size: int, noise: NDArray[np.float64]) -> list[NDArray[np.int64]]:
        """All rows by the length of their kernels times exp(noise), a number a sequence, cut into batches of like size.

        Of like size, because batch normalisation can't do with a last batch of one row.
        """
        length = np.array([len(sequence) for sequence in self.sequences])
        place = np.argsort(np.argsort(np.log(length) + noise, kind="stable"))
        order = np.argsort(place[self.owner], kind="stable")
        return np.array_split(order, -(-len(order) // batch_size))

    def batch(self, samples: NDArray[np.int64], _rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        return self.gather(samples)

    def gather(self, rows: NDArray[np.int64]) -> tuple[tuple[Tensor, ...], Tensor]:
        """The model's inputs for some rows, each distinct sequence once, and the rows' labels."""
        numbers, owner = np.unique(self.owner[rows], return_inverse=True)
        sequences = [self.sequences[number] for number in numbers.tolist()]
        lengths = torch.tensor([len(sequence) for sequence in sequences])
        padded = nn.utils.rnn.pad_sequence(sequences, batch_first=True)
        return (padded, lengths, self.auxiliary[rows], torch.from_numpy(owner)), self.is_gpu[rows]


def _auxiliary(samples: DeviceMappingSamples, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.stack([samples.transfer_bytes, samples.wgsize], axis=1)[rows]


def _loss(output: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of the outputs, and a fifth of that of the outputs that know the code alone."""
    both, code = output[:, :_NUM_DEVICES], output[:, _NUM_DEVICES:]
    return nn.functional.cross_entropy(both, target) + _CODE_LOSS_WEIGHT * nn.functional.cross_entropy(code, target)


def _initialise(model: LSTMHead) -> None:
    """First weights as Keras draws them; that gates begin by keeping their state matters over long sequences."""
    for name, tensor in model.named_parameters():
        if name.startswith("lstm.weight_hh"):
            nn.init.orthogonal_(tensor)
        elif name.startswith(("lstm.weight_ih", "dense.weight", "output.weight", "code_output.weight")):
            nn.init.xavier_uniform_(tensor)
        elif name.startswith("lstm.bias_ih"):
            nn.init.zeros_(tensor)
            nn.init.ones_(tensor[model.config.hidden : 2 * model.config.hidden])  # the forget gate's
        elif name.endswith("bias") or name.startswith("lstm.bias_hh"):
            nn.init.zeros_(tensor)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Lets torch use one thread: folds run in parallel, and two threads on a busy core are slower than one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
