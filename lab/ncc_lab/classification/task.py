"""Classification of labelled programs as a task to evaluate."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ncc.arrays import Floats, Ints, Split
from ncc.learning.heads.figures import Bootstrap
from ncc.learning.programs.labelled import ProgramSamples
from ncc.tasks.classification.split import ProgramSplit, split_samples
from ncc_lab.classification.metrics import ClassificationMetrics, measure
from ncc_lab.evaluation import SEED, Score, Task
from ncc_lab.runs import Method

ClassificationMethod = Method[ProgramSamples]
"""What can be measured: it predicts (m, num_classes) float64, a probability for each class."""

PROTOCOLS = ("grouped", "published")
_FEW_DRAWS = Bootstrap(num_resamples=500)

ClassificationScore = Score[ClassificationMetrics]


class Classification(Task[ProgramSamples, ClassificationMetrics]):
    """Labelled programs, split once: the run's seed is the method's alone.

    A protocol may say on how many programs of each class to train at most: "grouped/10".
    """

    units = dict.fromkeys(PROTOCOLS, "group of near-duplicates")

    def __init__(self, samples: ProgramSamples) -> None:
        super().__init__(samples)
        self.widths = (len(samples.classes),)
        self._splits: dict[str, ProgramSplit] = {}

    def folds(self, protocol: str, _seed: int, /) -> Sequence[Split]:
        """Return one fold: three fifths of the programs, or fewer, and the last fifth."""
        split = self._split(protocol)
        _, _, per_class = protocol.partition("/")
        train = first_of_each(self.samples.label, split.train, int(per_class)) if per_class else split.train
        return [(train, split.test)]

    def groups(self, protocol: str) -> Ints:
        """Return the number of each program's group of near-duplicates."""
        return self._split(protocol).group

    def measure(
        self, protocol: str, predicted: Floats, rows: Ints, bootstrap: Bootstrap | None = None
    ) -> ClassificationMetrics:
        """Score the probabilities for the test programs."""
        split = self._split(protocol)
        assert np.array_equal(rows, split.test)
        metrics = measure(
            predicted, self.samples.label[rows], split.group[rows], split.has_duplicate, bootstrap or _FEW_DRAWS
        )
        ((train, _),) = self.folds(protocol, SEED)
        return replace(metrics, num_training=len(train))

    def perfect(self) -> Floats:
        """Return 1 for the class of each program and 0 for all others."""
        return np.eye(len(self.samples.classes))[self.samples.label]

    def _split(self, protocol: str) -> ProgramSplit:
        name, _, _ = protocol.partition("/")
        if name not in self._splits:
            self._splits[name] = split_samples(self.samples, is_grouped=name == "grouped")
        return self._splits[name]


def first_of_each(label: Ints, rows: Ints, per_class: int) -> Ints:
    """At most so many rows of each class, drawn; a larger number takes those of a smaller one and more."""
    drawn = rows[np.random.default_rng(SEED).permutation(len(rows))]
    parts = [drawn[label[drawn] == number][:per_class] for number in range(int(label.max()) + 1)]
    return np.sort(np.concatenate(parts))
