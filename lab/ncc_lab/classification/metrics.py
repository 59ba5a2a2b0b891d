"""Scores of a classifier: accuracy, with and without near-duplicates of training programs, and calibration.

Reference for the calibration error: Naeini, Cooper, Hauskrecht 2015 ("Obtaining well calibrated probabilities using
Bayesian binning"), 15 bins of equal width.
"""

from dataclasses import dataclass

import numpy as np

from ncc.arrays import Bools, Floats, Ints
from ncc.learning.heads.calibration_error import calibration_error
from ncc.learning.heads.figures import Bootstrap, Estimate, estimate

_BINS = 15


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationMetrics:
    """What the probabilities that a method gave to classes are worth.

    Attributes:
        accuracy: Share of programs whose most probable class is theirs.
        accuracy_without_twins: The same, of the programs that have no near-duplicate in training or validation.
        top5: Share of programs whose class is among the five most probable.
        macro_f1: Mean over the classes that occur of F1, mean over the seeds.
        calibration_error: Mean distance between confidence and accuracy, mean over the seeds.
        num_twins: Programs that have a near-duplicate in training or validation.
        confusion: (num_classes, num_classes) int64, true class by predicted class, all seeds together.
        num_training: Programs that were trained on; 0 where that is not known.
    """

    accuracy: Estimate
    accuracy_without_twins: Estimate
    top5: Estimate
    macro_f1: float
    calibration_error: float
    num_twins: int
    confusion: Ints
    num_training: int = 0


def measure(
    probability: Floats,
    label: Ints,
    groups: Ints,
    twins: Bools,
    bootstrap: Bootstrap | None = None,
) -> ClassificationMetrics:
    """Scores what a method predicted.

    Args:
        probability: (seeds, n, num_classes) float64.
        label: (n,) int64 true classes.
        groups: (n,) int64; rows of a group are drawn together for intervals.
        twins: (n,) bool, whether a program has a near-duplicate in training or validation.
        bootstrap: How intervals are drawn; None for the defaults.
    """
    own = probability[:, np.arange(len(label)), label]
    rank = (probability > own[:, :, None]).sum(axis=2)
    chosen = probability.argmax(axis=2)
    right = chosen == label
    alone = np.broadcast_to(~twins, right.shape)
    terms = np.stack([right, right & alone, alone, rank < 5, np.ones_like(right)], axis=2).astype(np.float64)

    def figures(sums: Floats) -> Floats:
        count = sums[..., 4]
        return np.stack(
            [sums[..., 0] / count, sums[..., 1] / np.maximum(sums[..., 2], 1), sums[..., 3] / count], axis=-1
        )

    from sklearn.metrics import confusion_matrix, f1_score  # takes a second, which no training need wait for

    accuracy, without, top5 = estimate(terms, groups, figures, bootstrap)
    gaps = [calibration_error(rows.max(axis=1), hit, _BINS) for rows, hit in zip(probability, right, strict=True)]
    classes, present = range(probability.shape[2]), np.unique(label)
    return ClassificationMetrics(
        accuracy=accuracy,
        accuracy_without_twins=without,
        top5=top5,
        macro_f1=float(np.mean([f1_score(label, found, labels=present, average="macro") for found in chosen])),
        calibration_error=float(np.mean(gaps)),
        num_twins=int(twins.sum()),
        confusion=np.sum([confusion_matrix(label, found, labels=classes) for found in chosen], axis=0),
    )
