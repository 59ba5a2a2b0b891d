"""The trainable LSTM in torch: statement vectors and literals → LSTM layers → pooling → vector → a head.

The shipped classifier is such a network; it answers with `ncc.learning.encoder.network_numpy`.

References: Ben-Nun et al. 2018, section 5 (two LSTM layers, batch normalization, Dense(32), Dense(n)); attention as in
Lin et al. 2017 ("A structured self-attentive sentence embedding"), with one query; chrono initialization: Tallec and
Ollivier, "Can recurrent neural networks warp time?", ICLR 2018. Mean, maximum and literals are ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from ncc.arrays import Floats32
from ncc.learning.encoder.config import EncoderConfig, HeadConfig, Pooling
from ncc.learning.encoder.network_numpy import Ensemble, NumpyNetwork
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.loop import Loss, OnEpoch, TrainingData, train
from ncc.learning.training.ranks import torch_threads


class Encoder(nn.Module):
    """Vectors ⊕ literals → LSTM layers → pooling → a vector for each sequence."""

    def __init__(self, vectors: Floats32, config: EncoderConfig) -> None:
        """Make an encoder on (num_words, dim) float32 vectors, which are copied."""
        super().__init__()
        self.config = config
        dim = vectors.shape[1]
        self.vectors = nn.Parameter(torch.tensor(vectors), requires_grad=config.train_vectors)
        self.literals = nn.EmbeddingBag(config.buckets, dim, mode="sum") if config.buckets else None
        if self.literals is not None:
            nn.init.normal_(self.literals.weight, std=dim**-0.5 / 2)
        sizes = [dim] + [config.num_states] * (config.layers - 1)
        self.ahead = nn.ModuleList(nn.LSTM(size, config.hidden, batch_first=True) for size in sizes)
        back = sizes if config.bidirectional else []
        self.back = nn.ModuleList(nn.LSTM(size, config.hidden, batch_first=True) for size in back)
        if config.memory is not None:
            for layer in (*self.ahead, *self.back):
                _initialize_gates(layer, config.memory)
        self.query = nn.Linear(config.num_states, 1) if "attention" in config.pooling else None
        self.dropout, self.last_dropout = nn.Dropout(config.dropout), nn.Dropout(config.last_dropout)

    def forward(self, words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        """Vectors of sequences, (batch, ``config.vector_size(dim)``) float32."""
        inside = positions_inside(words, lengths)
        features = statement_features(self, words, literals, literal_start)
        pooled = pool_over_time(self, ("mean", "max"), features, inside, lengths) if self.config.pool_inputs else []
        for index, ahead in enumerate(self.ahead):
            if index:
                features = self.dropout(features)
            features = run_layer(ahead, self.back[index] if self.back else None, features, inside, lengths)
        states = pool_over_time(self, self.config.pooling, self.last_dropout(features), inside, lengths)
        return torch.cat([*pooled, *states], dim=1)


class Head(nn.Module):
    """A sequence's vector ⊕ auxiliary numbers → normalization → dense layer → outputs."""

    def __init__(self, vector_size: int, num_outputs: int, num_auxiliary: int, config: HeadConfig) -> None:
        """Make a head; the caller standardizes auxiliary numbers."""
        super().__init__()
        num_features = vector_size + num_auxiliary
        self.norm = nn.BatchNorm1d(num_features) if config.norm == "batch" else nn.LayerNorm(num_features)
        self.dropout, self.dense_dropout = nn.Dropout(config.dropout), nn.Dropout(config.dense_dropout)
        self.dense = nn.Linear(num_features, config.dense)
        self.output = nn.Linear(config.dense, num_outputs)

    def forward(self, vector: Tensor, auxiliary: Tensor | None = None) -> Tensor:
        """Outputs, (samples, num_outputs) float32."""
        features = vector if auxiliary is None else torch.cat([vector, auxiliary], dim=1)
        state = torch.relu(self.dense(self.dropout(self.norm(features))))
        outputs: Tensor = self.output(self.dense_dropout(state))
        return outputs


class EncoderNetwork(nn.Module):
    """The encoder with a head: what is trained for a task."""

    def __init__(
        self, vectors: Floats32, num_outputs: int, encoder: EncoderConfig, head: HeadConfig, num_auxiliary: int = 0
    ) -> None:
        """Make a network on (num_words, dim) float32 vectors."""
        super().__init__()
        self.encoder = Encoder(vectors, encoder)
        self.head = Head(encoder.vector_size(vectors.shape[1]), num_outputs, num_auxiliary, head)

    def forward(self, *batch: Tensor) -> Tensor:
        """Outputs of the samples of a `SequenceBatch`, or of its sequences if it ends before the samples."""
        vector: Tensor = self.encoder(*batch[:4])
        auxiliary, owner = batch[4:] or (None, slice(None))
        outputs: Tensor = self.head(vector[owner], auxiliary)
        return outputs

    def to_arrays(self) -> dict[str, Floats32]:
        """Everything that was learned, as float32 arrays by their names in files and in the NumPy network."""
        return {
            name.split(".", 1)[1]: tensor.detach().cpu().numpy().astype(np.float32)
            for name, tensor in self.state_dict().items()
            if tensor.is_floating_point()  # the batch counter of batch normalization
        }

    def load_arrays(self, arrays: Mapping[str, Floats32]) -> None:
        """Load weights from `to_arrays`."""
        for name, tensor in self.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(torch.tensor(arrays[name.split(".", 1)[1]]))


