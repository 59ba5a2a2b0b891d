"""``ncc train classify``: a classifier trained on a part of labelled programs, calibrated and measured on others.

With ``--refit`` it is trained further on all of them: `ncc.classification.refit`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.classification.fit import fit_combined
from ncc.classification.head import ClassifierHead
from ncc.classification.network_fit import NetworkMethod, NetworkTraining, probabilities
from ncc.classification.samples import ProgramSamples
from ncc.embedding import Embedding
from ncc.study.classification.metrics import fit_temperature, fit_threshold, measure
from ncc.study.classification.task import load_split

__all__ = ["train_classifier"]


def train_classifier(
    samples: ProgramSamples,
    embedding: Embedding,
    training: NetworkTraining | None = None,
    *,
    device: str = "cpu",
    seed: int = 204,
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> ClassifierHead | None:
    """Trains on three fifths of the programs, calibrates on one, and measures on the last.

    Args:
        samples: Labelled programs; each is drawn at one of its levels at a time.
        embedding: Vectors to begin with.
        training: How to train the network.
        device: Where to train it.
        seed: Of training.
        checkpoint: Where a run that was stopped goes on.
        progress: Called with the number of epochs done and the last one's mean loss.

    Returns:
        The classifier; None on all ranks but the first, which are done when the network is.
    """
    split, groups = load_split(samples)
    network = NetworkMethod(embedding, training, device=device, checkpoint=checkpoint, progress=progress)
    method = fit_combined(network, samples, split.train, seed)
    if method is None:
        return None
    levels = list(samples.views)
    valid, test = ([method.scores(samples, level, rows) for level in levels] for rows in (split.valid, split.test))
    answers = [probabilities([scores]) for scores in valid]
    if len(levels) > 1:
        answers.append(probabilities(valid))
    temperature = fit_temperature(np.concatenate(answers), np.tile(samples.label[split.valid], len(answers)))
    by_level = {level: probabilities([scores]) for level, scores in zip(levels, test, strict=True)}
    together = measure(
        probabilities([scores / temperature for scores in test])[None],
        samples.label[split.test],
        groups[split.test],
        split.twins,
    )
    return method.to_head(
        samples,
        seed,
        temperature=temperature,
        threshold=fit_threshold(probabilities([scores / temperature for scores in valid])),
        about={
            "training": len(split.train),
            "test": len(split.test),
            "test_accuracy": {
                "all levels together": round(together.accuracy.value, 4),
                **{level: round(_accuracy(found, samples.label[split.test]), 4) for level, found in by_level.items()},
            },
            "calibration_error": round(together.calibration_error, 4),
        },
    )


def _accuracy(probability: NDArray[np.float64], label: NDArray[np.int64]) -> float:
    return float((probability.argmax(axis=1) == label).mean())
