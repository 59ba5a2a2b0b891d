"""The LSTM device mapper: trains ensembles on statement embeddings, as a method for `evaluate` and for shipping.

Reference: Ben-Nun et al. 2018, section 6.2 (task, auxiliary inputs); predicting the ratio is ours.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ncc.devices.mixture import LOG_SCALE_RANGE, NUM_AUXILIARY, auxiliary_features, predict_mixture
from ncc.devices.samples import DeviceMappingSamples, load_legacy_ir
from ncc.embedding import Embedding
from ncc.encoder.inference import NumpyLSTMHead
from ncc.encoder.lstm import LSTMHead, LSTMHeadConfig
from ncc.errors import NccError
from ncc.frontend import CompileOptions, compile_source
from ncc.graph import reachable_statements
from ncc.ir import Module, read_module
from ncc.training import TrainingConfig, train

__all__ = ["KernelWords", "LSTMMethod", "RatioTraining", "kernel_words", "load_words"]

_LONGEST = 1024


@dataclass(frozen=True)
class KernelWords:
    """Each row's kernel as sequences of words, one for each form (legacy IR, compiled source) that it comes in.

    The first form of a row is the one that is tested.
    """

    sequences: tuple[tuple[NDArray[np.int64], ...], ...]


@dataclass(frozen=True, kw_only=True)
class RatioTraining:
    """How the ensemble is trained: members, sizes of a head, and the loop."""

    members: int = 1
    hidden: int = 64
    dropout: float = 0.3
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=15, batch_size=16))


def kernel_words(module: Module, function: int, embedding: Embedding) -> NDArray[np.int64]:
    """Words of a kernel's statements and of those that it calls, cut to the first 1024."""
    statements = reachable_statements(module, function)[:_LONGEST]
    words, _ = embedding.vocabulary.encode(module.texts)
    return words[module.text_id[statements]].astype(np.int64)


def load_words(samples: DeviceMappingSamples, embedding: Embedding, folder: str | None = None) -> KernelWords:
    """Reads every row's legacy IR, and compiles its source where that is sound.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    compiled: dict[str, NDArray[np.int64] | None] = {}
    rows = []
    for row in range(len(samples)):
        name, source = samples.ir_name(row), str(samples.source[row])
        if source not in compiled:
            compiled[source] = _compiled_words(source, embedding)
        forms = [_only_kernel(read_module(legacy[name], name=name, abstraction=embedding.abstraction), embedding)]
        if (form := compiled[source]) is not None:
            forms.append(form)
        rows.append(tuple(forms))
    return KernelWords(tuple(rows))


def _only_kernel(module: Module, embedding: Embedding) -> NDArray[np.int64]:
    return kernel_words(module, module.first_kernel, embedding)


def _compiled_words(source: str, embedding: Embedding) -> NDArray[np.int64] | None:
    try:
        ir = compile_source(source.encode(), CompileOptions(language="opencl")).ir
    except NccError:  # 60 of the 256 published sources are damaged; their legacy IR stands for them
        return None
    return _only_kernel(read_module(ir, abstraction=embedding.abstraction), embedding)


class LSTMMethod:
    """An ensemble of LSTM heads as a method that `evaluate` can measure."""

    name = "lstm"
    kind: Final = "ours"
    slow = True
    version = "1"

    def __init__(self, embedding: Embedding, words: KernelWords, training: RatioTraining | None = None) -> None:
        """Keeps the kernels' words; nothing is trained before `fit`."""
        self.embedding = embedding
        self.words = words
        self.training = training or RatioTraining()
        self._fitted: _Ensemble | None = None

    @property
    def identity(self) -> Any:
        """Embedding, kernels' words and options."""
        return self.embedding.vectors, self.words.sequences, asdict(self.training)

    def fit(
        self,
        samples: DeviceMappingSamples,
        train_idx: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Callable[[int, float], None] | None = None,
    ) -> None:
        """Trains the ensemble on some rows, forgetting earlier folds."""
        values = np.stack([samples.transfer_bytes, samples.wgsize], axis=1)
        logs = np.log1p(values[train_idx])
        mean, std = logs.mean(axis=0), logs.std(axis=0)
        seeds = rng.integers(2**31, size=self.training.members).tolist()
        data = _RatioData(self.words, auxiliary_features(values, mean, std), samples.log_ratio, train_idx)
        members = tuple(self._train_member(data, seed, progress) for seed in seeds)
        self._fitted = _Ensemble(members, mean, std)

    def _train_member(
        self, data: "_RatioData", seed: int, progress: Callable[[int, float], None] | None
    ) -> NumpyLSTMHead:
        torch.manual_seed(seed)
        config = LSTMHeadConfig(
            num_outputs=2, num_auxiliary=NUM_AUXILIARY, hidden=self.training.hidden, dropout=self.training.dropout
        )
        model = LSTMHead(self.embedding.vectors, config)
        train(model, data, laplace_loss, replace(self.training.loop, seed=seed), progress=progress)
        tensors = {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}
        tensors.pop("norm.num_batches_tracked")
        return NumpyLSTMHead(tensors, config.layers)

    def predict(self, samples: DeviceMappingSamples, test_idx: NDArray[np.int64]) -> NDArray[np.float64]:
        """Median, both ends of the 80 % interval, and probability of the GPU being faster: (m, 4) float64.

        Raises:
            ValueError: Nothing was fitted yet.
        """
        if self._fitted is None:
            raise ValueError("fit the method before predicting")
        values = np.stack([samples.transfer_bytes, samples.wgsize], axis=1)
        auxiliary = auxiliary_features(values, self._fitted.mean, self._fitted.std)
        rows = []
        for row in test_idx.tolist():
            vectors = self.embedding.vectors[self.words.sequences[row][0]]
            outputs = [
                member.outputs(member.encode(vectors), auxiliary[row : row + 1]) for member in self._fitted.members
            ]
            answer = predict_mixture(np.concatenate(outputs))
            rows.append((answer.log_ratio, *answer.interval, answer.probability_gpu))
        return np.array(rows)


