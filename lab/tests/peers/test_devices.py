"""Published methods of device mapping: what each is made of, and that all of them fit the frame."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
import torch

from lab.tests.rooms import (
    DeepTune,
    Inst2vec,
    Method,
    RecurrentTraining,
    Subset,
    compare,
    deeptune,
    device_mapping,
    encode_function,
    function_vectors,
    grewe,
    grewe_features,
    inst2vec,
    ir2vec,
    ir2vec_trees,
)
from ncc.errors import InputError
from tests.rooms import DeviceMappingSamples, Embedding, TrainingConfig, Vocabulary, load_embedding, read_module

TRAIN, TEST = np.arange(16), np.arange(16, 24)
LOOP = TrainingConfig(epochs=40, batch_size=8, learning_rate=1e-2, weight_decay=0.0)
SMALL = RecurrentTraining(hidden=8, longest=12, train_vectors=True, loop=LOOP)
Maker = Callable[[DeviceMappingSamples], Method[DeviceMappingSamples]]


def an_embedding() -> Embedding:
    words = ("define", "ret", "load", "<unknown>")
    vectors = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    return Embedding(Vocabulary(words, np.ones(4, np.int64)), 3 * vectors)


def make_inst2vec(samples: DeviceMappingSamples, training: RecurrentTraining = SMALL) -> Inst2vec:
    statements = [np.array([0, *[2] * (row % 5), 1]) for row in range(len(samples))]
    return Inst2vec(statements, an_embedding(), dataclasses.replace(training, train_vectors=False))


def make_ir2vec(samples: DeviceMappingSamples) -> Method[DeviceMappingSamples]:
    return ir2vec_trees(np.random.default_rng(1).normal(size=(len(samples), 3)), "symbolic")


PEERS: dict[str, Maker] = {
    "grewe": lambda _: grewe(),
    "deeptune": lambda _: Method.of(DeepTune(SMALL)),
    "inst2vec": lambda samples: Method.of(make_inst2vec(samples)),
    "ir2vec": make_ir2vec,
}
every_peer = pytest.mark.parametrize("make", PEERS.values(), ids=PEERS.keys())


@pytest.fixture
def table(toy: DeviceMappingSamples) -> DeviceMappingSamples:
    """The toy with counts that let Grewe et al.'s first feature be the transfer size, which decides the label."""
    counts = toy.counts.copy()
    counts[:, :6] = [4, 0, 2, 0, 1, 0]
    return dataclasses.replace(toy, counts=counts)


def scores(
    method: Method[DeviceMappingSamples],
    samples: DeviceMappingSamples,
    rows: np.ndarray,
    train: np.ndarray = TRAIN,
    seed: int = 7,
) -> np.ndarray:
    hidden = samples.without_answers(np.setdiff1d(np.arange(len(samples)), train))
    return method.predict(Subset(hidden, train), Subset(hidden, rows), np.random.default_rng(seed))


@every_peer
def test_a_peer_learns_what_decides(make: Maker, table: DeviceMappingSamples) -> None:
    predicted = scores(make(table), table, TEST)
    assert predicted.shape == TEST.shape
    assert predicted.dtype == np.float64
    assert (np.abs(predicted) <= 0.5).all()
    assert ((predicted > 0) == table.is_gpu[TEST]).all()


@every_peer
def test_all_chance_comes_from_the_generator(make: Maker, table: DeviceMappingSamples) -> None:
    torch.manual_seed(1)
    first = scores(make(table), table, TEST)
    state = torch.random.get_rng_state()
    again = make(table)
    scores(again, table, TRAIN, train=TEST, seed=3)  # what was learnt before is forgotten
    assert np.array_equal(scores(again, table, TEST), first)
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("name", ["deeptune", "inst2vec"])
def test_seeds_differ(name: str, table: DeviceMappingSamples) -> None:
    method = PEERS[name](table)
    assert not np.array_equal(scores(method, table, TEST, seed=8), scores(method, table, TEST))


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


@pytest.mark.parametrize(("platform", "accuracy"), [("amd", 73.4), ("nvidia", 72.9)])
def test_grewe_as_published(published: Callable[[str], DeviceMappingSamples], platform: str, accuracy: float) -> None:
    samples = published(platform)
    found = compare(device_mapping(samples), [grewe()], ["published"])
    assert 100 * found.value("Grewe et al.", "accuracy") == pytest.approx(accuracy, abs=4)


def spelt(vocabulary: deeptune.SourceVocabulary, text: str) -> list[str]:
    return [(*vocabulary.tokens, "?")[number] for number in vocabulary.encode(text)]


def test_the_longest_token_comes_first_and_the_rest_is_spelt() -> None:
    text = "uint4 xy = get_global_id(0);\n  double d;"
    vocabulary = deeptune.SourceVocabulary.of([text])
    tokens = spelt(vocabulary, text)
    assert tokens[:7] == ["uint4", " ", "x", "y", " ", "=", " "]
    assert tokens[7:] == ["get_global_id", "(", "0", ")", ";", "\n", "  ", "double", " ", "d", ";"]
    assert len(vocabulary) == len(set(tokens)) + 1


def test_what_the_training_texts_lack_is_spelt_or_unknown() -> None:
    vocabulary = deeptune.SourceVocabulary.of(["float a; do"])
    assert spelt(vocabulary, "double float4") == ["do", "?", "?", "?", "?", " ", "float", "?"]
    assert vocabulary.encode("").shape == (0,)


