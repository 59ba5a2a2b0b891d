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

__all__ = ["ProgramBatch", "ProgramLSTM", "ProgramLSTMConfig"]


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
        inside = torch.arange(words.shape[1], device=words.device)[None, :] < lengths[:, None]
        features = self._inputs(words, literals, literal_start)
        pooled = [*_pool(features, inside)]
        # each direction runs forward over its own copy: what comes behind a program's end then reaches neither, and
        # no packing is needed, which costs ten times as long on a CPU
        flip = torch.where(inside, lengths[:, None] - 1 - torch.arange(words.shape[1], device=words.device)[None, :], 0)
        for ahead, back in zip(self.ahead, self.back, strict=True):
            one, _ = ahead(features)
            other, _ = back(_gather(features, flip))
            features = self.dropout(torch.cat([one, _gather(other, flip)], dim=2))
        weights = self.query(torch.tanh(features)).squeeze(2).masked_fill(~inside, -torch.inf).softmax(dim=1)
        pooled += [*_pool(features, inside), (weights[:, :, None] * features).sum(dim=1)]
        state = torch.relu(self.dense(self.dropout(self.norm(torch.cat(pooled, dim=1)))))
        scores: Tensor = self.output(self.dropout(state))
        return scores

    def _inputs(self, words: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        features = nn.functional.embedding(words, self.vectors)
        drop = self.config.word_dropout if self.training else 0.0
        if drop:
            features = features * (torch.rand_like(features[:, :, :1]) >= drop)
        if self.literals is not None:
            found = self.literals(literals, literal_start).view_as(features)
            if drop:
                found = found * (torch.rand_like(found[:, :, :1]) >= drop)
            features = features + found
        return features


def _gather(features: Tensor, index: Tensor) -> Tensor:
    return features.gather(1, index[:, :, None].expand(-1, -1, features.shape[2]))


def _pool(features: Tensor, inside: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and maximum over time."""
    mean = (features * inside[:, :, None]).sum(dim=1) / inside.sum(dim=1, keepdim=True)
    return mean, features.masked_fill(~inside[:, :, None], -torch.inf).amax(dim=1)
