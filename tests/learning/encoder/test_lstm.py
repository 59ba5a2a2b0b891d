"""The encoder and its head in torch and in NumPy: the same numbers, and padding that does not matter."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.rooms import EncoderConfig, EncoderNetwork, HeadConfig, NumpyNetwork, Sequences

WORDS, DIM, AUXILIARY, LENGTHS = 40, 10, 6, (1, 2, 7, 30)
POOLED = EncoderConfig(hidden=12, pooling=("last", "mean", "max"), dropout=0.3)
PAPER = EncoderConfig(hidden=12, dropout=0.2, memory=20)
CLASSIFIER = EncoderConfig(
    hidden=12,
    layers=1,
    bidirectional=True,
    pooling=("mean", "max", "attention"),
    pool_inputs=True,
    buckets=30,
    last_dropout=0.3,
    word_dropout=0.1,
    train_vectors=True,
)
ENCODERS = {
    "paper": PAPER,
    "pooled": POOLED,
    "classifier": CLASSIFIER,
    "one layer": replace(POOLED, layers=1),
    "three layers": replace(CLASSIFIER, layers=3),
    "last of both ways": EncoderConfig(hidden=5, bidirectional=True),
    "one unit": EncoderConfig(hidden=1, pooling=("attention",), buckets=3),
}
BATCH, LAYER = HeadConfig(dense=7, dropout=0.2), HeadConfig(dense=7, norm="layer", dense_dropout=0.2)
every_encoder = pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)


def _model(encoder=POOLED, head=BATCH, num_outputs=2, num_auxiliary=AUXILIARY):
    """In evaluation mode, with statistics of batch normalisation that are not those of the start."""
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    model = EncoderNetwork(vectors, num_outputs, encoder, head, num_auxiliary)
    with torch.no_grad():
        for name, tensor in model.head.norm.state_dict().items():
            if name in ("weight", "running_var"):
                tensor.uniform_(0.5, 2)
            elif tensor.is_floating_point():
                tensor.normal_()
    return model.eval()


def _sequences(buckets=30, seed=3) -> Sequences:
    rng = np.random.default_rng(seed)
    start = np.cumsum([0, *LENGTHS])
    literal_start = np.concatenate([[0], np.cumsum(rng.integers(0, 3, start[-1]))])
    literals = rng.integers(0, max(buckets, 1), literal_start[-1])
    return Sequences(start, rng.integers(0, WORDS, start[-1]), literal_start, literals)


def _batch(sequences=None, num_auxiliary=AUXILIARY):
    """Three samples for each sequence."""
    owner = np.repeat(np.arange(len(LENGTHS)), 3)
    auxiliary = np.random.default_rng(5).normal(size=(len(owner), num_auxiliary)).astype(np.float32)
    return (sequences or _sequences()).batch(np.arange(len(LENGTHS)), auxiliary, owner)


def _longer(batch, extra=25, filler=0):
    """The batch with more padding, of some word."""
    words = torch.nn.functional.pad(batch.words, (0, extra))
    starts = torch.nn.functional.pad(batch.literal_start.view_as(batch.words), (0, extra))
    ends = torch.cat([starts[1:, 0], torch.tensor([len(batch.literals)])])
    for row, length in enumerate(batch.lengths.tolist()):
        words[row, length:] = filler
        starts[row, batch.words.shape[1] :] = ends[row]
    return batch._replace(words=words, literal_start=starts.flatten())


@every_encoder
@pytest.mark.parametrize("head", [BATCH, LAYER], ids=["batch", "layer"])
def test_numpy_gives_what_torch_gives(encoder, head):
    model, sequences = _model(encoder, head), _sequences(encoder.buckets)
    batch = _batch(sequences)
    with torch.no_grad():
        expected = model(*batch).numpy()
        vectors = model.encoder(*batch[:4]).numpy()
    network = NumpyNetwork.from_arrays(model.to_arrays(), model.encoder.config)
    assert (network.encoder.dim, network.head.num_auxiliary, network.head.num_outputs) == (DIM, AUXILIARY, 2)
    for row in range(len(LENGTHS)):
        begin, end = sequences.start[row], sequences.start[row + 1]
        first, last = sequences.literal_start[begin], sequences.literal_start[end]
        starts = (sequences.literal_start[begin : end + 1] - first).astype(np.int32)
        inputs = model.encoder.vectors.detach().numpy()[sequences.word[begin:end]]
        found = network.encoder.encode(inputs, sequences.literal[first:last].astype(np.uint32), starts)
        assert found.shape == (encoder.vector_size(DIM),)
        assert found == pytest.approx(vectors[row], abs=1e-5)
        mine = batch.owner.numpy() == row
        assert network.head.outputs(found, batch.auxiliary.numpy()[mine]) == pytest.approx(expected[mine], abs=1e-5)


@every_encoder
@pytest.mark.parametrize("filler", [0, 17])
def test_what_lies_behind_a_sequence_does_not_matter(filler, encoder):
    model, batch = _model(encoder), _batch(_sequences(encoder.buckets))
    with torch.no_grad():
        assert torch.allclose(model(*_longer(batch, filler=filler)), model(*batch), atol=1e-5)


def test_vectors_are_trained_only_where_asked_and_are_the_models_own():
    given = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    before = given.copy()
    batch = _batch()
    inside = {w for row, length in zip(batch.words, LENGTHS, strict=True) for w in row[:length].tolist()}
    for train in (True, False):
        model = EncoderNetwork(given, 2, replace(POOLED, train_vectors=train), BATCH, AUXILIARY)
        model(*batch).square().sum().backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        changed = (model.to_arrays()["vectors"] != before).any(axis=1)
        assert set(np.flatnonzero(changed).tolist()) == (inside if train else set())
    assert np.array_equal(given, before)


def test_the_published_head_reads_the_last_state_of_two_layers():
    model, sequences = _model(PAPER), _sequences()
    both = torch.nn.LSTM(DIM, 12, 2, batch_first=True)
    for number, layer in enumerate(model.encoder.ahead):
        for name, tensor in layer.named_parameters():
            both.get_parameter(name.replace("l0", f"l{number}")).data = tensor.data
    batch = sequences.batch(np.arange(4))
    with torch.no_grad():
        got = model.encoder(*batch[:4])
        for row, length in enumerate(LENGTHS):
            _, (last, _) = both(model.encoder.vectors[batch.words[row, :length]])
            assert torch.allclose(got[row], last[-1], atol=1e-6)
    assert model.head.dense.in_features == 12 + AUXILIARY
