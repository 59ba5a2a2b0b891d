"""Trains a classifier on labeled programs, calibrates it on others, and measures it on the rest.

Classes are split into training, validation and test 3:1:1, with copies of a program on one side; Ben-Nun et al. 2018,
section 6.1, splits at random and lets copies fall on both sides. With ``--refit`` a classifier that was measured is
trained further on all programs.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.errors import AssetError, InputError
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.heads.figures import calibration_error
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.programs.table import ProgramTable
from ncc.learning.training.config import TrainingStatistics
from ncc.learning.training.ranks import rank_and_world
from ncc.tasks.classification.config import NetworkTraining
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.ngrams import fit_ngrams, ngram_scores

NGRAM_WEIGHT = 4.5
"""Weight of the n-grams' margins relative to the network's scores; other values change validation scores little."""
_CALIBRATION_BINS = 15
"""Number of bins of equal width, see Naeini, Cooper, Hauskrecht 2015 ("Obtaining well calibrated probabilities")."""
_SEED = 204
_PROPORTIONS = (3, 1, 1)


def fit_classifier(
    samples: ProgramSamples,
    embedding: Embedding,
    training: NetworkTraining,
    *,
    refit: ClassifierHead | None = None,
    device: str = "cpu",
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> ClassifierHead | None:
    """Train on 60% of the programs, calibrate on 20% and test on the rest; with `refit`, train on all."""
    from ncc.tasks.classification.network import fit_network  # with torch

    if refit:
        card, rows = _measured_card(refit, samples, embedding), np.arange(len(samples))
    else:
        split = split_samples(samples)
        rows = split.train
    rng = np.random.default_rng(training.loop.seed)
    statistics = TrainingStatistics()
    network = fit_network(
        samples,
        rows,
        embedding,
        training,
        rng,
        init_from=refit.network if refit else None,
        device=device,
        checkpoint=checkpoint,
        progress=(lambda epoch, loss, _: progress(epoch, loss)) if progress else None,
        statistics=statistics,
    )
    if rank_and_world()[0]:
        return None
    ngrams = fit_ngrams(samples, rows, embedding, rng)
    if refit:
        temperature, threshold = refit.temperature, refit.threshold
    else:

        def scores(rows: Ints) -> dict[str, Floats]:
            tables = {level: table.rows(rows) for level, table in samples.variants.items()}
            return {
                level: network.scores(table) + NGRAM_WEIGHT * ngram_scores(ngrams, table, embedding)
                for level, table in tables.items()
            }

        temperature, threshold = calibrate(scores(split.valid), samples.label[split.valid])
        card = {"training": len(rows), "test": len(split.test)}
        card |= measure(scores(split.test), samples.label[split.test], temperature)
    return ClassifierHead(
        network=network.to_numpy(),
        ngrams=ngrams,
        ngram_weight=NGRAM_WEIGHT,
        classes=samples.classes,
        temperature=temperature,
        threshold=threshold,
        embedding_id=embedding.fingerprint,
        levels=tuple(samples.variants),
        card={
            "programs": len(samples),
            "programs_that_do_not_compile": len(samples.failures),
            "levels": list(samples.variants),
            **card,
            "seed": training.loop.seed,
            "options": asdict(network.training),
            "precision": statistics.precision,
        },
    )


def _measured_card(refit: ClassifierHead, samples: ProgramSamples, embedding: Embedding) -> dict[str, Any]:
    """Scores of a measured classifier's card that stay valid after training on all programs."""
    if refit.classes != samples.classes or refit.levels != tuple(samples.variants):
        raise AssetError("the measured classifier was trained on other classes or levels")
    scores = {name: refit.card.get(name) for name in ("test", "test_accuracy", "calibration_error")}
    num_training = refit.card.get("training")
    is_measured = None not in (num_training, *scores.values()) and num_training != len(samples)
    if not is_measured or refit.card.get("programs") != len(samples):
        raise AssetError("the classifier to refit was not measured on these programs")
    if refit.embedding_id != embedding.fingerprint:
        raise AssetError("the measured classifier was trained on another embedding")
    return {
        "training": len(samples),
        "measured_when_trained_on": num_training,
        "measured_command": refit.card.get("command"),
        **scores,
    }


