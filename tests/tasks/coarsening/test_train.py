"""What ``ncc train coarsening`` learns and says of it: from an invented table, and from the published one."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import AssetError, InputError
from tests.rooms import (
    DEVICES,
    FACTORS,
    CoarseningSamples,
    CompileOptions,
    Embedding,
    EncoderConfig,
    HeadConfig,
    LineHead,
    LSTMHead,
    LSTMTraining,
    TrainingConfig,
    Vocabulary,
    compile_source,
    divergent_share,
    fit_line,
    fit_lstm,
    load_coarsening_head,
    load_embedding,
    load_words,
    one_hot,
    predict_coarsening,
    read_module,
    save_coarsening_head,
    train_coarsening,
)

SMALL = LSTMTraining(
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


def test_lines_are_least_squares_shrunk_and_drawn_together(toy: CoarseningSamples) -> None:
    even = np.array([int(name[1:]) % 2 == 0 for name in toy.kernel])
    runtime = toy.runtime.copy()
    runtime[toy.device == "Tahiti", 1] *= np.exp(-0.4)
    changed = replace(toy, runtime=runtime)
    head = fit_line(changed, even.astype(float), np.arange(len(toy)))
    log_gain, log_loss = np.log(1.3), np.log(0.7)
    middle, shrunk = (log_gain + log_loss) / 2, 8 / (8 + 3) * (log_loss - log_gain)
    # a quarter of a device's own line, three quarters of that of all; Tahiti alone has 0.4 more
    assert head.offset[:, 1] - (middle - shrunk / 2) == pytest.approx([0.075, 0.075, 0.075, 0.175, 0.1])
    assert head.slope[:, 1] == pytest.approx([shrunk] * 5)
    assert (head.devices, head.factors) == (DEVICES, FACTORS)


def test_a_feature_that_never_varies_has_no_slope(toy: CoarseningSamples) -> None:
    assert not fit_line(toy, np.ones(len(toy)), np.arange(len(toy))).slope.any()


@pytest.fixture(scope="module")
def shipped_again(published: CoarseningSamples, published_ir: dict[str, bytes]) -> LineHead:
    head = train_coarsening()
    assert isinstance(head, LineHead)
    return head


def test_what_ships_is_what_the_command_makes(shipped_again: LineHead) -> None:
    shipped = load_coarsening_head()
    for name, value in vars(shipped_again).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(getattr(shipped, name), value, rtol=1e-9, atol=1e-12)
        elif name != "card":
            assert getattr(shipped, name) == value
    card = shipped.card
    assert {name: card[name] for name in shipped_again.card} == shipped_again.card
    assert card["controls"]["best constant"]["geomean_speedup"] < card["geomean_speedup"]
    assert card["geomean_speedup"] < card["controls"]["perfect choice"]["geomean_speedup"]


def test_it_answers_for_the_ir_and_for_the_source_of_published_kernels(
    shipped_again: LineHead, published: CoarseningSamples, published_ir: dict[str, bytes]
) -> None:
    for name, pays in (("sgemm", True), ("floydWarshall", True), ("spmv", False), ("mvCoal", False)):
        source = str(published.source[published.kernel == name][0])
        # the IR that it was trained on is LLVM 5's for a CPU; what users have is that of their own source
        for ir in (published_ir[name], compile_source(source.encode(), CompileOptions(language="opencl")).ir):
            share = divergent_share(read_module(ir))
            assert [shipped_again.speedups(share, device).argmax() > 0 for device in (*DEVICES, None)] == [pays] * 5


def _embedding() -> Embedding:
    words = tuple(f"word {i}" for i in range(8))
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    return Embedding(Vocabulary(words, np.arange(8)), vectors)


def _samples(num_kernels: int = 12) -> tuple[CoarseningSamples, list[np.ndarray]]:
    """Kernels whose first word says whether to coarsen at all."""
    kernel = np.repeat([f"k{i}" for i in range(num_kernels)], len(DEVICES))
    gains = np.arange(num_kernels).repeat(len(DEVICES)) % 2 == 0
    rng = np.random.default_rng(1)
    words = [np.array([number % 2, *rng.integers(2, 8, 4 + number % 3)]) for number in range(num_kernels)]
    samples = CoarseningSamples(
        kernel=kernel,
        device=np.tile(DEVICES, num_kernels),
        source=kernel.astype(object),
        components=np.zeros((len(kernel), 6, 7)),
        runtime=np.exp(np.where(gains[:, None], -0.2, 0.2) * np.log2(FACTORS)),
    )
    return samples, [words[row // len(DEVICES)] for row in range(len(kernel))]


@pytest.fixture(scope="module")
def lstm() -> LSTMHead:
    samples, words = _samples()
    hidden = samples.without_answers(np.arange(16))
    return fit_lstm(hidden, words, _embedding(), SMALL, np.random.default_rng(0), np.arange(16, len(samples)))


def test_networks_learn_which_kernels_gain(lstm: LSTMHead) -> None:
    samples, words = _samples()
    found = np.stack([lstm.speedups(lstm.ensemble.encode(_embedding().vectors[word])) for word in words[:16]])
    assert (found[:, 0] == 1).all()
    assert (found.argmax(axis=1) > 0).tolist() == (samples.best[:16] > 0).tolist()


def test_the_same_seed_gives_the_same() -> None:
    samples, words = _samples()
    short = replace(SMALL, members=1, loop=replace(SMALL.loop, epochs=1))
    fit = partial(fit_lstm, samples, words, _embedding(), short)
    heads = [fit(np.random.default_rng(seed), np.arange(len(samples))) for seed in (1, 1, 2)]
    first, same, other = (head.speedups(head.ensemble.encode(_embedding().vectors)) for head in heads)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_all_devices_together_are_their_geometric_mean(lstm: LSTMHead) -> None:
    encoded = lstm.ensemble.encode(_embedding().vectors)
    each = np.stack([lstm.speedups(encoded, device) for device in DEVICES])
    assert lstm.speedups(encoded, None) == pytest.approx(np.exp(np.log(each).mean(axis=0)))
    with pytest.raises(InputError, match="no device 'none'; expected one of Fermi"):
        lstm.speedups(encoded, "none")
    assert one_hot(["Kepler"], DEVICES).tolist() == [[0, 1, 0, 0]]


def test_an_ensemble_is_rescaled_by_its_last_layer(lstm: LSTMHead) -> None:
    mean, scale = np.arange(5, dtype=np.float32), np.linspace(1, 2, 5).astype(np.float32)
    encoded, auxiliary = lstm.ensemble.encode(_embedding().vectors), one_hot(DEVICES, DEVICES)
    before = lstm.ensemble.outputs(encoded, auxiliary)
    after = lstm.ensemble.rescaled(mean, scale).outputs(encoded, auxiliary)
    assert after == pytest.approx(mean + scale * before, abs=1e-5)


def test_networks_are_read_as_they_were_written(lstm: LSTMHead, tmp_path: Path) -> None:
    save_coarsening_head(replace(lstm, card={"note": "small"}), tmp_path)
    again = load_coarsening_head(tmp_path)
    assert isinstance(again, LSTMHead)
    assert (again.devices, again.factors, again.card) == (lstm.devices, lstm.factors, {"note": "small"})
    encoded = lstm.ensemble.encode(_embedding().vectors)
    assert np.array_equal(again.ensemble.encode(_embedding().vectors), encoded)
    assert np.array_equal(again.speedups(encoded, "Fermi"), lstm.speedups(encoded, "Fermi"))


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
        ("card", None),
        ("model", "forest"),
        ("model", "line"),
        ("format_version", 99),
    ],
)
def test_a_card_that_does_not_fit_is_refused(field: str, value: object, lstm: LSTMHead, tmp_path: Path) -> None:
    save_coarsening_head(lstm, tmp_path)
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps(card | {field: value}))
    with pytest.raises(AssetError):
        load_coarsening_head(tmp_path)


def test_an_answer_comes_from_the_head_that_is_given(lstm: LSTMHead) -> None:
    embedding = load_embedding()
    with pytest.raises(AssetError, match="the head was trained on embedding"):
        predict_coarsening(KERNEL, head=lstm, embedding=embedding)
    samples, words = _samples(2)
    short = replace(SMALL, members=1, loop=replace(SMALL.loop, epochs=1))
    head = fit_lstm(samples, words, embedding, short, np.random.default_rng(0), np.arange(8))
    (answer,) = predict_coarsening(KERNEL, head=head, device="Fermi", embedding=embedding)
    assert (answer.kernel, answer.device, answer.num_statements) == ("k", "Fermi", 4)
    assert answer.speedups[1] == 1
    assert (answer.features_used, answer.is_constant) == ({}, False)


def test_words_are_those_of_the_rows_kernels() -> None:
    samples, _ = _samples(2)
    words = load_words(samples, {"k0": KERNEL, "k1": KERNEL}, load_embedding())
    assert [len(sequence) for sequence in words] == [4] * 8
