"""`Embedding`: look-up with back-off, neighbours, gensim, composed vectors, and files that were damaged."""

import numpy as np
import pytest

from ncc import Backoff, Embedding, EmbeddingConfig, load_embedding
from ncc.errors import InputError
from tests.rooms import OPCODES, Abstraction, Vocabulary, compose_missing, fit_embedding, generalize, l2_normalize
from tests.support.refuses import refuses


@pytest.fixture
def hand_made() -> Embedding:
    words = (
        "<%ID> = add i32 <%ID>, <INT>",
        "<%ID> = sub i32 <%ID>, <INT>",
        "<%ID> = mul i32 <%ID>, <INT>",
        "add",
        "<unknown>",
    )
    vectors = l2_normalize(np.array([[1, 0], [3, 1], [-1, 0.1], [1, 0.01], [0, 1]], np.float32))
    return Embedding(Vocabulary(words, np.array([9, 5, 4, 0, 0])), vectors)


def test_look_up_backs_off_and_says_so(hand_made):
    texts = [
        "<%ID> = add i32 <%ID>, <INT>",
        "<%ID> = add nsw i32 <%ID>, <INT>",
        "<%ID> = add i64 <%ID>, <%ID>",
        "ret void",
    ]
    lookup = hand_made.look_up(texts)
    assert lookup.word.tolist() == [0, 0, 3, 4]
    assert [Backoff(level).name for level in lookup.level] == ["EXACT", "FLAGS", "OPCODE", "OPCODE"]
    assert lookup.unknown_rate == 0.75
    assert lookup.count_by_level() == {
        "exact": 1, "flags": 1, "alignment": 0, "sizes": 0, "types": 0, "operation": 0, "opcode": 2
    }  # fmt: skip


def test_nearest_are_statements_of_the_corpus_best_first(hand_made):
    near = hand_made.nearest("<%ID> = add i32 <%ID>, <INT>")
    assert [neighbor.text.split()[2] for neighbor in near] == ["sub", "mul"]
    assert [neighbor.count for neighbor in near] == [5, 4]
    assert near[0].similarity == pytest.approx(3 / np.sqrt(10))
    assert hand_made.nearest("<%ID> = add i32 <%ID>, <INT>", k=1) == near[:1]
    assert hand_made.nearest("<%ID> = add i32 <%ID>, <INT>", k=0) == []


def test_neighbours_of_what_backed_off_say_so(hand_made):
    near = hand_made.nearest("<%ID> = add i32 <%ID>, <INT>", k=1)
    assert (near.level, near.caption) == ("exact", "nearest to <%ID> = add i32 <%ID>, <INT>")
    far = hand_made.nearest("<%ID> = freeze i32 <%ID>", k=1)
    assert far.level == "opcode"
    assert "freeze i32 <%ID> is not in the vocabulary; it backed off (opcode) to <unknown>" in repr(far)
    assert all(one.similarity <= 1 for one in load_embedding().nearest("ret void"))
    for text in ("hello world", ""):
        with refuses(InputError, text, "is not a statement"):
            hand_made.nearest(text)


def test_compose_gives_a_form_that_was_not_trained_the_weighted_mean_of_what_is_under_it():
    exact = ("<%ID> = add nsw i32 <%ID>, <INT>", "<%ID> = add nuw i32 <%ID>, <INT>")
    form = generalize(exact[0])[Backoff.FLAGS]
    vocabulary = Vocabulary((*exact, form, "ret", "<unknown>"), np.array([16, 9, 0, 0, 0]))
    vectors = np.array([[2, 0], [0, 5], [0, 0], [0, 0], [0, 0]], np.float32)
    composed = compose_missing(vocabulary, vectors)
    assert composed[:2] == pytest.approx(np.eye(2))
    mean = np.array([4, 3]) / 5  # square roots of the counts, scaled to length 1
    assert composed[2] == pytest.approx(mean)
    assert composed[3] == pytest.approx(mean)
    assert composed[4] == pytest.approx(mean)
    assert composed.dtype == np.float32
    trained = Vocabulary((exact[0], form), np.array([4, 4]))
    assert np.array_equal(compose_missing(trained, np.eye(2, dtype=np.float32)), np.eye(2))


def test_shapes_and_numbers_are_checked():
    vocabulary = Vocabulary(("a", "b"), np.array([1, 1]))
    with refuses(InputError, "(3, 2)", "2 words"):
        Embedding(vocabulary, np.zeros((3, 2), np.float32))
    with refuses(InputError, "finite"):
        Embedding(vocabulary, np.array([[1, np.nan], [0, 1]], np.float32))


def test_the_fingerprint_tells_words_and_vectors_apart(small):
    vocabulary = Vocabulary((*small.vocabulary.words[:-1], "other"), small.vocabulary.counts)
    assert Embedding(vocabulary, small.vectors).fingerprint != small.fingerprint
    changed = small.vectors.copy()
    changed[0] = -changed[0]
    assert Embedding(small.vocabulary, changed).fingerprint != small.fingerprint


@pytest.mark.parametrize(
    "abstraction",
    [Abstraction(), Abstraction.paper(), Abstraction(keep_callees=False, keep_immediates=True, max_struct_fields=9)],
)
def test_the_abstraction_is_kept_whole(small, tmp_path, abstraction):
    Embedding(small.vocabulary, small.vectors, abstraction).save(tmp_path)
    assert load_embedding(tmp_path).abstraction == abstraction


def test_fit_keeps_the_abstraction_that_it_is_told(counts):
    config = EmbeddingConfig(min_count=4, dim=4, epochs=1, steps_per_epoch=1)
    assert fit_embedding(counts, config).abstraction == Abstraction()
    told = fit_embedding(counts, config, abstraction=Abstraction.paper())
    assert told.abstraction == Abstraction.paper()


def test_the_shipped_embedding_is_read_once_and_knows_every_opcode():
    shipped = load_embedding()
    assert shipped is load_embedding()
    assert set(OPCODES) <= set(shipped.vocabulary.words)
    assert np.linalg.norm(shipped.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert shipped.card["num_words"] == len(shipped.vocabulary)
