"""Predicts which of a classifier's problems a program solves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.table import EncodedProgram, describe_program
from ncc.system.files.summaries import Summarized, Summary, format_unknown
from ncc.system.files.text import align_columns


@dataclass(frozen=True)
class ClassProbability:
    """A class and its probability.

    Attributes:
        label: Name of the class: of its folder in training.
        title: Description of the problem; None if the classifier has none.
        probability: Calibrated probability.
    """

    label: str
    probability: float
    title: str | None = None


@dataclass(frozen=True, kw_only=True)
class ClassPrediction(Summarized):
    """Class probabilities of a program.

    Attributes:
        classes: The most probable classes, best first; probabilities are calibrated on held-out programs.
        is_known: Whether the program resembles its best class; False if 99% of programs of known classes resemble
            theirs more.
        compiled_as: How the source compiled: "unchanged", "with headers" in its language, as "C89" or "C++" with
            headers, or "patched" further; "IR" for IR.
        levels: Optimization levels that were read; none for IR.
        num_statements: Statements that were read, at all levels.
        unknown_rate: Fraction of these statements that backed off in the embedding.
    """

    classes: tuple[ClassProbability, ...]
    is_known: bool
    compiled_as: str
    levels: tuple[str, ...]
    num_statements: int
    unknown_rate: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        return vars(self) | {"classes": [vars(each) for each in self.classes]}

    def summary(self) -> Summary:
        """Return the most probable class, or "no match" and the closest classes."""
        rows = [(f"{each.probability:.1%}", f" {each.label}", f" {each.title or ''}") for each in self.classes]
        best = self.classes[0]
        return Summary(
            verdict=f"class {best.label}" if self.is_known else "no match",
            interval=f"{best.probability:.1%}" if self.is_known else "none of the known problems",
            details=[
                ("classes" if self.is_known else "closest", align_columns(rows, left=(1, 2))),
                ("unknown", format_unknown(self.unknown_rate, self.num_statements)),
            ],
        )


def encode_program(modules: Sequence[Module], embedding: Embedding) -> tuple[list[EncodedProgram], float]:
    """Encode a program's modules for a classifier; return also the fraction of their statements that backed off."""
    views: list[EncodedProgram] = []
    num_unknown = 0.0
    for module in modules:
        module.check_functions()
        program = describe_program(module)
        lookup = embedding.look_up(program.texts).expand(program.text_id)
        views.append(EncodedProgram(lookup.word, program.literal, program.literal_start.astype(np.int32)))
        num_unknown += lookup.unknown_rate * len(lookup.word)
    return views, num_unknown / sum(len(view.words) for view in views)
