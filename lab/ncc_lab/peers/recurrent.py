"""The classifier of DeepTune and inst2vec: two LSTM layers over a kernel's words, then auxiliary inputs.

Departures from both published programs:

- outputs are a softmax, not sigmoids under a cross-entropy that expects probabilities that add up to 1;
- transfer and work-group size are standardised on the training rows; the programs feed them raw to a batch
  normalization, which does the same but for its lag;
- padding is not read; the programs read it as words before the first;
- the learning rate is higher, warmed up and decays to 0, or 50 epochs would not do to learn the training rows;
- rows whose kernels read the same are next to each other in batches, so that most of the 247 distinct sequences run
  through the LSTM once an epoch in place of 680.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
from torch import Tensor, nn

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import InputError
from ncc.learning.encoder.batches import SequenceData, Sequences, distinct_sequences, network_outputs
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.network import EncoderNetwork, fit_network
from ncc.learning.training.config import TrainingConfig
from ncc_lab.devices.samples import DeviceMappingSamples

Words = Ints
"""A kernel as row numbers of the vectors of its words, in order, (time,)."""

S = TypeVar("S")

_CODE_LOSS_WEIGHT = 0.2


@dataclass(frozen=True, kw_only=True)
class RecurrentTraining:
    """Size of the classifier, and how it is trained."""

    hidden: int
    longest: int
    train_vectors: bool
    loop: TrainingConfig

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise InputError(f"longest: expected at least 1, found {self.longest}")


class RecurrentMethod(ABC, Generic[S]):
    """A method that reads a kernel as a sequence of words, and says its class.

    Attributes:
        name: Name for tables.
        num_classes: Classes.
        code_outputs: Whether outputs that know the words alone are trained as well.

    Reference:
        Cummins et al., PACT 2017, section 3; Ben-Nun et al. 2018, section 6.2, which takes it over.
    """

    name: str
    num_classes: int
    code_outputs: bool
    kind: Final = "published"
    slow = True
    version = "2"

    def __init__(self, training: RecurrentTraining) -> None:
        self.training = training
        self._model: EncoderNetwork | None = None

    @property
    def identity(self) -> Any:
        """Options of the training."""
        return asdict(self.training)

    @abstractmethod
    def learn_words(self, samples: S, train_idx: Ints, rng: np.random.Generator) -> Floats32:
        """Learn what the words are from the rows `train_idx`, and return their first vectors, (words, dim) float32."""

    @abstractmethod
    def read_words(self, samples: S, rows: Ints) -> Sequence[Words]:
        """Return the kernel of each of some rows; every one has at least one word."""

    @abstractmethod
    def auxiliary(self, samples: S, rows: Ints) -> Floats:
        """Return the numbers given beside the words, (m, k) float64."""

    @abstractmethod
    def labels(self, samples: S, rows: Ints) -> Ints:
        """Return the classes of some rows, (m,) int64; what stands there for hidden ones does not matter."""

    @abstractmethod
    def initialize(self, model: EncoderNetwork) -> None:
        """Set a new network's first weights."""

    def fit(self, samples: S, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train a new classifier on the training rows, in one thread."""
        vectors = self.learn_words(samples, train_idx, rng)
        data, num_auxiliary = self._data(samples, train_idx)
        encoder = EncoderConfig(hidden=self.training.hidden, train_vectors=self.training.train_vectors)
        head = HeadConfig(code_outputs=self.code_outputs)

        def make() -> EncoderNetwork:
            model = EncoderNetwork(vectors, self.num_classes, encoder, head, num_auxiliary)
            self.initialize(model)
            return model

        self._model = fit_network(make, data, self._loss, self.training.loop, int(rng.integers(2**31)))

    def probabilities(self, samples: S, rows: Ints) -> Floats:
        """Return the probability of each class, (m, num_classes) float64."""
        assert self._model
        outputs = network_outputs(self._model, self._data(samples, rows)[0])[:, : self.num_classes]
        exponent = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return np.asarray(exponent / exponent.sum(axis=1, keepdims=True))

    def _data(self, samples: S, rows: Ints) -> tuple[SequenceData, int]:
        """Rows as data, and how many numbers are given beside the words."""
        words = [sequence[-self.training.longest :] for sequence in self.read_words(samples, rows)]
        sequences, owner = distinct_sequences(words)
        auxiliary = self.auxiliary(samples, rows).astype(np.float32)
        data = SequenceData(
            Sequences.of(sequences), self.labels(samples, rows), auxiliary=auxiliary, owner=owner, noise=0.1
        )
        return data, auxiliary.shape[1]

    def _loss(self, output: Tensor, target: Tensor) -> Tensor:
        """Cross-entropy of the outputs, and a fifth of that of the outputs that know the code alone."""
        loss = nn.functional.cross_entropy(output[:, : self.num_classes], target)
        if self.code_outputs:
            loss = loss + _CODE_LOSS_WEIGHT * nn.functional.cross_entropy(output[:, self.num_classes :], target)
        return loss


class DeviceRecurrentMethod(RecurrentMethod[DeviceMappingSamples]):
    """The same for device mapping: transfer and work-group size beside the words, two devices as classes."""

    num_classes = 2
    code_outputs = True

    def __init__(self, training: RecurrentTraining) -> None:
        super().__init__(training)
        self._mean = self._std = np.zeros(2)

    def fit(self, samples: DeviceMappingSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train a new classifier on the training rows, in one thread."""
        sizes = _sizes(samples, train_idx)
        self._mean, self._std = sizes.mean(axis=0), np.maximum(sizes.std(axis=0), 1e-9)
        super().fit(samples, train_idx, rng)

    def predict(self, samples: DeviceMappingSamples, test_idx: Ints, /) -> Floats:
        """Return the probability of GPU less one half for each row, (m,) float64."""
        return self.probabilities(samples, test_idx)[:, 1] - 0.5

    def auxiliary(self, samples: DeviceMappingSamples, rows: Ints) -> Floats:
        """Return transfer and work-group size, standardised on the training rows."""
        return np.asarray((_sizes(samples, rows) - self._mean) / self._std)

    def labels(self, samples: DeviceMappingSamples, rows: Ints) -> Ints:
        """Return 1 for the GPU and 0 for the CPU."""
        return samples.is_gpu[rows].astype(np.int64)

    def initialize(self, model: EncoderNetwork) -> None:
        """Draw first weights as Keras does; that gates begin by keeping their state matters over long sequences."""
        hidden = self.training.hidden
        for name, tensor in model.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(tensor)
            elif "weight_ih" in name or name.endswith(("dense.weight", "output.weight")):
                nn.init.xavier_uniform_(tensor)
            elif "bias" in name:
                nn.init.zeros_(tensor)
                if "bias_ih" in name:
                    nn.init.ones_(tensor[hidden : 2 * hidden])  # the forget gate's


def _sizes(samples: DeviceMappingSamples, rows: Ints) -> Floats:
    return np.stack([samples.transfer_bytes, samples.wgsize], axis=1)[rows]
