"""Trains the LSTM encoder contrastively: sequences of one label near each other, others in the batch far.

A label is a function, whose sequences are its builds, or a class of programs; a batch has some of both. Under torchrun
every rank sees the whole batch's vectors, so that many ranks have the loss and the gradient of one.

Reference: Khosla et al. 2020 ("Supervised contrastive learning"), equation 2.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch import distributed as dist

from ncc.arrays import Bools, Floats32, Ints
from ncc.errors import InputError
from ncc.learning.encoder.batches import SequenceBatch, Sequences
from ncc.learning.encoder.config import EncoderConfig
from ncc.learning.encoder.network import Encoder
from ncc.learning.encoder.network_numpy import LSTMEncoder, NumpyEncoder
from ncc.learning.training.config import TrainingConfig, TrainingStatistics
from ncc.learning.training.loop import train
from ncc.learning.training.ranks import all_gather_rows, rank_and_world

_A_LABEL = 2
"""Sequences of each label in a batch."""


def lstm_of_size(hidden: int = 128, *, literals: bool = True) -> EncoderConfig:
    """A bidirectional layer with mean and maximum over its states."""
    return EncoderConfig(
        hidden=hidden,
        layers=1,
        bidirectional=True,
        pooling=("mean", "max"),
        buckets=8192 if literals else 0,
        last_dropout=0.2,
        word_dropout=0.1,
        train_vectors=True,
    )


@dataclass(frozen=True, kw_only=True)
class ContrastiveTraining:
    """How an LSTM encoder is trained.

    Attributes:
        encoder: Sizes and parts of the LSTM.
        dim: Number of dimensions of the vectors that it makes.
        longest: Statements of a sequence that are read, the first ones.
        temperature: What similarities are divided by.
        function_share: Share of a batch that is functions, the rest programs; where only one source is given, all are.
        steps: Batches of an epoch.
        pretrained: Begin with the embedding's vectors of statements, not with random ones.
        loop: How to train; the strategy is "mirrored", without accumulation.
    """

    encoder: EncoderConfig = field(default_factory=lstm_of_size)
    dim: int = 256
    longest: int = 256
    temperature: float = 0.1
    function_share: float = 0.5
    steps: int = 100
    pretrained: bool = True
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=10, batch_size=128))

    def __post_init__(self) -> None:
        """Check the ranges."""
        if min(self.dim, self.longest, self.steps) < 1 or self.temperature <= 0 or not 0 <= self.function_share <= 1:
            raise InputError(
                "expected dim, longest and steps of 1 or more, a temperature above 0, a function_share of 0 to 1"
            )
        if self.loop.strategy != "mirrored" or self.loop.micro_batches != 1:
            raise InputError("contrast needs whole batches: expected strategy 'mirrored' and micro_batches 1")


class ContrastiveData:
    """Batches of labels, each with two of its sequences."""

    def __init__(
        self,
        sequences: Sequences,
        label: Ints,
        is_function: Bools,
        training: ContrastiveTraining,
        device: str = "cpu",
    ) -> None:
        """Make data of n sequences.

        Arrays:
            label: (n,) int64 what each is one of; functions and programs share no label.
            is_function: (n,) bool.
        """
        self._sequences = replace(sequences, longest=training.longest, device=device)
        self._label, self._steps = torch.from_numpy(label).to(device), training.steps
        order = np.argsort(label, kind="stable")
        _, first, count = np.unique(label[order], return_index=True, return_counts=True)
        members = [order[start : start + size] for start, size in zip(first, count, strict=True) if size >= _A_LABEL]
        self._sources = [[rows for rows in members if is_function[rows[0]] == kind] for kind in (False, True)]
        wanted = max(2, training.loop.batch_size // _A_LABEL)
        programs, functions = map(len, self._sources)
        from_functions = min(functions, round(wanted * training.function_share) if programs else wanted)
        self._numbers = min(programs, wanted - from_functions if functions else wanted), from_functions
        if sum(self._numbers) < 2:
            raise InputError("expected two functions or classes or more, each with two builds or programs")

    def __len__(self) -> int:
        return self._steps * sum(self._numbers) * _A_LABEL

    def digest(self) -> str:
        """A hash of all sequences and labels."""
        some = self._sequences
        digest = hashlib.sha256(repr((some.longest, self._numbers, self._steps)).encode())
        for array in (some.start, some.word, some.literal_start, some.literal, self._label.cpu().numpy()):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:16]

    def batches(self, _batch_size: int, rng: np.random.Generator) -> list[Ints]:
        """An epoch's batches, of one size; a label is there once in each."""
        return [self._draw(self._numbers, rng) for _ in range(self._steps)]

    def _draw(self, numbers: tuple[int, int], rng: np.random.Generator) -> Ints:
        return np.concatenate(
            [
                rng.choice(source[place], _A_LABEL, replace=False)
                for source, number in zip(self._sources, numbers, strict=True)
                for place in rng.choice(len(source), number, replace=False)
            ]
        )

    def batch(self, samples: Ints, _rng: np.random.Generator | None = None) -> tuple[tuple[Tensor, ...], Tensor]:
        """The network's inputs for some sequences, and their labels."""
        inputs: SequenceBatch = self._sequences.batch(samples)
        return inputs[:4], self._label[torch.from_numpy(samples).to(self._label.device)]