@dataclass(frozen=True, eq=False)
class _Ensemble:
    """Members that were trained, and (2,) mean and deviation of the logarithms of their auxiliary inputs."""

    members: tuple[NumpyLSTMHead, ...]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]


def laplace_loss(output: Tensor, target: Tensor) -> Tensor:
    """Mean negative log-likelihood under Laplace distributions given as (location, log scale)."""
    log_scale = output[:, 1].clamp(*LOG_SCALE_RANGE)
    return ((output[:, 0] - target).abs() * torch.exp(-log_scale) + log_scale).mean()


class _RatioData:
    """Kernels as training data: each with all its rows of the table, in one of its forms each time it is drawn.

    Rows whose kernels come to the same words (NPB's sizes differ in constants alone) are one kernel.
    """

    def __init__(
        self,
        words: KernelWords,
        auxiliary: NDArray[np.float32],
        log_ratio: NDArray[np.float64],
        rows: NDArray[np.int64],
    ) -> None:
        self.auxiliary, self.log_ratio = auxiliary, log_ratio
        rows_of: dict[bytes, list[int]] = {}
        for row in rows.tolist():
            rows_of.setdefault(words.sequences[row][0].tobytes(), []).append(row)
        self.rows = list(rows_of.values())
        self.forms = [words.sequences[rows[0]] for rows in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Batches of kernels of about the same length, in random order."""
        length = np.array([len(form[0]) for form in self.forms])
        order = np.argsort(np.log(length) + rng.normal(0, 0.3, len(length)))
        cut = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        if batch_size > 1 and len(cut) > 1 and len(cut[-1]) == 1:  # batch normalisation can't do with one
            cut[-2:] = [np.concatenate(cut[-2:])]
        return [cut[i] for i in rng.permutation(len(cut))]

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:
        kernels = samples.tolist()
        forms = [self.forms[kernel] for kernel in kernels]
        sequences = [form[int(rng.integers(len(form)))] for form in forms]
        lengths = torch.tensor([len(sequence) for sequence in sequences])
        padded = torch.zeros(len(sequences), int(lengths.max()), dtype=torch.int64)
        for i, sequence in enumerate(sequences):
            padded[i, : len(sequence)] = torch.from_numpy(sequence)
        rows = [row for kernel in kernels for row in self.rows[kernel]]
        owner = torch.tensor([i for i, kernel in enumerate(kernels) for _ in self.rows[kernel]])
        auxiliary = torch.from_numpy(self.auxiliary[rows])
        return (padded, lengths, auxiliary, owner), torch.from_numpy(self.log_ratio[rows]).float()
