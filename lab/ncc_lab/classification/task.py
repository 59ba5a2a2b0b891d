"""Classification of labelled programs as a task to evaluate."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ncc.arrays import Floats, Ints, Split
from ncc.errors import InputError
from ncc.learning.heads.figures import Bootstrap
from ncc.learning.programs.labelled import ProgramSamples
from ncc_lab.classification.metrics import ClassificationMetrics, measure
from ncc_lab.classification.protocols import PROTOCOLS, ProgramSplit, near_duplicates, split_programs
from ncc_lab.evaluation import SEED, Score, Task
from ncc_lab.runs import Method

ClassificationMethod = Method[ProgramSamples]
"""What can be measured: it predicts (m, num_classes) float64, a probability for each class."""

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
        self._splits: dict[str, tuple[ProgramSplit, Ints]] = {}

    def folds(self, protocol: str, _seed: int, /) -> Sequence[Split]:
        """Return one fold: three fifths of the programs, or fewer, and the last fifth."""
        split, _ = self._split(protocol)
        _, _, per_class = protocol.partition("/")
        train = first_of_each(self.samples.label, split.train, int(per_class)) if per_class else split.train
        return [(train, split.test)]

    def groups(self, protocol: str) -> Ints:
        """Return the number of each program's group of near-duplicates."""
        return self._split(protocol)[1]

    def measure(
        self, protocol: str, predicted: Floats, rows: Ints, bootstrap: Bootstrap | None = None
    ) -> ClassificationMetrics:
        """Score the probabilities for the test programs."""
        split, groups = self._split(protocol)
        assert np.array_equal(rows, split.test)
        metrics = measure(predicted, self.samples.label[rows], groups[rows], split.twins, bootstrap or _FEW_DRAWS)
        ((train, _),) = self.folds(protocol, SEED)
        return replace(metrics, num_training=len(train))

    def perfect(self) -> Floats:
        """Return 1 for the class of each program and 0 for all others."""
        return np.eye(len(self.samples.classes))[self.samples.label]

    def _split(self, protocol: str) -> tuple[ProgramSplit, Ints]:
        name, _, _ = protocol.partition("/")
        if name not in self._splits:
            self._splits[name] = load_split(self.samples, name)
        return self._splits[name]


def load_split(samples: ProgramSamples, protocol: str = "grouped") -> tuple[ProgramSplit, Ints]:
    """The split of a protocol, and each program's group of near-duplicates, by the first level.

    Raises:
        InputError: A part of the split is empty.
    """
    groups = near_duplicates(next(iter(samples.views.values())))
    split = split_programs(samples.label, groups, protocol, SEED)
    if not min(len(split.train), len(split.valid), len(split.test)):
        raise InputError(f"{len(samples)} programs of {len(samples.classes)} classes are too few to be split 3:1:1")
    return split, groups


def first_of_each(label: Ints, rows: Ints, per_class: int) -> Ints:
    """At most so many rows of each class, drawn; a larger number takes those of a smaller one and more."""
    drawn = rows[np.random.default_rng(SEED).permutation(len(rows))]
    parts = [drawn[label[drawn] == number][:per_class] for number in range(int(label.max()) + 1)]
    return np.sort(np.concatenate(parts))
