"""Classifiers that train a recurrent network on sequences of statements."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.embedding import Embedding
from ncc.heads.lstm import LSTMHead, LSTMHeadConfig
from ncc.heads.program_lstm import ProgramBatch, ProgramLSTM, ProgramLSTMConfig
from ncc.tasks.classification.samples import ProgramSamples, ProgramTable
from ncc.training import TrainingConfig, train

__all__ = ["ClassifierTraining", "EncodedPrograms", "PlainLSTMMethod", "ProgramLSTMMethod", "encode_programs"]

LONGEST = 768
"""Statements of a program that a network reads."""

_BATCH = 64
_SIMILAR_AT_A_TIME = 1024


@dataclass(frozen=True, kw_only=True)
class ClassifierTraining:
    """How a classifier is trained.

    Attributes:
        hidden, layers, dense, buckets, dropout, word_dropout, train_vectors: As in `ProgramLSTMConfig`.
        pretrained: Begin with the embedding's vectors; False begins with random ones of the same lengths.
        smoothing: Of the labels.
        min_steps: Steps at least; where programs are few, there are more epochs than `loop` says.
        loop: Of the training loop.
    """

    hidden: int = 128
    layers: int = 1
    dense: int = 256
    buckets: int = 8192
    dropout: float = 0.3
    word_dropout: float = 0.1
    train_vectors: bool = True
    pretrained: bool = True
    smoothing: float = 0.1
    min_steps: int = 600
    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(epochs=12, batch_size=64, learning_rate=2e-3, mixed_precision=True)
    )


@dataclass(frozen=True, eq=False)
class EncodedPrograms:
    """Programs of a table as rows of an embedding and of a table of literals.

    Attributes:
        start: (n + 1,) int64 offsets of the programs' statements.
        word: int32 row of the vectors of each statement.
        literal_start: (num_statements + 1,) int64 offsets into `literal`.
        literal: int64 bucket of each literal.
    """

    start: NDArray[np.int64]
    word: NDArray[np.int32]
    literal_start: NDArray[np.int64]
    literal: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(n,) statements of each program that are read: the first 768."""
        return np.minimum(np.diff(self.start), LONGEST)

    @cached_property
    def _literal_counts(self) -> NDArray[np.int64]:
        return np.diff(self.literal_start)

    def batch(self, rows: NDArray[np.int64]) -> ProgramBatch:
        """Some programs side by side."""
        lengths = self.lengths[rows]
        time = int(lengths.max())
        place = self.start[rows][:, None] + np.arange(time)[None, :]
        inside = np.arange(time)[None, :] < lengths[:, None]
        place = np.where(inside, place, 0)
        counts = np.where(inside, self._literal_counts[place], 0).ravel()
        offsets = np.cumsum(counts) - counts
        within = np.arange(counts.sum()) - np.repeat(offsets, counts)
        literals = self.literal[np.repeat(self.literal_start[place].ravel(), counts) + within]
        return ProgramBatch(
            torch.from_numpy(np.where(inside, self.word[place], 0).astype(np.int64)),
            torch.from_numpy(lengths),
            torch.from_numpy(literals),
            torch.from_numpy(offsets),
        )


