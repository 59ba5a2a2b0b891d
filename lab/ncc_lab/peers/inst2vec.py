"""inst2vec's device mapper as published: two LSTM layers on frozen statement vectors.

Reference: Ben-Nun et al., Neural Code Comprehension, NeurIPS 2018, section 6.2.
"""

from typing import Any

import numpy as np

from ncc.arrays import Floats32, Ints
from ncc.errors import InputError
from ncc.ir.reader.reader import read_module
from ncc.learning.data.registry import Folder
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.devices.published import load_legacy_ir
from ncc_lab.devices.samples import DeviceMappingSamples
from ncc_lab.peers.recurrent import DeviceRecurrentMethod, RecurrentTraining, Words


def read_statements(samples: DeviceMappingSamples, embedding: Embedding, folder: Folder = None) -> list[Words]:
    """Read each row's legacy IR as rows of an embedding: all statements of the file, in order, as in the original.

    Rows of one source text all get what the first of them is compiled to. NPB compiles its data sizes in, so that one
    kernel comes in up to five texts; in all but 15 of the 247 sources these differ in nothing but the sizes of arrays,
    flags and alignments, and training on one of them takes half as long.

    Returns:
        Row numbers of the embedding, n arrays (time,) int64.
    """
    legacy = load_legacy_ir(folder)
    known: dict[str, Words] = {}
    for row, source in enumerate(samples.source.tolist()):
        if source not in known:
            name = samples.ir_name(row)
            module = read_module(legacy[name], name=name, abstraction=embedding.abstraction)
            known[source] = embedding.look_up(module.texts).word[module.text_id].astype(np.int64)
    return [known[source] for source in samples.source.tolist()]


def inst2vec_training() -> RecurrentTraining:
    """Return the published size and epochs, over the last 128 statements (published: all, up to 1,505).

    55 % of the rows have no more, and 512 gained nothing where they were tried, on two published folds. Batches are of
    32 rows (published: 64), which is more steps an epoch at no cost.
    """
    loop = TrainingConfig(epochs=50, batch_size=32, learning_rate=2e-3, weight_decay=0.0)
    return RecurrentTraining(hidden=200, longest=128, train_vectors=False, loop=loop)


class Inst2vec(DeviceRecurrentMethod):
    """inst2vec's head: rows of the embedding scaled to length 1 and frozen, LSTM(200) twice."""

    name = "inst2vec"

    def __init__(
        self, statements: list[Words], embedding: Embedding, training: RecurrentTraining | None = None
    ) -> None:
        super().__init__(training or inst2vec_training())
        # of the embedding's thousands of vectors only those that occur travel with the method to other processes
        used, numbers = np.unique(np.concatenate(statements), return_inverse=True)
        ends = np.cumsum([len(sequence) for sequence in statements])
        self._statements = np.split(numbers.astype(np.int64), ends[:-1])
        vectors = embedding.vectors[used]
        self._vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))

    @property
    def identity(self) -> Any:
        """Options of the training, statements and vectors."""
        return super().identity, self._statements, self._vectors

    def learn_words(self, samples: DeviceMappingSamples, _train_idx: Ints, _rng: np.random.Generator) -> Floats32:
        """Return the vectors of all statements that occur; nothing is learned."""
        if len(self._statements) != len(samples):
            raise InputError(f"statements: expected {len(samples)} sequences, found {len(self._statements)}")
        return self._vectors

    def read_words(self, _samples: DeviceMappingSamples, rows: Ints) -> list[Words]:
        """Return the statements of some rows."""
        return [self._statements[row] for row in rows.tolist()]
