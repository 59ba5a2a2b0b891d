"""Heads with random weights: torch's LSTM and the same one for NumPy, and device mappers of random kernels."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from ncc.heads import KernelInputs, MapperHead, NumpyLSTMHead
from ncc.heads.lstm import LSTMHead, LSTMHeadConfig
from ncc.heads.mapper import Calibration, Process, Term, standardise
from ncc.heads.ratio import NUM_AUXILIARY
from ncc.ir import OPCODES
from ncc.kernels import FEATURE_NAMES

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


def _kernel_inputs(rows: int = 1, seed: int = 7) -> KernelInputs:
    rng = np.random.default_rng(seed)
    return KernelInputs(
        rng.uniform(0, 4, (rows, len(FEATURE_NAMES))),
        rng.poisson(3, (rows, len(OPCODES))).astype(np.float64),
        rng.normal(0, 1, (rows, DIM)).astype(np.float16).astype(np.float64),
    )


def _mapper_head(rows: int = 30, reference: int = 8) -> MapperHead:
    rng = np.random.default_rng(1)
    sizes = np.exp(rng.uniform(2, 16, (rows, 2)))
    raw = _kernel_inputs(rows, seed=2).blocks(*sizes.T)
    mean = {name: columns.mean(axis=0) for name, columns in raw.items()}
    scale = {name: columns.std(axis=0) for name, columns in raw.items()}
    terms = (
        (Term(1.0, {"profile": 1.0}, 2.0), Term(1.0, {"opcodes": 0.9, "data": 0.1}, 1.0)),
        (Term(0.5, {"embedding": 0.5, "data": 0.5}, 1.0), Term(1.0, {"growth": 1.0}, 0.3)),
    )
    return MapperHead(
        mean=mean,
        scale=scale,
        training=standardise(raw, mean, scale),
        processes=tuple(Process(one, 0.1, rng.normal(0, 1, rows)) for one in terms),
        process_scale=np.array([0.8, 1.3]),
        calibration=Calibration(np.sort(rng.normal(0, 1, 200)), rng.normal(0, 1, 200), 0.7),
        reference=np.exp(rng.uniform(2, 16, (reference, 2))),
        embedding_id="cafe",
        about={"platform": "none"},
    )


@pytest.fixture
def kernel_inputs() -> Callable[..., KernelInputs]:
    """Maker of invented kernels."""
    return _kernel_inputs


@pytest.fixture
def mapper_head() -> Callable[..., MapperHead]:
    """Maker of device mappers with random weights."""
    return _mapper_head
