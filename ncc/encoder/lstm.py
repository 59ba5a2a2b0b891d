"""The LSTM head: a sequence of statement vectors, and auxiliary numbers, to a few outputs.

Reference: Ben-Nun et al. 2018, section 5 (two LSTM layers, batch normalisation, Dense(32), Dense(n)); mean and maximum
over time beside the last state are ours. Gates that begin by remembering: Tallec and Ollivier, "Can recurrent neural
networks warp time?", ICLR 2018.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LSTMHead", "LSTMHeadConfig"]


@dataclass(frozen=True, kw_only=True)
class LSTMHeadConfig:
    """Sizes of the head, and which of its parts are as published.

    Attributes:
        num_outputs: Number of outputs for each sample.
        num_auxiliary: Numbers given beside the sequence, standardised by the caller.
        hidden: Units of each LSTM layer (the paper's 200).
        layers: LSTM layers.
        dense: Units of the layer between.
        dropout: Share of features dropped in training, before the dense layer and between LSTM layers.
        pooled: Read mean and maximum over time beside the last state; the paper's head reads the last state alone.
        code_outputs: Give as many outputs again, made of the sequence alone by one layer, as the paper's head does to
            be trained on both.
        train_vectors: Train the vectors with the rest, and save them with it.
        memory: Steps, 2 or more, over which the units of a layer remember to begin with, spread from 1 to this (chrono
            initialisation); None begins with random biases.
    """

    num_outputs: int
    num_auxiliary: int = 0
    hidden: int = 64
    layers: int = 2
    dense: int = 32
    dropout: float = 0.2
    pooled: bool = True
    code_outputs: bool = False
    train_vectors: bool = False
    memory: int | None = None

    def __post_init__(self) -> None:
        """Checks the sizes.

        Raises:
            ValueError: A size is below 1, dropout is not in [0, 1), or memory is below 2.
        """
        if min(self.num_outputs, self.hidden, self.layers, self.dense) < 1 or self.num_auxiliary < 0:
            raise ValueError("num_outputs, hidden, layers and dense must be 1 or more, num_auxiliary 0 or more")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout}; expected at least 0 and below 1")
        if self.memory is not None and self.memory < 2:
            raise ValueError(f"memory is {self.memory}; expected 2 or more")


class LSTMHead(nn.Module):
    """Vectors of statements → LSTM layers → state ⊕ auxiliary → outputs."""

    vectors: Tensor

    def __init__(self, vectors: "NDArray[np.float32]", config: LSTMHeadConfig) -> None:
        """Makes a head on (num_words, dim) float32 vectors, neither trained nor saved unless the config says so."""
        super().__init__()
        self.config = config
        if config.train_vectors:
            self.vectors = nn.Parameter(torch.tensor(vectors))
        else:
            self.register_buffer("vectors", torch.from_numpy(vectors), persistent=False)
        between = config.dropout if config.layers > 1 else 0.0
        self.lstm = nn.LSTM(vectors.shape[1], config.hidden, config.layers, batch_first=True, dropout=between)
        if config.memory is not None:
            _remember(self.lstm, config.memory)
        num_states = (3 if config.pooled else 1) * config.hidden
        num_features = num_states + config.num_auxiliary
        self.norm = nn.BatchNorm1d(num_features)
        self.dropout = nn.Dropout(config.dropout)
        self.dense = nn.Linear(num_features, config.dense)
        self.output = nn.Linear(config.dense, config.num_outputs)
        self.code_output = nn.Linear(num_states, config.num_outputs) if config.code_outputs else None

    def encode(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Last state, mean and maximum over time, (batch, 3 * hidden) float32; the first alone unless pooled.

        Args:
            words: (batch, time) int64 rows of the vectors; what lies behind a sequence's end is ignored.
            lengths: (batch,) int64, at least 1.
        """
        # one direction only: what comes behind a sequence's end can't reach it, so padding needs no packing, which
        # takes twelve times as long on a CPU (28 s against 2.4 s an epoch of 130,000 statements)
        out, _ = self.lstm(self.vectors[words])
        lengths = lengths.to(out.device)
        last = out[torch.arange(len(out), device=out.device), lengths - 1]
        if not self.config.pooled:
            return last
        inside = (torch.arange(out.shape[1], device=out.device)[None, :] < lengths[:, None])[:, :, None]
        mean = (out * inside).sum(dim=1) / lengths[:, None]
        highest = out.masked_fill(~inside, -torch.inf).amax(dim=1)
        return torch.cat([last, mean, highest], dim=1)

    def forward(self, words: Tensor, lengths: Tensor, auxiliary: Tensor, owner: Tensor) -> Tensor:
        """Outputs of samples that may share a sequence: (samples, num_outputs) float32, then those of the code alone.

        Args:
            words: As for `encode`.
            lengths: As for `encode`.
            auxiliary: (samples, num_auxiliary) float32.
            owner: (samples,) int64 sequence of each sample.
        """
        states = self.encode(words, lengths)[owner]
        features = torch.cat([states, auxiliary], dim=1)
        outputs = self.output(torch.relu(self.dense(self.dropout(self.norm(features)))))
        return outputs if self.code_output is None else torch.cat([outputs, self.code_output(states)], dim=1)


def _remember(lstm: nn.LSTM, memory: int) -> None:
    """Sets the gates' biases so that units keep their state for 1 to `memory` steps: chrono initialisation."""
    hidden = lstm.hidden_size
    with torch.no_grad():
        for layer in range(lstm.num_layers):
            biases, others = lstm.get_parameter(f"bias_ih_l{layer}"), lstm.get_parameter(f"bias_hh_l{layer}")
            forget = torch.empty(hidden).uniform_(1, memory - 1).log()
            others.zero_()
            biases.zero_()
            biases[:hidden] = -forget  # the input gate; torch keeps input, forget, cell and output in this order
            biases[hidden : 2 * hidden] = forget
