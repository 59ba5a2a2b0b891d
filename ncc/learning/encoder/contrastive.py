"""Trains the LSTM encoder contrastively: sequences with one label get close, others in the batch far apart.

A label is a function, whose sequences are its builds, or a class of programs; a batch has some of both. Under torchrun
every rank sees the whole batch's vectors, so that many ranks have the loss and the gradient of one.

Reference: Khosla et al. 2020 ("Supervised contrastive learning"), equation 2.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch import distributed as dist

from ncc.arrays import Bools, Floats32, Ints
from ncc.errors import InputError
from ncc.learning.encoder.batches import Sequences
from ncc.learning.encoder.config import EncoderTraining
from ncc.learning.encoder.network import Encoder
from ncc.learning.encoder.network_numpy import LSTMEncoder, NumpyEncoder
from ncc.learning.heads.files import fingerprint
from ncc.learning.training.loop import train
from ncc.learning.training.ranks import all_gather_object, all_gather_rows, rank_and_world

_PER_LABEL = 2
"""Sequences of each label in a batch."""
_TEMPERATURE = 0.1
"""Divisor of similarities, the paper's."""


class ContrastiveData:
    """Batches of labels, each with two of its sequences."""

    def __init__(self, sequences: Sequences, label: Ints, is_function: Bools, training: EncoderTraining) -> None:
        """Labels are (n,) classes or functions, `is_function` is (n,); functions and programs share no label."""
        self._sequences = replace(sequences, max_length=training.max_length)
        self._label, self._steps = torch.from_numpy(label), training.steps_per_epoch
        order = np.argsort(label, kind="stable")
        _, first = np.unique(label[order], return_index=True)
        groups = [rows for rows in np.split(order, first[1:]) if len(rows) >= _PER_LABEL]
        self._sources = [[rows for rows in groups if is_function[rows[0]] == kind] for kind in (False, True)]
        size = max(2, training.batch_size // _PER_LABEL)
        programs, functions = map(len, self._sources)
        num_functions = min(functions, round(size * training.function_fraction) if programs else size)
        self._numbers = min(programs, size - num_functions if functions else size), num_functions
        if sum(self._numbers) < 2:
            raise InputError("expected at least two functions or classes, each with two builds or programs")

    def __len__(self) -> int:
        return self._steps * sum(self._numbers) * _PER_LABEL

    def digest(self) -> str:
        """A hash of all sequences and labels."""
        return fingerprint((self._numbers, self._steps), *self._sequences.arrays, self._label.numpy())

    def batches(self, _batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """Draw an epoch's batches, of one size, with a label once in each."""
        return [
            np.concatenate(
                [
                    rng.choice(source[index], _PER_LABEL, replace=False)
                    for source, number in zip(self._sources, self._numbers, strict=True)
                    for index in rng.choice(len(source), number, replace=False)
                ]
            )
            for _ in range(self._steps)
        ]

    def batch(self, samples: Ints, _rng: np.random.Generator | None = None) -> tuple[tuple[Tensor, ...], Tensor]:
        """The network's inputs for some sequences, and their labels."""
        return self._sequences.batch(samples)[:4], self._label[torch.from_numpy(samples)]


class _Network(nn.Module):
    """The encoder and a linear layer: vectors of length 1."""

    def __init__(self, vectors: Floats32, training: EncoderTraining) -> None:
        super().__init__()
        self.encoder = Encoder(vectors, training.encoder)
        self.projection = nn.Linear(training.encoder.vector_size(vectors.shape[1]), training.dim, bias=False)

    def forward(self, words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        vectors: Tensor = self.projection(self.encoder(words, lengths, literals, literal_start))
        return nn.functional.normalize(vectors, dim=1)


class _GatherRows(torch.autograd.Function):
    """Concatenated rows of all ranks; a row's gradient is the sum over all ranks."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, sizes: list[int]) -> Tensor:
        ctx.start, ctx.size = sum(sizes[: dist.get_rank()]), len(rows)
        return all_gather_rows(rows, sizes)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        total = gradients[0].contiguous()
        dist.all_reduce(total)
        return total[ctx.start : ctx.start + ctx.size], None


def contrastive_loss(vectors: Tensor, label: Tensor) -> Tensor:
    """Mean contrastive loss of this rank's (n, dim) vectors with their (n,) labels against the vectors of all ranks.

    A vector with a unique label counts 0.
    """
    start, all_vectors, all_labels = 0, vectors, label
    rank, world_size = rank_and_world()
    if world_size > 1:
        sizes = all_gather_object(len(label))
        start = sum(sizes[:rank])
        all_vectors, all_labels = (_GatherRows.apply(rows, sizes) for rows in (vectors, label))  # type: ignore[no-untyped-call]
    rows = torch.arange(start, start + len(vectors), device=label.device)
    is_self = rows[:, None] == torch.arange(len(all_vectors), device=label.device)
    similarity = (vectors @ all_vectors.T / _TEMPERATURE).masked_fill(is_self, -torch.inf)
    is_alike = (label[:, None] == all_labels) & ~is_self
    surprise = (similarity.logsumexp(dim=1, keepdim=True) - similarity).masked_fill(~is_alike, 0.0)
    return (surprise.sum(dim=1) / is_alike.sum(dim=1).clamp(min=1)).mean()


def fit_contrastive(
    sequences: Sequences,
    label: Ints,
    is_function: Bools,
    vectors: Floats32,
    training: EncoderTraining,
    *,
    embedding_id: str = "",
    device: str = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> LSTMEncoder:
    """Train an LSTM encoder; on a CPU the result depends only on data and seed, also if interrupted."""
    world_size = rank_and_world()[1]
    training = training.for_ranks(world_size)
    if training.batch_size < 2 * world_size:
        raise InputError(f"batch_size is {training.batch_size}; expected at least two sequences per rank")
    data = ContrastiveData(sequences, label, is_function, training)
    torch.manual_seed(training.seed)
    network = _Network(vectors, training).to(device)
    train(network, data, contrastive_loss, training, checkpoint=checkpoint, progress=progress)
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in network.encoder.state_dict().items()}
    projection = network.projection.weight.detach().cpu().numpy()
    vectors = tensors.pop("vectors")
    encoder = NumpyEncoder(tensors, training.encoder)
    return LSTMEncoder(vectors, encoder, projection, training.max_length, embedding_id)
