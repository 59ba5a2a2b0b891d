"""The classifier: a network and a linear model on n-grams, whose scores are added, in NumPy alone; its files."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.encoder.network_numpy import ProgramNetwork
from ncc.learning.heads.files import ModelFormat, Stored
from ncc.learning.programs.table import EncodedProgram
from ncc.tasks.classification.ngrams import NgramModel

_LARGEST = float(np.finfo(np.float16).max)
Level = Annotated[str, Meta(pattern=r"^-O([0-3sz]|fast)\Z")]


@dataclass(frozen=True)
class ClassScores:
    """A classifier's answer for one program.

    Attributes:
        probability: (num_classes,) float64, calibrated.
        fits: False if no class fits: the best one's probability is lower than that of all but a few programs of known
            classes.
    """

    probability: Floats
    fits: bool


@dataclass(frozen=True, eq=False)
class ClassifierHead:
    """A trained classifier of programs.

    Attributes:
        network: Scores a program by its statements in order.
        ngrams: Scores it by short runs of statements.
        ngram_weight: Weight of the n-grams' margins beside the network's scores.
        classes: Names of the classes.
        temperature: Divisor of the scores, so that probabilities are right on held-out programs.
        threshold: Lowest probability of the best class at which a program counts as one of a known class.
        embedding_id: Fingerprint of the embedding whose vocabulary is read.
        levels: Optimization levels that it was trained on, such as "-O1".
        about: Data, command and scores; nothing that an answer needs.
        titles: Class → what its programs do, for classes whose names are numbers.
    """

    network: Annotated[ProgramNetwork, Stored("f2")]
    ngrams: NgramModel
    ngram_weight: Annotated[float, Meta(ge=0, le=_LARGEST)]
    classes: tuple[str, ...]
    temperature: Annotated[float, Meta(ge=1e-6, le=1e6)]
    threshold: Annotated[float, Meta(ge=0, le=1)]
    embedding_id: str
    levels: Annotated[tuple[Level, ...], Meta(min_length=1)] = ("-O1",)
    about: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        counts = [self.network.num_classes, len(self.ngrams.bias), len(self.classes)]
        if len(set(counts)) > 1:
            raise InputError(f"network, n-grams and names are of {counts} classes")
        if not self.titles.keys() <= set(self.classes):
            raise InputError("a title is of no class")

    def __repr__(self) -> str:
        return f"ClassifierHead({len(self.classes)} classes, levels {', '.join(self.levels)})"

    def predict(self, *views: EncodedProgram) -> ClassScores:
        """Classify a program."""
        if not views:
            raise InputError("expected a program, found none")
        scores = np.mean([self.scores(view) for view in views], axis=0) / self.temperature
        exponent = np.exp(scores - scores.max())
        probability = exponent / exponent.sum()
        return ClassScores(probability, bool(probability.max() >= self.threshold))

    def scores(self, program: EncodedProgram) -> Floats:
        """Return the scores of the classes, (num_classes,) float64, before division by the temperature."""
        margins = self.ngrams.scores(program).astype(np.float64)
        return self.network.scores(program) + self.ngram_weight * margins


FORMAT: ModelFormat[ClassifierHead] = ModelFormat("classifier", 3, ClassifierHead, "ncc train classify")


def load_classifier(folder: ClassifierHead | str | os.PathLike[str] | None = None) -> ClassifierHead:
    """Read a program classifier; a loaded one is returned unchanged.

    Args:
        folder: Written by `save_classifier` or ``ncc train classify``; default the one that ships with ncc, of the 104
            problems of POJ-104.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FORMAT.load(folder, "classify")


def save_classifier(head: ClassifierHead, folder: str | Path) -> None:
    """Write a classifier made by `ncc.train_classifier`.

    Args:
        head: The classifier.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    FORMAT.save(head, folder)
