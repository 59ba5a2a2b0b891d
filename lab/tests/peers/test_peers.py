"""Published methods: what each is made of, and that all of them fit the frame."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from lab.tests.rooms import (
    RecurrentTraining,
    SourceVocabulary,
    coarsening_deeptune,
    deeptune,
    encode_function,
    grewe,
    grewe_features,
    inst2vec,
    ir2vec_trees,
    pretrain_language_model,
    read_statements,
)
from ncc.errors import InputError
from ncc_lab import Method, Subset
from tests.fixtures.coarsening import toy as kernels_on_devices  # noqa: F401
from tests.rooms import CoarseningSamples, DeviceMappingSamples, Embedding, TrainingConfig, Vocabulary, read_module
from tests.support.refuses import refuses

TRAIN, TEST = np.arange(16), np.arange(16, 24)
LOOP = TrainingConfig(epochs=40, batch_size=8, learning_rate=1e-2, weight_decay=0.0)
SMALL = RecurrentTraining(hidden=8, max_length=12, train_vectors=True, loop=LOOP)
Maker = Callable[[DeviceMappingSamples], Method[DeviceMappingSamples]]


def an_embedding() -> Embedding:
    words = ("define", "ret", "load", "<unknown>")
    vectors = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    return Embedding(Vocabulary(words, np.ones(4, np.int64)), 3 * vectors)


def make_inst2vec(samples: DeviceMappingSamples) -> Method[DeviceMappingSamples]:
    statements = [np.array([0, *[2] * (row % 5), 1]) for row in range(len(samples))]
    return inst2vec(statements, an_embedding(), dataclasses.replace(SMALL, train_vectors=False))


PEERS: dict[str, Maker] = {
    "grewe": lambda _: grewe(),
    "deeptune": lambda _: deeptune(SMALL),
    "inst2vec": make_inst2vec,
    "ir2vec": lambda samples: ir2vec_trees(np.random.default_rng(1).normal(size=(len(samples), 3))),
}
every_peer = pytest.mark.parametrize("make", PEERS.values(), ids=PEERS.keys())


@pytest.fixture
def table(toy: DeviceMappingSamples) -> DeviceMappingSamples:
    """The toy with counts that let Grewe et al.'s first feature be the transfer size, which decides the label."""
    counts = toy.counts.copy()
    counts[:, :6] = [4, 0, 2, 0, 1, 0]
    return dataclasses.replace(toy, counts=counts)


def scores(
    method: Method[Any], samples: DeviceMappingSamples, rows: np.ndarray, train: np.ndarray = TRAIN, seed: int = 7
) -> np.ndarray:
    hidden = samples.without_answers(np.setdiff1d(np.arange(len(samples)), train))
    return method.predict(Subset(hidden, train), Subset(hidden, rows), np.random.default_rng(seed))


@every_peer
def test_a_peer_learns_what_decides_from_the_generator_alone(make: Maker, table: DeviceMappingSamples) -> None:
    torch.manual_seed(1)
    predicted = scores(make(table), table, TEST)
    assert predicted.shape == TEST.shape
    assert predicted.dtype == np.float64
    assert (np.abs(predicted) <= 0.5).all()
    assert ((predicted > 0) == table.is_gpu[TEST]).all()
    state = torch.random.get_rng_state()
    again = make(table)
    scores(again, table, TRAIN, train=TEST, seed=3)  # what was learnt before is forgotten
    assert np.array_equal(scores(again, table, TEST), predicted)
    assert torch.equal(torch.random.get_rng_state(), state)
    # a row does not depend on the rows beside it
    assert scores(again, table, TEST[::-1])[::-1] == pytest.approx(predicted, abs=1e-5)


@every_peer
def test_test_rows_are_not_looked_at_in_training(make: Maker, table: DeviceMappingSamples) -> None:
    def altered(column: np.ndarray, value: object) -> np.ndarray:
        copy = column.copy()
        copy[TEST] = value
        return copy

    other = dataclasses.replace(
        table,
        counts=altered(table.counts, 77.0),
        transfer_bytes=altered(table.transfer_bytes, 1e12),
        wgsize=altered(table.wgsize, 1.0),
        source=altered(table.source, "§ other"),
    )
    assert np.array_equal(scores(make(other), other, TRAIN), scores(make(table), table, TRAIN))


@every_peer
def test_training_rows_of_one_device(make: Maker, table: DeviceMappingSamples) -> None:
    for label in (True, False):
        rows = np.flatnonzero(table.is_gpu == label)
        assert ((scores(make(table), table, rows[6:], train=rows[:6]) > 0) == label).all()


def test_grewe_features() -> None:
    #       comp rational mem localmem coalesced atomic transfer wgsize
    counts = [[6, 1, 2, 1, 1, 0, 80, 64], [0, 0, 0, 3, 3, 0, 80, 64], [5, 0, 0, 0, 0, 0, 80, 64]]
    expected = [[10.0, 0.5, 32.0, 3.0], [0.0] * 4, [16.0, 0.0, 0.0, 0.0]]
    assert np.array_equal(grewe_features(np.array(counts, np.float64)), expected)


