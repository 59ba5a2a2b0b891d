"""Classifiers that train a recurrent network on sequences of statements."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.classification.batches import EncodedPrograms, PlainData, ProgramData, encode_programs, plain_inputs
from ncc.classification.samples import ProgramSamples, ProgramTable
from ncc.embedding import Embedding
from ncc.encoder.lstm import LSTMHead, LSTMHeadConfig
from ncc.encoder.program_lstm import ProgramBatch, ProgramLSTM, ProgramLSTMConfig
from ncc.encoder.program_network import ProgramNetwork
from ncc.training import TrainingConfig, TrainingStatistics, train

__all__ = ["NetworkTraining", "PlainLSTMMethod", "ProgramLSTMMethod", "probabilities"]

_BATCH = 64
_SIMILAR_AT_A_TIME = 1024


@dataclass(frozen=True, kw_only=True)
class NetworkTraining:
    """How the classifier's network is trained.

    Attributes:
        network: Its sizes.
        pretrained: Begin with the embedding's vectors; False begins with random ones of the same lengths.
        smoothing: Of the labels.
        min_steps: Steps at least; where programs are few, there are more epochs than `loop` says.
        loop: Of the training loop.
    """

    network: ProgramLSTMConfig = field(default_factory=ProgramLSTMConfig)
    pretrained: bool = True
    smoothing: float = 0.1
    min_steps: int = 600
    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(epochs=12, batch_size=64, learning_rate=2e-3, mixed_precision=True)
    )


def _words_in_use(embedding: Embedding, tables: Sequence[ProgramTable]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Words that programs use, and for every word of the embedding the number of the most similar one among them."""
    found = [embedding.look_up(table.texts).word[np.unique(table.text_id)] for table in tables]
    words = np.unique(np.concatenate(found)).astype(np.int64)
    row = np.empty(len(embedding.vectors), np.int32)
    for start in range(0, len(row), _SIMILAR_AT_A_TIME):
        part = slice(start, start + _SIMILAR_AT_A_TIME)
        row[part] = (embedding.vectors[part] @ embedding.vectors[words].T).argmax(axis=1)
    row[words] = np.arange(len(words))
    return words, row


