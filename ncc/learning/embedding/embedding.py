"""`Embedding`: a vector for every statement, with back-off; its files, neighbours and export.

Files are ``embedding.safetensors`` (vectors, counts) and ``embedding.json`` (words and how they were made).
"""

import functools
import hashlib
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta, convert
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints32
from ncc.errors import AssetError, InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.native import OPCODES
from ncc.learning.embedding.backoff import BackoffLevel, generalise
from ncc.learning.embedding.vocabulary import UNKNOWN, Vocabulary
from ncc.system.files.pages import html_table

if TYPE_CHECKING:
    import gensim.models

FORMAT_VERSION = 1
_LARGEST = 1e18


@dataclass(frozen=True, eq=False)
class Lookup:
    """Which words stand for some statements.

    Attributes:
        word: (num_statements,) int32 rows of the embedding.
        level: (num_statements,) uint8 `BackoffLevel` at which each was found.
    """

    word: Ints32
    level: NDArray[np.uint8]

    def __repr__(self) -> str:
        return f"Lookup({len(self.word)} statements, {self.unknown_rate:.1%} unknown)"

    @property
    def unknown_rate(self) -> float:
        """Share of statements that are not in the vocabulary as they stand; 0 where there are none."""
        return float((self.level != BackoffLevel.EXACT).mean()) if len(self.level) else 0.0

    def over(self, text_id: Ints32) -> "Lookup":
        """From distinct statements to all statements: (num_statements,) indices of the distinct ones."""
        return Lookup(self.word[text_id], self.level[text_id])

    def count_by_level(self) -> dict[str, int]:
        """How many statements were found at each level, by its name."""
        counts = np.bincount(self.level, minlength=len(BackoffLevel))
        return {level.name.lower(): int(counts[level]) for level in BackoffLevel}


@dataclass(frozen=True)
class Neighbor:
    """A word near another, with their cosine similarity and how often the word was seen."""

    text: str
    similarity: float
    count: int


