"""How a trained classifier does on programs that another level or another compiler made of the same sources."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.embedding import Embedding
from ncc.errors import AssetError
from ncc.frontend import CompileOptions
from ncc.heads import ClassifierHead
from ncc.tasks.classification.evaluation import load_split
from ncc.tasks.classification.ngrams import encoded_programs
from ncc.tasks.classification.samples import LabelledFiles, ProgramTable, load_programs

__all__ = ["RobustnessScore", "measure_head"]

_MISTAKES = 8


@dataclass(frozen=True, kw_only=True)
class RobustnessScore:
    """A classifier on its test programs, as one compiler and level made them.

    Attributes:
        level: Optimisation level.
        clang: The compiler, or None for the bundled one.
        num_samples: Test programs that compile so.
        accuracy: Share of them whose most probable class is theirs.
        usual_accuracy: The same of the same programs at the first level that the classifier was trained on.
        unknown_rate: Share of the statements that backed off in the embedding.
        share_that_fits: Share of them that are not taken for "none of these".
        confused: The mistakes that are made most often: true class, predicted class, how often.
    """

    level: str
    clang: str | None
    num_samples: int
    accuracy: float
    usual_accuracy: float
    unknown_rate: float
    share_that_fits: float
    confused: tuple[tuple[str, str, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        return vars(self)


def measure_head(
    head: ClassifierHead,
    embedding: Embedding,
    files: LabelledFiles,
    variants: list[CompileOptions],
    *,
    cache: Path,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[RobustnessScore]:
    """Measures a classifier on the test programs of the split that it was trained by, in several variants.

    Args:
        head: The classifier.
        embedding: The one that it was trained on.
        files: All programs, those that were trained on included.
        variants: Level and compiler of each variant.
        cache: As for `load_programs`.
        jobs: Processes.
        progress: As for `load_programs`.

    Raises:
        AssetError: The classifier knows other classes, or another embedding, or was trained on all programs.
        InputError, NccError, OutputError: As for `load_programs`.
    """
    if head.classes != files.classes or head.embedding_id != embedding.fingerprint:
        raise AssetError("the classifier was trained on other classes, or on another embedding")
    if head.about["training"] == head.about["programs"]:
        raise AssetError("the classifier was trained on all programs; measure the one that it was made after")
    levels = head.levels
    usual = load_programs(files, levels, abstraction=embedding.abstraction, cache=cache, jobs=jobs, progress=progress)
    split, _ = load_split(usual)
    test = usual.row[split.test]
    right = np.zeros(len(files.paths), bool)
    right[test] = _predicted(head, embedding, usual.views[levels[0]].rows(split.test))[0] == files.label[test]
    scores = []
    for options in variants:
        part = LabelledFiles(tuple(files.paths[row] for row in test.tolist()), files.label[test], files.classes)
        found = load_programs(
            part,
            (options.optimization,),
            options=options,
            abstraction=embedding.abstraction,
            cache=cache,
            jobs=jobs,
            progress=progress,
        )
        table = found.views[options.optimization]
        chosen, fits = _predicted(head, embedding, table)
        scores.append(
            RobustnessScore(
                level=options.optimization,
                clang=options.clang,
                num_samples=len(found),
                accuracy=float((chosen == found.label).mean()),
                usual_accuracy=float(right[test[found.row]].mean()),
                unknown_rate=embedding.look_up(table.texts).over(table.text_id).unknown_rate,
                share_that_fits=float(fits.mean()),
                confused=_confused(found.label, chosen, files.classes),
            )
        )
    return scores


def _confused(
    label: NDArray[np.int64], chosen: NDArray[np.int64], classes: tuple[str, ...]
) -> tuple[tuple[str, str, int], ...]:
    pairs = Counter((classes[true], classes[said]) for true, said in zip(label, chosen, strict=True) if true != said)
    return tuple((true, said, count) for (true, said), count in pairs.most_common(_MISTAKES))


def _predicted(
    head: ClassifierHead, embedding: Embedding, table: ProgramTable
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Most probable class of each program, and whether any class fits."""
    answers = [head.predict(program) for program in encoded_programs(table, embedding)]
    return np.array([answer.probability.argmax() for answer in answers]), np.array([answer.fits for answer in answers])
