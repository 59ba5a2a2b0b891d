"""Methods that score each class for a program, at each of its levels, and sums of such methods."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from scipy.special import softmax

from ncc.arrays import Floats, Ints
from ncc.learning.programs.labelled import ProgramSamples


class ScoringMethod(ABC):
    """A method that `evaluate` can measure: the scores of a program at all its levels are averaged."""

    name: str
    kind: Literal["ours", "published"] = "ours"
    slow = False
    version = "1"
    sharpness = 1.0

    @property
    @abstractmethod
    def identity(self) -> Any:
        """All that results depend on beside code and samples."""

    @abstractmethod
    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Learns from some rows alone."""

    @abstractmethod
    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """Scores of programs at one of their levels: (m, num_classes) float64.

        Raises:
            InputError: Nothing was fitted yet.
        """

    def levels(self, samples: ProgramSamples) -> Sequence[str]:
        """Levels that are read: all that there are."""
        return list(samples.views)

    def predict(self, samples: ProgramSamples, test_idx: Ints, /) -> Floats:
        """Probabilities of the classes, (m, num_classes) float64; raises as `scores` does."""
        found = [self.scores(samples, level, test_idx) for level in self.levels(samples)]
        return probabilities([self.sharpness * scores for scores in found])


class SummedMethod(ScoringMethod):
    """Methods trained apart, one after the other.

    Args:
        name: For tables.
        parts: What is added up → what its scores are multiplied by.
    """

    def __init__(self, name: str, parts: Mapping[ScoringMethod, float]) -> None:
        self.name, self.parts = name, parts
        self.slow = any(part.slow for part in parts)
        self.version = ", ".join(part.version for part in parts)

    @property
    def identity(self) -> Any:
        """Those of all, and how they are added."""
        return tuple((part.identity, factor) for part, factor in self.parts.items())

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Trains all on some rows."""
        for part in self.parts:
            part.fit(samples, train_idx, rng)

    def scores(self, samples: ProgramSamples, level: str, rows: Ints) -> Floats:
        """The sum of all scores."""
        return np.sum([factor * part.scores(samples, level, rows) for part, factor in self.parts.items()], axis=0)


def probabilities(scores: Sequence[Floats]) -> Floats:
    """From the scores of (m, num_classes) programs, averaged over their levels, to probabilities of the same shape."""
    return softmax(np.mean(scores, axis=0), axis=1)