class Neighbors(list[Neighbor]):
    """The words near a statement, best first.

    Attributes:
        text: The statement.
        word: The word of the vocabulary that stands for it.
        level: How far it had to be generalised; "exact" where it is a word itself.
    """

    def __init__(self, neighbors: Iterable[Neighbor], text: str, word: str, level: BackoffLevel) -> None:
        """Keeps the neighbours and how their statement was found."""
        super().__init__(neighbors)
        self.text, self.word, self.level = text, word, level.name.lower()

    @property
    def caption(self) -> str:
        """Whose neighbours they are."""
        if self.level == "exact":
            return f"nearest to {self.text}"
        return f"{self.text} is not in the vocabulary; it backed off ({self.level}) to {self.word}, and nearest to that"

    def __repr__(self) -> str:
        return f"<{self.caption}: {super().__repr__()}>"

    def _repr_html_(self) -> str:
        rows = [(near.text, f"{near.similarity:.3f}", near.count) for near in self]
        return html_table(self.caption, ("statement", "similarity", "times seen"), rows)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Vectors of statements.

    Attributes:
        vocabulary: The words.
        vectors: (num_words, dim) float32, rows of length 1.
        abstraction: How statements must be abstracted to be looked up.
        about: Corpus, command, configuration and scores, as the card in the JSON file.
    """

    vocabulary: Vocabulary
    vectors: Floats32
    abstraction: Abstraction = field(default_factory=Abstraction)
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that there is one finite vector for each word."""
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.vocabulary):
            raise InputError(f"vectors of shape {self.vectors.shape} for {len(self.vocabulary)} words")
        if not np.isfinite(self.vectors).all():
            raise InputError("vectors are not all finite")

    def __repr__(self) -> str:
        return f"Embedding({len(self.vocabulary)} statements, dim={self.dim})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """For pickle: the shipped one is read again where it is wanted."""
        is_shipped = _load_shipped.cache_info().currsize and self is _load_shipped()
        return (load_embedding, ()) if is_shipped else super().__reduce_ex__(protocol)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.vectors.shape[1])

    @functools.cached_property
    def fingerprint(self) -> str:
        """A short hash of words and vectors, by which a head knows the embedding that it was trained on."""
        digest = hashlib.sha256("\0".join(self.vocabulary.words).encode())
        digest.update(self.vectors.astype(np.float16).tobytes())
        return digest.hexdigest()[:16]

    def version(self, fingerprint: str) -> "Embedding":
        """This embedding as the one of a fingerprint knows it: itself, or less the words that extensions added.

        Raises:
            AssetError: It is neither that one nor an extension of it.
        """
        older = self
        for entry in reversed(self.about.get("extensions", [])):
            older = older._without_last(entry["num_new_words"])
            if fingerprint == entry["extends"]:
                return older
        if fingerprint != self.fingerprint:
            raise AssetError(
                f"the head was trained on embedding {fingerprint}, but {self.fingerprint} is loaded; "
                "train the head again with 'ncc train'"
            )
        return self

    def _without_last(self, num_words: int) -> "Embedding":
        """Without the words that the last extension added, which stand before the last of all."""
        words, counts = self.vocabulary.words, self.vocabulary.counts
        kept = np.append(np.arange(len(words) - 1 - num_words), len(words) - 1)
        vocabulary = Vocabulary(tuple(words[row] for row in kept.tolist()), counts[kept])
        about = self.about | {"num_words": len(kept), "extensions": self.about["extensions"][:-1]}
        return Embedding(vocabulary, self.vectors[kept], self.abstraction, about)

    def look_up(self, texts: Iterable[str]) -> Lookup:
        """Finds the words that stand for abstracted statements."""
        return Lookup(*self.vocabulary.encode(texts))

    def vector(self, text: str) -> Floats32:
        """The (dim,) float32 vector of one abstracted statement, by back-off where it has none of its own."""
        return self.vectors[self.vocabulary.find(text)[0]]

    def nearest(self, text: str, k: int = 10) -> Neighbors:
        """The ``k`` statements of the corpus nearest to one, by cosine; generalised forms are left out.

        Raises:
            InputError: It is not a statement.
        """
        row, level = self.vocabulary.find(text)
        if self.vocabulary.words[row] == UNKNOWN != text and not set(OPCODES).intersection(text.split()):
            raise InputError(f"{text!r:.200} is not a statement; expected one such as '<%ID> = add i32 <%ID>, <INT>'")
        similarity = np.minimum(self.vectors @ self.vectors[row], 1)
        similarity[row] = -np.inf
        similarity[self.vocabulary.counts == 0] = -np.inf
        k = min(k, int(np.isfinite(similarity).sum()))
        best = np.argpartition(-similarity, k - 1)[:k] if k else np.zeros(0, np.int64)
        best = best[np.argsort(-similarity[best], kind="stable")]
        words, counts = self.vocabulary.words, self.vocabulary.counts
        found = [Neighbor(words[i], float(similarity[i]), int(counts[i])) for i in best.tolist()]
        return Neighbors(found, text, words[row], level)

    def to_keyed_vectors(self) -> "gensim.models.KeyedVectors":
        """The words and vectors as gensim's ``KeyedVectors``, for its queries and file formats."""
        from gensim.models import KeyedVectors

        keyed = KeyedVectors(self.dim)  # with a count, gensim would put as many nameless zero vectors first
        keyed.add_vectors(list(self.vocabulary.words), self.vectors)
        for word, count in zip(self.vocabulary.words, self.vocabulary.counts.tolist(), strict=True):
            keyed.set_vecattr(word, "count", count)
        return keyed


@dataclass(frozen=True, kw_only=True)
class _Extension:
    """What the card must say of each extension.

    Attributes:
        extends: Fingerprint of the embedding that was extended.
        num_new_words: Words that it got, which stand before the last of all.
    """

    extends: str
    num_new_words: Annotated[int, Meta(ge=1)]


