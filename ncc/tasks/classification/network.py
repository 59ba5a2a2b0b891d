"""Classifiers that train the encoder on sequences of statements: ours, and the paper's simple head."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.errors import InputError
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.batches import CUTS, SequenceData, Sequences, encode_programs, network_outputs
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_model import ProgramNetwork, program_encoder, program_head
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import ProgramTable
from ncc.learning.training.config import TrainingConfig, TrainingStatistics
from ncc.learning.training.loop import train
from ncc.learning.training.ranks import rank_and_world
from ncc.tasks.classification.scoring import ScoringMethod

_SIMILAR_AT_A_TIME = 1024


@dataclass(frozen=True, kw_only=True)
class NetworkTraining:
    """How a classifier's network is trained.

    Attributes:
        encoder: Sizes and parts of the encoder.
        head: Those of the head.
        pretrained: Begin with the embedding's vectors; False begins with random ones of the same lengths.
        smoothing: Of the labels.
        min_steps: Steps at least; where programs are few, there are more epochs than `loop` says.
        all_levels: Read programs at all levels that samples have; False reads the first alone.
        cut: What batches have alike, one of `ncc.learning.encoder.batches.CUTS`.
        loop: Of the training loop.
    """

    encoder: EncoderConfig = field(default_factory=program_encoder)
    head: HeadConfig = field(default_factory=program_head)
    pretrained: bool = True
    smoothing: float = 0.1
    min_steps: int = 600
    all_levels: bool = True
    cut: str = "samples"
    loop: TrainingConfig = field(
        default_factory=lambda: TrainingConfig(epochs=12, batch_size=64, learning_rate=2e-3, mixed_precision=True)
    )

    def __post_init__(self) -> None:
        """Checks names."""
        if self.cut not in CUTS:
            raise InputError(f"cut is {self.cut!r}; expected one of {', '.join(CUTS)}")


def paper_training(hidden: int = 200, memory: int | None = 200) -> NetworkTraining:
    """The paper's head: two LSTM layers over the embedding's vectors, kept as they are, and their last state.

    Its gates begin by remembering, or the last state knows little but a program's end for many epochs.

    Args:
        hidden: Units of each layer.
        memory: Steps that the gates remember to begin with, see `EncoderConfig`.

    Reference: Ben-Nun et al. 2018, section 6.1.
    """
    return NetworkTraining(
        encoder=EncoderConfig(hidden=hidden, memory=memory, dropout=0.2),
        head=HeadConfig(dropout=0.2),
        smoothing=0.0,
        min_steps=1,
        all_levels=False,
        loop=TrainingConfig(epochs=25, batch_size=64, learning_rate=2e-3, mixed_precision=True),
    )


def program_data(views: Sequence[Sequences], label: Ints, rows: Ints, cut: str = "samples") -> SequenceData:
    """Some programs as training data, each at one of its levels each time it is drawn."""
    numbers = rows[:, None] + len(label) * np.arange(len(views))[None, :]
    return SequenceData(Sequences.joined(views), label[rows], forms=numbers, cut=cut)


def _words_in_use(embedding: Embedding, tables: Sequence[ProgramTable]) -> tuple[Ints, Ints32]:
    """Words that programs use, and for every word of the embedding the number of the most similar one among them."""
    found = [embedding.look_up(table.texts).word[np.unique(table.text_id)] for table in tables]
    words = np.unique(np.concatenate(found)).astype(np.int64)
    row = np.empty(len(embedding.vectors), np.int32)
    for start in range(0, len(row), _SIMILAR_AT_A_TIME):
        part = slice(start, start + _SIMILAR_AT_A_TIME)
        row[part] = (embedding.vectors[part] @ embedding.vectors[words].T).argmax(axis=1)
    row[words] = np.arange(len(words))
    return words, row


class NetworkMethod(ScoringMethod):
    """The encoder with a head for classes, as a method that `evaluate` can measure."""

    slow = True
    version = "2"

    def __init__(
        self,
        embedding: Embedding,
        training: NetworkTraining | None = None,
        name: str = "ncc's network",
        *,
        kind: Literal["ours", "published"] = "ours",
        begin_with: ProgramNetwork | None = None,
        device: str = "cpu",
        checkpoint: Path | None = None,
        progress: Callable[[int, float], None] | None = None,
        statistics: TrainingStatistics | None = None,
    ) -> None:
        """Trains on the levels that samples have; a program's scores at all of them are averaged.

        Args:
            embedding: Vectors to begin with.
            training: How to train.
            name: For tables.
            kind: Whose the method is.
            begin_with: A trained network whose training goes on, in place of one with new weights, in its sizes.
            device: Where to train.
            checkpoint: Where a run that was stopped goes on.
            progress: Called with the number of epochs done and the last one's mean loss.
            statistics: Filled by `fit`.
        """
        training = training or NetworkTraining()
        if begin_with:
            sizes = {name: getattr(begin_with.config, name) for name in ("hidden", "layers", "buckets")}
            encoder, dense = replace(training.encoder, **sizes), replace(training.head, dense=begin_with.dense)
            training = replace(training, encoder=encoder, head=dense)
        self.name = name
        self.kind = kind
        self.embedding = embedding
        self.training = training
        self.model: EncoderNetwork | None = None
        self.row: Ints32 | None = None
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

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator) -> None:
        """Trains a network on some rows."""
        training = self.training
        seed = int(rng.integers(2**31))
        torch.manual_seed(seed)
        tables = [samples.views[level] for level in self.levels(samples)]
        vectors, self.row = self._vectors(tables, train_idx, rng)
        views = [encode_programs(table, self.embedding, training.encoder.buckets, self.row) for table in tables]
        model = EncoderNetwork(vectors, len(samples.classes), training.encoder, training.head)
        if self._begin_with:
            model.load_arrays(self._begin_with.tensors)
        self.model = model.to(self._device)
        loop = training.loop.for_ranks(rank_and_world()[1])
        steps = -(-len(train_idx) // loop.batch_size)
        epochs = max(training.loop.epochs, -(-training.min_steps // steps))
        train(
            self.model,
            program_data(views, samples.label, train_idx, training.cut).to(self._device),
            nn.CrossEntropyLoss(label_smoothing=training.smoothing),
            replace(loop, epochs=epochs, seed=seed),
            checkpoint=self._checkpoint,
            progress=self._progress,
            statistics=self.statistics,
        )

    def levels(self, samples: ProgramSamples) -> list[str]:
        """All levels, or the first alone, as the training says."""
        return list(samples.views)[: None if self.training.all_levels else 1]

    def _vectors(
        self, tables: Sequence[ProgramTable], train_idx: Ints, rng: np.random.Generator
    ) -> tuple[Floats32, Ints32]:
        """Vectors to begin with, and the row of each word of the embedding among them."""
        if self._begin_with:
            return self._begin_with.vectors, self._begin_with.row
        if not self.training.encoder.train_vectors:
            return self.embedding.vectors, np.arange(len(self.embedding.vectors), dtype=np.int32)
        words, row = _words_in_use(self.embedding, [table.rows(train_idx) for table in tables])
        vectors = self.embedding.vectors[words]
        if not self.training.pretrained:
            vectors = rng.normal(0, vectors.shape[1] ** -0.5, vectors.shape).astype(np.float32)
        return vectors, row

    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """The network's outputs."""
        if self.model is None:
            raise InputError("fit the method before predicting")
        programs = encode_programs(samples.views[level], self.embedding, self.training.encoder.buckets, self.row)
        return network_outputs(self.model, program_data([programs], samples.label, rows).to(self._device))

    def to_network(self) -> ProgramNetwork:
        """What was trained, for answers without torch."""
        if self.model is None or self.row is None:
            raise InputError("fit the method before shipping it")
        return ProgramNetwork.from_arrays(self.model.to_arrays(), self.training.encoder, self.row)
