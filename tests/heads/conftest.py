"""Heads with random weights: torch's and the same ones for NumPy."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from ncc.heads import NumpyLSTMHead, RatioHead
from ncc.heads.lstm import LSTMHead, LSTMHeadConfig
from ncc.heads.ratio import NUM_AUXILIARY

WORDS, DIM = 40, 10


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def _lstm_head(seed: int = 0, **sizes: int) -> LSTMHead:
    """In evaluation mode, with statistics of batch normalisation that are not those of the start."""
    torch.manual_seed(seed)
    vectors = np.random.default_rng(seed).normal(size=(WORDS, DIM)).astype(np.float32)
    sizes = {"num_outputs": 2, "num_auxiliary": NUM_AUXILIARY, "hidden": 12, "dense": 7} | sizes
    model = LSTMHead(vectors, LSTMHeadConfig(**sizes))
    with torch.no_grad():
        model.norm.running_mean.normal_()
        model.norm.running_var.uniform_(0.5, 2)
        model.norm.weight.uniform_(0.5, 2)
        model.norm.bias.normal_()
    return model.eval()


def _in_numpy(model: LSTMHead) -> NumpyLSTMHead:
    tensors = {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}
    tensors.pop("norm.num_batches_tracked")
    return NumpyLSTMHead(tensors, model.config.layers)


@pytest.fixture
def lstm_head() -> Callable[..., LSTMHead]:
    """Maker of torch's heads."""
    return _lstm_head


@pytest.fixture
def in_numpy() -> Callable[[LSTMHead], NumpyLSTMHead]:
    """From torch's head to NumPy's."""
    return _in_numpy


@pytest.fixture
def ratio_head() -> Callable[..., RatioHead]:
    """Maker of ensembles with random weights."""

    def make(members: int = 2, spread: float = 1.0, rows: int = 16) -> RatioHead:
        rng = np.random.default_rng(1)
        reference = np.exp(rng.uniform(0, 15, (rows, 2)))
        logs = np.log1p(reference)
        heads = tuple(_in_numpy(_lstm_head(seed)) for seed in range(members))
        return RatioHead(heads, logs.mean(axis=0), logs.std(axis=0), reference, spread, "cafe", {"platform": "none"})

    return make
