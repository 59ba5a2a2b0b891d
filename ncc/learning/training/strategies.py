"""Data-parallel strategies: who computes which part of a batch, what ranks exchange, and when weights move."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch import distributed as dist

from ncc.arrays import Ints
from ncc.learning.training.compression import Collectives, copy_pieces, flatten, sum_compressed, views_like
from ncc.learning.training.config import TrainingConfig

SparseRows = Callable[[Ints], Mapping[str, Ints]]
"""Samples of a batch → by parameter name, the only rows that can have gradients."""

State = dict[str, Any]


class ClippedAdamW:
    """AdamW that clips the gradient's norm first and zeros the gradient afterwards.

    Reference: Loshchilov and Hutter 2019 ("Decoupled weight decay regularization").
    """

    def __init__(self, parameters: Sequence[Tensor], config: TrainingConfig) -> None:
        self.adam = torch.optim.AdamW(parameters, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)
        self._parameters = parameters
        self._max_grad_norm = config.max_grad_norm

    def step(self, rate: float) -> None:
        """Update the parameters with a learning rate."""
        nn.utils.clip_grad_norm_(self._parameters, self._max_grad_norm)
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        self.adam.zero_grad(set_to_none=False)


def rate_factor(step: int, warm: int, total: int) -> float:
    """Factor of the learning rate: linear over ``warm`` of ``total`` steps to 1, then half a cosine to 0.

    Reference: Loshchilov and Hutter 2017 ("SGDR"), for the cosine.
    """
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))


class Strategy(ABC):
    """A division of the work among ranks.

    For each batch the loop calls `rank_batch`, computes the gradient of what it gets, then calls `step`; after an epoch
    `end_epoch`. All ranks do so, even with no samples. Weights and buffers must be equal on all ranks at the start.
    Gradients are views of one flat tensor, zeros before each backward pass.
    """

    is_synchronized = True
    """Whether ranks have equal weights now, so that a checkpoint can be written."""

    def __init__(
        self, model: nn.Module, config: TrainingConfig, steps_per_epoch: int, sparse_rows: SparseRows | None = None
    ) -> None:
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.steps = 0
        self.collectives = Collectives()
        self._model, self._config = model, config
        self._steps_per_epoch, self._sparse_rows = steps_per_epoch, sparse_rows
        self._optimizer = ClippedAdamW(self.parameters, config)
        self._gradient = torch.zeros_like(flatten(self.parameters))
        _bind_gradients(self.parameters, self._gradient)
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Allocate what the strategy needs beside the optimizer and the gradient."""

    def rank_batch(self, samples: Ints) -> tuple[Ints, int]:
        """This rank's part of a batch, every ``world_size``-th sample, and the number that gradients are means over."""
        return samples[self.collectives.rank :: self.collectives.world_size], len(samples)

    def step(self) -> None:
        """Exchange, clip and apply the gradients, then zero them."""
        warm = self._steps_per_epoch
        self._step(self._config.learning_rate * rate_factor(self.steps, warm, warm * self._config.epochs))
        self.steps += 1

    @abstractmethod
    def _step(self, rate: float) -> None: ...

    def end_epoch(self) -> None:
        """Make ranks equal: buffers, such as those of batch normalization, become rank 0's."""
        saved = self._model.state_dict()
        for name, buffer in self._model.named_buffers():
            if name in saved:
                self.collectives.broadcast(buffer)

    def state_dict(self) -> State:
        """Rank 0's state that all ranks share, beside the model's."""
        return {"steps": self.steps, "optimizer": self._optimizer.adam.state_dict()}

    def rank_state(self) -> dict[str, Tensor]:
        """State of this rank alone, on the host."""
        return {}

    def load_state_dict(self, state: State, rank_state: Mapping[str, Tensor]) -> None:  # noqa: ARG002
        """Restore `state_dict` and this rank's `rank_state`; the model has its weights already."""
        self.steps = int(state["steps"])
        self._optimizer.adam.load_state_dict(state["optimizer"])

    def close(self) -> None:
        """Drop gradients, and all that would outlive the process group."""
        for parameter in self.parameters:
            parameter.grad = None


