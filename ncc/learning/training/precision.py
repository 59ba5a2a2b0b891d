"""Precision of training networks: decided by a trial on each device, and equal on all ranks.

Autocast to bfloat16 does not make every device run LSTMs in it: oneDNN needs AVX-512 on a CPU, and CUDA's autocast runs
LSTMs in float16, in which small gradients vanish without loss scaling. Such devices compute in float32, with TF32
products if they have them. The skip-gram has no LSTM and decides for itself.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import Any

import torch
from torch import nn

from ncc.learning.training.ranks import rank_and_world, sum_over_ranks

logger = logging.getLogger(__name__)


class Precision(StrEnum):
    """Precision of matrix products, fastest first; weights and sums are always float32."""

    BFLOAT16 = "bfloat16"
    TF32 = "tf32"
    FLOAT32 = "float32"

    def autocast(self, device: torch.device) -> torch.autocast:
        """Context for the forward pass."""
        return torch.autocast(device.type, torch.bfloat16, enabled=self is Precision.BFLOAT16)

    @contextmanager
    def products(self) -> Iterator[None]:
        """Set float32 products on GPUs to TF32 or exact inside a training; restore them afterwards."""
        backends: list[Any] = [torch.backends.cuda.matmul, torch.backends.cudnn.rnn]
        before = [backend.fp32_precision for backend in backends]
        for backend in backends:
            backend.fp32_precision = "tf32" if self is Precision.TF32 else "ieee"
        try:
            yield
        finally:
            for backend, value in zip(backends, before, strict=True):
                backend.fp32_precision = value


def shared_precisions(device: torch.device, *, mixed: bool) -> tuple[Precision, ...]:
    """Precisions in which all ranks' devices compute LSTMs, fastest first; float32 is always the last."""
    if not mixed:
        return (Precision.FLOAT32,)
    supported = _precisions(device)
    votes = torch.tensor([precision in supported for precision in Precision], dtype=torch.float32, device=device)
    sum_over_ranks([votes])
    world_size = rank_and_world()[1]
    return tuple(precision for precision, vote in zip(Precision, votes.tolist(), strict=True) if vote == world_size)


@cache
def _precisions(device: torch.device) -> frozenset[Precision]:
    """Precisions in which a device computes LSTMs."""
    supported = {Precision.FLOAT32}
    if device.type == "cuda" and torch.cuda.is_tf32_supported():
        supported.add(Precision.TF32)
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the host
        lstm = nn.LSTM(4, 4).to(device)
    try:
        dtype = _trial(lstm, device)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        logger.info("no bfloat16 LSTM on %s: %s", device, error)
    else:
        logger.info("LSTMs asked for bfloat16 on %s give %s", device, dtype)
        if dtype == torch.bfloat16:
            supported.add(Precision.BFLOAT16)
    return frozenset(supported)


def _trial(lstm: nn.LSTM, device: torch.device) -> torch.dtype:
    """Output type of an LSTM under autocast to bfloat16, after its backward pass ran as well."""
    with torch.enable_grad():
        with torch.autocast(device.type, torch.bfloat16):
            out, _ = lstm(torch.zeros(2, 1, 4, device=device))
        out.float().sum().backward()
    return out.dtype
