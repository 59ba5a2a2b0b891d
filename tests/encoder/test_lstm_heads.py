"""The LSTM head in torch and in NumPy: the same numbers, and padding that does not matter."""

import numpy as np
import pytest
import torch

from ncc.devices.mixture import NUM_AUXILIARY
from ncc.encoder.inference import NumpyLSTMHead
from ncc.encoder.lstm import LSTMHead, LSTMHeadConfig

WORDS, DIM = 40, 10


def _batch(lengths=(1, 2, 7, 30), pad_to=30, filler=0, seed=3):
    rng = np.random.default_rng(seed)
    words = torch.full((len(lengths), pad_to), filler, dtype=torch.int64)
    for row, length in enumerate(lengths):
        words[row, :length] = torch.from_numpy(rng.integers(0, WORDS, length))
    owner = torch.arange(len(lengths)).repeat_interleave(3)
    auxiliary = torch.from_numpy(rng.normal(size=(len(owner), NUM_AUXILIARY)).astype(np.float32))
    return words, torch.tensor(lengths), auxiliary, owner


@pytest.mark.parametrize("sizes", [{}, {"layers": 1}, {"layers": 3}, {"hidden": 1, "dense": 1}, {"num_outputs": 5}])
def test_numpy_gives_what_torch_gives(sizes, lstm_head, in_numpy):
    model = lstm_head(**sizes)
    words, lengths, auxiliary, owner = _batch()
    with torch.no_grad():
        expected = model(words, lengths, auxiliary, owner).numpy()
        encoded = model.encode(words, lengths).numpy()
    head = in_numpy(model)
    for row, length in enumerate(lengths.tolist()):
        code = head.encode(model.vectors.numpy()[words[row, :length].numpy()])
        assert code == pytest.approx(encoded[row], abs=1e-5)
        mine = owner.numpy() == row
        assert head.outputs(code, auxiliary.numpy()[mine]) == pytest.approx(expected[mine], abs=1e-5)


def test_without_auxiliary_inputs(lstm_head, in_numpy):
    model = lstm_head(num_auxiliary=0)
    words, lengths, _, _ = _batch()
    with torch.no_grad():
        expected = model(words, lengths, torch.zeros(4, 0), torch.arange(4)).numpy()
    head = in_numpy(model)
    code = head.encode(model.vectors.numpy()[words[3].numpy()])
    assert head.outputs(code, np.zeros((1, 0), np.float32))[0] == pytest.approx(expected[3], abs=1e-5)


@pytest.mark.parametrize("filler", [0, 17])
def test_what_lies_behind_a_sequence_does_not_matter(filler, lstm_head):
    model = lstm_head()
    words, lengths, auxiliary, owner = _batch()
    longer, _, _, _ = _batch(pad_to=55, filler=filler)
    with torch.no_grad():
        expected, got = model(words, lengths, auxiliary, owner), model(longer, lengths, auxiliary, owner)
    assert torch.allclose(got, expected, atol=1e-6)


def test_padding_gets_no_gradient(lstm_head):
    model = lstm_head()
    words, lengths, auxiliary, owner = _batch(lengths=(2, 5), pad_to=9)
    model.vectors = model.vectors[words].reshape(-1, DIM).clone().requires_grad_()
    model(torch.arange(18).reshape(2, 9), lengths, auxiliary, owner).sum().backward()
    touched = (model.vectors.grad.abs().sum(dim=1) > 0).reshape(2, 9)
    assert touched.sum(dim=1).tolist() == [2, 5]


def test_samples_that_share_a_sequence_are_its_own_rows(lstm_head):
    model = lstm_head()
    words, lengths, auxiliary, _ = _batch()
    owner = torch.tensor([2, 0, 2])
    with torch.no_grad():
        got = model(words, lengths, auxiliary[:3], owner)
        expected = [
            model(words[[o]], lengths[[o]], auxiliary[[i]], torch.tensor([0])) for i, o in enumerate(owner.tolist())
        ]
    assert torch.allclose(got, torch.cat(expected), atol=1e-6)


def test_long_sequences_stay_finite(lstm_head, in_numpy):
    head = in_numpy(lstm_head())
    code = head.encode(np.full((3000, DIM), 50, np.float32))
    assert np.isfinite(code).all()