class _Network(nn.Module):
    """The encoder and a linear layer: vectors of length 1."""

    def __init__(self, vectors: Floats32, training: ContrastiveTraining) -> None:
        super().__init__()
        self.encoder = Encoder(vectors, training.encoder)
        self.projection = nn.Linear(training.encoder.vector_size(vectors.shape[1]), training.dim, bias=False)

    def forward(self, words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        found: Tensor = self.projection(self.encoder(words, lengths, literals, literal_start))
        return nn.functional.normalize(found, dim=1)


class _Gathered(torch.autograd.Function):
    """Rows of all ranks, one rank's after the other's; a row's gradient is the sum of what all ranks have for it."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, sizes: list[int]) -> Tensor:
        ctx.begin, ctx.size = sum(sizes[: dist.get_rank()]), len(own)
        return all_gather_rows(own, sizes)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        total = gradients[0].contiguous()
        dist.all_reduce(total)
        return total[ctx.begin : ctx.begin + ctx.size], None


def contrastive_loss(vectors: Tensor, label: Tensor, temperature: float) -> Tensor:
    """Mean over this rank's rows of how unlike the others of their label they are, among the rows of all ranks.

    Arrays:
        vectors: (n, dim) float32 of length 1.
        label: (n,) int64; a row whose label no other row has counts 0.
    """
    begin, every, labels = 0, vectors, label
    rank, world = rank_and_world()
    if world > 1:
        counts = [torch.zeros(1, dtype=torch.int64, device=label.device) for _ in range(world)]
        dist.all_gather(counts, torch.tensor([len(label)], device=label.device))
        sizes = [int(count) for count in counts]
        begin = sum(sizes[:rank])
        every, labels = _Gathered.apply(vectors, sizes), _Gathered.apply(label, sizes)  # type: ignore[no-untyped-call]
    own = torch.arange(begin, begin + len(vectors), device=label.device)[:, None] == torch.arange(
        len(every), device=label.device
    )
    likeness = (vectors @ every.T / temperature).masked_fill(own, -torch.inf)
    alike = (label[:, None] == labels) & ~own
    surprise = (likeness.logsumexp(dim=1, keepdim=True) - likeness).masked_fill(~alike, 0.0)
    return (surprise.sum(dim=1) / alike.sum(dim=1).clamp(min=1)).mean()


def fit_contrastive(
    sequences: Sequences,
    label: Ints,
    is_function: Bools,
    vectors: Floats32,
    training: ContrastiveTraining | None = None,
    *,
    device: str = "cpu",
    about: Mapping[str, Any] | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
    statistics: TrainingStatistics | None = None,
) -> LSTMEncoder:
    """Train an LSTM encoder; on a CPU the same for the same data and seed, stopped in between or not.

    Arrays:
        label: (n,) int64, see `ContrastiveData`.
        is_function: (n,) bool.
        vectors: (num_words, dim) float32 of an embedding.
    """
    training = training or ContrastiveTraining()
    training = replace(training, loop=training.loop.for_ranks(rank_and_world()[1]))
    if training.loop.batch_size < 2 * rank_and_world()[1]:
        raise InputError(f"batch_size is {training.loop.batch_size}; expected two sequences a rank at least")
    data = ContrastiveData(sequences, label, is_function, training, device)
    seed = training.loop.seed
    if not training.pretrained:
        vectors = np.random.default_rng(seed).normal(0, vectors.shape[1] ** -0.5, vectors.shape).astype(np.float32)
    torch.manual_seed(seed)
    network = _Network(vectors, training).to(device)
    train(
        network,
        data,
        lambda found, labels: contrastive_loss(found, labels, training.temperature),
        training.loop,
        checkpoint=checkpoint,
        progress=progress,
        statistics=statistics,
    )
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in network.encoder.state_dict().items()}
    own = {name: tensor for name, tensor in tensors.items() if name != "vectors"}
    projection = network.projection.weight.detach().cpu().numpy()
    encoder = NumpyEncoder(own, training.encoder)
    return LSTMEncoder(tensors["vectors"], encoder, projection, training.longest, dict(about or {}))