def normalised(vectors: Floats32) -> Floats32:
    """Rows scaled to length 1; rows of zeros stay zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(length, 1e-12)).astype(np.float32)


def compose_missing(vocabulary: Vocabulary, vectors: Floats32) -> Floats32:
    """Gives every word without a trained vector the mean of the words under it, weighted by count.

    Args:
        vocabulary: The words; those with a count of 0 are only there to be fallen back to.
        vectors: (num_words, dim), zero rows where nothing was trained.

    Returns:
        (num_words, dim) float32 with rows of length 1; a word with nothing under it gets the mean of all.
    """
    vectors = normalised(vectors)
    trained = np.linalg.norm(vectors, axis=1) > 0
    total = np.zeros_like(vectors)
    row_of = {word: row for row, word in enumerate(vocabulary.words)}
    weight = np.sqrt(np.maximum(vocabulary.counts, 1)).astype(np.float32)
    for row in np.flatnonzero(trained).tolist():
        for form in set(generalise(vocabulary.words[row])[1:]):
            above = row_of.get(form)
            if above is not None and not trained[above]:
                total[above] += weight[row] * vectors[row]
    mean = (weight[trained, None] * vectors[trained]).sum(axis=0)
    empty = ~trained & (np.linalg.norm(total, axis=1) == 0)
    total[empty] = mean
    return np.where(trained[:, None], vectors, normalised(total)).astype(np.float32)


def save_embedding(embedding: Embedding, folder: str | Path) -> None:
    """Writes an embedding, with its vectors as float16.

    Args:
        embedding: To be written.
        folder: Gets ``embedding.safetensors`` and ``embedding.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    from ncc.system.files.models import write_model

    folder = Path(folder)
    arrays: dict[str, NDArray[Any]] = {
        "vectors": embedding.vectors.astype(np.float16),
        "counts": embedding.vocabulary.counts,
    }
    card = {
        "format_version": FORMAT_VERSION,
        "abstraction": asdict(embedding.abstraction),
        "about": embedding.about,
        "words": embedding.vocabulary.words,
    }
    write_model(folder, "embedding", card, arrays)


AnyEmbedding = Embedding | str | os.PathLike[str]
"""An embedding, or the folder that it is in."""


def load_embedding(folder: AnyEmbedding | None = None) -> Embedding:
    """Reads an embedding.

    Args:
        folder: Written by `save_embedding` or ``ncc train embedding``; default the one that ships with ncc, which is
            read once a process. An embedding is returned as it is.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    if isinstance(folder, Embedding):
        return folder
    return _load_shipped() if folder is None else _load(Path(folder))


@functools.cache
def _load_shipped() -> Embedding:
    return _load(Path(__file__).parents[2] / "assets" / "embedding")


def _load(folder: Path) -> Embedding:
    from ncc.system.files.models import read_model
    from ncc.system.sandbox.limits import input_limit

    names = ("vectors", "counts")
    card, arrays = read_model(folder, "embedding", FORMAT_VERSION, names, kinds="fi", most_bytes=input_limit())
    try:
        vocabulary = _checked_vocabulary(card["words"], arrays["counts"])
        vectors = arrays["vectors"]
        if vectors.ndim != 2 or not vectors.shape[1] or vectors.dtype.kind != "f":
            raise ValueError(f"vectors are {vectors.dtype} of shape {vectors.shape}")
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = vectors.astype(np.float32)
        if not -_LARGEST < vectors.min() <= vectors.max() < _LARGEST:
            raise ValueError("vectors are not all finite, with finite squares")
        about = convert(card["about"], dict[str, Any])
        added = sum(entry.num_new_words for entry in convert(about.get("extensions", []), list[_Extension]))
        if added >= len(vocabulary):
            raise ValueError(f"{added} of {len(vocabulary)} words are said to be extensions")
        return Embedding(vocabulary, normalised(vectors), read_abstraction(card["abstraction"]), about)
    except (AttributeError, KeyError, TypeError, ValueError, InputError) as error:
        raise AssetError(f"{folder}: words, counts and vectors don't fit together ({error}); it is damaged") from error


def _checked_vocabulary(words: object, counts: NDArray[Any]) -> Vocabulary:
    """A vocabulary whose words are texts that can be written, and whose counts are counts."""
    texts = convert(words, tuple[Annotated[str, Meta(pattern=r"^[^\n]*\Z")], ...])
    "".join(texts).encode()  # halves of surrogate pairs are not text
    if not texts or counts.ndim != 1 or counts.dtype.kind != "i" or (counts < 0).any():
        raise ValueError("there are no words, or counts are not whole numbers, 0 or more")
    return Vocabulary(texts, counts.astype(np.int64))


def read_abstraction(table: dict[str, Any]) -> Abstraction:
    """An abstraction from what JSON holds of it.

    Raises:
        AttributeError, ValueError, InputError: It is none, or has values of a wrong type.
    """
    if unknown := table.keys() - Abstraction.__dataclass_fields__.keys():
        raise ValueError(f"abstraction has unknown fields {sorted(unknown)!s:.80}")
    return convert(table, Abstraction)