def calibrate(scores: Mapping[str, Floats], label: Ints) -> tuple[float, float]:
    """Temperature and threshold from the (n, num_classes) scores of held-out programs at each level.

    The temperature is the divisor of scores with the least cross-entropy; the threshold is the confidence that 99% of
    the programs reach.

    Reference: Guo et al. 2017 ("On calibration of modern neural networks").
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import log_softmax

    levels = list(scores.values())
    views = [probabilities([level]) for level in levels]
    if len(levels) > 1:
        views.append(probabilities(levels))
    logs, labels = np.log(np.maximum(np.concatenate(views), 1e-12)), np.tile(label, len(views))

    def loss(log_temperature: float) -> float:
        return float(-log_softmax(logs / np.exp(log_temperature), axis=1)[np.arange(len(labels)), labels].mean())

    temperature = float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))
    confidence = probabilities([level / temperature for level in levels]).max(axis=1)
    return temperature, float(np.quantile(confidence, 0.01))


def measure(scores: Mapping[str, Floats], label: Ints, temperature: float) -> dict[str, Any]:
    """Accuracy and calibration error from the (n, num_classes) scores of test programs at each level."""
    together = probabilities([level / temperature for level in scores.values()])
    is_right = together.argmax(axis=1) == label
    accuracy = {"all levels together": is_right.mean()}
    accuracy |= {name: (level.argmax(axis=1) == label).mean() for name, level in scores.items()}
    return {
        "test_accuracy": {name: round(float(value), 4) for name, value in accuracy.items()},
        "calibration_error": round(calibration_error(together.max(axis=1), is_right, _CALIBRATION_BINS), 4),
    }


def probabilities(scores: Sequence[Floats]) -> Floats:
    """Turn the (n, num_classes) scores of programs, averaged over levels, into probabilities of the same shape."""
    from scipy.special import softmax

    return softmax(np.mean(scores, axis=0), axis=1)


@dataclass(frozen=True, eq=False)
class ProgramSplit:
    """Rows of a split, int64, for training, calibration and testing, and (n,) groups of near-duplicates."""

    train: Ints
    valid: Ints
    test: Ints
    group: Ints

    @property
    def has_duplicate(self) -> Bools:
        """(len(test),) bool, whether a test program has a near-duplicate among `train` or `valid`."""
        return np.isin(self.group[self.test], self.group[np.concatenate([self.train, self.valid])])


def split_samples(samples: ProgramSamples, *, is_grouped: bool = True) -> ProgramSplit:
    """Split programs; near-duplicates are found at the first level."""
    group = near_duplicates(next(iter(samples.variants.values())))
    split = split_programs(samples.label, group, _SEED, is_grouped=is_grouped)
    if not min(len(split.train), len(split.valid), len(split.test)):
        raise InputError(f"{len(samples)} programs of {len(samples.classes)} classes are too few to split 3:1:1")
    return split


def near_duplicates(table: ProgramTable) -> Ints:
    """Number the groups of programs with the same abstracted statements in the same order, (n,) int64."""
    groups: dict[bytes, int] = {}
    spans = zip(table.start[:-1].tolist(), table.start[1:].tolist(), strict=True)
    keys = (hashlib.sha256(table.text_id[start:end].tobytes()).digest() for start, end in spans)
    return np.array([groups.setdefault(key, len(groups)) for key in keys], np.int64)


def split_programs(label: Ints, group: Ints, seed: int, *, is_grouped: bool = True) -> ProgramSplit:
    """Split each class 3:1:1, by the (n,) class and group of near-duplicates of each program."""
    rng = np.random.default_rng(seed)
    unit = group if is_grouped else np.arange(len(label))
    side = np.full(len(label), -1)
    unit_sides: dict[int, int] = {}
    for index in range(int(label.max()) + 1):
        rows = np.flatnonzero(label == index)
        quota = len(rows) * np.array(_PROPORTIONS) / sum(_PROPORTIONS)
        units: dict[int, list[int]] = {}
        for row in rows[rng.permutation(len(rows))].tolist():
            units.setdefault(int(unit[row]), []).append(row)
        filled = np.zeros(len(_PROPORTIONS))
        # large groups first, while there is room for them; equal ones stay in random order
        for key, members in sorted(units.items(), key=lambda item: -len(item[1])):
            selected = unit_sides.setdefault(key, int(np.argmax((quota - filled) / quota)))
            side[members] = selected
            filled[selected] += len(members)
    train, valid, test = (np.flatnonzero(side == index) for index in range(len(_PROPORTIONS)))
    return ProgramSplit(train, valid, test, group)
