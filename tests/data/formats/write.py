"""Writes a small file of every format as today's ncc does, where there is none yet, and what it answers.

    python tests/data/formats/write.py

Needs the repository's folder `fuzz`, whose small models it saves.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ncc.learning.embedding import counts, embedding
from ncc.learning.embedding.counts import load_counts, save_counts
from ncc.learning.embedding.embedding import load_embedding, save_embedding
from ncc.learning.encoder import linear as linear_encoder
from ncc.learning.encoder.pooling import load_encoder, save_encoder
from ncc.learning.programs.table import EncodedProgram
from ncc.tasks.classification.head import FORMAT as CLASSIFIERS
from ncc.tasks.coarsening.head import FORMAT as COARSENING_HEADS
from ncc.tasks.devices.features import WORK_WIDTH, KernelFeatures
from ncc.tasks.devices.files import FILES as DEVICE_HEADS

HERE = Path(__file__).parent
VERSIONS = {
    "embedding": embedding.FORMAT_VERSION,
    "counts": counts.FORMAT_VERSION,
    "coarsening": COARSENING_HEADS.version,
    "classifier": CLASSIFIERS.version,
    "times-lstm": DEVICE_HEADS.version,
    "times": DEVICE_HEADS.version,
    "encoder": linear_encoder.FORMAT_VERSION,
}
STATEMENTS = (
    "<%ID> = load float, ptr <%ID>, align 4",
    "<%ID> = add nsw i64 <%ID>, <INT>",
    "ret void",
    "never heard of",
)


def write_embedding(folder: Path) -> None:
    from fuzz import samples

    save_embedding(samples.small_embedding(), folder)


def ask_embedding(folder: Path) -> dict[str, Any]:
    """Words, vectors and neighbours of a few statements."""
    embedding = load_embedding(folder)
    lookup = embedding.look_up(STATEMENTS)
    return {
        "dim": embedding.dim,
        "words": [embedding.vocabulary.words[word] for word in lookup.word.tolist()],
        "levels": lookup.level.tolist(),
        "vectors": embedding.vectors[lookup.word].tolist(),
        "nearest": [near.text for near in embedding.nearest(STATEMENTS[0], 3)],
        "counts": embedding.vocabulary.counts.tolist(),
        "fingerprint": embedding.fingerprint,
        "abstraction": vars(embedding.abstraction),
        "about": embedding.about,
    }


def write_counts(folder: Path) -> None:
    from fuzz import samples

    save_counts(samples.corpus_counts("legacy.ll", "tree.clang22.ll"), folder)


def ask_counts(folder: Path) -> dict[str, Any]:
    """Sums, and the first of the texts and of the pairs."""
    found = load_counts(folder)
    return {
        "num_texts": len(found.texts),
        "first": list(found.texts[:5]),
        "statements": found.statements.tolist(),
        "pairs": np.stack([found.center, found.context, found.count], axis=1)[:50].tolist(),
        "num_pairs": int(found.count.sum()),
        "about": [found.width, found.num_files, found.num_lines],
    }


def write_times_head(folder: Path) -> None:
    from fuzz import samples

    DEVICE_HEADS.save(samples.times_head(), folder)


def ask_times_head(folder: Path) -> dict[str, Any]:
    """Predictions for invented kernels, near those of training and far, in the way of a source and in none."""
    head: Any = DEVICE_HEADS.load(folder)
    from ncc.ir.reader.native import OPCODES
    from ncc.kernels.work import FEATURE_NAMES

    blocks = [np.linspace(low, high, len(FEATURE_NAMES)) for low, high in ((0, 4), (3, 1))]
    opcodes = [np.arange(len(OPCODES)) % 5.0, np.arange(len(OPCODES)) % 3.0]
    # one kind of work of each of the four that the machine's constants tell apart
    kinds = np.ravel([first + np.array([0, 11, 13, 14]) for first in (0, WORK_WIDTH // 2)])
    work = np.zeros((2, WORK_WIDTH))
    work[:, kinds] = [np.linspace(1, 5, 8), np.linspace(2, 9, 8)]
    sequences = np.empty(2, object)
    sequences[:] = [np.linspace(-1, 1, 30, dtype=np.float32).reshape(5, 6)] * 2
    inputs = KernelFeatures(np.array(blocks), np.array(opcodes), work, sequences)
    sizes = np.array([[1e5, 64, np.nan], [1e8, 256, 1e6]])
    answers = [one for source in (None, "one") for one in head.predict(inputs, sizes, source)]
    return {
        "log_ratio": [answer.log_ratio for answer in answers],
        "interval": [list(answer.interval) for answer in answers],
        "probability_gpu": [answer.probability_gpu for answer in answers],
        "times_ms": [{name: list(values) for name, values in (answer.times_ms or {}).items()} for answer in answers],
        "distance": [answer.distance for answer in answers],
        "nearest": [list(answer.nearest) for answer in answers],
        "platform": head.platform,
        "about": head.about,
    }


def write_coarsening(folder: Path) -> None:
    from fuzz import samples

    COARSENING_HEADS.save(samples.coarsening_head(), folder)


def ask_coarsening(folder: Path) -> dict[str, Any]:
    """Predictions for an invented kernel on every device."""
    head: Any = COARSENING_HEADS.load(folder)
    return {
        "speedups": [head.speedups(0.5, device).tolist() for device in (None, *head.devices)],
        "interval_quantiles": head.interval_quantiles.tolist(),
        "names": [list(head.devices), list(head.factors)],
        "card": head.card,
    }


def write_classifier(folder: Path) -> None:
    from fuzz import samples

    CLASSIFIERS.save(samples.classifier_head(), folder)


def ask_classifier(folder: Path) -> dict[str, Any]:
    """Probabilities for an invented program."""
    head = CLASSIFIERS.load(folder)
    length = 30
    words = (np.arange(length) * 7 % len(head.network.row)).astype(np.int32)
    literals = (np.arange(length, dtype=np.uint64) * 2_654_435_761 % 2**32).astype(np.uint32)
    answer = head.predict(EncodedProgram(words, literals, np.arange(length + 1, dtype=np.int32)))
    return {
        "probability": answer.probability.tolist(),
        "fits": answer.fits,
        "classes": list(head.classes),
        "levels": list(head.levels),
        "embedding_id": head.embedding_id,
        "about": head.about,
    }


def write_lstm_times(folder: Path) -> None:
    from fuzz import samples

    DEVICE_HEADS.save(samples.lstm_times_head(), folder)


def write_encoder(folder: Path) -> None:
    from fuzz import samples

    save_encoder(samples.small_encoder(), folder)


def ask_encoder(folder: Path) -> dict[str, Any]:
    """The vectors of a small file at both levels."""
    from fuzz import samples

    encoder = load_encoder(folder)
    assert isinstance(encoder, linear_encoder.LinearEncoder)
    counts = samples.pattern_counts()
    vectors = {level: encoder.encode(counts, level).tolist() for level in ("module", "function")}
    return {"fingerprint": encoder.fingerprint, "vectors": vectors}


FORMATS: dict[str, tuple[Callable[[Path], None], Callable[[Path], dict[str, Any]]]] = {
    "embedding": (write_embedding, ask_embedding),
    "counts": (write_counts, ask_counts),
    "coarsening": (write_coarsening, ask_coarsening),
    "classifier": (write_classifier, ask_classifier),
    "times-lstm": (write_lstm_times, ask_times_head),
    "times": (write_times_head, ask_times_head),
    "encoder": (write_encoder, ask_encoder),
}


def main() -> None:
    """Adds what is not there."""
    sys.path.append(str(HERE.parents[2]))
    path = HERE / "expected.json"
    expected = json.loads(path.read_bytes()) if path.exists() else {}
    for name, (write, ask) in FORMATS.items():
        folder = HERE / f"{name}-v{VERSIONS[name]}"
        if not folder.exists():
            write(folder)
            expected[folder.name] = ask(folder)
    path.write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
