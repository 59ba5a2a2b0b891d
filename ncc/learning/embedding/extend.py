"""Extension of a trained embedding: vectors for statements that it lacks; its own do not change.

A word's vector is induced from its contexts and its subwords: a linear map, fitted on the words that both the embedding
and the new corpus have, takes the mean vector around a word and the mean vector of words with its subwords to its own
vector. Heads, indices and encoders of the old words stay valid.

Reference: Khodak et al. 2018, "A La Carte Embedding: Cheap but Effective Induction of Semantic Feature Vectors",
section 3; subwords are our addition.
"""

from typing import Any

import numpy as np

from ncc.arrays import Floats32, Ints
from ncc.errors import InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.backoff import Backoff
from ncc.learning.embedding.counts import CorpusCounts
from ncc.learning.embedding.embedding import Embedding, compose_missing, l2_normalize
from ncc.learning.embedding.subwords import subword_matrix
from ncc.learning.embedding.vocabulary import Vocabulary, build_vocabulary

_PENALTIES = tuple(10.0 ** np.arange(-3, 5))
"""Ridge penalties to choose from, by leaving one out."""

_MIN_SHARED_WORDS = 50
"""Minimum number of words to fit the map on; a guess."""
_NUM_FOLDS = 10


def extend_embedding(
    embedding: Embedding,
    counts: CorpusCounts,
    *,
    min_count: int = 10,
    abstraction: Abstraction | None = None,
    card: dict[str, Any] | None = None,
) -> Embedding:
    """Add the words of a new corpus that an embedding lacks, seen ``min_count`` times or more.

    The card gets an entry in ``extensions``: the fingerprint of the extended embedding, the number of new words, and
    ``induced_cosine``, the mean cosine of known words' vectors with what the map predicts for them in ten folds.
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import PredefinedSplit, cross_val_predict

    if abstraction not in (None, embedding.abstraction):
        raise InputError("the corpus and the embedding abstract statements differently")
    vocabulary = _extended_vocabulary(embedding.vocabulary, counts, min_count)
    num_new = len(vocabulary) - len(embedding.vocabulary)
    last = len(vocabulary) - 1
    vectors = np.zeros((len(vocabulary), embedding.dim), np.float32)
    old = np.append(np.arange(len(embedding.vocabulary) - 1), last)
    vectors[old] = embedding.vectors
    center, context, count = counts.restrict(vocabulary)
    inducing, induced = np.intersect1d(center, old), np.setdiff1d(center, old)
    if (shared := len(inducing)) < _MIN_SHARED_WORDS:
        raise InputError(f"the corpus shares {shared} words with the embedding; expected {_MIN_SHARED_WORDS} or more")
    subwords = _subword_features(vocabulary.words, vectors, old)
    weight = np.sqrt(count).astype(np.float32)
    around = csr_matrix((weight, (center, context)), shape=(len(vectors), len(vectors)))
    ridge = RidgeCV(alphas=_PENALTIES)

    def features(rows: Ints) -> Floats32:
        return np.hstack([l2_normalize(around[rows] @ vectors), subwords[rows]])

    folds = PredefinedSplit(np.random.default_rng(204).permutation(shared) % _NUM_FOLDS)
    held_out = l2_normalize(cross_val_predict(ridge, features(inducing), vectors[inducing], cv=folds))
    cosine = float((held_out * vectors[inducing]).sum(axis=1).mean())
    for _ in range(2):  # the second time with the new words among the contexts
        ridge.fit(features(inducing), vectors[inducing])
        vectors[induced] = l2_normalize(ridge.predict(features(induced)))
    vectors = compose_missing(vocabulary, vectors)
    vectors[old] = embedding.vectors
    entry = {
        "extends": embedding.fingerprint,
        "num_files": counts.num_files,
        "num_statements": int(counts.statements.sum()),
        "num_new_words": num_new,
        "min_count": min_count,
        "induced_cosine": round(cosine, 4),
    }
    extensions = [*embedding.card.get("extensions", []), entry | (card or {})]
    card = embedding.card | {"num_words": len(vocabulary), "extensions": extensions}
    return Embedding(vocabulary, vectors, embedding.abstraction, card)


def _extended_vocabulary(old: Vocabulary, counts: CorpusCounts, min_count: int) -> Vocabulary:
    """The old words in their order, then the new ones, most frequent first, then the last of all."""
    _, level = old.encode(counts.texts)
    unknown = np.flatnonzero(level != Backoff.EXACT).tolist()
    new = build_vocabulary({counts.texts[i]: int(counts.statements[i]) for i in unknown}, min_count)
    added = {word: count for word, count in zip(new.words[:-1], new.counts[:-1], strict=True) if word not in old}
    if not any(added.values()):
        raise InputError(f"the corpus has no new statement that occurs {min_count} times or more")
    counted = np.array([*old.counts[:-1], *added.values(), old.counts[-1]], np.int64)
    return Vocabulary((*old.words[:-1], *added, old.words[-1]), counted)


def _subword_features(words: tuple[str, ...], vectors: Floats32, old: Ints) -> Floats32:
    """(num_words, dim) sums over subwords of the mean vector of other old words with them, of length 1."""
    from scipy.sparse import csr_matrix

    entries = subword_matrix(words).tocoo()
    own = entries.data * np.isin(entries.row, old)
    has = csr_matrix((own, (entries.col, entries.row)), shape=entries.shape[::-1])
    left = np.asarray(has.sum(axis=1)).ravel()[entries.col] - own
    share = np.where(left > 1e-3, entries.data / np.maximum(left, 1e-3), 0)
    others = csr_matrix((share, (entries.row, entries.col)), shape=entries.shape) @ (has @ vectors)
    return l2_normalize(others - np.bincount(entries.row, share * own, len(words))[:, None] * vectors)
