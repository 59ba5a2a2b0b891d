"""A classifier on the encoder's patterns, without what the encoder learned from other classes."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import NccError
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.reader import read_module
from ncc.learning.encoder.linear import pattern_values
from ncc.learning.encoder.patterns import PatternCounts, count_patterns
from ncc.learning.programs.ir_cache import ProgramReader
from ncc.learning.programs.labelled import LabelledFiles, ProgramSamples
from ncc.system.files.reading import InputFile
from ncc_lab.classification.methods import ScoringMethod


class LinearMachine(ScoringMethod):
    """A linear support vector machine on features that are the same for all levels.

    Attributes:
        penalty: Weight of mistakes beside that of the squared weights.
    """

    penalty = 1.0
    _machine: Any = None

    @abstractmethod
    def features(self, samples: ProgramSamples, rows: Ints) -> Any:
        """(m, k) dense or sparse."""

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Fits the machine to some rows."""
        from sklearn.svm import LinearSVC

        machine = LinearSVC(C=self.penalty, random_state=int(rng.integers(2**31)))
        self._machine = machine.fit(self.features(samples, train_idx), samples.label[train_idx])

    def scores(self, samples: ProgramSamples, _level: str, rows: Ints) -> Floats:
        """Margins of the classes; the least of all for those that were not learned."""
        machine = self._machine
        margins = machine.decision_function(self.features(samples, rows))
        if margins.ndim == 1:  # of two classes
            margins = np.stack([-margins, margins], axis=1)
        scores = np.full((len(margins), len(samples.classes)), margins.min())
        scores[:, machine.classes_] = margins
        return scores


class PatternMachine(LinearMachine):
    """On a program's patterns, weighted by how rare they are among those of training."""

    name = "patterns of code + linear model"

    def __init__(self, files: LabelledFiles, reader: ProgramReader, abstraction: Abstraction) -> None:
        self._of = files, reader, abstraction
        self._bags: tuple[PatternCounts, ...] | None = None
        self._keys = np.zeros(0, np.uint32)
        self._rarity = np.zeros(0, np.float32)

    @property
    def identity(self) -> Any:
        """How programs are compiled, and how statements are abstracted."""
        _, reader, abstraction = self._of
        return reader.options, abstraction

    def fit(self, samples: ProgramSamples, train_idx: Ints, rng: np.random.Generator, /) -> None:
        """Fits rarities and the machine to some rows."""
        bags = self._patterns(samples)
        self._keys, spread = np.unique(np.concatenate([bags[row].key for row in train_idx]), return_counts=True)
        rarity = np.log((1 + len(train_idx)) / (1 + spread))
        self._rarity = np.where(spread > 1, rarity, 0).astype(np.float32)
        super().fit(samples, train_idx, rng)

    def features(self, samples: ProgramSamples, rows: Ints) -> Any:
        """(m, patterns) sparse float32: of what training has seen."""
        from scipy.sparse import csr_matrix

        bags = PatternCounts.joined([self._patterns(samples)[row] for row in rows])
        start, column, values = pattern_values(bags, self._keys, self._rarity)
        return csr_matrix((values, column, start), shape=(len(rows), len(self._keys)))

    def _patterns(self, samples: ProgramSamples) -> Sequence[PatternCounts]:
        """A bag for each sample; an empty one where the program can't be read again."""
        if self._bags is None:
            files, reader, abstraction = self._of
            paths = (InputFile(files.paths[row], files.folder) for row in samples.row.tolist())
            self._bags = tuple(_bag(reader, path, abstraction) for path in paths)
        return self._bags


def _bag(reader: ProgramReader, path: InputFile, abstraction: Abstraction) -> PatternCounts:
    try:
        module = read_module(reader.ir_of(path)[0], abstraction=abstraction)
    except NccError:
        return PatternCounts(np.zeros(2, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.int32))
    return count_patterns(module, np.zeros(len(module.function_node), np.int64))
