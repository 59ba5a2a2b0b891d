"""Training an `Embedding` on the counts of corpora: vocabulary, vectors of words, and of the forms to back off to."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ncc.errors import AssetError, InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.backoff import Backoff
from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.counts import CorpusCounts, sum_counts, width_folder
from ncc.learning.embedding.counts import load_counts as load_folder
from ncc.learning.embedding.embedding import (
    Embedding,
    compose_missing,
    read_abstraction,
)
from ncc.learning.embedding.vocabulary import build_vocabulary


def load_counts(corpus: str | Path, *, context_width: int = 2) -> CorpusCounts:
    """Read a corpus's counts: its distinct statements, their occurrences, and the pairs within a context.

    Args:
        corpus: Folder made by `build_corpus`.
        context_width: Context size in hops; the corpus must have been counted for it.

    Raises:
        AssetError: The counts are missing for that width, or damaged.
    """
    return load_folder(width_folder(corpus, context_width))


def load_corpora(folders: Sequence[str | Path], width: int = 2) -> CorpusCounts:
    """Sum the counts of corpora for a context width."""
    if not folders:
        raise InputError("corpora is empty; expected one or more")
    for folder in folders:
        counted = sorted(int(path.name.removeprefix("width-")) for path in Path(folder).glob("width-[0-9]*"))
        if counted and width not in counted:
            raise InputError(f"{folder}: was counted for context widths {counted}; expected {width} among them")
    if len(folders) == 1:
        return load_counts(folders[0], context_width=width)
    return sum_counts(width_folder(folder, width) for folder in folders)


def load_abstraction(folders: Sequence[str | Path]) -> Abstraction:
    """The abstraction that all corpora were counted with; raise InputError if they differ."""
    abstractions = set()
    for folder in folders:
        path = Path(folder) / "report.json"
        try:
            abstractions.add(read_abstraction(json.loads(path.read_bytes())["abstraction"]))
        except OSError as error:
            raise AssetError(f"{path}: can't be read: {error.strerror}; 'ncc corpus build' writes it last") from error
        except (InputError, AttributeError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise AssetError(f"{path}: does not say how statements were abstracted ({error!r})") from error
    if len(abstractions) != 1:
        raise InputError(f"the corpora were counted with {len(abstractions)} different abstractions; expected one")
    return abstractions.pop()


def fit_embedding(
    counts: CorpusCounts,
    config: EmbeddingConfig,
    *,
    abstraction: Abstraction | None = None,
    card: dict[str, Any] | None = None,
    threads: int = 1,
    device: str = "cpu",
    progress: Callable[[int, float], None] | None = None,
) -> Embedding:
    """Train an embedding on counts; losses and entropy on its card are in nats per pair."""
    start = time.perf_counter()
    num_statements = int(counts.statements.sum())
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), config.min_count)
    pairs = counts.restrict(vocabulary)
    if config.engine == "gensim":
        from ncc.learning.embedding.gensim import train_gensim

        result = train_gensim(*pairs, vocabulary.words, config, threads=threads, progress=progress)
    else:
        from ncc.learning.embedding.skipgram import train_skipgram

        result = train_skipgram(*pairs, vocabulary.words, config, device=device, progress=progress)
    vectors = compose_missing(vocabulary, result.vectors)
    _, level = vocabulary.encode(counts.texts)
    exact = counts.statements[level == Backoff.EXACT].sum() / max(num_statements, 1)
    figures = {
        "num_files": counts.num_files,
        "num_lines": counts.num_lines,
        "num_statements": num_statements,
        "num_distinct_statements": len(counts.texts),
        "num_pairs": int(counts.matrix.sum()),
        "num_distinct_pairs": len(pairs[2]),
        "num_words": len(vocabulary),
        "exact_share_of_corpus": round(float(exact), 6),
        "config": asdict(config),
        "loss": round(result.loss, 6),
        "entropy": round(result.entropy, 6),
        "seconds": round(time.perf_counter() - start, 1),
    }
    return Embedding(vocabulary, vectors, abstraction or Abstraction(), figures | (card or {}))
