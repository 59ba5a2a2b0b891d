"""The classifier's network: statements and their literals, through bidirectional LSTMs, pooled, to classes.

References: Ben-Nun et al. 2018, section 5 (the plain head, which is `LSTMHead`); attention pooling as in Lin et al.
2017 ("A structured self-attentive sentence embedding"), with one query.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ProgramBatch",
    "ProgramLSTM",
    "ProgramLSTMConfig",
    "attended",
    "both_ways",
    "mean_and_highest",
    "partly_hidden",
    "places_inside",
]


@dataclass(frozen=True, kw_only=True)
class ProgramLSTMConfig:
    """Sizes of the network.

    Attributes:
        hidden: Units of each direction of each layer.
        layers: Bidirectional layers.
        dense: Units of the layer before the classes.
        buckets: Rows of the table that literals are hashed into; 0 reads no literals.
        dropout: Share of features dropped in training, after each layer.
        word_dropout: Share of statements, and of literals, that are hidden in training.
        train_vectors: Train the vectors with the rest.
    """

    hidden: int = 128
    layers: int = 1
    dense: int = 256
    buckets: int = 8192
    dropout: float = 0.3
    word_dropout: float = 0.1
    train_vectors: bool = True

    def __post_init__(self) -> None:
        """Checks the sizes.

        Raises:
            ValueError: A size is too small, or a share is not in [0, 1).
        """
        if min(self.hidden, self.layers, self.dense) < 1 or self.buckets < 0:
            raise ValueError("hidden, layers and dense must be 1 or more, buckets 0 or more")
        if not (0 <= self.dropout < 1 and 0 <= self.word_dropout < 1):
            raise ValueError("dropout and word_dropout must be at least 0 and below 1")


class ProgramBatch(NamedTuple):
    """Programs side by side.

    Attributes:
        words: (batch, time) int64 rows of the vectors; what lies behind a program's end is ignored.
        lengths: (batch,) int64, at least 1.
        literals: int64 buckets of all literals.
        literal_start: (batch * time,) int64 offsets into `literals` for each place of `words`.
    """

    words: Tensor
    lengths: Tensor
    literals: Tensor
    literal_start: Tensor


class ProgramLSTM(nn.Module):
    """Vectors ⊕ literals → LSTM layers in both directions → mean, maximum, attention → classes."""

    def __init__(self, vectors: "NDArray[np.float32]", num_classes: int, config: ProgramLSTMConfig) -> None:
        """Makes a network on (num_words, dim) float32 vectors, saved with it whether trained or not."""
        super().__init__()
        self.config = config
        dim = vectors.shape[1]
        self.vectors = nn.Parameter(torch.tensor(vectors), requires_grad=config.train_vectors)
        self.literals = nn.EmbeddingBag(config.buckets, dim, mode="sum") if config.buckets else None
        if self.literals is not None:
            nn.init.normal_(self.literals.weight, std=dim**-0.5 / 2)
        sizes = [dim] + [2 * config.hidden] * (config.layers - 1)
        self.ahead = nn.ModuleList(nn.LSTM(size, config.hidden, batch_first=True) for size in sizes)
        self.back = nn.ModuleList(nn.LSTM(size, config.hidden, batch_first=True) for size in sizes)
        self.query = nn.Linear(2 * config.hidden, 1)
        num_features = 6 * config.hidden + 2 * dim
        self.norm = nn.LayerNorm(num_features)
        self.dropout = nn.Dropout(config.dropout)
        self.dense = nn.Linear(num_features, config.dense)
        self.output = nn.Linear(config.dense, num_classes)

    def forward(self, words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        """Scores of classes, (batch, num_classes) float32; arguments as in `ProgramBatch`."""
        inside = places_inside(words, lengths)
        features = self._inputs(words, literals, literal_start)
        pooled = [*mean_and_highest(features, inside)]
        for ahead, back in zip(self.ahead, self.back, strict=True):
            features = self.dropout(both_ways(ahead, back, features, inside, lengths))
        pooled += [*mean_and_highest(features, inside), attended(self.query, features, inside)]
        state = torch.relu(self.dense(self.dropout(self.norm(torch.cat(pooled, dim=1)))))
        scores: Tensor = self.output(self.dropout(state))
        return scores

    def _inputs(self, words: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        share = self.config.word_dropout if self.training else 0.0
        features = partly_hidden(nn.functional.embedding(words, self.vectors), share)
        if self.literals is not None:
            found = self.literals(literals, literal_start).view_as(features)
            features = features + partly_hidden(found, share)
        return features


def partly_hidden(features: Tensor, share: float) -> Tensor:
    """Features with those of a share of the statements 0, drawn anew."""
    return features * (torch.rand_like(features[:, :, :1]) >= share) if share else features


def places_inside(words: Tensor, lengths: Tensor) -> Tensor:
    """(batch, time) bool: which places are before their program's end."""
    return torch.arange(words.shape[1], device=words.device)[None, :] < lengths[:, None]


def both_ways(ahead: nn.Module, back: nn.Module, features: Tensor, inside: Tensor, lengths: Tensor) -> Tensor:
    """(batch, time, 2 * hidden) outputs of a layer that reads each program from both of its ends.

    Each direction runs forward over its own copy: what comes behind a program's end then reaches neither, and no
    packing is needed, which costs ten times as long on a CPU.
    """
    time = torch.arange(inside.shape[1], device=inside.device)[None, :]
    flip = torch.where(inside, lengths[:, None] - 1 - time, 0)
    one, _ = ahead(features)
    other, _ = back(_gather(features, flip))
    return torch.cat([one, _gather(other, flip)], dim=2)


def attended(query: nn.Module, features: Tensor, inside: Tensor) -> Tensor:
    """(batch, 2 * hidden) mean over time, weighted by what a query finds."""
    weights = query(torch.tanh(features)).squeeze(2).masked_fill(~inside, -torch.inf).softmax(dim=1)
    return (weights[:, :, None] * features).sum(dim=1)


def mean_and_highest(features: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and maximum over time."""
    mean = (features * inside[:, :, None]).sum(dim=1) / inside.sum(dim=1, keepdim=True)
    return mean, features.masked_fill(~inside[:, :, None], -torch.inf).amax(dim=1)


def _gather(features: Tensor, index: Tensor) -> Tensor:
    return features.gather(1, index[:, :, None].expand(-1, -1, features.shape[2]))