class ProgramLSTMMethod:
    """A bidirectional LSTM with pooling, as a method that `evaluate` can measure."""

    kind: Final = "ours"
    slow = True
    version = "1"

    def __init__(
        self,
        embedding: Embedding,
        training: NetworkTraining | None = None,
        name: str = "ncc's network",
        *,
        begin_with: ProgramNetwork | None = None,
        device: str = "cpu",
        checkpoint: Path | None = None,
        progress: Callable[[int, float], None] | None = None,
        statistics: TrainingStatistics | None = None,
    ) -> None:
        """Trains on all levels that samples have; a program's scores at all of them are averaged.

        Args:
            embedding: Vectors to begin with.
            training: How to train.
            name: For tables.
            begin_with: A trained network whose training goes on, in place of one with new weights.
            device: Where to train.
            checkpoint: Where a run that was stopped goes on.
            progress: Called with the number of epochs done and the last one's mean loss.
            statistics: Filled by `fit`.
        """
        self.name = name
        self.embedding = embedding
        self.training = training or NetworkTraining()
        self.model: ProgramLSTM | None = None
        self.row: NDArray[np.int32] | None = None
        self._begin_with = begin_with
        self._device = device
        self._checkpoint = checkpoint
        self._progress = progress
        self.statistics = statistics if statistics is not None else TrainingStatistics()

    @property
    def identity(self) -> Any:
        """Embedding and options."""
        begins = self._begin_with.tensors if self._begin_with else {}
        return self.embedding.vectors, asdict(self.training), begins

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Trains a network on some rows."""
        training = self.training
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        tables = list(samples.views.values())
        vectors, self.row = self._vectors(tables, train_idx, rng)
        views = [encode_programs(table, self.embedding, training.network.buckets, self.row) for table in tables]
        model = ProgramLSTM(vectors, len(samples.classes), training.network)
        if self._begin_with:
            model.load_state_dict({name: torch.tensor(tensor) for name, tensor in self._begin_with.tensors.items()})
        self.model = model.to(self._device)
        steps = -(-len(train_idx) // training.loop.batch_size)
        epochs = max(training.loop.epochs, -(-training.min_steps // steps))
        train(
            self.model,
            ProgramData(views, samples.label, train_idx),
            nn.CrossEntropyLoss(label_smoothing=training.smoothing),
            replace(training.loop, epochs=epochs, seed=seed),
            checkpoint=self._checkpoint,
            progress=self._progress,
            statistics=self.statistics,
        )

    def _vectors(
        self, tables: Sequence[ProgramTable], train_idx: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Vectors to begin with, and the row of each word of the embedding among them."""
        if self._begin_with:
            return self._begin_with.tensors["vectors"], self._begin_with.row
        words, row = _words_in_use(self.embedding, [table.rows(train_idx) for table in tables])
        vectors = self.embedding.vectors[words]
        if not self.training.pretrained:
            vectors = rng.normal(0, vectors.shape[1] ** -0.5, vectors.shape).astype(np.float32)
        return vectors, row

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the classes: (m, num_classes) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        return probabilities([self.scores(samples, level, test_idx) for level in samples.views])

    def scores(self, samples: ProgramSamples, level: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The network's outputs for programs at one of their levels: (m, num_classes) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        if self.model is None:
            raise ValueError("fit the method before predicting")
        programs = encode_programs(samples.views[level], self.embedding, self.training.network.buckets, self.row)
        return _outputs(self.model, programs, rows, len(samples.classes))


class PlainLSTMMethod:
    """The paper's head: two LSTM layers over the embedding's vectors, kept as they are, and their last state.

    Its gates begin by remembering, or the last state knows little but a program's end for many epochs.

    Reference: Ben-Nun et al. 2018, section 6.1.
    """

    name = "LSTM (paper's head)"
    kind: Final = "published"
    slow = True
    version = "1"

    def __init__(
        self, embedding: Embedding, loop: TrainingConfig | None = None, *, hidden: int = 200, memory: int | None = 200
    ) -> None:
        """Nothing is trained before `fit`.

        Args:
            embedding: Vectors of statements.
            loop: How to train.
            hidden: Units of each layer.
            memory: Steps that the gates remember to begin with, see `LSTMHeadConfig`.
        """
        self.embedding = embedding
        self.hidden = hidden
        self.memory = memory
        self.loop = loop or TrainingConfig(epochs=25, batch_size=64, learning_rate=2e-3, mixed_precision=True)
        self._model: LSTMHead | None = None

    @property
    def identity(self) -> Any:
        """Embedding and options."""
        return self.embedding.vectors, self.hidden, self.memory, asdict(self.loop)

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Trains a network on some rows, at the first level that samples have."""
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        config = LSTMHeadConfig(
            num_outputs=len(samples.classes), hidden=self.hidden, memory=self.memory, dropout=0.2, pooled=False
        )
        self._model = LSTMHead(self.embedding.vectors, config)
        programs = encode_programs(next(iter(samples.views.values())), self.embedding, 0)
        data = PlainData([programs], samples.label, train_idx)
        train(self._model, data, nn.CrossEntropyLoss(), replace(self.loop, seed=seed))

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the classes: (m, num_classes) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        if self._model is None:
            raise ValueError("fit the method before predicting")
        programs = encode_programs(next(iter(samples.views.values())), self.embedding, 0)
        return probabilities([_outputs(self._model, programs, test_idx, len(samples.classes), plain_inputs)])


def probabilities(scores: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """From the scores of (m, num_classes) programs, averaged over their levels, to probabilities of the same shape."""
    mean = np.mean(scores, axis=0)
    exponent = np.exp(mean - mean.max(axis=1, keepdims=True))
    found: NDArray[np.float64] = exponent / exponent.sum(axis=1, keepdims=True)
    return found


def _outputs(
    model: nn.Module,
    programs: EncodedPrograms,
    rows: NDArray[np.int64],
    num_classes: int,
    inputs: Callable[[ProgramBatch], tuple[Tensor, ...]] = tuple,
) -> NDArray[np.float64]:
    """Outputs for some programs, those of like length side by side: (m, num_classes) float64; its mode stays."""
    device, was_training = next(model.parameters()).device, model.training
    model.eval()
    order = np.argsort(programs.lengths[rows], kind="stable")
    found = np.zeros((len(rows), num_classes))
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            batch = (tensor.to(device) for tensor in inputs(programs.batch(rows[part])))
            found[part] = model(*batch).double().cpu().numpy()
    model.train(was_training)
    return found
