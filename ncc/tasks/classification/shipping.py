"""Trains a classifier to keep: on a part of labelled programs, calibrated on another, measured on a third."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ncc.embedding import Embedding
from ncc.heads import ClassifierHead
from ncc.tasks.classification.evaluation import load_split
from ncc.tasks.classification.metrics import fit_temperature, fit_threshold, measure
from ncc.tasks.classification.networks import LONGEST, ClassifierTraining, ProgramLSTMMethod
from ncc.tasks.classification.samples import ProgramSamples

__all__ = ["train_classifier"]


def train_classifier(
    samples: ProgramSamples,
    embedding: Embedding,
    training: ClassifierTraining | None = None,
    *,
    device: str = "cpu",
    seed: int = 204,
    checkpoint: Path | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> ClassifierHead:
    """Trains on three fifths of the programs, calibrates on one, and measures on the last.

    Args:
        samples: Labelled programs; each is drawn at one of its levels at a time.
        embedding: Vectors to begin with.
        training: How to train.
        device: Where to train.
        seed: Of training.
        checkpoint: Where a run that was stopped goes on.
        progress: Called with the number of epochs done and the last one's mean loss.
    """
    training = training or ClassifierTraining()
    split, groups = load_split(samples)
    method = ProgramLSTMMethod(embedding, training)
    method.checkpoint, method.progress, method.device = checkpoint, progress, device
    method.fit(samples, split.train, np.random.default_rng(seed))
    assert method.model is not None
    assert method.row is not None
    tensors = {name: tensor.numpy().astype(np.float32) for name, tensor in method.model.state_dict().items()}
    by_level = {level: method.at(samples, level, split.valid) for level in samples.views}
    valid = np.concatenate(list(by_level.values()))
    label = np.tile(samples.label[split.valid], len(by_level))
    temperature = fit_temperature(valid, label)
    sharpened = valid ** (1 / temperature)
    sharpened /= sharpened.sum(axis=1, keepdims=True)
    scores = {
        level: measure(
            method.at(samples, level, split.test)[None],
            samples.label[split.test],
            groups[split.test],
            split.twins,
        )
        for level in samples.views
    }
    return ClassifierHead(
        tensors=tensors,
        row=method.row,
        layers=training.layers,
        classes=samples.classes,
        temperature=temperature,
        threshold=fit_threshold(sharpened),
        longest=LONGEST,
        embedding_id=embedding.fingerprint,
        about={
            "programs": len(samples),
            "programs_that_do_not_compile": len(samples.failures),
            "training": len(split.train),
            "test": len(split.test),
            "levels": list(samples.views),
            "test_accuracy": {level: round(score.accuracy.value, 4) for level, score in scores.items()},
            "seed": seed,
            "options": asdict(training),
        },
    )
