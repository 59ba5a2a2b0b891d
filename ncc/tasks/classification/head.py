"""The classifier, in NumPy only: a network and a linear model on n-grams, whose scores are added; its files."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.encoder.network_numpy import ProgramNetwork
from ncc.learning.heads.files import DISTINCT, ModelFormat, Stored
from ncc.learning.programs.table import EncodedProgram
from ncc.system.files.hub import Shareable
from ncc.tasks.classification.ngrams import NgramModel

_MAX_FLOAT16 = float(np.finfo(np.float16).max)
Level = Annotated[str, Meta(pattern=r"^-O([0-3sz]|fast)\Z")]


@dataclass(frozen=True, eq=False)
class ClassifierHead(Shareable):
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
        card: Data, command and scores; no answer needs it.
        titles: Class → what its programs do, for classes whose names are numbers.
    """

    _noun = "classifier"

    network: Annotated[ProgramNetwork, Stored("f2")]
    ngrams: NgramModel
    ngram_weight: Annotated[float, Meta(ge=0, le=_MAX_FLOAT16)]
    classes: Annotated[tuple[str, ...], DISTINCT]
    temperature: Annotated[float, Meta(ge=1e-6, le=1e6)]
    threshold: Annotated[float, Meta(ge=0, le=1)]
    embedding_id: str
    levels: Annotated[tuple[Level, ...], Meta(min_length=1)] = ("-O1",)
    card: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        counts = [self.network.network.head.num_outputs, len(self.ngrams.bias), len(self.classes)]
        if len(set(counts)) > 1:
            raise InputError(f"network, n-grams and names have {counts} classes; expected the same number")
        if not self.titles.keys() <= set(self.classes):
            raise InputError("a title belongs to no class")

    def _save(self, folder: Path) -> None:
        FORMAT.save(self, folder)

    def __repr__(self) -> str:
        return f"ClassifierHead({len(self.classes)} classes, levels {', '.join(self.levels)})"

    def predict(self, *views: EncodedProgram) -> Floats:
        """Calibrated probabilities of the classes, (num_classes,) float64, from a program at one or more levels."""
        if not views:
            raise InputError("expected a program, found none")
        scores = np.mean([self.scores(view) for view in views], axis=0) / self.temperature
        exponent = np.exp(scores - scores.max())
        return np.asarray(exponent / exponent.sum())

    def is_known(self, probability: Floats) -> bool:
        """Whether a class fits: its probability reaches that of nearly all programs of known classes."""
        return bool(probability.max() >= self.threshold)

    def scores(self, program: EncodedProgram) -> Floats:
        """Scores of the classes, (num_classes,) float64, before division by the temperature."""
        return self.network.scores(program) + self.ngram_weight * self.ngrams.scores(program).astype(np.float64)


FORMAT: ModelFormat[ClassifierHead] = ModelFormat("classifier", 4, ClassifierHead, "ncc train classify")


def load_classifier(folder: ClassifierHead | str | os.PathLike[str] | None = None) -> ClassifierHead:
    """Read a program classifier; a loaded one is returned unchanged.

    Args:
        folder: Folder written by ``save`` or ``ncc train classify``, or name, such as "org/name@revision", of
            a repository on the Hugging Face hub; default: the shipped classifier, for the 104 problems of POJ-104.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FORMAT.load(folder, "classify")
