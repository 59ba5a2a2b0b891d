"""An ensemble of LSTMs on a kernel's statements in order, which gives log speedups at all factors but the first.

Reference: Ben-Nun et al. 2018, section 6.3 (task); predicting speedups in place of the best factor is ours.
"""

from dataclasses import asdict, dataclass, field
from functools import partial

import numpy as np

from ncc.arrays import Floats, Floats32, Ints
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import kernel_words
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.coarsening.head import MAX_SPEEDUP, MIN_SPEEDUP
from ncc.tasks.coarsening.samples import FACTORS, CoarseningSamples, complete_log_speedups
from ncc_lab.frame import Method, Subset


@dataclass(frozen=True, kw_only=True)
class LSTMTraining:
    """How the ensemble is trained: members, sizes of each, and the loop."""

    members: int = 3
    encoder: EncoderConfig = field(
        default_factory=lambda: EncoderConfig(hidden=32, layers=1, pooling=("mean", "max"), last_dropout=0.5)
    )
    head: HeadConfig = field(default_factory=lambda: HeadConfig(dense=16, dropout=0.5))
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=15, batch_size=16, weight_decay=1.0))


def lstm(embedding: Embedding, words: list[Ints], training: LSTMTraining | None = None) -> Method[CoarseningSamples]:
    """Return the ensemble on the rows' kernels as words of an embedding, trained on standardized log speedups."""
    options = training or LSTMTraining()

    def predict(train: Subset[CoarseningSamples], test: Subset[CoarseningSamples], rng: np.random.Generator) -> Floats:
        from torch import nn

        from ncc.learning.encoder.batches import SequenceData, Sequences, distinct_sequences
        from ncc.learning.encoder.network import EncoderNetwork, fit_ensemble

        samples = train.table
        device = (samples.device[:, None] == np.array(samples.devices)).astype(np.float32)
        seeds = rng.integers(2**31, size=options.members).tolist()
        kernels, owner = distinct_sequences([words[row] for row in train.rows.tolist()])
        logs: Floats32 = complete_log_speedups(samples.runtime[train.rows])[:, 1:].astype(np.float32)
        mean, scale = logs.mean(axis=0), np.maximum(logs.std(axis=0), 1e-6)
        target, auxiliary = (logs - mean) / scale, device[train.rows]
        data = SequenceData(Sequences.of(kernels), target, auxiliary=auxiliary, owner=owner, noise=1.0)
        sizes = (len(FACTORS) - 1, options.encoder, options.head, device.shape[1])
        make = partial(EncoderNetwork, embedding.vectors, *sizes)
        ensemble = fit_ensemble(make, data, nn.functional.mse_loss, options.loop, seeds).rescaled(mean, scale)
        predicted = np.zeros((len(test), len(FACTORS)))
        for i, row in enumerate(test.rows.tolist()):
            encoded = ensemble.encode(embedding.vectors[words[row]])
            outputs = ensemble.outputs(encoded, device[row : row + 1])  # whose geometric mean over members is taken
            predicted[i, 1:] = outputs.astype(np.float64).mean(axis=(0, 1))
        return np.clip(np.exp(np.minimum(predicted, np.log(MAX_SPEEDUP))), MIN_SPEEDUP, MAX_SPEEDUP)

    return Method("lstm", "ours", predict, (embedding.vectors, words, asdict(options)), "2", is_slow=True)


def load_words(samples: CoarseningSamples, ir: dict[str, bytes], embedding: Embedding) -> list[Ints]:
    """Return each row's kernel as words of an embedding."""
    words = {
        name: kernel_words(read_module(ir[name], name=name, abstraction=embedding.abstraction), embedding)
        for name in dict.fromkeys(samples.kernel.tolist())
    }
    return [words[name] for name in samples.kernel.tolist()]
