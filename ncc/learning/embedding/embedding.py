"""`Embedding`: a vector for every statement, with back-off; its files, neighbors and export.

Files are ``embedding.safetensors`` (vectors, counts) and ``embedding.json`` (words and how they were made).
"""

import functools
import hashlib
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, convert
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints32
from ncc.errors import AssetError, InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.native import OPCODES
from ncc.learning.embedding.backoff import Backoff, generalize
from ncc.learning.embedding.vocabulary import UNKNOWN, Vocabulary
from ncc.system.files.hub import ASSETS, Shareable, resolve

FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Lookup:
    """(num_statements,) int32 rows of statements in an embedding, and the uint8 `Backoff` that each took."""

    word: Ints32
    level: NDArray[np.uint8]

    def __repr__(self) -> str:
        return f"Lookup({len(self.word)} statements, {self.unknown_rate:.1%} unknown)"

    @property
    def unknown_rate(self) -> float:
        """Fraction of statements that are not in the vocabulary in their exact form; 0 without statements."""
        return float((self.level != Backoff.EXACT).mean()) if len(self.level) else 0.0

    def expand(self, text_id: Ints32) -> "Lookup":
        """Expand distinct statements to all, by (num_statements,) int32 indices of the distinct ones."""
        return Lookup(self.word[text_id], self.level[text_id])

    def count_by_level(self) -> dict[str, int]:
        """Count statements by the name of the level that they backed off to."""
        counts = np.bincount(self.level, minlength=len(Backoff))
        return {level.name.lower(): int(counts[level]) for level in Backoff}


@dataclass(frozen=True)
class Neighbor:
    """A word near another, with their cosine similarity and its count in the corpus."""

    text: str
    similarity: float
    count: int


class Neighbors(list[Neighbor]):
    """The words near a statement, best first, the word that it backed off to, and the level of back-off."""

    def __init__(self, neighbors: Iterable[Neighbor], text: str, word: str, level: Backoff) -> None:
        super().__init__(neighbors)
        self.text, self.word, self.level = text, word, level.name.lower()

    @property
    def caption(self) -> str:
        """The statement, and how it was looked up."""
        if self.level == "exact":
            return f"nearest to {self.text}"
        return f"{self.text} is not in the vocabulary; it backed off ({self.level}) to {self.word}, and nearest to that"

    def __repr__(self) -> str:
        return f"<{self.caption}: {super().__repr__()}>"

    def _repr_html_(self) -> str:
        from ncc.system.files.pages import html_table

        rows = [(near.text, f"{near.similarity:.3f}", near.count) for near in self]
        return html_table(self.caption, ("statement", "similarity", "times seen"), rows)


