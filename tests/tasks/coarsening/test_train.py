"""Thread coarsening by the LSTM: what it learns, its head, and its files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import AssetError, InputError
from tests.rooms import (
    DEVICES,
    FACTORS,
    CoarseningHead,
    CoarseningSamples,
    Embedding,
    EncoderConfig,
    HeadConfig,
    LSTMCoarseningHead,
    LSTMMethod,
    SpeedupTraining,
    TrainingConfig,
    Vocabulary,
    device_columns,
    load_coarsening_head,
    load_embedding,
    load_words,
    predict_coarsening,
    save_coarsening_head,
)

SMALL = SpeedupTraining(
    members=2,
    encoder=EncoderConfig(hidden=6, layers=1, pooling=("mean", "max")),
    head=HeadConfig(dense=8),
    loop=TrainingConfig(epochs=60, batch_size=16, learning_rate=2e-2),
)
KERNEL = b"""define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p, align 4
  store float %x, ptr addrspace(1) %p, align 4
  ret void
}
"""


def _embedding() -> Embedding:
    words = tuple(f"word {i}" for i in range(8))
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    return Embedding(Vocabulary(words, np.arange(8)), vectors)


def _samples(num_kernels: int = 12) -> tuple[CoarseningSamples, list[np.ndarray]]:
    """Kernels whose first word says whether to coarsen at all."""
    kernel = np.repeat([f"k{i}" for i in range(num_kernels)], len(DEVICES))
    gains = np.arange(num_kernels).repeat(len(DEVICES)) % 2 == 0
    steps = np.log2(FACTORS)
    runtime = np.exp(np.where(gains[:, None], -0.2, 0.2) * steps)
    rng = np.random.default_rng(1)
    words = [np.array([number % 2, *rng.integers(2, 8, 4 + number % 3)]) for number in range(num_kernels)]
    samples = CoarseningSamples(
        kernel=kernel,
        device=np.tile(DEVICES, num_kernels),
        source=kernel.astype(object),
        components=np.zeros((len(kernel), 6, 7)),
        runtime=runtime,
    )
    return samples, [words[row // len(DEVICES)] for row in range(len(kernel))]


@pytest.fixture(scope="module")
def fitted() -> LSTMMethod:
    samples, words = _samples()
    method = LSTMMethod(_embedding(), words, SMALL)
    hidden = samples.without_answers(np.arange(16))
    method.fit(hidden, np.arange(16, len(samples)), np.random.default_rng(0))
    return method


@pytest.fixture
def head(fitted: LSTMMethod) -> LSTMCoarseningHead:
    return fitted.to_head(np.array([0.8, 1.2]), {"note": "small"})


def test_it_learns_which_kernels_gain(fitted: LSTMMethod) -> None:
    samples, _ = _samples()
    found = fitted.predict(samples, np.arange(16))
    assert found.shape == (16, 6)
    assert (found[:, 0] == 1).all()
    assert (found.argmax(axis=1) > 0).tolist() == (samples.best[:16] > 0).tolist()


def test_the_same_seed_gives_the_same() -> None:
    samples, words = _samples()
    short = replace(SMALL, members=1, loop=replace(SMALL.loop, epochs=1))
    found = []
    for seed in (1, 1, 2):
        method = LSTMMethod(_embedding(), words, short)
        with pytest.raises(InputError, match="fit the method"):
            method.predict(samples, np.arange(2))
        method.fit(samples, np.arange(len(samples)), np.random.default_rng(seed))
        found.append(method.predict(samples, np.arange(4)))
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_all_devices_together_are_their_geometric_mean(head: LSTMCoarseningHead) -> None:
    encoded = head.ensemble.encode(_embedding().vectors)
    each = np.stack([head.speedups(encoded, device) for device in DEVICES])
    assert head.speedups(encoded, None) == pytest.approx(np.exp(np.log(each).mean(axis=0)))
    answer = head.predict(encoded, "Kepler")
    assert answer.speedup == answer.speedups[answer.factor] == max(answer.speedups.values())
    with pytest.raises(InputError, match="no device 'none'; expected one of Fermi"):
        head.predict(encoded, "none")
    assert device_columns(["Kepler"], DEVICES).tolist() == [[0, 1, 0, 0]]


def test_an_ensemble_is_rescaled_by_its_last_layer(head: LSTMCoarseningHead) -> None:
    mean, scale = np.arange(5, dtype=np.float32), np.linspace(1, 2, 5).astype(np.float32)
    encoded = head.ensemble.encode(_embedding().vectors)
    auxiliary = device_columns(DEVICES, DEVICES)
    before = head.ensemble.outputs(encoded, auxiliary)
    assert head.ensemble.rescaled(mean, scale).outputs(encoded, auxiliary) == pytest.approx(
        mean + scale * before, abs=1e-5
    )


def test_a_head_is_read_as_it_was_written(head: LSTMCoarseningHead, tmp_path: Path) -> None:
    save_coarsening_head(head, tmp_path)
    again = load_coarsening_head(tmp_path)
    assert isinstance(again, LSTMCoarseningHead)
    assert (again.devices, again.factors, again.about) == (head.devices, head.factors, head.about)
    assert again.spread.tolist() == [0.8, 1.2]
    encoded = head.ensemble.encode(_embedding().vectors)
    assert np.array_equal(again.ensemble.encode(_embedding().vectors), encoded)
    assert np.array_equal(again.speedups(encoded, "Fermi"), head.speedups(encoded, "Fermi"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("members", 3),
        ("members", 0),
        ("members", None),
        ("encoder", {}),
        ("encoder", 5),
        ("devices", ["Fermi"]),
        ("devices", None),
        ("factors", [1, 2]),
        ("factors", [2, 1, 4, 8, 16, 32]),
        ("embedding_id", 5),
        ("about", None),
        ("model", "forest"),
        ("model", "line"),
        ("format_version", 99),
    ],
)
def test_a_card_that_does_not_fit_is_refused(
    field: str, value: object, head: LSTMCoarseningHead, tmp_path: Path
) -> None:
    save_coarsening_head(head, tmp_path)
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps(card | {field: value}))
    with pytest.raises(AssetError):
        load_coarsening_head(tmp_path)


def test_an_answer_comes_from_the_head_that_is_given(head: LSTMCoarseningHead) -> None:
    embedding = load_embedding()
    with pytest.raises(AssetError, match="the head was trained on embedding"):
        predict_coarsening(KERNEL, head=head, embedding=embedding)
    method = LSTMMethod(embedding, _samples(2)[1], replace(SMALL, members=1, loop=replace(SMALL.loop, epochs=1)))
    method.fit(_samples(2)[0], np.arange(8), np.random.default_rng(0))
    own = method.to_head(np.ones(2), {})
    (answer,) = predict_coarsening(KERNEL, head=own, platform="Fermi", embedding=embedding)
    assert (answer.kernel, answer.platform, answer.num_statements) == ("k", "Fermi", 4)
    assert answer.speedups[1] == 1


def test_words_are_those_of_the_rows_kernels() -> None:
    samples, _ = _samples(2)
    words = load_words(samples, {"k0": KERNEL, "k1": KERNEL}, load_embedding())
    assert [len(sequence) for sequence in words] == [4] * 8


def test_the_head_that_ships_is_one_of_lines() -> None:
    from tests.rooms import load_coarsening_head

    assert isinstance(load_coarsening_head(), CoarseningHead)
