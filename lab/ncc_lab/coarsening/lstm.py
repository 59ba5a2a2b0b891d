"""The LSTM of ``ncc train coarsening --model lstm`` as a method to compare.

Reference: Ben-Nun et al. 2018, section 6.3 (task); predicting speedups in place of the best factor is ours.
"""

from dataclasses import asdict

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.learning.embedding.embedding import Embedding
from ncc.tasks.coarsening.train import LSTMTraining, fit_lstm
from ncc_lab.coarsening.samples import CoarseningSamples
from ncc_lab.frame import Method, Subset


def lstm(embedding: Embedding, words: list[Ints], training: LSTMTraining | None = None) -> Method[CoarseningSamples]:
    """Return the ensemble on the rows' kernels as words of an embedding."""
    options = training or LSTMTraining()

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], rng: np.random.Generator) -> Floats:
        head = fit_lstm(train.table, words, embedding, options, rng, train.rows)
        devices = train.table.device
        return np.stack([head.speedups(embedding.vectors[words[row]], str(devices[row])) for row in test.rows.tolist()])

    return Method("lstm", "ours", predict, (embedding.vectors, words, asdict(options)), "2", is_slow=True)
