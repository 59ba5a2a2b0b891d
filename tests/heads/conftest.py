"""Heads with random weights: torch's LSTM and the same one for NumPy, and device mappers of random kernels."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from fuzz import samples
from ncc.heads import KernelInputs, MapperHead, NumpyLSTMHead
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
def kernel_inputs() -> Callable[..., KernelInputs]:
    """Maker of invented kernels."""
    return samples.kernel_inputs


@pytest.fixture
def mapper_head() -> Callable[..., MapperHead]:
    """Maker of device mappers with random weights."""
    return samples.mapper_head
