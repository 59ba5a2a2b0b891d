"""From the counts of one or more corpora to an `Embedding`: vocabulary, skip-gram, and the forms to fall back to."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ncc.embedding.backoff import BackoffLevel
from ncc.embedding.counts import CorpusCounts, CountsBuilder, load_counts
from ncc.embedding.skipgram import SkipGramConfig, train_skipgram
from ncc.embedding.table import Embedding, compose_missing
from ncc.embedding.vocabulary import build_vocabulary
from ncc.errors import InputError
from ncc.ir import Abstraction

__all__ = ["fit_embedding", "load_corpora"]

logger = logging.getLogger(__name__)


def load_corpora(folders: Sequence[str | Path]) -> CorpusCounts:
    """Reads the counts of corpora and adds them up.

    Raises:
        AssetError: a folder holds no counts, or damaged ones.
        InputError: the corpora were counted with different context widths.
    """
    parts = [load_counts(folder) for folder in folders]
    widths = {part.width for part in parts}
    if len(widths) != 1:
        raise InputError(f"the corpora were counted with context widths {sorted(widths)}; expected one width")
    if len(parts) == 1:
        return parts[0]
    builder = CountsBuilder(widths.pop())
    for part in parts:
        pairs = (part.center, part.context, part.count)
        builder.add(part.texts, part.statements, pairs, num_files=part.num_files, num_lines=part.num_lines)
    return builder.finish()


def fit_embedding(
    counts: CorpusCounts,
    *,
    min_count: int = 20,
    config: SkipGramConfig | None = None,
    abstraction: Abstraction | None = None,
    about: dict[str, Any] | None = None,
    device: str = "cpu",
    progress: Callable[[int, float], None] | None = None,
) -> Embedding:
    """Trains an embedding on counts.

    Args:
        counts: of a corpus.
        min_count: times that a statement must be seen to be a word of its own; see `build_vocabulary`.
        config: of the skip-gram.
        abstraction: the one that the corpus was counted with.
        about: what else the card should say, such as the command.
        device: a torch device.
        progress: called with the number of steps done and the loss.

    Returns:
        The embedding; its ``about`` has the corpus's figures, the configuration, the loss and the entropy of the
        data in nats a pair, and the share of the corpus's statements that are words as they stand.

    Raises:
        ValueError: there are no pairs, or a value is out of its range.
    """
    config = config or SkipGramConfig()
    start = time.perf_counter()
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), min_count)
    pairs = counts.over(vocabulary)
    result = train_skipgram(*pairs, len(vocabulary), config, device=device, progress=progress)
    vectors = compose_missing(vocabulary, result.vectors)
    _, level = vocabulary.encode(counts.texts)
    exact = counts.statements[level == BackoffLevel.EXACT].sum() / max(counts.statements.sum(), 1)
    card = {
        "num_files": counts.num_files,
        "num_lines": counts.num_lines,
        "num_statements": int(counts.statements.sum()),
        "num_distinct_statements": len(counts.texts),
        "num_pairs": int(counts.count.sum()),
        "num_distinct_pairs": len(pairs[2]),
        "width": counts.width,
        "num_words": len(vocabulary),
        "min_count": min_count,
        "exact_share_of_corpus": round(float(exact), 6),
        "skipgram": asdict(config),
        "loss": round(float(result.losses[-1]), 6),
        "entropy": round(result.entropy, 6),
        "seconds": round(time.perf_counter() - start, 1),
    }
    return Embedding(vocabulary, vectors, abstraction or Abstraction(), card | (about or {}))
