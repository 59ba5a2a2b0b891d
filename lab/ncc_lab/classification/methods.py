"""Ncc's classifiers as methods that comparisons measure: the network, n-grams, and sums of methods."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import InputError
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.training.config import TrainingStatistics
from ncc.tasks.classification.config import NetworkTraining
from ncc.tasks.classification.network import TrainedNetwork, fit_network
from ncc.tasks.classification.ngrams import BUCKETS, NgramModel, fit_ngrams, ngram_scores
from ncc.tasks.classification.train import NGRAM_WEIGHT, probabilities

T = TypeVar("T")


def fitted(model: T | None) -> T:
    """Return what a method has learnt.

    Raises:
        InputError: It has learnt nothing yet.
    """
    if model is None:
        raise InputError("fit the method before predicting")
    return model


class ScoringMethod(ABC):
    """A method whose scores of a program at all levels are averaged."""

    name: str
    kind: Literal["ours", "published"] = "ours"
    slow = False
    version = "1"
    sharpness = 1.0

    @property
    @abstractmethod
    def identity(self) -> Any:
        """Return all that results depend on beside code and samples."""

    @abstractmethod
    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Learn from some rows alone."""

    @abstractmethod
    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """Score programs at one of their levels: (m, num_classes) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """

    def levels(self, samples: ProgramSamples) -> Sequence[str]:
        """Return the levels that are read: by default all."""
        return list(samples.views)

    def predict(self, samples: ProgramSamples, test_idx: Ints, /) -> Floats:
        """Return probabilities of the classes, (m, num_classes) float64; raise as `scores` does."""
        return probabilities([self.sharpness * self.scores(samples, level, test_idx) for level in self.levels(samples)])


class NetworkMethod(ScoringMethod):
    """The encoder with a head for classes.

    Args:
        embedding: Vectors to start from.
        training: How to train.
        name: Name in tables.
        kind: Whose the method is.
        device: Torch device.
        checkpoint: File from which a stopped run resumes.
        progress: Called with the number of epochs done and the last one's mean loss.
        statistics: Filled by `fit`.
    """

    slow = True
    version = "2"

    def __init__(
        self,
        embedding: Embedding,
        training: NetworkTraining | None = None,
        name: str = "ncc's network",
        *,
        kind: Literal["ours", "published"] = "ours",
        device: str = "cpu",
        checkpoint: Path | None = None,
        progress: Callable[[int, float], None] | None = None,
        statistics: TrainingStatistics | None = None,
    ) -> None:
        self.name, self.kind, self.embedding, self.training = name, kind, embedding, training or NetworkTraining()
        self.network: TrainedNetwork | None = None
        self._how = {"device": device, "checkpoint": checkpoint, "statistics": statistics}
        self._progress = progress

    @property
    def identity(self) -> Any:
        """Embedding and options."""
        return self.embedding.vectors, asdict(self.training), {}

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train a network on some rows."""

        def report(epoch: int, loss: float, network: TrainedNetwork) -> None:
            self.network = network
            if self._progress:
                self._progress(epoch, loss)

        how: dict[str, Any] = self._how
        self.network = fit_network(samples, train_idx, self.embedding, self.training, rng, progress=report, **how)

    def levels(self, samples: ProgramSamples) -> Sequence[str]:
        """Return all levels, or the first alone."""
        return self.training.levels(samples)

    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """Return the network's outputs."""
        return fitted(self.network).scores(samples.views[level].rows(rows))


class NgramMethod(ScoringMethod):
    """The linear model on n-grams.

    Args:
        embedding: Vocabulary.
        buckets: Buckets that n-grams are hashed into.
        penalty: Weight of mistakes.
        name: Name in tables.
    """

    sharpness = 5.0
    """Factor of margins that alone give probabilities."""

    def __init__(
        self,
        embedding: Embedding,
        buckets: int = BUCKETS,
        penalty: float = 1.0,
        name: str = "n-grams of statements and literals + linear model",
    ) -> None:
        self.name, self.embedding, self.buckets, self.penalty = name, embedding, buckets, penalty
        self.model: NgramModel | None = None

    @property
    def identity(self) -> Any:
        """Vocabulary and options."""
        return self.embedding.vectors, self.buckets, self.penalty

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Fit the model to some rows."""
        self.model = fit_ngrams(samples, train_idx, self.embedding, rng, buckets=self.buckets, penalty=self.penalty)

    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """Return margins."""
        return ngram_scores(fitted(self.model), samples.views[level].rows(rows), self.embedding)


class SummedMethod(ScoringMethod):
    """Methods trained apart, one after the other.

    Args:
        name: Name in tables.
        parts: Method → factor of its scores.
    """

    def __init__(self, name: str, parts: Mapping[ScoringMethod, float]) -> None:
        self.name, self.parts = name, parts
        self.slow = any(part.slow for part in parts)
        self.version = ", ".join(part.version for part in parts)

    @property
    def identity(self) -> Any:
        """All parts' identities and factors."""
        return tuple((part.identity, factor) for part, factor in self.parts.items())

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Train all on some rows."""
        for part in self.parts:
            part.fit(samples, train_idx, rng)

    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """Return the weighted sum of all scores."""
        return np.sum([factor * part.scores(samples, level, rows) for part, factor in self.parts.items()], axis=0)


def whole_classifier(embedding: Embedding, training: NetworkTraining | None = None) -> SummedMethod:
    """Return the network and the n-grams as they ship together."""
    return SummedMethod("ncc", {NetworkMethod(embedding, training): 1.0, NgramMethod(embedding): NGRAM_WEIGHT})