class Embedding(Shareable):
    """Vectors of statements.

    Args:
        vocabulary: The words.
        vectors: (num_words, dim) float32 rows of length 1; or float16, as files have them, which are scaled to that
            length on first use.
        abstraction: Rules for abstracting statements before lookup; default: ncc's rules.
        card: Model card: corpus, command, configuration and scores.

    Raises:
        InputError: Vectors and words do not fit together.
    """

    _noun = "embedding"

    def __init__(
        self,
        vocabulary: Vocabulary,
        vectors: NDArray[Any],
        abstraction: Abstraction | None = None,
        card: dict[str, Any] | None = None,
    ) -> None:
        """Check that there is one finite vector for each word."""
        if vectors.ndim != 2 or len(vectors) != len(vocabulary) or not vectors.shape[1]:
            raise InputError(f"vectors have shape {vectors.shape}; expected a row for each of {len(vocabulary)} words")
        if vectors.dtype == np.float16:  # tests exponents for all ones, which is five times as fast
            is_finite = not ((vectors.view(np.uint16) & 0x7C00) == 0x7C00).any()
        else:
            is_finite = bool(np.isfinite(vectors).all())
        if not is_finite:
            raise InputError("vectors are not all finite")
        self.vocabulary = vocabulary
        self.abstraction = abstraction or Abstraction()
        self.card = {} if card is None else card
        self._stored = vectors

    @functools.cached_property
    def vectors(self) -> Floats32:
        """(num_words, dim) float32, rows of length 1."""
        return l2_normalize(self._stored.astype(np.float32)) if self._stored.dtype == np.float16 else self._stored

    def __repr__(self) -> str:
        return f"Embedding({len(self.vocabulary)} statements, dim={self.dim})"

    def _save(self, folder: Path) -> None:
        from ncc.system.files.models import write_model

        card = {
            "format_version": FORMAT_VERSION,
            "abstraction": asdict(self.abstraction),
            "card": self.card,
            "words": self.vocabulary.words,
        }
        vectors: NDArray[Any] = self.vectors.astype(np.float16)
        write_model(folder, "embedding", card, {"vectors": vectors, "counts": self.vocabulary.counts})

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the shipped embedding as a call that reads it again."""
        is_shipped = _load_shipped.cache_info().currsize and self is _load_shipped()
        return (load_embedding, ()) if is_shipped else super().__reduce_ex__(protocol)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self._stored.shape[1])

    @functools.cached_property
    def fingerprint(self) -> str:
        """Short hash of words and vectors; a head stores its embedding's."""
        digest = hashlib.sha256("\0".join(self.vocabulary.words).encode())
        digest.update(self.vectors.astype(np.float16).tobytes())
        return digest.hexdigest()[:16]

    def with_fingerprint(self, fingerprint: str) -> "Embedding":
        """Return this embedding, or its version without added words, by fingerprint.

        Raises:
            AssetError: The fingerprint matches neither this embedding nor one that it extends.
        """
        older = self
        for entry in reversed(self.card.get("extensions", [])):
            words, counts = older.vocabulary.words, older.vocabulary.counts
            # added words come before the last word
            rows = np.append(np.arange(len(words) - 1 - entry["num_new_words"]), len(words) - 1)
            vocabulary = Vocabulary(tuple(words[row] for row in rows.tolist()), counts[rows])
            card = older.card | {"num_words": len(rows), "extensions": older.card["extensions"][:-1]}
            older = Embedding(vocabulary, older.vectors[rows], self.abstraction, card)
            if fingerprint == entry["extends"]:
                return older
        if fingerprint != self.fingerprint:
            raise AssetError(
                f"the head was trained on embedding {fingerprint:.40}, but {self.fingerprint} is loaded; "
                "train the head again with 'ncc train'"
            )
        return self

    def look_up(self, texts: Iterable[str]) -> Lookup:
        """Look up abstracted statements, backing off."""
        return Lookup(*self.vocabulary.encode(texts))

    def vector(self, text: str) -> Floats32:
        """Return the (dim,) float32 vector of an abstracted statement, or of its back-off form."""
        return self.vectors[self.vocabulary.find(text)[0]]

    def nearest(self, text: str, k: int = 10) -> Neighbors:
        """Return the ``k`` nearest statements of the corpus by cosine, without generalized forms.

        Raises:
            InputError: ``text`` is not a statement.
        """
        row, level = self.vocabulary.find(text)
        words, counts = self.vocabulary.words, self.vocabulary.counts
        if words[row] == UNKNOWN != text and not set(OPCODES).intersection(text.split()):
            raise InputError(f"{text!r:.200} is not a statement; expected one such as '<%ID> = add i32 <%ID>, <INT>'")
        similarity = np.minimum(self.vectors @ self.vectors[row], 1)
        similarity[row] = -np.inf
        similarity[counts == 0] = -np.inf
        best = np.argsort(-similarity, kind="stable")[: min(k, int(np.isfinite(similarity).sum()))]
        neighbors = [Neighbor(words[i], float(similarity[i]), int(counts[i])) for i in best.tolist()]
        return Neighbors(neighbors, text, words[row], level)


