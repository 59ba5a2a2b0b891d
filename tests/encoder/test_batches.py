"""Sequences as batches, and as training data."""

import numpy as np
import pytest
import torch

from ncc.encoder.batches import SequenceData, Sequences, distinct_sequences, network_outputs
from ncc.encoder.config import EncoderConfig, HeadConfig
from ncc.encoder.network import EncoderNetwork


def _words(*lengths: int) -> list[np.ndarray]:
    return [np.arange(length) + 10 * number for number, length in enumerate(lengths)]


def test_joined_sequences_are_those_of_the_parts():
    rng = np.random.default_rng(0)
    parts = []
    for lengths in ((3, 1, 5), (2, 7)):
        start = np.cumsum([0, *lengths])
        literal_start = np.concatenate([[0], np.cumsum(rng.integers(0, 3, start[-1]))])
        literal = rng.integers(0, 9, literal_start[-1])
        parts.append(Sequences(start, rng.integers(0, 99, start[-1]), literal_start, literal, longest=4))
    joined = Sequences.joined(parts)
    assert joined.lengths.tolist() == [3, 1, 4, 2, 4]
    for number, (part, row) in enumerate([(parts[0], 0), (parts[0], 1), (parts[0], 2), (parts[1], 0), (parts[1], 1)]):
        for one, other in zip(joined.batch(np.array([number])), part.batch(np.array([row])), strict=True):
            assert torch.equal(one, other)


def test_equal_sequences_are_one():
    words = [np.array([1, 2]), np.array([3]), np.array([1, 2]), np.array([1])]
    distinct, owner = distinct_sequences(words)
    assert [sequence.tolist() for sequence in distinct] == [[1, 2], [3], [1]]
    assert owner.tolist() == [0, 1, 0, 2]


def test_an_epoch_has_every_sample_once_and_those_of_one_thing_share_a_sequence():
    words = _words(*range(1, 6))
    owner = np.arange(25) // 5
    auxiliary = np.arange(50, dtype=np.float32).reshape(25, 2)
    data = SequenceData(Sequences.of(words), np.arange(25), auxiliary=auxiliary, owner=owner)
    rng = np.random.default_rng(0)
    batches = data.batches(8, rng)
    assert len(data) == 25
    assert sorted(map(len, batches)) == [6, 6, 6, 7]
    assert sorted(np.concatenate(batches).tolist()) == list(range(25))
    for rows in batches:
        inputs, target = data.batch(rows, rng)
        assert target.tolist() == rows.tolist()
        assert len(inputs.words) == len(inputs.lengths) == len(set(owner[rows]))
        for place, row in enumerate(rows.tolist()):
            sequence = inputs.owner[place]
            assert inputs.words[sequence, : inputs.lengths[sequence]].tolist() == words[owner[row]].tolist()
            assert inputs.auxiliary[place].tolist() == [2 * row, 2 * row + 1]


@pytest.mark.parametrize(
    ("number", "size", "expected"), [(9, 4, [3, 3, 3]), (17, 8, [5, 6, 6]), (3, 2, [3]), (1, 4, [1])]
)
def test_batches_are_of_like_size_and_none_has_one_sample(number, size, expected):
    data = SequenceData(Sequences.of(_words(*[2] * number)), np.zeros(number))
    assert sorted(map(len, data.batches(size, np.random.default_rng(0)))) == expected


def test_one_of_the_forms_is_drawn_each_epoch_and_the_first_answers():
    data = SequenceData(Sequences.of(_words(1, 2, 3)), np.arange(2), forms=[(0, 1), (2,)])
    rng, seen = np.random.default_rng(0), set()
    for _ in range(20):
        (rows,) = data.batches(2, rng)
        lengths = data.batch(np.sort(rows), rng)[0].lengths.tolist()
        assert lengths[1] == 3
        seen.add(lengths[0])
    assert seen == {1, 2}
    (rows,) = data.in_order(2)
    assert data.batch(rows)[0].lengths.tolist() == [1, 3]


def test_outputs_come_in_the_order_of_the_samples_and_leave_the_mode():
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    network = EncoderNetwork(vectors, 3, EncoderConfig(hidden=4, dropout=0.4), HeadConfig(dropout=0.4))
    sequences = Sequences.of([np.arange(1 + 7 * i % 11) for i in range(150)])
    found = network_outputs(network.train(), SequenceData(sequences, np.zeros(150)))
    assert network.training
    with torch.inference_mode():
        expected = network.eval()(*sequences.batch(np.arange(150))).numpy()
    assert found == pytest.approx(expected, abs=1e-5)
    assert network_outputs(network, SequenceData(sequences, np.zeros(150))).dtype == np.float64
    assert not network.training
