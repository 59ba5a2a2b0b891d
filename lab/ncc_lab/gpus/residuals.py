"""Models of the roofline's residuals that read the kernel's code: the LSTM encoder, and vectors with counts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import InputError
from ncc.kernels.reading import find_kernels, kernel_words
from ncc.learning.data import registry
from ncc.learning.embedding.embedding import load_embedding
from ncc.tasks.gpus.train import Launches, make_options, program_modules

if TYPE_CHECKING:
    from torch import Tensor

Codes = Mapping[tuple[str, str], "KernelCode"]

_LONGEST = 256
_PARTS = 12
_EPOCHS = 12
_CLIP = 4.0


@dataclass(frozen=True, eq=False)
class KernelCode:
    """Inputs of networks for a kernel.

    Attributes:
        words: (m,) int64 rows of the shipped embedding, one for each statement.
        vector: (dim,) float32 of the shipped encoder.
    """

    words: Ints
    vector: Floats32


def read_codes(launches: Launches, data: str | None = None, progress: Callable[[str], None] | None = None) -> Codes:
    """Program and kernel → its code, of launches of gpuFLOPBench."""
    from ncc.learning.encoder.pooling import load_pooler

    sources = registry.extracted("gpuflop", "sources.tar.xz", data)
    embedding, pooler = load_embedding(), load_pooler("encoder")
    wanted: dict[str, set[str]] = {}
    for program, kernel in zip(launches.program.tolist(), launches.kernel.tolist(), strict=True):
        wanted.setdefault(program, set()).add(kernel)
    found: dict[tuple[str, str], KernelCode] = {}
    for program, kernels in wanted.items():
        folder = sources / f"{program}-cuda"
        for _, module in program_modules(folder, make_options(folder), embedding.abstraction):
            numbers: dict[str, int] = {}
            for kernel in kernels:
                try:
                    numbers[kernel] = find_kernels(module, kernel)[0]
                except InputError:
                    continue
            if not numbers:
                continue
            vectors = pooler.vectors(module, list(numbers.values()))
            for (kernel, number), vector in zip(numbers.items(), vectors, strict=True):
                words = kernel_words(module, embedding, number)[:_LONGEST]
                found.setdefault((program, kernel), KernelCode(words, vector))
    if progress:
        progress(f"{len(found)} kernels read")
    return found


def with_vectors(train: Launches, test: Launches, codes: Codes) -> tuple[Launches, Launches]:
    """Launches with the main parts of the encoder's vectors as further columns, as the kernels of training vary."""
    from sklearn.decomposition import PCA

    seen, asked = (np.stack([codes[key].vector for key in _keys(one)]) for one in (train, test))
    different = np.unique(seen, axis=0)
    parts = PCA(min(_PARTS, *different.shape), random_state=0).fit(different)
    names = tuple(f"vector_{number}" for number in range(len(parts.components_)))

    def widened(one: Launches, vectors: Floats32) -> Launches:
        values = np.hstack([one.values, parts.transform(vectors).astype(np.float64)])
        return replace(one, feature_names=(*one.feature_names, *names), values=values)

    return widened(train, seen), widened(test, asked)


def recurrent_residual(train: Launches, test: Launches, codes: Codes, seed: int) -> tuple[Floats, Floats]:
    """Predict launches with the LSTM encoder, from the statements of kernels and the columns that trees read.

    Returns:
        (n,) log seconds over the roofline's, and (n,) log odds of being compute-bound, with equal class priors.
    """
    from ncc.learning.encoder.batches import SequenceData, Sequences, network_outputs
    from ncc.learning.encoder.config import EncoderConfig, HeadConfig
    from ncc.learning.encoder.network import EncoderNetwork, fit_network
    from ncc.learning.encoder.network_numpy import distinct_sequences
    from ncc.learning.training.config import TrainingConfig

    middle, scale = train.values.mean(axis=0), train.values.std(axis=0) + 1e-9
    share = float(np.clip(train.compute.mean(), 0.01, 0.99))
    rest = train.log_time - train.feature("roofline_time")
    low, spread = float(np.median(rest)), float(rest.std()) + 1e-9

    def data_of(one: Launches) -> SequenceData:
        sequences, owner = distinct_sequences([codes[key].words for key in _keys(one)])
        target = np.stack([(one.log_time - one.feature("roofline_time") - low) / spread, one.compute], axis=1)
        numbers = np.clip((one.values - middle) / scale, -_CLIP, _CLIP).astype(np.float32)
        return SequenceData(
            Sequences.of(sequences), target.astype(np.float32), auxiliary=numbers, owner=owner, noise=0.3
        )

    encoder = EncoderConfig(hidden=32, layers=1, pooling=("mean", "max"), dropout=0.2, last_dropout=0.3)
    head = HeadConfig(dense=64, norm="layer", dropout=0.2)
    make = partial(EncoderNetwork, load_embedding().vectors, 2, encoder, head, len(train.feature_names))
    loop = TrainingConfig(epochs=_EPOCHS, batch_size=32, learning_rate=2e-3)
    network = fit_network(make, data_of(train), partial(_loss, share=share), loop, seed)
    said = network_outputs(network, data_of(test))
    return said[:, 0] * spread + low, said[:, 1]


def _loss(output: "Tensor", target: "Tensor", share: float) -> "Tensor":
    """Mean error of the time, and cross-entropy of the bound, both bounds weighing the same."""
    from torch.nn import functional

    weight = (target[:, 1] > 0) * (0.5 / share - 0.5 / (1 - share)) + 0.5 / (1 - share)
    bound = functional.binary_cross_entropy_with_logits(output[:, 1], target[:, 1], weight=weight)
    return functional.l1_loss(output[:, 0], target[:, 0]) + bound


def _keys(launches: Launches) -> list[tuple[str, str]]:
    return list(zip(launches.program.tolist(), launches.kernel.tolist(), strict=True))
