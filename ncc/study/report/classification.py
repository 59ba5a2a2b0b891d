"""The report of a comparison on algorithm classification: scores, learning curves, classes that are hard, confusion."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.errors import InputError
from ncc.study.report.drawing import Heat, draw_heat
from ncc.study.report.kinds import by_protocol
from ncc.study.report.markup import Cell, Html, Row, element, estimate_cell, figure, table
from ncc.study.report.page import Section, provenance, render_page

if TYPE_CHECKING:  # comparing loads every method, and torch with it
    from ncc.study.classification.comparison import ClassificationComparison
    from ncc.study.classification.evaluation import ClassificationScore

__all__ = ["classification_report"]

_INTRODUCTION = (
    "Which of the known problems does a program solve? Every method below was trained on some programs and asked about "
    "others that it had not seen.",
    "Programs whose abstracted statements are the same, their near-duplicates, stay on one side of the grouped split. "
    "The published split draws programs one by one, so that a few of its test programs have a copy in training.",
)
_READING = (
    "Under an accuracy stands its 95 % interval, drawn over groups of near-duplicates. ECE is the expected calibration "
    "error, in points: how far confidence is from accuracy."
)
_HARDEST = 24


def classification_report(comparison: "ClassificationComparison", about: Mapping[str, Any]) -> str:
    """Return a report as one HTML document that needs no other file and no net.

    Args:
        comparison: What was measured.
        about: What is known of the run: command, versions, hardware; see `ncc.runtime.provenance`.

    Raises:
        InputError: There are no scores, or matplotlib is not installed.
    """
    if not comparison.scores:
        raise InputError("expected at least one score to report, found none")
    protocols = by_protocol(comparison.scores)
    best = max(comparison.scores, key=lambda score: score.metrics.accuracy.value)
    sections = [
        Section("What was run", [_scope(comparison), provenance(about)]),
        Section("Scores", [element("p", _READING), *(_scores(name, some) for name, some in protocols.items())]),
        Section("Classes", [_classes(best, comparison.classes), _confusion(best, comparison.classes)]),
    ]
    return render_page("Algorithm classification: every method on the same programs", _INTRODUCTION, sections)


def _scope(comparison: "ClassificationComparison") -> Html:
    ways = ", ".join(f"{count} {way}" for way, count in comparison.ways.items())
    return element(
        "p",
        f"{comparison.num_programs} programs of {len(comparison.classes)} classes ({ways}); {len(comparison.failures)} "
        "more were left out, since they do not compile or hold no function.",
    )


def _scores(protocol: str, scores: "Sequence[ClassificationScore]") -> Html:
    best = max(score.metrics.accuracy.value for score in scores)
    rows = []
    for score in scores:
        metrics = score.metrics
        cells: list[Cell | str] = [
            estimate_cell(metrics.accuracy, percent=True, is_best=metrics.accuracy.value == best),
            estimate_cell(metrics.accuracy_without_twins, percent=True),
            estimate_cell(metrics.top5, percent=True),
            f"{100 * metrics.macro_f1:.2f}",
            f"{100 * metrics.calibration_error:.2f}",
            str(len(score.seeds)),
            f"{score.seconds:,.0f}",
        ]
        rows.append(
            Row(score.method, cells, style="ours" if score.method.startswith(("ncc", "network")) else "control")
        )
    first = scores[0]
    caption = (
        f"{protocol}: {first.num_training} programs to train on, {first.num_samples} to test, "
        f"{first.metrics.num_twins} of them with a near-duplicate in training or validation"
    )
    columns = ["method", "accuracy", "without near-duplicates", "top 5", "macro F1", "ECE", "seeds", "seconds"]
    return table(caption, columns, rows)


def _classes(score: "ClassificationScore", classes: Sequence[str]) -> Html:
    counts = score.metrics.confusion
    total = counts.sum(axis=1)
    accuracy = np.diag(counts) / np.maximum(total, 1)
    rows = []
    for number in np.argsort(accuracy, kind="stable").tolist():
        others = counts[number].copy()
        others[number] = 0
        taken = f"{classes[int(others.argmax())]} ({others.max()})" if others.any() else "–"
        rows.append(Row(classes[number], [f"{accuracy[number]:.1%}", str(total[number]), taken]))
    caption = f"Accuracy of each class: {score.method}, {score.protocol}, the hardest first"
    return element(
        "details",
        element("summary", "Every class"),
        table(caption, ["class", "accuracy", "programs", "most often taken for"], rows),
    )


def _confusion(score: "ClassificationScore", classes: Sequence[str]) -> Html:
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
    picture = draw_heat(
        {f"{score.method}, {score.protocol}": Heat(names, names, share, texts)}, "of the most", columns=1
    )
    return figure(
        picture,
        "Which classes are taken for which",
        "A table of mistakes: true classes by predicted classes.",
        f"Numbers of mistakes among the {len(names)} classes with the most of them: a row for each true class, a "
        "column for what it was taken for. The diagonal, where answers are right, is left blank.",
    )
