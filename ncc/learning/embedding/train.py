"""Trains an `Embedding` on the counts of corpora: vocabulary, skip-gram, and the forms to fall back to."""

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ncc.errors import AssetError, InputError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.backoff import BackoffLevel
from ncc.learning.embedding.config import SkipGramConfig
from ncc.learning.embedding.counts import CorpusCounts, CountsBuilder, load_counts, width_folder
from ncc.learning.embedding.embedding import Embedding, compose_missing, read_abstraction
from ncc.learning.embedding.gensim import GensimConfig, train_gensim
from ncc.learning.embedding.skipgram import train_skipgram
from ncc.learning.embedding.vocabulary import build_vocabulary

logger = logging.getLogger(__name__)


def load_corpora(folders: Sequence[str | Path], width: int = 2) -> CorpusCounts:
    """Reads the counts of corpora for a context width and adds them up.

    Raises:
        AssetError: A folder holds no counts, or damaged ones.
        InputError: A corpus was not counted for this width.
    """
    for folder in folders:
        counted = sorted(int(path.name.removeprefix("width-")) for path in Path(folder).glob("width-[0-9]*"))
        if counted and width not in counted:
            raise InputError(f"{folder}: was counted for context widths {counted}; expected {width} among them")
    if len(folders) == 1:
        return load_counts(width_folder(folders[0], width))
    builder = CountsBuilder(width)
    for folder in folders:
        builder.add_counts(load_counts(width_folder(folder, width)))
    return builder.finish()


def load_abstraction(folders: Sequence[str | Path]) -> Abstraction:
    """The abstraction that corpora were counted with.

    Raises:
        AssetError: A folder holds no corpus.
        InputError: The corpora differ in it.
    """
    found = set()
    for folder in folders:
        path = Path(folder) / "report.json"
        try:
            found.add(read_abstraction(json.loads(path.read_bytes())["abstraction"]))
        except OSError as error:
            raise AssetError(f"{path}: can't be read: {error.strerror}; 'ncc corpus build' writes it last") from error
        except (InputError, AttributeError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise AssetError(f"{path}: does not say how statements were abstracted ({error!r})") from error
    if len(found) != 1:
        raise InputError(f"the corpora were counted with {len(found)} different abstractions; expected one")
    return found.pop()


def fit_embedding(
    counts: CorpusCounts,
    *,
    min_count: int = 10,
    config: SkipGramConfig | GensimConfig | None = None,
    abstraction: Abstraction | None = None,
    about: dict[str, Any] | None = None,
    device: str = "cpu",
    progress: Callable[[int, float], None] | None = None,
) -> Embedding:
    """Trains an embedding on counts.

    Args:
        counts: Of a corpus.
        min_count: Times that a statement must be seen to be a word of its own; see `build_vocabulary`.
        config: Of the exact skip-gram, or of gensim's.
        abstraction: The one that the corpus was counted with.
        about: What else the card should say, such as the command.
        device: A torch device.
        progress: Called with the number of epochs done and the loss.

    Returns:
        The embedding; its ``about`` has the corpus's figures, the configuration, the loss and the entropy of the
        data in nats a pair, and the share of the corpus's statements that are words as they stand.

    Raises:
        InputError: There are no pairs, or a value is out of its range.
    """
    config = config or SkipGramConfig()
    start = time.perf_counter()
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), min_count)
    pairs = counts.over(vocabulary)
    if isinstance(config, GensimConfig):
        result = train_gensim(*pairs, vocabulary.words, config, progress=progress)
    else:
        result = train_skipgram(*pairs, vocabulary.words, config, device=device, progress=progress)
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
        "engine": "gensim" if isinstance(config, GensimConfig) else "exact",
        "skipgram": asdict(config),
        "loss": round(result.loss, 6),
        "entropy": round(result.entropy, 6),
        "seconds": round(time.perf_counter() - start, 1),
    }
    return Embedding(vocabulary, vectors, abstraction or Abstraction(), card | (about or {}))
