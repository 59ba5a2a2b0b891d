"""Data-parallel strategies: who computes which part of a batch, what ranks exchange, and when weights move."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch import distributed as dist

from ncc.arrays import Ints
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.ranks import rank_and_world, sum_over_ranks

SparseRows = Callable[[Ints], Mapping[str, Ints]]
"""Samples of a batch → parameter name → rows that can have non-zero gradients."""

_DTYPES = {"none": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
"""Compression → type in which gradients are sent and summed."""


def rate_factor(step: int, warm: int, total: int) -> float:
    """Factor of the learning rate: linear over ``warm`` of ``total`` steps to 1, then half a cosine to 0.

    Reference: Loshchilov and Hutter 2017 ("SGDR"), for the cosine.
    """
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))


class Strategy:
    """A division of the work among ranks; alone, plain training.

    For each batch the loop calls `rank_batch`, computes the gradient of what it gets, then calls `step`; after an epoch
    `end_epoch`. All ranks do so, even with no samples. Weights and buffers must be equal on all ranks at the start.
    Gradients are views of one flat tensor, zeros before each backward pass.
    """

    def __init__(
        self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int, sparse_rows: SparseRows | None = None
    ) -> None:
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.steps = 0
        self.steps_apart = 0  # since ranks had equal weights, which a checkpoint needs
        self.bytes_sent = 0
        self._rank, self._world_size = rank_and_world()
        self._model, self._config = model, config
        self._steps_per_epoch, self._sparse_rows = steps_per_epoch, sparse_rows
        self._adam = torch.optim.AdamW(self.parameters, weight_decay=config.weight_decay, fused=True)
        self._gradient = torch.zeros_like(_flatten(self.parameters))
        for parameter, view in zip(self.parameters, _views_like(self._gradient, self.parameters), strict=True):
            parameter.grad = view

    def rank_batch(self, samples: Ints) -> tuple[Ints, int]:
        """This rank's part of a batch, every ``world_size``-th sample, and the number that gradients are means over."""
        return samples[self._rank :: self._world_size], len(samples)

    def step(self) -> None:
        """Clip and apply the gradients, then zero them.

        Reference: Loshchilov and Hutter 2019 ("Decoupled weight decay regularization").
        """
        warm = self._steps_per_epoch
        rate = self._config.learning_rate * rate_factor(self.steps, warm, warm * self._config.epochs)
        nn.utils.clip_grad_norm_(self.parameters, self._config.max_grad_norm)
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        self._gradient.zero_()
        self.steps += 1

    def end_epoch(self) -> None:
        """Make ranks equal: buffers, such as those of batch normalization, become rank 0's."""
        saved = self._model.state_dict()
        for name, buffer in self._model.named_buffers():
            if name in saved and self._world_size > 1:
                if self._rank < self._world_size - 1:  # a chain from first to last
                    self.bytes_sent += buffer.nbytes
                dist.broadcast(buffer, src=0)

    def state_dict(self) -> dict[str, Any]:
        """State shared by all ranks in addition to the model's, from rank 0."""
        return {"steps": self.steps, "optimizer": self._adam.state_dict()}

    def rank_state(self) -> dict[str, Tensor]:
        """State of this rank alone, on the host."""
        return {}

    def load_state_dict(self, state: dict[str, Any], rank_state: Mapping[str, Tensor]) -> None:  # noqa: ARG002
        """Restore `state_dict` and this rank's `rank_state`; the model has its weights already."""
        self.steps = int(state["steps"])
        self._adam.load_state_dict(state["optimizer"])

    def close(self) -> None:
        """Drop gradients, and all that would outlive the process group."""
        for parameter in self.parameters:
            parameter.grad = None

    def _sum_over_ranks(self, tensor: Tensor) -> None:
        """Replace a tensor with its sum over ranks, and count the bytes that this rank sends in a ring."""
        self.bytes_sent += 2 * (self._world_size - 1) * tensor.nbytes // self._world_size
        sum_over_ranks([tensor])


