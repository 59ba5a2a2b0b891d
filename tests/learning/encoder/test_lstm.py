"""The encoder and its head in torch and in NumPy: the same numbers, and padding that does not matter."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncc.errors import InputError
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


def _in_numpy(model) -> NumpyNetwork:
    return NumpyNetwork.from_arrays(model.to_arrays(), model.encoder.config)


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
    network = _in_numpy(model)
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


def test_without_auxiliary_inputs():
    model, sequences = _model(num_auxiliary=0, num_outputs=5), _sequences()
    inputs = model.encoder.vectors.numpy()[sequences.word[-30:]]
    with torch.no_grad():
        expected = model(*sequences.batch(np.arange(4))[:4]).numpy()[3]
        also = model(*_batch(sequences, 0)).numpy()[-1]
    network = _in_numpy(model)
    assert network.head.outputs(network.encoder.encode(inputs))[0] == pytest.approx(expected, abs=1e-5)
    assert also == pytest.approx(expected, abs=1e-6)


@every_encoder
@pytest.mark.parametrize("filler", [0, 17])
def test_what_lies_behind_a_sequence_does_not_matter(filler, encoder):
    model, batch = _model(encoder), _batch(_sequences(encoder.buckets))
    with torch.no_grad():
        assert torch.allclose(model(*_longer(batch, filler=filler)), model(*batch), atol=1e-5)


def test_padding_gets_no_gradient():
    batch = _longer(_batch())
    places = batch.words.numel()
    model = _model(replace(POOLED, train_vectors=True))
    model.encoder.vectors = torch.nn.Parameter(model.encoder.vectors[batch.words].reshape(places, DIM).detach())
    model(*batch._replace(words=torch.arange(places).view_as(batch.words))).sum().backward()
    touched = (model.encoder.vectors.grad.abs().sum(dim=1) > 0).view_as(batch.words)
    assert touched.sum(dim=1).tolist() == list(LENGTHS)


def test_samples_that_share_a_sequence_are_its_own_rows():
    model, sequences = _model(), _sequences()
    auxiliary = _batch().auxiliary[:3].numpy()
    owners = [2, 0, 2]
    with torch.no_grad():
        got = model(*sequences.batch(np.array([0, 2]), auxiliary, np.array([1, 0, 1])))
        alone = [model(*sequences.batch(np.array([o]), auxiliary[[i]])) for i, o in enumerate(owners)]
    assert torch.allclose(got, torch.cat(alone), atol=1e-6)


def test_long_sequences_stay_finite():
    assert np.isfinite(_in_numpy(_model()).encoder.encode(np.full((3000, DIM), 50, np.float32))).all()


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


def test_gates_that_begin_by_remembering():
    for layer in _model(PAPER).encoder.ahead:
        forget, opening = layer.bias_ih_l0[12:24], layer.bias_ih_l0[:12]
        assert torch.equal(forget, -opening)
        assert 0 <= float(forget.detach().min()) <= float(forget.detach().max()) <= np.log(19)
        assert not layer.bias_hh_l0.any()


def test_outputs_of_the_code_alone_come_behind_the_others():
    batch = _batch()
    model = _model(head=replace(BATCH, code_outputs=True))
    with torch.no_grad():
        got, other = model(*batch), model(*batch._replace(auxiliary=2 * batch.auxiliary))
        expected = model.head.code_output(model.encoder(*batch[:4]))[batch.owner]
        model.head.code_output = None
        alone = model(*batch)
    assert torch.equal(got[:, :2], alone)
    assert torch.allclose(got[:, 2:], expected, atol=1e-6)
    assert torch.equal(got[:, 2:], other[:, 2:])
    assert not torch.equal(got[:, :2], other[:, :2])


def test_dropout_is_that_of_training_alone():
    model, batch = _model(replace(CLASSIFIER, dropout=0.3)), _batch()
    with torch.no_grad():
        still = model(*batch)
        assert torch.equal(model(*batch), still)
        model.train()
        model.head.norm.eval()
        assert not torch.equal(model(*batch), still)


def test_what_was_learnt_goes_into_another_network():
    one, batch = _model(CLASSIFIER), _batch()
    other = EncoderNetwork(np.zeros((WORDS, DIM), np.float32), 2, CLASSIFIER, BATCH, AUXILIARY).eval()
    other.load_arrays(one.to_arrays())
    with torch.no_grad():
        assert torch.equal(other(*batch), one(*batch))


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (EncoderConfig, {"hidden": 0}, "hidden is 0; expected 1 or more"),
        (EncoderConfig, {"layers": 0}, "layers is 0; expected 1 or more"),
        (EncoderConfig, {"buckets": -1}, "buckets is -1; expected 0 or more"),
        (EncoderConfig, {"dropout": 1.0}, "dropout is 1.0; expected at least 0 and below 1"),
        (EncoderConfig, {"word_dropout": -0.1}, "word_dropout is -0.1"),
        (EncoderConfig, {"pooling": ()}, "expected some of last, mean, max, attention, each once"),
        (EncoderConfig, {"pooling": ("mean", "mean")}, "each once"),
        (EncoderConfig, {"pooling": ("sum",)}, "each once"),
        (EncoderConfig, {"memory": 1}, "memory is 1; expected 2 or more"),
        (HeadConfig, {"dense": 0}, "dense is 0; expected 1 or more"),
        (HeadConfig, {"norm": "none"}, "norm is 'none'; expected one of batch, layer"),
        (HeadConfig, {"dense_dropout": 1.5}, "dense_dropout is 1.5"),
    ],
)
def test_sizes_out_of_range_are_refused(kind, wrong, message):
    with pytest.raises(InputError, match=message):
        kind(**wrong)


@pytest.mark.parametrize("name", sorted(set(_model(CLASSIFIER).to_arrays()) - {"vectors", "norm.running_mean"}))
def test_a_tensor_that_is_missing_or_wrong_is_named(name):
    arrays = _model(CLASSIFIER).to_arrays()
    without = {key: value for key, value in arrays.items() if key != name}
    with pytest.raises((InputError, KeyError), match=name):
        NumpyNetwork.from_arrays(without, CLASSIFIER)
    with pytest.raises(InputError, match="missing, wrong or superfluous"):
        NumpyNetwork.from_arrays(arrays | {name: np.append(arrays[name], arrays[name][..., :1], -1)}, CLASSIFIER)


@pytest.mark.parametrize("change", [{"layers": 1}, {"layers": 3}, {"layers": 10**9}, {"bidirectional": True}], ids=str)
def test_another_encoder_is_refused(change):
    with pytest.raises(InputError, match=r"missing, wrong or superfluous|an encoder of"):
        NumpyNetwork.from_arrays(_model().to_arrays(), replace(POOLED, **change))