class Mirrored(Strategy):
    """Synchronous data parallelism: equal replicas, gradients summed over ranks, exactly or compressed.

    Rows of tables that no sample of the batch reads have zero gradients and are not sent; the result has the same bits
    as if all were, if sums run in the same order: with two ranks always. What a compressor leaves out of a gradient is
    added to the next one (error feedback); for a row of a table, when it is sent again.
    """

    def _prepare(self) -> None:
        has_residual = self._config.compression in ("topk", "int8") and self.collectives.world_size > 1
        self._residuals = [torch.zeros_like(parameter) for parameter in self.parameters] if has_residual else []
        self._batch = np.zeros(0, np.int64)

    def rank_batch(self, samples: Ints) -> tuple[Ints, int]:
        """Keep the batch, whose rows of tables are sent."""
        self._batch = samples
        return super().rank_batch(samples)

    def _step(self, rate: float) -> None:
        if self.collectives.world_size > 1:
            self._sum_gradients()
        self._optimizer.step(rate)

    @torch.no_grad()
    def _sum_gradients(self) -> None:
        sparse: Mapping[str, Ints] = {}
        if self._sparse_rows and self._config.compression != "topk":  # whose entries compete with all others
            sparse = self._sparse_rows(self._batch)
        rows = [
            torch.from_numpy(sparse[name]).to(parameter.device) if name in sparse else slice(None)
            for name, parameter in self._model.named_parameters()
            if parameter.requires_grad
        ]
        gradients = views_like(self._gradient, self.parameters)
        sent = [gradient[row] for gradient, row in zip(gradients, rows, strict=True)]
        total = flatten(sent)
        if self._residuals:
            total += flatten([residual[row] for residual, row in zip(self._residuals, rows, strict=True)])
        error = sum_compressed(total, self.collectives, self._config, self.steps)
        for gradient, row, value in zip(gradients, rows, views_like(total, sent), strict=True):
            gradient[row] = value
        if error is not None:
            for residual, row, value in zip(self._residuals, rows, views_like(error, sent), strict=True):
                residual[row] = value

    def rank_state(self) -> dict[str, Tensor]:
        """Residuals, flat."""
        return {"residual": flatten(self._residuals).cpu()} if self._residuals else {}

    def load_state_dict(self, state: State, rank_state: Mapping[str, Tensor]) -> None:
        """Restore the residuals, too."""
        super().load_state_dict(state, rank_state)
        if self._residuals:
            copy_pieces(rank_state["residual"], self._residuals)


class Central(Strategy):
    """Rank 0 stores weights and moments on the host, sums gradients and sends weights; all ranks compute with copies.

    The other ranks need no memory for moments; each step waits for rank 0.

    Reference: Li et al. 2014 ("Scaling distributed machine learning with the parameter server"), with one synchronous
    server.
    """

    def _prepare(self) -> None:
        if self.collectives.rank == 0:
            self._stored = flatten(self.parameters).cpu()
            self._stored_gradient = torch.zeros_like(self._stored)
            stored = views_like(self._stored, self.parameters)
            _bind_gradients(stored, self._stored_gradient)
            self._optimizer = ClippedAdamW(stored, self._config)

    def _step(self, rate: float) -> None:
        self.collectives.reduce_to_root(self._gradient)
        if self.collectives.rank == 0:
            self._stored_gradient.copy_(self._gradient)
            self._optimizer.step(rate)
            self._gradient.copy_(self._stored)  # weights take the way back
        self.collectives.broadcast(self._gradient)
        copy_pieces(self._gradient, self.parameters)
        self._gradient.zero_()

    def load_state_dict(self, state: State, rank_state: Mapping[str, Tensor]) -> None:
        """Store the model's weights, too; other ranks have no moments."""
        if self.collectives.rank == 0:
            super().load_state_dict(state, rank_state)
            self._stored.copy_(flatten(self.parameters))
        self.steps = int(state["steps"])