def encode_programs(
    table: ProgramTable, embedding: Embedding, buckets: int, row: NDArray[np.int32] | None = None
) -> EncodedPrograms:
    """Looks up the statements of a table in an embedding, and hashes its literals into buckets.

    Args:
        table: The programs.
        embedding: Where statements are looked up.
        buckets: Rows of the table that literals are hashed into; 0 reads none.
        row: (num_words,) int32 row of a network's vectors for each word; None where it has those of the embedding.
    """
    word = embedding.look_up(table.texts).word
    word = (word if row is None else row[word])[table.text_id]
    if not buckets:
        none = np.zeros(len(table.text_id) + 1, np.int64)
        return EncodedPrograms(table.start, word, none, np.zeros(0, np.int64))
    return EncodedPrograms(table.start, word, table.literal_start, (table.literal % buckets).astype(np.int64))


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

    def __init__(
        self,
        embedding: Embedding,
        training: ClassifierTraining | None = None,
        name: str = "ncc",
    ) -> None:
        """Trains on all levels that samples have, and is tested on the first."""
        self.name = name
        self.embedding = embedding
        self.training = training or ClassifierTraining()
        self.device = "cpu"
        self.checkpoint: Path | None = None
        self.progress: Callable[[int, float], None] | None = None
        self.model: ProgramLSTM | None = None
        self.row: NDArray[np.int32] | None = None

    @property
    def identity(self) -> Any:
        """Embedding and options."""
        return self.embedding.vectors, asdict(self.training)

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Trains a network on some rows."""
        training = self.training
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        config = ProgramLSTMConfig(
            num_classes=len(samples.classes),
            hidden=training.hidden,
            layers=training.layers,
            dense=training.dense,
            buckets=training.buckets,
            dropout=training.dropout,
            word_dropout=training.word_dropout,
            train_vectors=training.train_vectors,
        )
        tables = list(samples.views.values())
        words, self.row = _words_in_use(self.embedding, [table.rows(train_idx) for table in tables])
        vectors = self.embedding.vectors[words]
        if not training.pretrained:
            vectors = rng.normal(0, vectors.shape[1] ** -0.5, vectors.shape).astype(np.float32)
        views = [encode_programs(table, self.embedding, training.buckets, self.row) for table in tables]
        self.model = ProgramLSTM(vectors, config).to(self.device)
        steps = -(-len(train_idx) // training.loop.batch_size)
        epochs = max(training.loop.epochs, -(-training.min_steps // steps))
        loss = nn.CrossEntropyLoss(label_smoothing=training.smoothing)
        train(
            self.model,
            _ProgramData(views, samples.label, train_idx),
            loss,
            replace(training.loop, epochs=epochs, seed=seed),
            checkpoint=self.checkpoint,
            progress=self.progress,
        )
        self.model.to("cpu")

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the classes: (m, num_classes) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        return self.at(samples, next(iter(samples.views)), test_idx)

    def at(self, samples: ProgramSamples, level: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the classes of programs at one of their levels: (m, num_classes) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        if self.model is None:
            raise ValueError("fit the method before predicting")
        programs = encode_programs(samples.views[level], self.embedding, self.training.buckets, self.row)
        return _probabilities(self.model, programs, rows, self.model.config.num_classes)


class PlainLSTMMethod:
    """The paper's head: two LSTM layers over the embedding's vectors, kept as they are, and their last state.

    Reference: Ben-Nun et al. 2018, section 6.1.
    """

    name = "LSTM (paper's head)"

    def __init__(self, embedding: Embedding, loop: TrainingConfig | None = None, hidden: int = 200) -> None:
        """Keeps the embedding; nothing is trained before `fit`."""
        self.embedding = embedding
        self.hidden = hidden
        self.loop = loop or TrainingConfig(epochs=15, batch_size=64, learning_rate=2e-3, mixed_precision=True)
        self._model: LSTMHead | None = None

    @property
    def identity(self) -> Any:
        """Embedding and options."""
        return self.embedding.vectors, self.hidden, asdict(self.loop)

    def fit(self, samples: ProgramSamples, train_idx: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Trains a network on some rows, at the first level that samples have."""
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        config = LSTMHeadConfig(num_outputs=len(samples.classes), hidden=self.hidden, dropout=0.0, pooled=False)
        self._model = LSTMHead(self.embedding.vectors, config)
        programs = encode_programs(next(iter(samples.views.values())), self.embedding, 0)
        data = _PlainData([programs], samples.label, train_idx)
        train(self._model, data, nn.CrossEntropyLoss(), replace(self.loop, seed=seed))

    def predict(self, samples: ProgramSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Probabilities of the classes: (m, num_classes) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        if self._model is None:
            raise ValueError("fit the method before predicting")
        programs = encode_programs(next(iter(samples.views.values())), self.embedding, 0)
        return _probabilities(self._model, programs, test_idx, len(samples.classes), _plain_inputs)


def _plain_inputs(batch: ProgramBatch) -> tuple[Tensor, ...]:
    """The inputs of `LSTMHead` for programs that bring no auxiliary numbers."""
    count = len(batch.lengths)
    return batch.words, batch.lengths, torch.zeros(count, 0), torch.arange(count)


def _probabilities(
    model: nn.Module,
    programs: EncodedPrograms,
    rows: NDArray[np.int64],
    num_classes: int,
    inputs: Callable[[ProgramBatch], tuple[Tensor, ...]] = tuple,
) -> NDArray[np.float64]:
    """Probabilities of the classes of some programs, those of like length side by side: (m, num_classes) float64."""
    order = np.argsort(programs.lengths[rows], kind="stable")
    found = np.zeros((len(rows), num_classes))
    with torch.inference_mode():
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            found[part] = model(*inputs(programs.batch(rows[part]))).double().softmax(dim=1).numpy()
    return found


class _ProgramData:
    """Programs as training data, each at one of its levels each time it is drawn."""

    def __init__(self, views: Sequence[EncodedPrograms], label: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        self.views, self.label, self.rows = views, label, rows
        self._level = np.zeros(len(rows), np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Batches of programs of about the same length, in random order, at levels drawn anew."""
        self._level = rng.integers(len(self.views), size=len(self.rows))
        lengths = np.stack([view.lengths[self.rows] for view in self.views])[self._level, np.arange(len(self.rows))]
        order = np.argsort(np.log(lengths) + rng.normal(0, 0.1, len(lengths)))
        cut = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        if len(cut) > 1 and len(cut[-1]) == 1:  # batch normalisation, in the paper's head, can't do with one
            cut[-2:] = [np.concatenate(cut[-2:])]
        return [cut[i] for i in rng.permutation(len(cut))]

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:  # noqa: ARG002
        # programs of one batch may be at different levels: each level gives its own part, padded to one length
        drawn = self._level[samples]
        parts = [(view, self.rows[samples[drawn == level]]) for level, view in enumerate(self.views)]
        parts = [(view, rows) for view, rows in parts if len(rows)]
        target = torch.from_numpy(np.concatenate([self.label[rows] for _, rows in parts]))
        return _side_by_side([view.batch(rows) for view, rows in parts]), target


class _PlainData(_ProgramData):
    """The same for `LSTMHead`."""

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        inputs, target = super().batch(samples, rng)
        return _plain_inputs(ProgramBatch(*inputs)), target


def _side_by_side(batches: Sequence[ProgramBatch]) -> ProgramBatch:
    """Batches as one, padded to the longest."""
    if len(batches) == 1:
        return batches[0]
    time = max(batch.words.shape[1] for batch in batches)
    words = torch.cat([nn.functional.pad(batch.words, (0, time - batch.words.shape[1])) for batch in batches])
    starts, offset = [], 0
    for batch in batches:
        count, width = batch.words.shape
        # places of the padding begin where the next program's literals do
        start = torch.cat([batch.literal_start, torch.tensor([len(batch.literals)])])
        index = torch.arange(count)[:, None] * width + torch.arange(time)[None, :].clamp(max=width)
        starts.append(start[index].ravel() + offset)
        offset += len(batch.literals)
    return ProgramBatch(
        words,
        torch.cat([batch.lengths for batch in batches]),
        torch.cat([batch.literals for batch in batches]),
        torch.cat(starts),
    )
