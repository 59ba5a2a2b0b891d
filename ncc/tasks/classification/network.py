"""Trains the classifier's network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.batches import SequenceData, Sequences, encode_programs, network_outputs
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_numpy import NumpyNetwork, ProgramNetwork
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import ProgramTable
from ncc.learning.training.config import TrainingStatistics
from ncc.learning.training.loop import train
from ncc.learning.training.ranks import rank_and_world
from ncc.tasks.classification.config import NetworkTraining

_WORDS_PER_PRODUCT = 1024


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A network in torch; `row` has, for each word of the embedding, the row of its vector, (num_words,) int32."""

    model: EncoderNetwork
    row: Ints32
    embedding: Embedding
    training: NetworkTraining
    device: str

    def scores(self, table: ProgramTable) -> Floats:
        """The outputs for programs, (n, num_classes) float64."""
        sequences = encode_programs(table, self.embedding, self.training.encoder.buckets, self.row)
        data = program_data([sequences], np.zeros(len(table), np.int64), np.arange(len(table)))
        return network_outputs(self.model, data)

    def to_numpy(self) -> ProgramNetwork:
        """The network for predictions without torch."""
        arrays = self.model.to_arrays()
        return ProgramNetwork(NumpyNetwork.from_arrays(arrays, self.training.encoder), arrays["vectors"], self.row)


def fit_network(
    samples: ProgramSamples,
    rows: Ints,
    embedding: Embedding,
    training: NetworkTraining,
    rng: np.random.Generator,
    *,
    init_from: ProgramNetwork | None = None,
    device: str = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[int, float, TrainedNetwork], None] | None = None,
    statistics: TrainingStatistics | None = None,
) -> TrainedNetwork:
    """Train a network on (m,) int64 rows; ranks share the work."""
    if init_from:
        training = training.resized(init_from)
    seed = int(rng.integers(2**31))
    torch.manual_seed(seed)
    tables = [samples.variants[level] for level in training.levels(samples)]
    if init_from:
        vectors, row = init_from.vectors, init_from.row
    else:
        vectors, row = _first_vectors(embedding, training, [table.rows(rows) for table in tables], rng)
    views = [encode_programs(table, embedding, training.encoder.buckets, row) for table in tables]
    model = EncoderNetwork(vectors, len(samples.classes), training.encoder, training.head)
    if init_from:
        encoder, head = init_from.network.encoder, init_from.network.head
        model.load_arrays({"vectors": vectors, **encoder.tensors, **head.tensors})
    network = TrainedNetwork(model.to(device), row, embedding, training, device)
    loop = training.loop.for_ranks(rank_and_world()[1])
    steps = -(-len(rows) // loop.batch_size)
    epochs = max(training.loop.epochs, -(-training.min_steps // steps))
    train(
        network.model,
        program_data(views, samples.label, rows, training.batch_by),
        nn.CrossEntropyLoss(label_smoothing=training.label_smoothing),
        replace(loop, epochs=epochs, seed=seed),
        checkpoint=checkpoint,
        progress=(lambda epoch, loss: progress(epoch, loss, network)) if progress else None,
        statistics=statistics,
    )
    return network


def program_data(views: Sequence[Sequences], label: Ints, rows: Ints, batch_by: str = "samples") -> SequenceData:
    """Programs as training data; each draw uses one of a program's levels."""
    variants = rows[:, None] + len(label) * np.arange(len(views))[None, :]
    return SequenceData(Sequences.joined(views), label[rows], variants=variants, batch_by=batch_by)


def _first_vectors(
    embedding: Embedding, training: NetworkTraining, tables: Sequence[ProgramTable], rng: np.random.Generator
) -> tuple[Floats32, Ints32]:
    """Initial vectors of all words or those in use, and for each word the row of its or the nearest word's vector."""
    if not training.encoder.train_vectors:
        return embedding.vectors, np.arange(len(embedding.vectors), dtype=np.int32)
    used = [embedding.look_up(table.texts).word[np.unique(table.text_id)] for table in tables]
    words = np.unique(np.concatenate(used)).astype(np.int64)
    row = np.empty(len(embedding.vectors), np.int32)
    for start in range(0, len(row), _WORDS_PER_PRODUCT):
        part = slice(start, start + _WORDS_PER_PRODUCT)
        row[part] = (embedding.vectors[part] @ embedding.vectors[words].T).argmax(axis=1)
    row[words] = np.arange(len(words))
    vectors = embedding.vectors[words]
    if not training.pretrained:
        vectors = rng.normal(0, vectors.shape[1] ** -0.5, vectors.shape).astype(np.float32)
    return vectors, row