class Local(Strategy):
    """Local SGD: every rank takes its own steps; weights are averaged every ``sync_every`` steps.

    Moments are averaged only at the end of an epoch, or three times as many bytes would be sent. A checkpoint inside an
    epoch waits for the next average of weights, so that it changes nothing, and holds each rank's moments.

    References: Stich 2019 ("Local SGD converges fast and communicates little"); Lin et al. 2020 ("Don't use large
    mini-batches, use local SGD").
    """

    _MOMENTS = ("exp_avg", "exp_avg_sq")

    def _prepare(self) -> None:
        self._since_average = 0

    def rank_batch(self, samples: Ints) -> tuple[Ints, int]:
        """Select this rank's samples, for a separate gradient."""
        rank_samples, _ = super().rank_batch(samples)
        return rank_samples, len(rank_samples)

    def _step(self, rate: float) -> None:
        self._optimizer.step(rate)
        self._since_average += 1
        self.is_synchronized = False
        if self._since_average == self._config.sync_every:
            self._average_weights()

    def _average_weights(self) -> None:
        self.collectives.average(self.parameters)
        self._since_average, self.is_synchronized = 0, True

    def _moments(self, name: str) -> list[Tensor]:
        return [self._optimizer.adam.state[parameter][name] for parameter in self.parameters]

    def end_epoch(self) -> None:
        """Average weights and moments, too."""
        if not self.is_synchronized:
            self._average_weights()
        for name in self._MOMENTS:
            self.collectives.average(self._moments(name))
        super().end_epoch()

    def rank_state(self) -> dict[str, Tensor]:
        """This rank's moments, flat."""
        return {name: flatten(self._moments(name)).cpu() for name in self._MOMENTS}

    def load_state_dict(self, state: State, rank_state: Mapping[str, Tensor]) -> None:
        """Restore this rank's moments, too."""
        super().load_state_dict(state, rank_state)
        for name in self._MOMENTS:
            copy_pieces(rank_state[name], self._moments(name))


class _InFlight(NamedTuple):
    """A flat gradient, its sum over ranks once ``work`` is done, and the learning rate of its step."""

    flat: Tensor
    rate: float
    work: "dist.Work | None" = None


class Stale(Strategy):
    """Asynchronous by one step: the summed gradient of a step is applied after the next one's backward pass.

    Replicas stay equal, and sums are sent while ranks compute. The gradient in flight is applied at the end of an
    epoch; a checkpoint inside an epoch holds it.

    References: Ho et al. 2013 ("More effective distributed ML via a stale synchronous parallel parameter server"), for
    the bound; Li et al. 2018 ("Pipe-SGD"), for sums that all ranks apply a fixed number of steps late.
    """

    def _prepare(self) -> None:
        self._free = torch.zeros_like(self._gradient)
        self._in_flight: _InFlight | None = None

    def _step(self, rate: float) -> None:
        sent = _InFlight(self._gradient, rate, self.collectives.all_reduce_async(self._gradient))
        self._apply()
        self._gradient, self._in_flight = self._free, sent
        _bind_gradients(self.parameters, self._gradient)

    def _apply(self) -> None:
        """Apply the gradient in flight, if there is one, which zeros it."""
        if self._in_flight:
            if self._in_flight.work:
                self._in_flight.work.wait()
            self._free = self._in_flight.flat
            _bind_gradients(self.parameters, self._free)
            self._optimizer.step(self._in_flight.rate)
            self._in_flight = None

    def end_epoch(self) -> None:
        """Apply the gradient in flight, too."""
        self._apply()
        _bind_gradients(self.parameters, self._gradient)
        super().end_epoch()

    def state_dict(self) -> State:
        """Shared state, including the sum of the gradient in flight."""
        sent = self._in_flight
        if sent and sent.work:
            sent.work.wait()
        return super().state_dict() | {"in_flight": sent and (sent.flat.cpu(), sent.rate)}

    def load_state_dict(self, state: State, rank_state: Mapping[str, Tensor]) -> None:
        """Restore the gradient in flight, too."""
        super().load_state_dict(state, rank_state)
        if state["in_flight"]:
            flat, rate = state["in_flight"]
            self._in_flight = _InFlight(self._free.copy_(flat), float(rate))


def _bind_gradients(parameters: Sequence[Tensor], flat: Tensor) -> None:
    """Make the gradients of parameters views of a flat tensor."""
    for parameter, view in zip(parameters, views_like(flat, parameters), strict=True):
        parameter.grad = view


def make_strategy(
    model: nn.Module, config: TrainingConfig, steps_per_epoch: int, sparse_rows: SparseRows | None = None
) -> Strategy:
    """Make the strategy that a configuration names, for a model in training mode on its device."""
    classes: dict[str, type[Strategy]] = {"mirrored": Mirrored, "central": Central, "stale": Stale, "local": Local}
    return classes[config.strategy](model, config, steps_per_epoch, sparse_rows)
