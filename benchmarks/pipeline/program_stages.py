"""The classifier's network of two layers as two stages, for two ranks: see `benchmarks.pipeline.schedule`.

The stages are made of the network's own modules, under their own names: what trains a stage trains the network.
"""

import torch
from torch import Tensor, nn

from ncc.encoder.program_lstm import (
    ProgramLSTM,
    attended,
    both_ways,
    mean_and_highest,
    partly_hidden,
    places_inside,
)
from ncc.errors import InputError

__all__ = ["FirstStage", "LastStage", "split_program_lstm"]


class FirstStage(nn.Module):
    """Vectors ⊕ literals → the first LSTM layer in both directions."""

    def __init__(self, model: ProgramLSTM) -> None:
        """Takes over the modules of a network."""
        super().__init__()
        self.vectors = model.vectors
        self.literals = model.literals
        self.ahead = nn.ModuleDict({"0": model.ahead[0]})
        self.back = nn.ModuleDict({"0": model.back[0]})
        self.dropout = model.dropout
        self.word_dropout = model.config.word_dropout

    def received_shapes(self, *inputs: Tensor) -> tuple[tuple[int, ...], ...]:  # noqa: ARG002
        """Nothing comes from a stage before."""
        return ()

    def forward(
        self, received: tuple[Tensor, ...], words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What `LastStage` is to receive.

        Args:
            received: Nothing.
            words: And the others, as in `ncc.encoder.program_lstm.ProgramBatch`.
            lengths: See there.
            literals: See there.
            literal_start: See there.

        Returns:
            (batch, time, 2 * hidden) features, and the (batch, 2 * dim) mean and maximum over time of what the layer
            has read, both float32.
        """
        assert not received
        inside = places_inside(words, lengths)
        share = self.word_dropout if self.training else 0.0
        features = partly_hidden(nn.functional.embedding(words, self.vectors), share)
        if self.literals is not None:
            features = features + partly_hidden(self.literals(literals, literal_start).view_as(features), share)
        pooled = torch.cat(mean_and_highest(features, inside), dim=1)
        return self.dropout(both_ways(self.ahead["0"], self.back["0"], features, inside, lengths)), pooled


class LastStage(nn.Module):
    """The second LSTM layer in both directions → mean, maximum, attention → classes."""

    def __init__(self, model: ProgramLSTM) -> None:
        """Takes over the modules of a network."""
        super().__init__()
        self.ahead = nn.ModuleDict({"1": model.ahead[1]})
        self.back = nn.ModuleDict({"1": model.back[1]})
        self.query = model.query
        self.norm = model.norm
        self.dropout = model.dropout
        self.dense = model.dense
        self.output = model.output
        self._num_features = 2 * model.config.hidden
        self._num_pooled = 2 * model.vectors.shape[1]

    def received_shapes(self, words: Tensor, *inputs: Tensor) -> tuple[tuple[int, ...], ...]:  # noqa: ARG002
        """Shapes of what `FirstStage` gives for a batch."""
        batch, time = words.shape
        return (batch, time, self._num_features), (batch, self._num_pooled)

    def forward(
        self, received: tuple[Tensor, ...], words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor
    ) -> tuple[Tensor]:
        """Scores of classes.

        Args:
            received: What `FirstStage` gave.
            words: (batch, time), of which the shape alone is read.
            lengths: (batch,) int64 as in `ncc.encoder.program_lstm.ProgramBatch`.
            literals: Not read.
            literal_start: Not read.

        Returns:
            (batch, num_classes) float32.
        """
        del literals, literal_start  # of the first stage
        features, pooled = received
        inside = places_inside(words, lengths)
        features = self.dropout(both_ways(self.ahead["1"], self.back["1"], features, inside, lengths))
        state = torch.cat([pooled, *mean_and_highest(features, inside), attended(self.query, features, inside)], dim=1)
        state = torch.relu(self.dense(self.dropout(self.norm(state))))
        return (self.output(self.dropout(state)),)


def split_program_lstm(model: ProgramLSTM) -> tuple[FirstStage, LastStage]:
    """Two stages of a network, which give what it gives, dropout and all, when one is called after the other.

    They share its parameters, but not its flag of training: call its own ``eval`` after they were trained.

    Args:
        model: Of two layers.

    Raises:
        InputError: It has another number of layers.
    """
    if model.config.layers != 2:
        raise InputError(f"a network of {model.config.layers} layer(s); two stages need one of 2")
    return FirstStage(model), LastStage(model)
