"""Trains networks on the encoder: one, or an ensemble on the vectors of an embedding."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor

from ncc.learning.encoder.batches import SequenceData
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.encoder.network_numpy import Ensemble, NumpyNetwork
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.loop import train

Loss = Callable[[Tensor, Tensor], Tensor]
Progress = Callable[[int, float], None]


def fit_network(
    make: Callable[[], EncoderNetwork],
    data: SequenceData,
    loss: Loss,
    loop: TrainingConfig,
    seed: int,
    progress: Progress | None = None,
) -> EncoderNetwork:
    """Make and train a network in one thread, leaving torch's random state as it was."""
    with _one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make()
        train(network, data, loss, replace(loop, seed=seed), progress=progress)
    return network


def fit_ensemble(
    make: Callable[[], EncoderNetwork],
    data: SequenceData,
    loss: Loss,
    loop: TrainingConfig,
    seeds: list[int],
    progress: Progress | None = None,
) -> Ensemble:
    """Train a network for each seed; arguments are those of `fit_network`."""
    networks = [fit_network(make, data, loss, loop, seed, progress) for seed in seeds]
    return Ensemble(
        tuple(NumpyNetwork.from_arrays(network.to_arrays(), network.encoder.config) for network in networks)
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread: two on a busy core are slower than one, and folds run in parallel anyway."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
