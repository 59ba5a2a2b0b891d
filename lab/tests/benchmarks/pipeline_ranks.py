"""Small trainings of a network in two stages: each rank writes what its whole model ended with."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from benchmarks.pipeline.program_stages import split_network
from benchmarks.pipeline.schedule import train_in_stages
from benchmarks.pipeline.stage import PipelineStatistics
from tests.rooms import EncoderNetwork, TrainingConfig, program_encoder, program_head
from tests.support.ranks import run_rank

WORDS, DIM, BUCKETS, CLASSES, HIDDEN = 11, 4, 7, 3, 5
NUMBER = 8 + 8 + 3
"""The last batch has fewer samples than there are micro-batches."""
OPTIONS = {"epochs": 3, "batch_size": 8, "max_grad_norm": 0.05, "learning_rate": 1e-2}
"""The gradient's norm is larger, so that it matters that it is the whole model's."""
CASES = {"one": 1, "four": 4}
"""Name → micro-batches."""


class Programs:
    """Random programs whose class their first word says."""

    def __init__(self, number: int = NUMBER) -> None:
        rng = np.random.default_rng(0)
        self.words = [torch.from_numpy(rng.integers(0, WORDS, length)) for length in rng.integers(3, 12, number)]
        self.literals = [
            [torch.from_numpy(rng.integers(0, BUCKETS, count)) for count in rng.integers(0, 3, len(words))]
            for words in self.words
        ]
        self.label = torch.tensor([int(words[0]) % CLASSES for words in self.words])

    def digest(self) -> str:
        return str(len(self))

    def __len__(self) -> int:
        return len(self.words)

    def batches(self, batch_size, rng):
        order = rng.permutation(len(self))
        return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]

    def batch(self, samples, rng):
        words = nn.utils.rnn.pad_sequence([self.words[i] for i in samples], batch_first=True)
        none = torch.zeros(0, dtype=torch.int64)
        literals = [some for i in samples for some in self.literals[i] + [none] * (words.shape[1] - len(self.words[i]))]
        counts = torch.tensor([len(some) for some in literals])
        lengths = torch.tensor([len(self.words[i]) for i in samples])
        return (words, lengths, torch.cat(literals), counts.cumsum(0) - counts), self.label[samples]


def network(dropout: float = 0.0, seed: int = 0) -> EncoderNetwork:
    """A network of two layers."""
    torch.manual_seed(seed)
    vectors = np.random.default_rng(seed).normal(size=(WORDS, DIM)).astype(np.float32)
    encoder = replace(program_encoder(HIDDEN, 2, BUCKETS), dropout=dropout, last_dropout=dropout, word_dropout=dropout)
    head = replace(program_head(6), dropout=dropout, dense_dropout=dropout)
    return EncoderNetwork(vectors, CLASSES, encoder, head)


def result(rank: int, micro_batches: int, dropout: float = 0.0, **options) -> dict:
    """Trains and returns weights, losses and statistics."""
    model = network(dropout, seed=rank)  # the first rank's weights are to count
    stages, statistics = split_network(model), PipelineStatistics()
    told = []
    losses = train_in_stages(
        stages,
        Programs(),
        nn.functional.cross_entropy,
        TrainingConfig(**(OPTIONS | options)),
        micro_batches=micro_batches,
        progress=lambda *now: told.append(now),
        statistics=statistics,
    )
    assert told == [*enumerate(losses, 1)]
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(stage.training for stage in stages)
    return {
        "model": model.state_dict(),
        "losses": losses,
        "statistics": vars(statistics) | {"bubble": statistics.bubble, "waiting": statistics.seconds_waiting},
    }


def all_cases(rank: int) -> dict[str, dict]:
    """Everything, by name."""
    cases = {name: result(rank, micro_batches) for name, micro_batches in CASES.items()}
    cases |= {
        name: result(rank, 2, 0.2, epochs=8, max_grad_norm=1.0, learning_rate=3e-2)
        for name in ("dropout", "dropout again")
    }
    cases["mixed"] = result(rank, 2, mixed_precision=True)
    return cases


if __name__ == "__main__":
    run_rank(lambda rank, *_: all_cases(rank))