def fit_network(
    make: Callable[[], EncoderNetwork],
    data: TrainingData,
    loss: Loss,
    config: TrainingConfig,
    seed: int,
    progress: OnEpoch | None = None,
) -> EncoderNetwork:
    """Make and train a network in one thread (more are slower), leaving torch's random state as it was."""
    with torch_threads(1), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = make()
        train(network, data, loss, replace(config, seed=seed), progress=progress)
    return network


def fit_ensemble(
    make: Callable[[], EncoderNetwork], data: TrainingData, loss: Loss, config: TrainingConfig, seeds: list[int]
) -> Ensemble:
    """Train a network for each seed."""
    networks = [fit_network(make, data, loss, config, seed) for seed in seeds]
    return Ensemble(tuple(NumpyNetwork.from_arrays(each.to_arrays(), each.encoder.config) for each in networks))


def statement_features(encoder: Encoder, words: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
    """Inputs of the first layer, (batch, time, dim) float32: vectors of statements and sums of their literals'."""
    fraction = encoder.config.word_dropout if encoder.training else 0.0
    features = _hide(nn.functional.embedding(words, encoder.vectors), fraction)
    if encoder.literals is not None:
        features = features + _hide(encoder.literals(literals, literal_start).view_as(features), fraction)
    return features


def _hide(features: Tensor, fraction: float) -> Tensor:
    """Features with a fraction of the statements set to 0, drawn at random."""
    return features * (torch.rand_like(features[:, :, :1]) >= fraction) if fraction else features


def positions_inside(words: Tensor, lengths: Tensor) -> Tensor:
    """(batch, time) bool: whether a position is before its sequence's end."""
    return torch.arange(words.shape[1], device=words.device)[None, :] < lengths[:, None]


def run_layer(ahead: nn.Module, back: nn.Module | None, features: Tensor, inside: Tensor, lengths: Tensor) -> Tensor:
    """(batch, time, num_states) outputs of a layer that reads each sequence from its start, or from both of its ends.

    Each direction runs forward over its own copy: entries after a sequence's end then reach neither, without packing,
    which costs ten times as long on a CPU.
    """
    outputs: Tensor
    outputs, _ = ahead(features)
    if back is None:
        return outputs
    time = torch.arange(inside.shape[1], device=inside.device)
    flip = torch.where(inside, lengths[:, None] - 1 - time, 0)[:, :, None]
    flipped, _ = back(features.gather(1, flip.expand(-1, -1, features.shape[2])))
    return torch.cat([outputs, flipped.gather(1, flip.expand(-1, -1, flipped.shape[2]))], dim=2)


def pool_over_time(
    encoder: Encoder, kinds: Sequence[Pooling], features: Tensor, inside: Tensor, lengths: Tensor
) -> list[Tensor]:
    """(batch, size) for each pooling of (batch, time, size) inputs or outputs of layers."""
    hidden = encoder.config.hidden

    def pool(kind: Pooling) -> Tensor:
        if kind == "mean":
            return (features * inside[:, :, None]).sum(dim=1) / inside.sum(dim=1, keepdim=True)
        if kind == "max":
            return features.masked_fill(~inside[:, :, None], -torch.inf).amax(dim=1)
        if kind == "last":  # the reverse direction ends at the start of the sequence
            last = features[torch.arange(len(features), device=features.device), lengths - 1, :hidden]
            return torch.cat([last, features[:, 0, hidden:]], dim=1)
        assert encoder.query is not None
        weight = encoder.query(torch.tanh(features)).squeeze(2).masked_fill(~inside, -torch.inf).softmax(dim=1)
        return (weight[:, :, None] * features).sum(dim=1)

    return [pool(kind) for kind in kinds]


def _initialize_gates(layer: nn.Module, memory: int) -> None:
    """Set the gates' biases so that units keep their state for 1 to `memory` steps: chrono initialization."""
    biases = layer.get_parameter("bias_ih_l0")
    with torch.no_grad():
        forget = torch.empty(len(biases) // 4).uniform_(1, memory - 1).log()
        layer.get_parameter("bias_hh_l0").zero_()
        # torch's order: input, forget, cell and output gate
        biases.copy_(torch.cat([-forget, forget, torch.zeros(2 * len(forget))]))
