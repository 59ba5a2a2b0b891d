"""Classifiers on vectors that learn nothing from the labels: what ``ncc embed`` gives, and a linear model.

With few labels a class, this says what vectors are worth to those who take them as they are.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.classification.reading import ProgramReader
from ncc.classification.samples import LabelledFiles, ProgramSamples
from ncc.embedding import Embedding
from ncc.encoder.pooling import POOLERS, load_pooler
from ncc.frontend import CompileOptions
from ncc.study.controls import FeatureModel
from ncc.study.retrieval.methods import Pooled, Representation
from ncc.study.retrieval.metrics import unit_rows
from ncc.study.retrieval.programs import at_all_levels

__all__ = ["FrozenVectors", "frozen_methods"]


class FrozenVectors(FeatureModel[ProgramSamples]):
    """Logistic regression on vectors of programs, which are made once.

    Args:
        method: What makes the vectors.
        identity: What they depend on, beside the programs.
        files: All programs that were asked for.
        readers: One for each level.
    """

    def __init__(
        self, method: Representation, identity: Any, files: LabelledFiles, readers: Sequence[ProgramReader]
    ) -> None:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=100.0, max_iter=1000)
        super().__init__(f"{method.name} + linear model", self._vectors, model, labels=_labels, kind=method.kind)
        self._of = method, files, readers
        self._depends_on = identity
        self._made: NDArray[np.float32] | None = None

    @property
    def identity(self) -> Any:
        """What the vectors depend on, and the model's options."""
        return self._depends_on, self._model.get_params()

    def _vectors(self, samples: ProgramSamples, _seed: int) -> NDArray[np.float32]:
        if self._made is None:
            method, files, readers = self._of
            self._made = unit_rows(at_all_levels(method, files, samples, readers))[0]
        return self._made


def frozen_methods(
    files: LabelledFiles, levels: Sequence[str], embedding: Embedding, cache: Path
) -> list[FrozenVectors]:
    """A classifier on the vectors of each way of pooling that ``ncc embed`` has."""
    readers = [ProgramReader(CompileOptions(optimization=level), embedding.abstraction, cache) for level in levels]
    poolers = [load_pooler(name, embedding) for name in POOLERS]
    return [FrozenVectors(Pooled(pooler), (pooler.id, tuple(levels)), files, readers) for pooler in poolers]


def _labels(samples: ProgramSamples) -> tuple[NDArray[np.int64], int]:
    return samples.label, len(samples.classes)
