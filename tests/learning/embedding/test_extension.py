"""New words for an embedding: what it has stays, what is induced is near what training would have given."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ncc.errors import AssetError, InputError
from tests.rooms import Abstraction, Embedding, Vocabulary, extend_embedding, load_embedding
from tests.support.refuses import refuses


@pytest.fixture(scope="module")
def shipped() -> Embedding:
    return load_embedding().with_fingerprint("e32b14a7bc9d6bd1")


@pytest.fixture(scope="module")
def extended(shipped, counts) -> Embedding:
    return extend_embedding(shipped, counts, min_count=2, card={"note": "test"})


def test_old_words_stay(shipped, extended, counts):
    num_new = extended.card["extensions"][-1]["num_new_words"]
    assert len(extended.vocabulary) == len(shipped.vocabulary) + num_new > len(shipped.vocabulary)
    for word in ("ret void", "<unknown>", shipped.vocabulary.words[1234]):
        assert np.array_equal(extended.vector(word), shipped.vector(word))
    before = shipped.look_up(counts.texts).expand(np.repeat(np.arange(len(counts.texts)), counts.statements))
    after = extended.look_up(counts.texts).expand(np.repeat(np.arange(len(counts.texts)), counts.statements))
    assert after.unknown_rate < before.unknown_rate
    assert np.linalg.norm(extended.vectors, axis=1) == pytest.approx(1, abs=1e-3)


def test_who_knows_the_old_one_gets_it_back(shipped, extended, tmp_path):
    extended.save(tmp_path)
    again = load_embedding(tmp_path)
    assert again.fingerprint == extended.fingerprint
    older = again.with_fingerprint(shipped.fingerprint)
    assert older.fingerprint == shipped.fingerprint
    assert older.vocabulary.words == shipped.vocabulary.words
    assert again.with_fingerprint(again.fingerprint) is again
    with refuses(AssetError, "cafe"):
        again.with_fingerprint("cafe")


def test_extensions_add_up(shipped, extended, counts):
    twice = extend_embedding(extended, counts, min_count=1)
    assert len(twice.card["extensions"]) == len(extended.card["extensions"]) + 1
    assert twice.with_fingerprint(extended.fingerprint).fingerprint == extended.fingerprint
    assert twice.with_fingerprint(shipped.fingerprint).fingerprint == shipped.fingerprint


def test_induced_vectors_are_near_the_trained_ones(shipped, counts):
    """Words that the corpus has are taken out of the embedding, and come back near where they were."""
    words = shipped.vocabulary.words
    seen = [shipped.vocabulary.find(text)[0] for text in counts.texts]
    hidden = np.unique(seen)[5::8]
    kept = np.setdiff1d(np.arange(len(words)), hidden[hidden < len(words) - 1])
    vocabulary = Vocabulary(tuple(words[row] for row in kept.tolist()), shipped.vocabulary.counts[kept])
    lacking = Embedding(vocabulary, shipped.vectors[kept], shipped.abstraction)
    back = extend_embedding(lacking, counts, min_count=1)
    cosine = [back.vector(words[row]) @ shipped.vectors[row] for row in hidden if words[row] in back.vocabulary]
    backed_off = [lacking.vector(words[row]) @ shipped.vectors[row] for row in hidden if words[row] in back.vocabulary]
    assert len(cosine) > 20
    assert np.mean(cosine) > np.mean(backed_off) + 0.05


def test_nothing_new_is_refused(extended, counts):
    everything = extend_embedding(extended, counts, min_count=1)
    with refuses(InputError, "1 times"):
        extend_embedding(everything, counts, min_count=1)


def test_another_abstraction_is_refused(shipped, counts):
    with refuses(InputError, "abstract"):
        extend_embedding(shipped, counts, abstraction=replace(Abstraction(), keep_callees=False))


def test_a_corpus_of_other_words_is_refused(small, counts):
    strange = Embedding(
        Vocabulary(("frob …", "frob", "<unknown>"), np.array([1, 0, 0])), np.eye(3, 12, dtype=np.float32)
    )
    with refuses(InputError, "words", "50"):
        extend_embedding(strange, counts)


@pytest.mark.parametrize("number", [0, -1, 10**6, "many"])
def test_a_damaged_card_is_refused(extended, tmp_path, number):
    extended.save(tmp_path)
    card = json.loads((tmp_path / "embedding.json").read_text())
    card["card"]["extensions"][-1]["num_new_words"] = number
    (tmp_path / "embedding.json").write_text(json.dumps(card))
    with refuses(AssetError, tmp_path):
        load_embedding(tmp_path)
