"""Trains a classifier to keep: on a part of labelled programs, calibrated on another, measured on a third."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.classification.fit import NGRAM_FACTOR, CombinedMethod
from ncc.classification.head import ClassifierHead
from ncc.classification.network_fit import NetworkMethod, NetworkTraining, probabilities
from ncc.classification.ngram_fit import NgramMethod
from ncc.classification.samples import ProgramSamples
from ncc.embedding import Embedding
from ncc.errors import AssetError
from ncc.runtime.ranks import rank_and_world
from ncc.study.classification.metrics import fit_temperature, fit_threshold, measure
from ncc.study.classification.task import load_split

__all__ = ["refit_classifier", "train_classifier"]


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
    method = _fit(network, samples, split.train, seed)
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
    return _head(
        method,
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


def refit_classifier(
    samples: ProgramSamples,
    embedding: Embedding,
    measured: ClassifierHead,
    training: NetworkTraining | None = None,
    *,
    device: str = "cpu",
    seed: int = 204,
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> ClassifierHead | None:
    """Trains a classifier that `train_classifier` measured further, on all programs.

    Its calibration and its scores stay: what is held out no more can't be measured on.

    Args:
        samples: As for `train_classifier`, the same ones.
        embedding: As for `train_classifier`.
        measured: The classifier that was measured.
        training: As for `train_classifier`; the network's sizes are those of the measured one's.
        device: As for `train_classifier`.
        seed: As for `train_classifier`.
        checkpoint: As for `train_classifier`.
        progress: As for `train_classifier`.

    Returns:
        As `train_classifier`.

    Raises:
        AssetError: The measured classifier knows other classes, levels or words, or was measured on other programs.
    """
    if measured.classes != samples.classes or measured.levels != tuple(samples.views):
        raise AssetError("the measured classifier was trained on other classes or levels")
    kept = ("training", "test", "test_accuracy", "calibration_error")
    about = {name: measured.about[name] for name in kept if name in measured.about}
    if len(about) < len(kept) or measured.about.get("programs") != len(samples) or about["training"] == len(samples):
        raise AssetError("the classifier to refit was not measured on these programs")
    if measured.embedding_id != embedding.fingerprint:
        raise AssetError("the measured classifier was trained on another embedding")
    known = measured.network
    training = training or NetworkTraining()
    sizes = {name: getattr(known.config, name) for name in ("hidden", "layers", "buckets")}
    training = replace(
        training, encoder=replace(training.encoder, **sizes), head=replace(training.head, dense=known.dense)
    )
    network = NetworkMethod(
        embedding,
        training,
        begin_with=known,
        device=device,
        checkpoint=checkpoint,
        progress=progress,
    )
    method = _fit(network, samples, np.arange(len(samples)), seed)
    if method is None:
        return None
    return _head(
        method,
        samples,
        seed,
        temperature=measured.temperature,
        threshold=measured.threshold,
        about={
            "training": len(samples),
            "measured_when_trained_on": about.pop("training"),
            "measured_command": measured.about.get("command"),
            **about,
        },
    )


def _fit(network: NetworkMethod, samples: ProgramSamples, rows: NDArray[np.int64], seed: int) -> CombinedMethod | None:
    """Both parts; on ranks but the first the network alone, and None."""
    rng = np.random.default_rng(seed)
    network.fit(samples, rows, rng)
    if rank_and_world()[0]:
        return None
    ngrams = NgramMethod(network.embedding)
    ngrams.fit(samples, rows, rng)
    return CombinedMethod(network, ngrams)


def _head(
    method: CombinedMethod,
    samples: ProgramSamples,
    seed: int,
    *,
    temperature: float,
    threshold: float,
    about: dict[str, Any],
) -> ClassifierHead:
    network = method.network
    assert method.ngrams.model is not None
    return ClassifierHead(
        network=network.to_network(),
        ngrams=method.ngrams.model,
        ngram_factor=NGRAM_FACTOR,
        classes=samples.classes,
        temperature=temperature,
        threshold=threshold,
        embedding_id=network.embedding.fingerprint,
        levels=tuple(samples.views),
        about={
            "programs": len(samples),
            "programs_that_do_not_compile": len(samples.failures),
            "levels": list(samples.views),
            **about,
            "seed": seed,
            "options": asdict(network.training),
            "precision": network.statistics.precision,
        },
    )


def _accuracy(probability: NDArray[np.float64], label: NDArray[np.int64]) -> float:
    return float((probability.argmax(axis=1) == label).mean())
