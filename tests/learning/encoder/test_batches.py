"""Sequences as batches, and as training data."""

import numpy as np
import pytest
import torch

from tests.rooms import EncoderConfig, EncoderNetwork, HeadConfig, SequenceData, Sequences, network_outputs


def _words(*lengths: int) -> list[np.ndarray]:
    return [np.arange(length) + 10 * number for number, length in enumerate(lengths)]


def test_joined_sequences_are_those_of_the_parts():
    rng = np.random.default_rng(0)
    parts = []
    for lengths in ((3, 1, 5), (2, 7)):
        start = np.cumsum([0, *lengths])
        literal_start = np.concatenate([[0], np.cumsum(rng.integers(0, 3, start[-1]))])
        literal = rng.integers(0, 9, literal_start[-1])
        parts.append(Sequences(start, rng.integers(0, 99, start[-1]), literal_start, literal, max_length=4))
    joined = Sequences.joined(parts)
    assert joined.lengths.tolist() == [3, 1, 4, 2, 4]
    for number, (part, row) in enumerate([(parts[0], 0), (parts[0], 1), (parts[0], 2), (parts[1], 0), (parts[1], 1)]):
        for one, other in zip(joined.batch(np.array([number])), part.batch(np.array([row])), strict=True):
            assert torch.equal(one, other)


def _sequences(max_length: int | None = None) -> Sequences:
    rng = np.random.default_rng(0)
    start = np.cumsum([0, 3, 1, 6, 2, 4])
    literal_start = np.concatenate([[0], np.cumsum(rng.integers(0, 3, start[-1]))])
    return Sequences(
        start, rng.integers(0, 99, start[-1]), literal_start, rng.integers(0, 9, literal_start[-1]), max_length
    )


@pytest.mark.parametrize("max_length", [None, 1, 4])
def test_a_batch_has_the_words_of_its_sequences_and_at_each_its_literals(max_length):
    sequences, rows = _sequences(max_length), np.array([2, 1, 4])
    batch = sequences.batch(rows)
    assert batch.words.shape == (3, sequences.lengths[rows].max())
    ends = [*batch.literal_start[1:].tolist(), len(batch.literals)]
    for number, row in enumerate(rows.tolist()):
        for place in range(batch.words.shape[1]):
            at = number * batch.words.shape[1] + place
            found = batch.literals[batch.literal_start[at] : ends[at]].tolist()
            if place >= sequences.lengths[row]:
                assert found == []
                continue
            there = sequences.start[row] + place
            assert batch.words[number, place] == sequences.word[there]
            assert found == sequences.literal[slice(*sequences.literal_start[there : there + 2])].tolist()


def _network() -> EncoderNetwork:
    torch.manual_seed(0)
    config = EncoderConfig(
        hidden=16, layers=2, bidirectional=True, pooling=("mean", "last"), buckets=9, train_vectors=True
    )
    vectors = np.random.default_rng(1).normal(size=(99, 8)).astype(np.float32)
    return EncoderNetwork(vectors, 5, config, HeadConfig(norm="layer"))


def test_only_rows_that_a_batch_touches_get_gradients():
    data, samples = SequenceData(_sequences(), np.arange(5)), np.array([1, 4])
    touched, network = data.sparse_rows(samples), _network()
    network(*data.batch(samples)[0]).square().sum().backward()
    tables = {name: dict(network.named_parameters())[name].grad for name in touched}
    assert len(tables) == 2
    for name, gradient in tables.items():
        assert gradient is not None
        assert gradient.any(dim=1).nonzero()[:, 0].tolist() == touched[name].tolist()


@pytest.mark.gpu  # needs a CUDA device
def test_on_a_gpu_outputs_are_the_same():
    network, data = _network(), SequenceData(_sequences(), np.arange(5))
    expected = network_outputs(network, data)
    assert network_outputs(network.cuda(), data) == pytest.approx(expected, abs=1e-4)


def test_data_that_differ_in_one_word_have_another_digest():
    one, same, other = _sequences(), _sequences(), _sequences()
    other.word[5] += 1
    digests = [SequenceData(sequences, np.arange(5)).digest() for sequences in (one, same, other)]
    assert digests[0] == digests[1] != digests[2]
    assert SequenceData(one, np.arange(5)[::-1].copy()).digest() != digests[0]


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


@pytest.mark.parametrize("number", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("size", [1, 2, 8, 100])
def test_batches_by_words_have_two_samples_and_are_no_more_than_asked_for(number, size):
    lengths = np.random.default_rng(number).integers(1, 200, number)
    data = SequenceData(Sequences.of([np.zeros(length, np.int64) for length in lengths]), lengths, batch_by="tokens")
    batches = data.batches(size, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(number))
    assert len(batches) <= -(-number // size)
    assert number == 1 or min(map(len, batches)) > 1


def test_one_of_the_variants_is_drawn_each_epoch_and_the_first_answers():
    data = SequenceData(Sequences.of(_words(1, 2, 3)), np.arange(2), variants=np.array([[0, 1], [2, 2]]))
    rng, seen = np.random.default_rng(0), set()
    for _ in range(20):
        (rows,) = data.batches(2, rng)
        lengths = data.batch(np.sort(rows), rng)[0].lengths.tolist()
        assert lengths[1] == 3
        seen.add(lengths[0])
    assert seen == {1, 2}
    (rows,) = data.in_order(2)
    assert data.batch(rows)[0].lengths.tolist() == [1, 3]
