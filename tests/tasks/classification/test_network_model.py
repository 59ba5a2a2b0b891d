"""The classifier's network in NumPy: torch's numbers for programs with hashes and words of their own."""

import numpy as np
import pytest
import torch

from ncc.errors import InputError
from tests.rooms import (
    EncodedProgram,
    EncoderNetwork,
    NumpyNetwork,
    ProgramNetwork,
    Sequences,
    program_encoder,
    program_head,
)
from tests.support.refuses import refuses

WORDS, ROWS, DIM, BUCKETS, CLASSES = 60, 40, 10, 30, 5
ROW = np.array([*range(ROWS), *range(7, 7 + WORDS - ROWS)], np.int32)[::-1].copy()


def _in_torch(buckets: int = BUCKETS) -> EncoderNetwork:
    """In evaluation mode, with random weights everywhere."""
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).normal(size=(ROWS, DIM)).astype(np.float32)
    model = EncoderNetwork(vectors, CLASSES, program_encoder(6, 2, buckets), program_head(7))
    with torch.no_grad():
        model.head.norm.bias.normal_()
        model.head.output.weight.normal_()
    return model.eval()


def _network(model: EncoderNetwork, row: np.ndarray = ROW, max_length: int = 50) -> ProgramNetwork:
    arrays = model.to_arrays()
    return ProgramNetwork(NumpyNetwork.from_arrays(arrays, model.encoder.config), arrays["vectors"], row, max_length)


def _program(length: int) -> EncodedProgram:
    """A random program; some statements have no literals."""
    rng = np.random.default_rng(length)
    start = np.concatenate([[0], rng.integers(0, 4, length).cumsum()]).astype(np.int32)
    literals = rng.integers(0, 2**32, start[-1], dtype=np.uint32)
    return EncodedProgram(rng.integers(0, WORDS, length).astype(np.int32), literals, start)


@pytest.mark.parametrize("buckets", [0, 1, BUCKETS])
@pytest.mark.parametrize("length", [1, 7, 50, 90])
def test_numpy_gives_what_torch_gives(buckets, length):
    model, program = _in_torch(buckets), _program(length)
    literals = program.literals % max(buckets, 1)
    start = program.literal_start.astype(np.int64) * bool(buckets)
    encoded = Sequences(np.array([0, length]), ROW[program.words], start, literals.astype(np.int64), 50)
    with torch.inference_mode():
        (expected,) = model(*encoded.batch(np.array([0]))).numpy()
    found = _network(model).scores(program)
    assert (found.shape, found.dtype) == ((CLASSES,), np.dtype(np.float32))
    assert np.ptp(expected) > 0.1
    assert found == pytest.approx(expected, abs=1e-4)


def test_what_lies_behind_the_longest_is_not_read():
    model, program = _in_torch(), _program(30)
    words, literals, start = program
    cut = _network(model).scores(EncodedProgram(words[:12], literals[: start[12]], start[:13]))
    assert np.array_equal(_network(model, max_length=12).scores(program), cut)
    assert not np.array_equal(_network(model, max_length=30).scores(program), cut)


@pytest.mark.parametrize("row", [ROW + 1, ROW - 1, ROW[None], ROW[:0]], ids=str)
def test_a_network_that_does_not_fit_together_is_refused(row):
    with refuses(InputError, "row"):
        _network(_in_torch(), row)