def test_vectors_are_neither_trained_nor_saved(lstm_head):
    model = lstm_head()
    assert "vectors" not in model.state_dict()
    assert not any(parameter is model.vectors for parameter in model.parameters())


def test_the_published_head_reads_the_last_state_alone(lstm_head):
    model = lstm_head(pooled=False)
    words, lengths, _, _ = _batch()
    with torch.no_grad():
        got = model.encode(words, lengths)
        for row, length in enumerate(lengths.tolist()):
            _, (last, _) = model.lstm(model.vectors[words[row, :length]])
            assert torch.allclose(got[row], last[-1], atol=1e-6)
    assert model.dense.in_features == 12 + NUM_AUXILIARY


@pytest.mark.parametrize("pooled", [False, True])
def test_outputs_of_the_code_alone_come_behind_the_others(pooled, lstm_head):
    words, lengths, auxiliary, owner = _batch()
    model = lstm_head(pooled=pooled, code_outputs=True)
    with torch.no_grad():
        got, other = (model(words, lengths, inputs, owner) for inputs in (auxiliary, 2 * auxiliary))
        expected = model.code_output(model.encode(words, lengths))[owner]
        model.code_output = None
        alone = model(words, lengths, auxiliary, owner)
    assert torch.equal(got[:, :2], alone)
    assert torch.allclose(got[:, 2:], expected, atol=1e-6)
    assert torch.equal(got[:, 2:], other[:, 2:])
    assert not torch.equal(got[:, :2], other[:, :2])


def test_vectors_that_are_trained_are_the_models_own():
    given = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    before = given.copy()
    model = LSTMHead(given, LSTMHeadConfig(num_outputs=2, num_auxiliary=NUM_AUXILIARY, train_vectors=True))
    words, lengths, auxiliary, owner = _batch()
    model(words, lengths, auxiliary, owner).square().sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    inside = {word for row, length in zip(words, lengths, strict=True) for word in row[:length].tolist()}
    changed = (model.state_dict()["vectors"].numpy() != before).any(axis=1)
    assert set(np.flatnonzero(changed).tolist()) == inside
    assert np.array_equal(given, before)


def test_heads_that_were_saved_before_these_choices_still_fit(lstm_head):
    names = {name.split(".")[0] for name in lstm_head().state_dict()}
    assert names == {"lstm", "norm", "dense", "output"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_outputs": 0}, "must be 1 or more"),
        ({"hidden": 0}, "must be 1 or more"),
        ({"layers": 0}, "must be 1 or more"),
        ({"dense": 0}, "must be 1 or more"),
        ({"num_auxiliary": -1}, "num_auxiliary 0 or more"),
        ({"dropout": 1.0}, "dropout is 1.0; expected at least 0 and below 1"),
        ({"dropout": -0.1}, "dropout is -0.1"),
    ],
)
def test_sizes_out_of_range_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        LSTMHeadConfig(**({"num_outputs": 2} | wrong))


@pytest.mark.parametrize("layers", [1, 2])
def test_one_layer_needs_no_dropout_between(layers):
    LSTMHead(np.zeros((3, 2), np.float32), LSTMHeadConfig(num_outputs=1, layers=layers, dropout=0.5))


@pytest.mark.parametrize(
    "name", ["lstm.weight_ih_l0", "lstm.bias_hh_l1", "norm.running_var", "dense.bias", "output.weight", "output.bias"]
)
def test_a_tensor_that_is_missing_or_wrong_is_named(name, lstm_head, in_numpy):
    head = in_numpy(lstm_head())
    without = {key: value for key, value in head.tensors.items() if key != name}
    with pytest.raises((ValueError, KeyError), match=name):
        NumpyLSTMHead(without, 2)
    with pytest.raises(ValueError, match="missing, wrong or superfluous"):
        NumpyLSTMHead(without | {name: head.tensors[name][:-1]}, 2)


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_another_number_of_layers_is_refused(layers, lstm_head, in_numpy):
    with pytest.raises(ValueError, match=f"head of {layers} layer"):
        NumpyLSTMHead(in_numpy(lstm_head()).tensors, layers)
