"""The linear model on n-grams: its formula in plain Python, and its rounding."""

import math
from collections import Counter

import numpy as np
import pytest

from tests.rooms import EncodedProgram, NgramModel, hashed_ngrams

BUCKETS, CLASSES = 50, 4


def _model() -> NgramModel:
    rng = np.random.default_rng(0)
    return NgramModel(
        weights=rng.integers(-127, 128, (BUCKETS, CLASSES)).astype(np.int8),
        scale=rng.uniform(0.01, 0.1, CLASSES).astype(np.float32),
        bias=rng.normal(size=CLASSES).astype(np.float32),
        idf=(rng.uniform(1, 5, BUCKETS) * (rng.random(BUCKETS) < 0.8)).astype(np.float32),
    )


def _program(length: int, seed: int = 1) -> EncodedProgram:
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], rng.integers(0, 3, length).cumsum()]).astype(np.int32)
    literals = rng.integers(0, 2**32, start[-1], dtype=np.uint32)
    return EncodedProgram(rng.integers(0, 9, length).astype(np.int32), literals, start)


def _buckets(program: EncodedProgram) -> Counter[int]:
    start = np.array([0, len(program.words)])
    return Counter(hashed_ngrams(program.words, start, program.literals, program.literal_start, BUCKETS)[1].tolist())


@pytest.mark.parametrize("length", [1, 2, 7, 400])
def test_scores_are_what_the_formula_says(length):
    model, program = _model(), _program(length)
    value = {bucket: (1 + math.log(n)) * float(model.idf[bucket]) for bucket, n in _buckets(program).items()}
    norm = math.sqrt(sum(number**2 for number in value.values()))
    found = model.scores(program)
    assert (found.shape, found.dtype) == ((CLASSES,), np.dtype(np.float32))
    for number, score in enumerate(found.tolist()):
        margin = sum(share / norm * int(model.weights[bucket, number]) for bucket, share in value.items())
        assert score == pytest.approx(margin * float(model.scale[number]) + float(model.bias[number]), abs=1e-4)


def test_weights_are_rounded_to_a_byte():
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(CLASSES, BUCKETS)) * [[1e-6], [1], [100], [0]]
    bias, idf = rng.normal(size=CLASSES), np.ones(BUCKETS, np.float32)
    model = NgramModel.rounded(weights, bias, idf)
    assert (model.weights.shape, model.weights.dtype) == ((BUCKETS, CLASSES), np.dtype(np.int8))
    assert np.abs(model.weights).max(axis=0).tolist() == [127, 127, 127, 0]
    assert model.scale.dtype == model.bias.dtype == np.float32
    assert (np.abs(model.weights.T * model.scale[:, None] - weights) <= model.scale[:, None] * 0.501).all()
    assert model.bias == pytest.approx(bias, rel=1e-6)
    program = _program(30)
    assert model.scores(program)[3] == model.bias[3]
    assert np.isfinite(model.scale).all()
