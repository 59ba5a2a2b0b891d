"""How a trained classifier does on its test programs at another level or from another compiler."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ncc.arrays import Floats, Ints
from ncc.errors import AssetError, InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import LabelledFiles, load_programs
from ncc.learning.programs.table import ProgramTable
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.ngrams import encoded_programs
from ncc.tasks.classification.train import split_samples
from ncc_lab.figures import estimate, show, table
from ncc_lab.programs.classify import FIGURES, class_terms


@dataclass(frozen=True)
class RobustnessTable:
    """Scores of one classifier: as its programs are usually read, then as other levels and compilers make them."""

    scores: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        return {"variants": self.scores.astype(object).to_dict("records")}

    def to_text(self) -> str:
        """Return a table for people."""
        rows = {
            f"{row['level']}, {row['clang'] or 'bundled'}": [
                show(row["num_samples"], places=0),
                show(row["accuracy"], *row["interval"], unit="%", places=2),
                show(row["baseline_accuracy"], unit="%", places=2),
                show(row["unknown_rate"], unit="%"),
            ]
            for row in self.scores.astype(object).to_dict("records")
        }
        return table("Level and compiler", rows, ["programs", "accuracy", "as usually compiled", "unknown"])


def measure_head(
    head: ClassifierHead,
    embedding: Embedding,
    files: LabelledFiles,
    variants: list[CompileOptions],
    *,
    options: CompileOptions | None = None,
    cache: Path,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> RobustnessTable:
    """Measure a classifier on the test programs of the split that it was trained by, in several variants."""
    if head.classes != files.classes or head.embedding_id != embedding.fingerprint:
        raise AssetError("the classifier was trained on other classes, or on another embedding")
    if not {"training", "programs"} <= head.card.keys():
        raise InputError("the classifier's card does not say how many programs it was trained on, and of how many")
    if head.card["training"] == head.card["programs"]:
        raise AssetError("the classifier was trained on all programs; measure the one that it was made after")
    load = partial(load_programs, abstraction=embedding.abstraction, cache=cache, jobs=jobs, progress=progress)
    usual = load(files, head.levels, options=options)
    split = split_samples(usual)
    test = usual.row[split.test]
    probability, unknown_rate = _answer(head, embedding, [table.rows(split.test) for table in usual.variants.values()])
    usually_right, group = np.zeros(len(files.paths), bool), np.zeros(len(files.paths), np.int64)
    usually_right[test], group[test] = probability.argmax(axis=1) == files.label[test], split.group[split.test]

    def score(options: CompileOptions | None, rows: Ints, probability: Floats, unknown_rate: float) -> dict[str, Any]:
        """Score the answers for some of the files."""
        figures = {name: FIGURES[name] for name in ("accuracy", "calibration_error")}
        scores = estimate([class_terms(files.label[rows], probability)], figures, group[rows])
        accuracy = scores["accuracy"]
        return {
            "level": options.optimization if options else "usual",
            "clang": options.clang if options else None,
            "num_samples": len(rows),
            "accuracy": accuracy.value,
            "interval": (accuracy.low, accuracy.high),
            "baseline_accuracy": float(usually_right[rows].mean()),
            "calibration_error": scores["calibration_error"].value,
            "unknown_rate": unknown_rate,
        }

    rows = [score(None, test, probability, unknown_rate)]
    part = replace(files, paths=tuple(files.paths[row] for row in test.tolist()), label=files.label[test])
    for variant in variants:
        samples = load(part, (variant.optimization,), options=variant)
        rows.append(score(variant, test[samples.row], *_answer(head, embedding, [*samples.variants.values()])))
    return RobustnessTable(pd.DataFrame(rows))


def _answer(head: ClassifierHead, embedding: Embedding, tables: Sequence[ProgramTable]) -> tuple[Floats, float]:
    """Return (n, num_classes) probabilities for the programs of tables, one of each level, and the unknown rate."""
    programs = zip(*(encoded_programs(table, embedding) for table in tables), strict=True)
    predictions = [head.predict(*views) for views in programs]
    unknown = sum(
        embedding.look_up(table.texts).expand(table.text_id).unknown_rate * len(table.text_id) for table in tables
    )
    return np.stack(predictions), unknown / sum(len(table.text_id) for table in tables)
