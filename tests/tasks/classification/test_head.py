"""The whole classifier: two kinds of scores added, levels averaged, and calibrated answers."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch

from ncc.errors import InputError
from tests.rooms import (
    ClassifierHead,
    EncodedProgram,
    EncoderNetwork,
    NgramModel,
    NumpyNetwork,
    ProgramNetwork,
    program_encoder,
    program_head,
)
from tests.support.refuses import refuses

WORDS, DIM, BUCKETS = 40, 10, 64
CLASSES = ("1", "A+B", "π ≤ 4", "10", "none")


def _network(num_classes: int = len(CLASSES)) -> ProgramNetwork:
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    sizes = program_encoder(hidden=6, buckets=30)
    model = EncoderNetwork(vectors, num_classes, sizes, program_head(7))
    torch.nn.init.normal_(model.head.output.weight)
    network = NumpyNetwork.from_arrays(model.to_arrays(), sizes)
    return ProgramNetwork(network, vectors, np.arange(WORDS, dtype=np.int32), max_length=100)


def _ngrams(num_classes: int = len(CLASSES)) -> NgramModel:
    rng = np.random.default_rng(1)
    weights, bias = rng.normal(size=(num_classes, BUCKETS)), rng.normal(size=num_classes)
    return NgramModel.rounded(weights, bias, rng.uniform(1, 3, BUCKETS).astype(np.float32))


def _head(**changes: object) -> ClassifierHead:
    values: dict[str, Any] = {
        "network": _network(),
        "ngrams": _ngrams(),
        "ngram_weight": 0.5,
        "classes": CLASSES,
        "temperature": 1.25,
        "threshold": 0.5,
        "embedding_id": "cafe",
    }
    return ClassifierHead(**(values | changes))


def _programs(*lengths: int, seed: int = 3) -> list[EncodedProgram]:
    rng = np.random.default_rng(seed)
    programs = []
    for length in lengths:
        start = np.concatenate([[0], rng.integers(0, 4, length).cumsum()]).astype(np.int32)
        literals = rng.integers(0, 2**32, start[-1], dtype=np.uint32)
        programs.append(EncodedProgram(rng.integers(0, WORDS, length).astype(np.int32), literals, start))
    return programs


@pytest.mark.parametrize("factor", [0.0, 0.5, 4.5])
def test_scores_are_those_of_both_parts(factor):
    head = _head(ngram_weight=factor)
    for program in _programs(1, 5, 150):
        found = head.scores(program)
        network, ngrams = (part.scores(program).astype(np.float64) for part in (head.network, head.ngrams))
        assert (found.shape, found.dtype) == ((len(CLASSES),), np.dtype(np.float64))
        assert found == pytest.approx(network + factor * ngrams, abs=1e-6)
        assert np.ptp(network) > 0.1
        assert np.ptp(ngrams) > 0.1


def test_the_scores_of_several_levels_are_averaged():
    head, views = _head(temperature=2.0), _programs(5, 60, 9)
    scores = torch.from_numpy(np.stack([head.scores(view) for view in views])).mean(dim=0)
    expected = (scores / 2.0).softmax(dim=0).numpy()
    for order in permutations(views):
        assert head.predict(*order) == pytest.approx(expected, abs=1e-12)
    assert head.predict(views[0]) != pytest.approx(expected, abs=1e-3)
    assert head.predict(views[0], views[0]) == pytest.approx(head.predict(views[0]), abs=1e-12)


@pytest.mark.parametrize("lengths", [(20,), (20, 30)])
def test_the_threshold_decides_what_fits(lengths):
    views = _programs(*lengths)
    best = float(_head().predict(*views).max())
    assert 1 / len(CLASSES) < best < 1
    fits = [
        _head(threshold=value).is_known(_head().predict(*views)) for value in (0, best - 1e-9, best, best + 1e-9, 1)
    ]
    assert fits == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"classes": CLASSES[1:]}, "[5, 5, 4]"),
        ({"ngrams": _ngrams(4)}, "[5, 4, 5]"),
        ({"network": _network(6)}, "[6, 5, 5]"),
    ],
    ids=["names", "ngrams", "network"],
)
def test_parts_of_different_classes_are_refused(change, counts):
    with refuses(InputError, "classes", counts):
        _head(**change)
