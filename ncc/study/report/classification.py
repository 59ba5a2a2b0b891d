"""The report of a comparison on algorithm classification: scores, classes that are hard, confusion."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.errors import InputError
from ncc.runtime.pages import render_page
from ncc.study.report.drawing import Heat, Picture, draw_heat
from ncc.study.report.kinds import by_protocol
from ncc.study.report.table import NONE, Cell, Column, Row, Table, score_row, table_of

if TYPE_CHECKING:
    from ncc.study.classification.comparison import ClassificationComparison
    from ncc.study.classification.task import ClassificationScore

_HARDEST = 24


def classification_report(comparison: "ClassificationComparison", about: Mapping[str, Any]) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        comparison: What was measured.
        about: What is known of the run: command, versions, hardware; see `ncc.runtime.provenance`.

    Raises:
        InputError: There are no scores.
    """
    if not comparison.scores:
        raise InputError("expected at least one score to report, found none")
    best = max(comparison.scores, key=lambda score: score.metrics.accuracy.value)
    return render_page(
        "classification.html.j2",
        title="Algorithm classification: every method on the same programs",
        comparison=comparison,
        about=about,
        tables=classification_tables(comparison),
        classes=_classes(best, comparison.classes),
        confusion=_confusion(best, comparison.classes),
    )


def classification_tables(comparison: "ClassificationComparison") -> list[Table]:
    """Return tables for a terminal: every method under every protocol."""
    return [_scores(some) for some in by_protocol(comparison.scores).values()]


def _scores(scores: "Sequence[ClassificationScore]") -> Table:
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


def _classes(score: "ClassificationScore", classes: Sequence[str]) -> Table:
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


def _confusion(score: "ClassificationScore", classes: Sequence[str]) -> Picture:
    """The classes that take part in the most mistakes, by each other."""
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
