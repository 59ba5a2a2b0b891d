"""The classifier's network in NumPy: torch's numbers, whatever the sizes and the programs."""

import numpy as np
import pytest
import torch

from ncc.errors import InputError
from tests.rooms import (
    MAX_LENGTH,
    EncodedProgram,
    EncoderNetwork,
    ProgramNetwork,
    Sequences,
    program_encoder,
    program_head,
)
from tests.support.refuses import refuses

WORDS, ROWS, DIM, BUCKETS, CLASSES = 60, 40, 10, 30, 5
ROW = np.array([*range(ROWS), *range(7, 7 + WORDS - ROWS)], np.int32)[::-1].copy()


def _in_torch(seed: int = 0, dense: int = 7, **sizes: int) -> EncoderNetwork:
    """In evaluation mode, with random weights everywhere."""
    torch.manual_seed(seed)
    vectors = np.random.default_rng(seed).normal(size=(ROWS, DIM)).astype(np.float32)
    sizes = {"layers": 2, "hidden": 6, "buckets": BUCKETS} | sizes
    model = EncoderNetwork(vectors, CLASSES, program_encoder(**sizes), program_head(dense))
    with torch.no_grad():
        model.head.norm.weight.uniform_(0.5, 2)
        model.head.norm.bias.normal_()
        model.head.output.weight.normal_()
    return model.eval()


def _network(
    model: EncoderNetwork | None = None, row: np.ndarray = ROW, max_length: int = MAX_LENGTH
) -> ProgramNetwork:
    model = model or _in_torch()
    return ProgramNetwork.from_arrays(model.to_arrays(), model.encoder.config, row, max_length)


def _programs(*lengths: int, seed: int = 3) -> list[EncodedProgram]:
    """Random programs; some statements have no literals."""
    rng = np.random.default_rng(seed)
    programs = []
    for length in lengths:
        start = np.concatenate([[0], rng.integers(0, 4, length).cumsum()]).astype(np.int32)
        literals = rng.integers(0, 2**32, start[-1], dtype=np.uint32)
        programs.append(EncodedProgram(rng.integers(0, WORDS, length).astype(np.int32), literals, start))
    return programs


def _torch_says(model: EncoderNetwork, programs: list[EncodedProgram]) -> np.ndarray:
    """Scores of all programs from one padded batch."""
    buckets = model.encoder.config.buckets
    counts = np.concatenate([np.diff(program.literal_start) for program in programs]) * bool(buckets)
    literals = np.concatenate([program.literals for program in programs]).astype(np.int64)
    encoded = Sequences(
        np.cumsum([0, *(len(program.words) for program in programs)]),
        ROW[np.concatenate([program.words for program in programs])],
        np.cumsum([0, *counts]),
        literals % buckets if buckets else literals[:0],
        MAX_LENGTH,
    )
    with torch.inference_mode():
        return model(*encoded.batch(np.arange(len(programs)))).numpy()


@pytest.mark.parametrize(
    "sizes", [{"layers": 1}, {"layers": 2}, {"layers": 3}, {"hidden": 1, "dense": 1}, {"hidden": 9, "dense": 20}]
)
@pytest.mark.parametrize("buckets", [0, 1, BUCKETS])
def test_numpy_gives_what_torch_gives(sizes, buckets):
    model, programs = _in_torch(buckets=buckets, **sizes), _programs(1, 2, 7, 30, MAX_LENGTH, MAX_LENGTH + 40)
    programs[2] = EncodedProgram(programs[2].words, np.zeros(0, np.uint32), np.zeros(8, np.int32))
    expected = _torch_says(model, programs)
    network = _network(model)
    assert (network.config.buckets, network.num_classes) == (buckets, CLASSES)
    assert np.ptp(expected, axis=0).max() > 0.1  # programs differ
    for program, scores in zip(programs, expected, strict=True):
        found = network.scores(program)
        assert (found.shape, found.dtype) == ((CLASSES,), np.dtype(np.float32))
        assert np.abs(found - scores).max() < 1e-4


def test_what_lies_behind_the_longest_is_not_read():
    (program,) = _programs(30)
    words, literals, start = program
    cut = _network().scores(EncodedProgram(words[:12], literals[: start[12]], start[:13]))
    assert np.array_equal(_network(max_length=12).scores(program), cut)
    whole = _network().scores(program)
    assert not np.array_equal(whole, cut)
    assert np.array_equal(_network(max_length=30).scores(program), whole)


@pytest.mark.parametrize("change", [{"row": ROW + 1}, {"row": ROW - 1}, {"row": ROW[None]}], ids=str)
def test_a_network_that_does_not_fit_together_is_refused(change):
    with refuses(InputError, "row"):
        _network(**change)
