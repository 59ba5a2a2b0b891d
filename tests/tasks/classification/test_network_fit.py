"""Networks on programs: batches are what they should be, and what is there to be learnt is learnt."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.rooms import (
    EncoderNetwork,
    NetworkTraining,
    TrainingConfig,
    encode_programs,
    fit_network,
    load_embedding,
    probabilities,
    program_data,
    program_encoder,
    program_head,
)

SIZES, HEAD = program_encoder(hidden=8, buckets=64), program_head(dense=16)
SMALL = NetworkTraining(
    encoder=SIZES, head=HEAD, min_steps=1, loop=TrainingConfig(epochs=16, batch_size=8, learning_rate=5e-3)
)


@pytest.fixture(scope="module")
def embedding():
    return load_embedding()


def _fit(samples, rows, training, **options):
    return fit_network(samples, rows, load_embedding(), training, np.random.default_rng(0), **options)


def _predict(network, samples, rows):
    levels = network.training.levels(samples)
    return probabilities([network.scores(samples.variants[level].rows(rows)) for level in levels])


def test_programs_of_several_levels_stand_side_by_side(samples, embedding):
    views = [encode_programs(table, embedding, 64) for table in samples.variants.values()]
    data = program_data(views, samples.label, np.arange(len(samples)))
    network = EncoderNetwork(embedding.vectors, 2, SIZES, HEAD).eval()
    rng = np.random.default_rng(0)
    drawn = set()
    with torch.inference_mode():
        for rows in data.batches(7, rng):
            inputs, target = data.batch(rows, rng)
            together = network(*inputs)
            assert target.tolist() == samples.label[rows].tolist()
            for place, row in enumerate(rows.tolist()):
                level = int(data._drawn[row]) // len(samples)
                alone = network(*views[level].batch(np.array([row])))[0]
                assert torch.allclose(together[place], alone, atol=1e-5)
                drawn.add((level, row))
    assert len(drawn) == len(samples)
    assert {level for level, _ in drawn} == {0, 1}


FULL = [
    pytest.param(change, marks=pytest.mark.full) for change in ({"buckets": 0}, {"train_vectors": False}, {"layers": 2})
]


@pytest.mark.parametrize("change", [{}, *FULL], ids=str)
def test_it_learns_what_two_kinds_of_programs_are(samples, change):
    test = np.arange(len(samples)) % 4 == 0
    losses = []
    hidden = samples.without_answers(np.flatnonzero(test))
    training = replace(SMALL, encoder=replace(SIZES, **change))
    network = _fit(hidden, np.flatnonzero(~test), training, progress=lambda _epoch, loss, _: losses.append(loss))
    predicted = _predict(network, hidden, np.flatnonzero(test))
    assert predicted.shape == (test.sum(), 2)
    assert (predicted.argmax(axis=1) == samples.label[test]).mean() >= 0.8
    assert losses[-1] < losses[0]


def test_only_words_in_use_have_vectors_of_their_own(samples, embedding):
    one_level = replace(samples, variants={"-O1": samples.variants["-O1"]})
    rows = np.arange(0, len(samples), 2)
    network = _fit(one_level, rows, replace(SMALL, loop=replace(SMALL.loop, epochs=1, learning_rate=1e-30)))
    vectors = network.to_numpy().vectors
    table = samples.variants["-O1"].rows(rows)
    words = np.unique(embedding.look_up(table.texts).word[np.unique(table.text_id)])
    assert len(vectors) == len(words)
    assert np.array_equal(vectors[network.row[words]], embedding.vectors[words])
    other = np.setdiff1d(np.arange(len(embedding.vectors)), words)[:50]
    best = (embedding.vectors[other] @ embedding.vectors[words].T).max(axis=1)
    assert np.einsum("ij,ij->i", embedding.vectors[other], vectors[network.row[other]]) == pytest.approx(best, abs=1e-5)