def test_the_last_words_are_read() -> None:
    words = [np.arange(20), np.arange(8, 20), np.arange(12)]
    texts = np.array(["".join(chr(ord("a") + i) for i in sequence) for sequence in words], dtype=object)
    method = DeepTune(dataclasses.replace(SMALL, loop=dataclasses.replace(LOOP, epochs=1)))
    samples = toy_of(texts)
    method.fit(samples, np.arange(3), np.random.default_rng(0))
    whole, end, start = method.predict(samples, np.arange(3))
    assert whole == pytest.approx(end, abs=1e-6)
    assert whole != pytest.approx(start, abs=1e-6)
    with pytest.raises(InputError, match="longest: expected at least 1, found 0"):
        dataclasses.replace(SMALL, longest=0)


def toy_of(texts: np.ndarray) -> DeviceMappingSamples:
    """Rows that differ in their text alone."""
    names, ones = np.array([f"k{i}" for i in range(len(texts))]), np.ones(len(texts))
    return DeviceMappingSamples(
        platform="toy",
        benchmark=names,
        dataset=names,
        application=names,
        suite=names,
        source=texts,
        counts=np.ones((len(texts), 8)),
        transfer_bytes=ones,
        wgsize=ones,
        runtime_cpu_ms=ones,
        runtime_gpu_ms=ones,
        log_ratio=0 * ones,
        is_gpu=np.arange(len(texts)) % 2 == 0,
    )


@pytest.mark.parametrize("name", ["deeptune", "inst2vec"])
def test_a_row_does_not_depend_on_the_rows_beside_it(name: str, table: DeviceMappingSamples) -> None:
    method = PEERS[name](table)
    together = scores(method, table, TEST[::-1])[::-1]
    alone = [scores(method, table, TEST[[i]])[0] for i in range(len(TEST))]
    assert together == pytest.approx(np.array(alone), abs=1e-5)


def test_statement_vectors_have_length_1_and_stay(table: DeviceMappingSamples) -> None:
    method = make_inst2vec(table)
    scores(Method.of(method), table, TEST)
    assert method._model is not None
    vectors = method._model.encoder.vectors.detach().numpy()
    expected = an_embedding().vectors[:3]  # the fourth word does not occur
    assert vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))


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
    monkeypatch.setattr(inst2vec, "load_legacy_ir", lambda _folder: legacy)
    statements = inst2vec.read_statements(table, an_embedding())
    assert len(statements) == len(table)
    same = table.source == table.source[0]
    assert same.sum() == 2
    for row in range(len(table)):
        assert statements[row].tolist() == ([0, 1, 0, 1] if same[row] else [0, 3])


def one_hot(texts: tuple[str, ...]) -> Callable[[str], np.ndarray]:
    """Return a function that gives each statement a direction of its own."""
    unit = np.eye(len(texts))
    return lambda text: unit[texts.index(text)]


def test_symbolic_vectors_are_sums_over_the_function_and_what_it_calls() -> None:
    module = read_module(MODULE)
    vector = encode_function(module, 1, one_hot(module.texts), "symbolic")
    assert vector.tolist() == np.bincount(module.text_id).tolist()
    assert encode_function(module, 0, one_hot(module.texts), "symbolic").sum() == 3


def test_flow_aware_vectors_hold_their_operands_definitions() -> None:
    module = read_module(MODULE)
    vector = one_hot(module.texts)

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
    assert encode_function(module, 1, vector, "flow-aware") == pytest.approx(expected)


def test_every_row_gets_the_vector_of_its_kernel(table: DeviceMappingSamples, monkeypatch: pytest.MonkeyPatch) -> None:
    module = read_module(MODULE)
    texts = (*module.texts, "define void <@ID>()")
    embedding = Embedding(Vocabulary(texts, np.ones(len(texts), np.int64)), np.eye(len(texts), dtype=np.float32))
    legacy = {table.ir_name(row): b"define void @f() {\n  ret void\n}\n" for row in range(len(table))}
    legacy[table.ir_name(3)] = MODULE
    monkeypatch.setattr(ir2vec, "load_legacy_ir", lambda _folder: legacy)
    vectors = function_vectors(table, embedding, "symbolic")
    assert vectors.shape == (len(table), len(texts))
    assert vectors[3] == pytest.approx(encode_function(module, 1, one_hot(texts), "symbolic"))
    assert vectors[0].sum() == 2


def test_wrong_input_is_refused(table: DeviceMappingSamples) -> None:
    with pytest.raises(InputError, match=r"features: expected \(24, k\), found \(23, 3\)"):
        scores(ir2vec_trees(np.zeros((23, 3)), "symbolic"), table, TEST)
    with pytest.raises(InputError, match="statements: expected 24 sequences, found 1"):
        Inst2vec([np.zeros(3, np.int64)], an_embedding()).fit(table, TRAIN, np.random.default_rng(0))
    with pytest.raises(InputError, match="no encoding 'none'; expected one of symbolic, flow-aware"):
        encode_function(read_module(MODULE), 0, one_hot(()), "none")  # type: ignore[arg-type]


def test_ir2vec_as_published(published: Callable[[str], DeviceMappingSamples]) -> None:
    samples = published("amd")
    method = ir2vec_trees(function_vectors(samples, load_embedding(), "flow-aware"), "flow-aware")
    found = compare(device_mapping(samples), [method], ["published"])
    assert found.value(method.name, "accuracy") == pytest.approx(0.928, abs=0.05)
