"""The whole classifier: levels averaged, and calibrated answers."""

from itertools import permutations

import numpy as np
import pytest
import torch

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

WORDS, DIM, BUCKETS = 40, 10, 64
CLASSES = ("1", "A+B", "π ≤ 4", "10", "none")


def _head(**changes: float) -> ClassifierHead:
    torch.manual_seed(0)
    rng, vectors = np.random.default_rng(1), np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    sizes = program_encoder(hidden=6, buckets=30)
    model = EncoderNetwork(vectors, len(CLASSES), sizes, program_head(7))
    torch.nn.init.normal_(model.head.output.weight)
    weights, bias, idf = rng.normal(size=(len(CLASSES), BUCKETS)), rng.normal(size=len(CLASSES)), np.ones(BUCKETS)
    network = NumpyNetwork.from_arrays(model.to_arrays(), sizes)
    return ClassifierHead(
        network=ProgramNetwork(network, vectors, np.arange(WORDS, dtype=np.int32), max_length=100),
        ngrams=NgramModel.rounded(weights, bias, idf.astype(np.float32)),
        ngram_weight=0.5,
        classes=CLASSES,
        embedding_id="cafe",
        temperature=changes.get("temperature", 1.25),
        threshold=changes.get("threshold", 0.5),
    )


def _programs(*lengths: int, seed: int = 3) -> list[EncodedProgram]:
    rng = np.random.default_rng(seed)
    programs = []
    for length in lengths:
        start = np.concatenate([[0], rng.integers(0, 4, length).cumsum()]).astype(np.int32)
        literals = rng.integers(0, 2**32, start[-1], dtype=np.uint32)
        programs.append(EncodedProgram(rng.integers(0, WORDS, length).astype(np.int32), literals, start))
    return programs


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
