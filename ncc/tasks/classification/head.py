"""The classifier: a network and a linear model on n-grams, whose scores are added, in NumPy alone."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.encoder.network_model import ProgramNetwork
from ncc.learning.programs.table import EncodedProgram
from ncc.tasks.classification.ngrams import NgramModel


@dataclass(frozen=True)
class ClassPrediction:
    """What a classifier says of a program.

    Attributes:
        probability: (num_classes,) float64, calibrated.
        fits: False where no class fits: the best one's probability is lower than that of all but a few programs of
            known classes.
    """

    probability: Floats
    fits: bool


@dataclass(frozen=True, eq=False)
class ClassifierHead:
    """A trained classifier of programs.

    Attributes:
        network: Reads statements in order.
        ngrams: Reads short runs of them.
        ngram_factor: What its margins are multiplied by, before the network's scores are added.
        classes: Names of the classes.
        temperature: What scores are divided by, so that probabilities are right on programs held out.
        threshold: Lowest probability of the best class at which a program is taken to be of a known class.
        embedding_id: Fingerprint of the embedding whose vocabulary is read.
        levels: Optimisation levels that it was trained on, as "-O1".
        about: Data, command and scores, as the card in the JSON file; nothing that an answer needs.
        titles: Class → what its programs do, in words, for classes whose names are numbers.
    """

    network: ProgramNetwork
    ngrams: NgramModel
    ngram_factor: float
    classes: tuple[str, ...]
    temperature: float
    threshold: float
    embedding_id: str
    levels: tuple[str, ...] = ("-O1",)
    about: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that the parts fit each other."""
        if not 0 < self.temperature < np.inf or not 0 <= self.threshold <= 1 or not 0 <= self.ngram_factor < np.inf:
            raise InputError("temperature must be above 0, threshold in [0, 1], ngram_factor 0 or more")
        counts = [self.network.num_classes, len(self.ngrams.bias), len(self.classes)]
        if len(set(counts)) > 1:
            raise InputError(f"network, n-grams and names are of {counts} classes")
        if not self.titles.keys() <= set(self.classes):
            raise InputError("a title is of no class")

    def __repr__(self) -> str:
        return f"ClassifierHead({len(self.classes)} classes, levels {', '.join(self.levels)})"

    def predict(self, *views: EncodedProgram) -> ClassPrediction:
        """Classifies a program.

        Args:
            views: The program, as one level or several made it; the scores of several are averaged.

        Raises:
            InputError: There is no view.
        """
        if not views:
            raise InputError("expected a program, found none")
        scores = np.mean([self.scores(view) for view in views], axis=0) / self.temperature
        exponent = np.exp(scores - scores.max())
        probability = exponent / exponent.sum()
        return ClassPrediction(probability, bool(probability.max() >= self.threshold))

    def scores(self, program: EncodedProgram) -> Floats:
        """Scores of the classes, (num_classes,) float64, before they are divided by the temperature."""
        margins = self.ngrams.scores(program).astype(np.float64)
        return self.network.scores(program) + self.ngram_factor * margins