def test_the_longest_token_comes_first_and_the_rest_is_spelt_or_unknown() -> None:
    def spelt(vocabulary: SourceVocabulary, text: str) -> list[str]:
        return [(*vocabulary.tokens, "?")[number] for number in vocabulary.encode(text)]

    text = "uint4 xy = get_global_id(0);\n  double d;"
    tokens = spelt(SourceVocabulary.of([text]), text)
    assert tokens[:7] == ["uint4", " ", "x", "y", " ", "=", " "]
    assert tokens[7:] == ["get_global_id", "(", "0", ")", ";", "\n", "  ", "double", " ", "d", ";"]
    vocabulary = SourceVocabulary.of(["float a; do"])
    assert spelt(vocabulary, "double float4") == ["do", "?", "?", "?", "?", " ", "float", "?"]
    assert vocabulary.encode("").shape == (0,)


def test_the_last_words_are_read(table: DeviceMappingSamples) -> None:
    words = [np.arange(20), np.arange(8, 20), np.arange(12)]
    texts = ["".join(chr(ord("a") + i) for i in sequence) for sequence in words]
    same = dataclasses.replace(
        table,
        source=np.array([*texts, *table.source[3:]], dtype=object),
        transfer_bytes=np.ones(24),
        wgsize=np.ones(24),
    )
    method = deeptune(dataclasses.replace(SMALL, loop=dataclasses.replace(LOOP, epochs=1)))
    whole, end, start = scores(method, same, np.arange(3), train=np.arange(24))
    assert whole == pytest.approx(end, abs=1e-6)
    assert whole != pytest.approx(start, abs=1e-6)
    with refuses(InputError, "max_length", "0"):
        dataclasses.replace(SMALL, max_length=0)


MODULE = b"""
define float @callee(float %v) {
  %w = fadd float %v, %v
  ret float %w
}
define spir_kernel void @k(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %q
  %y = call float @callee(float %x)
  store float %y, ptr %q
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


def test_statements_of_one_source_are_those_of_its_first_row(
    table: DeviceMappingSamples, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [table.ir_name(row) for row in range(len(table))]
    legacy = dict.fromkeys(names, b"define void @f() {\n  unreachable\n}\n")
    legacy[names[0]] = b"define void @f() {\n  ret void\n}\ndefine void @g() {\n  ret void\n}\n"
    monkeypatch.setattr("ncc_lab.peers.sequences.load_legacy_ir", lambda _folder: legacy)
    statements = read_statements(table, an_embedding())
    same = table.source == table.source[0]
    for row in range(len(table)):
        assert statements[row].tolist() == ([0, 1, 0, 1] if same[row] else [0, 3])


def test_flow_aware_vectors_are_sums_that_hold_their_operands_definitions() -> None:
    module = read_module(MODULE)
    unit = np.eye(len(module.texts))

    def vector(text: str) -> np.ndarray:
        return np.asarray(unit[module.texts.index(text)])

    def of(text: str) -> np.ndarray:
        (statement,) = {full for full in module.texts if text in full}
        return vector(statement)

    w, phi, following = of("fadd"), of("phi"), of("add i64") + 0.2 * of("phi")
    q = of("getelementptr") + 0.2 * phi
    x = of("load") + 0.2 * q
    y = of("call") + 0.2 * x
    store = of("store") + 0.2 * y + 0.2 * q
    more = of("icmp") + 0.2 * following
    branch, ret = of("br i1") + 0.2 * more, of("ret float") + 0.2 * w
    plain = of("define float") + of("define void") + of("br label") + of("ret void")
    expected = plain + w + ret + phi + q + x + y + store + following + more + branch
    assert encode_function(module, 1, vector) == pytest.approx(expected)


def test_wrong_input_is_refused(table: DeviceMappingSamples) -> None:
    with refuses(InputError, "features", "(24, k)", "(23, 3)"):
        scores(ir2vec_trees(np.zeros((23, 3))), table, TEST)
    with refuses(InputError, "statements", "24", "1"):
        scores(inst2vec([np.zeros(3, np.int64)], an_embedding()), table, TEST)


def test_deeptune_learns_coarsening_from_texts_and_starts_from_a_language_model(
    kernels_on_devices: CoarseningSamples,  # noqa: F811
    table: DeviceMappingSamples,
) -> None:
    texts = [f"barrier(1); a[{k}]" if int(k[1:]) % 2 else f"sqrt(2.0f) * a[{k}]" for k in kernels_on_devices.kernel]
    samples = dataclasses.replace(kernels_on_devices, source=np.array(texts, dtype=object))
    test, train = np.arange(8), np.arange(8, 32)
    loop = TrainingConfig(epochs=40, batch_size=64, learning_rate=2e-2, weight_decay=0.0)
    small = dataclasses.replace(SMALL, loop=loop, max_length=64)
    hidden = samples.without_answers(test)
    predicted = coarsening_deeptune(training=small).predict(
        Subset(hidden, train), Subset(hidden, test), np.random.default_rng(7)
    )
    np.testing.assert_allclose(predicted.sum(axis=1), 1, atol=1e-6)
    assert predicted.argmax(axis=1).tolist() == samples.best[test].tolist()
    once = dataclasses.replace(loop, epochs=1)
    model = pretrain_language_model(table, training=dataclasses.replace(SMALL, hidden=64, loop=once))
    assert model.tensors["vectors"].shape == (len(model.tokens) + 1, 64)
    assert not any(name.startswith(("dense", "norm", "output")) for name in model.tensors)
    method = coarsening_deeptune(model, dataclasses.replace(small, hidden=64, loop=once))
    assert method.name == "DeepTune-TL"
    before = model.tensors["vectors"].copy()
    found = method.predict(Subset(hidden, train), Subset(hidden, test), np.random.default_rng(7))
    assert found.shape == (8, 6)
    np.testing.assert_array_equal(model.tensors["vectors"], before)  # not trained in place
