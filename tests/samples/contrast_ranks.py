"""A training by contrast on one of two ranks, or alone: what it ends with, and one loss with its gradient."""

from dataclasses import replace

import numpy as np
import torch

from ncc.learning.encoder.batches import Sequences
from ncc.learning.encoder.config import EncoderConfig, EncoderTraining
from ncc.learning.encoder.contrastive import contrastive_loss, fit_contrastive
from ncc.learning.training.ranks import rank_and_world, sum_over_ranks
from tests.support.ranks import run_rank


class WithoutDropout(EncoderTraining):
    """Draws nothing that depends on the number of ranks."""

    @property
    def encoder(self) -> EncoderConfig:
        """The LSTM, whose outputs and statements are all kept."""
        return replace(super().encoder, last_dropout=0, word_dropout=0)


TRAINING = WithoutDropout(
    hidden=6, dim=5, max_length=9, steps_per_epoch=3, epochs=3, batch_size=14, global_batch=True, learning_rate=0.01
)


def data() -> tuple[Sequences, np.ndarray, np.ndarray, np.ndarray]:
    """Sequences of 4 classes and 8 functions, three of each, which have a word of their own each."""
    rng = np.random.default_rng(3)
    label = np.repeat(np.arange(12), 3)
    words = [np.append(rng.integers(12, 20, rng.integers(3, 12)), [one, one]) for one in label]
    start = np.cumsum([0, *map(len, words)])
    literal = rng.integers(0, 8, start[-1])
    sequences = Sequences(start, np.concatenate(words), np.arange(start[-1] + 1), literal)
    return sequences, label, label >= 4, rng.standard_normal((20, 7)).astype(np.float32)


def loss_and_gradient() -> tuple[torch.Tensor, torch.Tensor]:
    """Of nine rows, of which the first rank has five and the second four."""
    rank, world = rank_and_world()
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(9, 6, generator=generator, dtype=torch.float64)[rank::world]
    weight = torch.randn(6, 4, generator=generator, dtype=torch.float64).requires_grad_()
    label = torch.tensor([0, 1, 2, 0, 1, 2, 0, 3, 1])[rank::world]
    loss = contrastive_loss(torch.nn.functional.normalize(inputs @ weight, dim=1), label) * len(label) / 9
    loss.backward()
    total, gradient = loss.detach().clone(), weight.grad
    sum_over_ranks([total, gradient])
    return total, gradient


def run() -> dict:
    """What this rank ends with."""
    losses = []
    encoder = fit_contrastive(*data(), TRAINING, progress=lambda _, loss: losses.append(loss))
    loss, gradient = loss_and_gradient()
    tensors = {name: torch.from_numpy(tensor.copy()) for name, tensor in encoder.encoder.tensors.items()}
    projection = torch.from_numpy(encoder.projection.copy())
    return {"losses": losses, "tensors": tensors, "projection": projection, "loss": loss, "gradient": gradient}


if __name__ == "__main__":
    run_rank(lambda *_: run())