def l2_normalize(vectors: Floats32) -> Floats32:
    """Scale rows to length 1; rows of zeros stay zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(length, 1e-12)).astype(np.float32)


def compose_missing(vocabulary: Vocabulary, vectors: Floats32) -> Floats32:
    """(num_words, dim) float32 rows of length 1, in which zero rows are means over words that generalize to them.

    Weights are square roots of counts; a word to which no trained word generalizes gets the mean of all.
    """
    vectors = l2_normalize(vectors)
    trained = np.linalg.norm(vectors, axis=1) > 0
    total = np.zeros_like(vectors)
    row_of = {word: row for row, word in enumerate(vocabulary.words)}
    weight = np.sqrt(np.maximum(vocabulary.counts, 1)).astype(np.float32)
    for row in np.flatnonzero(trained).tolist():
        for form in set(generalize(vocabulary.words[row])[1:]):
            above = row_of.get(form)
            if above is not None and not trained[above]:
                total[above] += weight[row] * vectors[row]
    mean = (weight[trained, None] * vectors[trained]).sum(axis=0)
    empty = ~trained & (np.linalg.norm(total, axis=1) == 0)
    total[empty] = mean
    return np.where(trained[:, None], vectors, l2_normalize(total)).astype(np.float32)


_SHIPPED = ASSETS / "embedding"

AnyEmbedding = Embedding | str | os.PathLike[str]
"""An embedding, or its folder."""


def load_embedding(folder: AnyEmbedding | None = None) -> Embedding:
    """Read an embedding.

    Args:
        folder: Folder written by ``save`` or ``ncc train embedding``, or name, such as "org/name@revision", of
            a repository on the Hugging Face hub; default: the shipped embedding, which is read once per process. An
            embedding is returned unchanged.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    if isinstance(folder, Embedding):
        return folder
    path = resolve(folder, "embedding", "embedding")
    return _load_shipped() if path == _SHIPPED else _load(path)


@functools.cache
def _load_shipped() -> Embedding:
    return _load(_SHIPPED)


class _Extension(Struct):
    """An entry of the card's extensions: the extended embedding's fingerprint, and its new words."""

    extends: str
    num_new_words: Annotated[int, Meta(ge=1)]


def _load(folder: Path) -> Embedding:
    from ncc.system.files.models import read_model
    from ncc.system.sandbox.limits import input_limit

    names = ("vectors", "counts")
    card, arrays = read_model(folder, "embedding", FORMAT_VERSION, names, kinds="fi", max_bytes=input_limit())
    vectors, counts = (arrays[name] for name in names)
    try:
        words = convert(card["words"], tuple[Annotated[str, Meta(pattern=r"^[^\n]*\Z")], ...])
        "".join(words).encode()  # lone surrogates are not text
        if not words or counts.ndim != 1 or counts.dtype.kind != "i" or (counts < 0).any():
            raise ValueError("there are no words, or counts are not whole numbers, 0 or more")
        if vectors.dtype != np.float16:
            raise ValueError(f"vectors are {vectors.dtype}, not float16")
        model_card = convert(card["card"], dict[str, Any])
        added = sum(entry.num_new_words for entry in convert(model_card.get("extensions", []), list[_Extension]))
        if added >= len(words):
            raise ValueError(f"{added} of {len(words)} words are marked as extensions")
        vocabulary = Vocabulary(words, counts.astype(np.int64))
        return Embedding(vocabulary, vectors, read_abstraction(card["abstraction"]), model_card)
    except (AttributeError, KeyError, TypeError, ValueError, InputError) as error:
        raise AssetError(f"{folder}: words, counts and vectors don't match ({error}); it is damaged") from error


def read_abstraction(table: object) -> Abstraction:
    """Read an abstraction from JSON; raise ValueError or InputError if it has wrong fields."""
    if not isinstance(table, dict) or table.keys() - Abstraction.__dataclass_fields__.keys():
        raise ValueError("the abstraction is not a table, or has unknown fields")
    return convert(table, Abstraction)
