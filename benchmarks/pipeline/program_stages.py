"""The classifier's network of two layers as two stages, for two ranks: see `benchmarks.pipeline.schedule`.

The stages are made of the network's own modules, under their own names: what trains a stage trains the network.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from ncc.errors import InputError
from ncc.learning.encoder.config import EncoderConfig
from ncc.learning.encoder.network import (
    EncoderNetwork,
    pool_over_time,
    positions_inside,
    run_layer,
    statement_features,
)

__all__ = ["FirstStage", "LastStage", "split_network"]


class _Part(nn.Module):
    """Some modules and parameters of a network's part, under their names there."""

    def __init__(self, config: EncoderConfig, members: Mapping[str, nn.Module | nn.Parameter | None]) -> None:
        super().__init__()
        self.config = config
        for name, member in members.items():
            setattr(self, name, member)


class FirstStage(nn.Module):
    """Vectors ⊕ literals → the first LSTM layer in both directions."""

    def __init__(self, model: EncoderNetwork) -> None:
        """Takes over the modules of a network."""
        super().__init__()
        whole = model.encoder
        members = {"vectors": whole.vectors, "literals": whole.literals, "dropout": whole.dropout}
        layers = {"ahead": nn.ModuleDict({"0": whole.ahead[0]}), "back": nn.ModuleDict({"0": whole.back[0]})}
        self.encoder: Any = _Part(whole.config, {**members, **layers})

    def received_shapes(self, *inputs: Tensor) -> tuple[tuple[int, ...], ...]:  # noqa: ARG002
        """Nothing comes from a stage before."""
        return ()

    def forward(
        self, received: tuple[Tensor, ...], words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Input of `LastStage`.

        Args:
            received: Nothing.
            words: And the others, as in `ncc.learning.encoder.batches.SequenceBatch`.
            lengths: See there.
            literals: See there.
            literal_start: See there.

        Returns:
            (batch, time, 2 * hidden) features, and the (batch, 2 * dim) mean and maximum over time of what the layer
            has read, both float32.
        """
        assert not received
        encoder, inside = self.encoder, positions_inside(words, lengths)
        features = statement_features(encoder, words, literals, literal_start)
        pooled = torch.cat(pool_over_time(encoder, ("mean", "max"), features, inside, lengths), dim=1)
        return encoder.dropout(run_layer(encoder.ahead["0"], encoder.back["0"], features, inside, lengths)), pooled


class LastStage(nn.Module):
    """The second LSTM layer in both directions → mean, maximum, attention → classes."""

    def __init__(self, model: EncoderNetwork) -> None:
        """Takes over the modules of a network."""
        super().__init__()
        whole = model.encoder
        members = {"query": whole.query, "last_dropout": whole.last_dropout}
        layers = {"ahead": nn.ModuleDict({"1": whole.ahead[1]}), "back": nn.ModuleDict({"1": whole.back[1]})}
        self.encoder: Any = _Part(whole.config, {**members, **layers})
        self.head = model.head
        self._num_pooled = 2 * whole.vectors.shape[1]

    def received_shapes(self, *inputs: Tensor) -> tuple[tuple[int, ...], ...]:
        """Shapes of what `FirstStage` gives for a batch, whose words come first."""
        batch, time = inputs[0].shape
        return (batch, time, self.encoder.config.num_states), (batch, self._num_pooled)

    def forward(
        self, received: tuple[Tensor, ...], words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor
    ) -> tuple[Tensor]:
        """Scores of classes.

        Args:
            received: Output of `FirstStage`.
            words: (batch, time), of which the shape alone is read.
            lengths: (batch,) int64 as in `ncc.learning.encoder.batches.SequenceBatch`.
            literals: Not read.
            literal_start: Not read.

        Returns:
            (batch, num_classes) float32.
        """
        del literals, literal_start  # of the first stage
        features, pooled = received
        encoder, inside = self.encoder, positions_inside(words, lengths)
        features = run_layer(encoder.ahead["1"], encoder.back["1"], features, inside, lengths)
        last = encoder.last_dropout(features)
        states = pool_over_time(encoder, encoder.config.pooling, last, inside, lengths)
        return (self.head(torch.cat([pooled, *states], dim=1)),)


def split_network(model: EncoderNetwork) -> tuple[FirstStage, LastStage]:
    """Two stages of a network, which give what it gives, dropout and all, when one is called after the other.

    They share its parameters, but not its flag of training: call its own ``eval`` after they were trained.

    Args:
        model: Network with two bidirectional layers.

    Raises:
        InputError: It has another number of layers.
    """
    if model.encoder.config.layers != 2:
        raise InputError(f"a network of {model.encoder.config.layers} layer(s); two stages need one of 2")
    return FirstStage(model), LastStage(model)
