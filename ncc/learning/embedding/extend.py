"""Adds words to a trained embedding: vectors for statements that it lacks, while its own stay unchanged.

A word's vector is induced from where it stands and what it is made of: a linear map, fitted on the words that both the
embedding and the new corpus have, takes the mean of the vectors around a word and the mean of the vectors with its
parts to the word's own vector. So heads, indices and encoders that know the old words stay as good as they were.

Reference: Khodak et al. 2018, "A La Carte Embedding: Cheap but Effective Induction of Semantic Feature Vectors",
section 3; the parts beside the contexts are ours.
"""

import logging
from typing import Any

import numpy as np

from ncc.arrays import Floats32, Ints, Ints32
from ncc.errors import InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.backoff import BackoffLevel
from ncc.learning.embedding.counts import CorpusCounts
from ncc.learning.embedding.embedding import Embedding, compose_missing, normalised
from ncc.learning.embedding.subwords import part_matrix
from ncc.learning.embedding.vocabulary import Vocabulary, build_vocabulary

logger = logging.getLogger(__name__)

_PENALTIES = tuple(10.0 ** np.arange(-3, 5))
_FEWEST = 50
_HELD_OUT = 10


def extend_embedding(
    embedding: Embedding,
    counts: CorpusCounts,
    *,
    min_count: int = 10,
    abstraction: Abstraction | None = None,
    about: dict[str, Any] | None = None,
) -> Embedding:
    """Adds the words of a new corpus that an embedding lacks.

    Args:
        embedding: Whose words and vectors stay as they are.
        counts: Of the new corpus.
        min_count: Times that a statement must be seen there to be a word of its own; see `build_vocabulary`.
        abstraction: The one that the corpus was counted with.
        about: What else the card should say of the extension, such as the command.

    Returns:
        The larger embedding. Its ``about`` is the old one's, with an entry in ``extensions``: the fingerprint of the
        embedding that was extended, the number of new words, and ``induced_cosine``, the mean cosine between the
        trained vector of a word and what the map gives for it when fitted without it (on a tenth of the words at once).

    Raises:
        InputError: The corpus was counted with another abstraction, has nothing new, or shares too few words with the
            embedding.
    """
    if abstraction not in (None, embedding.abstraction):
        raise InputError(f"the corpus was counted with {abstraction}; the embedding has {embedding.abstraction}")
    vocabulary = _extended_vocabulary(embedding.vocabulary, counts, min_count)
    num_new = len(vocabulary) - len(embedding.vocabulary)
    last = len(vocabulary) - 1
    vectors = np.zeros((len(vocabulary), embedding.dim), np.float32)
    old = np.append(np.arange(len(embedding.vocabulary) - 1), last)
    vectors[old] = embedding.vectors
    center, context, count = counts.over(vocabulary)
    seen = np.zeros(len(vocabulary), bool)
    seen[center] = True
    is_new = np.ones(len(vocabulary), bool)
    is_new[old] = False
    inducing, induced = np.flatnonzero(seen & ~is_new), np.flatnonzero(seen & is_new)
    if len(inducing) < _FEWEST:
        raise InputError(f"the corpus shares {len(inducing)} words with the embedding; expected {_FEWEST} or more")
    parts = _of_parts(vocabulary.words, vectors, old)
    cosine = 0.0
    for _ in range(2):  # the second time with the new words among the contexts
        features = np.hstack([_of_contexts(center, context, count, vectors), parts])
        if not cosine:
            cosine = _held_out_cosine(features[inducing], vectors[inducing])
        vectors[induced] = normalised(_mapped(features[inducing], vectors[inducing], features[induced]))
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
    logger.info("%d new words, induced cosine %.3f", num_new, cosine)
    card = embedding.about | {
        "num_words": len(vocabulary),
        "extensions": [*embedding.about.get("extensions", []), entry | (about or {})],
    }
    return Embedding(vocabulary, vectors, embedding.abstraction, card)


def _extended_vocabulary(old: Vocabulary, counts: CorpusCounts, min_count: int) -> Vocabulary:
    """The old words, in their order, then the new, the most frequent first, then the last of all."""
    _, level = old.encode(counts.texts)
    unknown = np.flatnonzero(level != BackoffLevel.EXACT).tolist()
    new = build_vocabulary({counts.texts[i]: int(counts.statements[i]) for i in unknown}, min_count)
    added = [
        (word, count) for word, count in zip(new.words[:-1], new.counts[:-1].tolist(), strict=True) if word not in old
    ]
    if not any(count for _, count in added):
        raise InputError(f"the corpus has no statement {min_count} times or more that the embedding lacks")
    words = (*old.words[:-1], *(word for word, _ in added), old.words[-1])
    return Vocabulary(words, np.array([*old.counts[:-1], *(count for _, count in added), old.counts[-1]], np.int64))


def _of_contexts(center: Ints32, context: Ints32, count: Ints, vectors: Floats32) -> Floats32:
    """(num_words, dim) mean vectors around words, scaled to length 1; a pair weighs the square root of its count."""
    from scipy.sparse import csr_matrix

    weight = np.sqrt(count).astype(np.float32)
    around = csr_matrix((weight, (center, context)), shape=(len(vectors), len(vectors)))
    return normalised(around @ vectors)


def _of_parts(words: tuple[str, ...], vectors: Floats32, known: Ints) -> Floats32:
    """(num_words, dim) sums of the vectors of words' parts, scaled to length 1.

    A part's vector is the mean of the known words that have it, the word itself left out: what is to be learned is how
    far others tell of it.
    """
    from scipy.sparse import csr_matrix

    some = part_matrix(words)
    is_known = np.zeros(some.num_words, bool)
    is_known[known] = True
    has = csr_matrix((some.weight * is_known[some.row], (some.column, some.row)), (some.num_parts, some.num_words))
    total, weight = has @ vectors, np.asarray(has.sum(axis=1)).ravel()
    sums = np.zeros_like(vectors)
    for entries in np.array_split(np.arange(len(some.row)), max(len(some.row) >> 14, 1)):
        word, part = some.row[entries], some.column[entries]
        own = some.weight[entries] * is_known[word]
        left = np.maximum(weight[part] - own, 1e-6)
        mean = (total[part] - own[:, None] * vectors[word]) / left[:, None]
        np.add.at(sums, word, some.weight[entries, None] * mean * (left > 1e-3)[:, None])
    return normalised(sums)


def _mapped(features: Floats32, vectors: Floats32, wanted: Floats32) -> Floats32:
    """What the linear map from features to vectors gives for wanted features; its penalty by leaving one out."""
    from sklearn.linear_model import RidgeCV

    predicted = RidgeCV(alphas=_PENALTIES).fit(features, vectors).predict(wanted)
    return np.asarray(predicted, np.float32)


def _held_out_cosine(features: Floats32, vectors: Floats32) -> float:
    """The mean cosine of known vectors with what the map gives for them, fitted on the other nine tenths."""
    fold = np.random.default_rng(204).permutation(len(features)) % _HELD_OUT
    guessed = np.zeros_like(vectors)
    for number in range(_HELD_OUT):
        out = fold == number
        guessed[out] = normalised(_mapped(features[~out], vectors[~out], features[out]))
    return float((guessed * vectors).sum(axis=1).mean())
