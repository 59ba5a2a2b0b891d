"""The report on algorithm classification: scores, hard classes, confusion."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ncc_lab.report.drawing import Heat, Picture, draw_heat
from ncc_lab.report.table import NONE, Cell, Column, Row, Table, score_row, table_of

if TYPE_CHECKING:
    from ncc_lab.classification.task import ClassificationScore

_HARDEST = 24


def scores_table(scores: "Sequence[ClassificationScore]") -> Table:
    """Return every method under one protocol."""
    columns: list[Column[ClassificationScore]] = [
        Column("accuracy", lambda score: score.metrics.accuracy, "%", 2, is_ranked=True),
        Column("without near-duplicates", lambda score: score.metrics.accuracy_without_twins, "%", 2),
        Column("top 5", lambda score: score.metrics.top5, "%", 2),
        Column("macro F1", lambda score: 100 * score.metrics.macro_f1, places=2),
        Column("ECE", lambda score: 100 * score.metrics.calibration_error, places=2),
        Column("seeds", lambda score: str(len(score.seeds))),
        Column("seconds", lambda score: score.seconds, places=0),
    ]
    first = scores[0]
    caption = (
        f"{first.protocol}: {first.metrics.num_training} programs to train on, {first.num_samples} to test, "
        f"{first.metrics.num_twins} of them with a near-duplicate in training or validation"
    )
    return table_of(caption, columns, scores, row=score_row)


def classes_table(score: "ClassificationScore", classes: Sequence[str]) -> Table:
    """Return a method's accuracy on each class, the hardest first."""
    counts = score.metrics.confusion
    total = counts.sum(axis=1)
    accuracy = np.diag(counts) / np.maximum(total, 1)
    rows = []
    for number in np.argsort(accuracy, kind="stable").tolist():
        others = counts[number].copy()
        others[number] = 0
        taken = f"{classes[int(others.argmax())]} ({others.max()})" if others.any() else NONE
        cells = [Cell(f"{accuracy[number]:.1%}"), Cell(str(total[number])), Cell(taken, is_name=True)]
        rows.append(Row(classes[number], cells))
    caption = f"Accuracy of each class: {score.method}, {score.protocol}, the hardest first"
    return Table(caption, ["class", "accuracy", "programs", "most often taken for"], rows)


def draw_confusion(score: "ClassificationScore", classes: Sequence[str]) -> Picture:
    """Draw a method's mistakes among the classes with the most of them."""
    wrong = score.metrics.confusion.copy()
    np.fill_diagonal(wrong, 0)
    mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
    shown = np.sort(np.argsort(mistakes, kind="stable")[::-1][:_HARDEST])
    part = wrong[np.ix_(shown, shown)]
    names = [classes[number] for number in shown.tolist()]
    texts = [[str(count) if count else "" for count in row] for row in part.tolist()]
    share = part / max(1, part.max())
    np.fill_diagonal(share, np.nan)
    heat = Heat(names, names, share, texts)
    picture = draw_heat({f"{score.method}, {score.protocol}": heat}, "of the most", columns=1)
    return replace(picture, alt="A table of mistakes: true classes by predicted classes.")