class Mirrored(Strategy):
    """Synchronous data parallelism: equal replicas, gradients summed over ranks, exactly or in half the bytes.

    Rows of tables that no sample of the batch reads have zero gradients and are not sent; the result has the same bits
    as if all were, if sums run in the same order: with two ranks always.
    """

    def rank_batch(self, samples: Ints) -> tuple[Ints, int]:
        """Keep the batch, whose rows of tables are sent."""
        self._batch = samples
        return super().rank_batch(samples)

    def step(self) -> None:
        """Sum the gradients over ranks first."""
        if self._world_size > 1:
            self._sum_gradients()
        super().step()

    @torch.no_grad()
    def _sum_gradients(self) -> None:
        sparse = self._sparse_rows(self._batch) if self._sparse_rows else {}
        rows = [
            torch.from_numpy(sparse[name]).to(parameter.device) if name in sparse else slice(None)
            for name, parameter in self._model.named_parameters()
            if parameter.requires_grad
        ]
        gradients = _views_like(self._gradient, self.parameters)
        sent = [gradient[row] for gradient, row in zip(gradients, rows, strict=True)]
        total = _flatten(sent).to(_DTYPES[self._config.compression])
        self._sum_over_ranks(total)  # of parts of a mean, so sums stay in range
        for gradient, row, value in zip(gradients, rows, _views_like(total.float(), sent), strict=True):
            gradient[row] = value


class Local(Strategy):
    """Local SGD: every rank takes its own steps; weights are averaged every ``sync_every`` steps.

    Moments are averaged only at the end of an epoch, or three times as many bytes would be sent. A checkpoint inside an
    epoch waits for the next average of weights, so that it changes nothing, and holds each rank's moments.

    References: Stich 2019 ("Local SGD converges fast and communicates little"); Lin et al. 2020 ("Don't use large
    mini-batches, use local SGD").
    """

    _MOMENTS = ("exp_avg", "exp_avg_sq")

    def rank_batch(self, samples: Ints) -> tuple[Ints, int]:
        """Select this rank's samples, for a separate gradient."""
        rank_samples, _ = super().rank_batch(samples)
        return rank_samples, len(rank_samples)

    def step(self) -> None:
        """Average weights afterwards, when it is time."""
        super().step()
        self.steps_apart += 1
        if self.steps_apart == self._config.sync_every:
            self._average(self.parameters)
            self.steps_apart = 0

    def end_epoch(self) -> None:
        """Average weights and moments, too."""
        if self.steps_apart:
            self._average(self.parameters)
            self.steps_apart = 0
        for name in self._MOMENTS:
            self._average(self._moments(name))
        super().end_epoch()

    def rank_state(self) -> dict[str, Tensor]:
        """This rank's moments, flat."""
        return {name: _flatten(self._moments(name)).cpu() for name in self._MOMENTS}

    def load_state_dict(self, state: dict[str, Any], rank_state: Mapping[str, Tensor]) -> None:
        """Restore this rank's moments, too."""
        super().load_state_dict(state, rank_state)
        for name in self._MOMENTS:
            _copy_pieces(rank_state[name], self._moments(name))

    def _moments(self, name: str) -> list[Tensor]:
        return [self._adam.state[parameter][name] for parameter in self.parameters]

    def _average(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors with their means over ranks, in one collective."""
        flat = _flatten(tensors)
        self._sum_over_ranks(flat)
        _copy_pieces(flat / self._world_size, tensors)


def _flatten(tensors: Sequence[Tensor]) -> Tensor:
    """Copies of tensors of one type, concatenated into one flat tensor."""
    return torch.cat([tensor.detach().reshape(-1) for tensor in tensors])


def _views_like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Consecutive pieces of a flat tensor in the shapes of tensors."""
    pieces = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [piece.view_as(tensor) for piece, tensor in zip(pieces, tensors, strict=True)]


@torch.no_grad()
def _copy_pieces(flat: Tensor, tensors: Sequence[Tensor]) -> None:
    """Copy consecutive pieces of a flat tensor to tensors."""
    for tensor, value in zip(tensors, _views_like(flat, tensors), strict=True):
        tensor.copy_(value)


def make_strategy(
    model: nn.Module, config: TrainingConfig, steps_per_epoch: int, sparse_rows: SparseRows | None = None
) -> Strategy:
    """Make the strategy that a configuration names, for a model in training mode on its device."""
    classes = {"mirrored": Mirrored, "local": Local}
    return classes[config.strategy](model, config, steps_per_epoch, sparse_rows)
