"""The precision that networks are trained in: decided by trial, once per device, and equally on all ranks.

Skip-gram has no LSTM, and decides for its products itself (`ncc.learning.embedding.skipgram_model`).

Not every device runs LSTMs in bfloat16 where autocast is asked to: oneDNN's need AVX-512 on a CPU, and CUDA's autocast
runs LSTMs in float16 whatever type it is asked for, where small gradients vanish without loss scaling. There all is
computed in float32, with TF32 products on GPUs that have them.
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
    """What matrices are multiplied in; weights and sums are float32 in each case. The fastest comes first."""

    BFLOAT16 = "bfloat16"
    TF32 = "tf32"
    FLOAT32 = "float32"

    def autocast(self, device: torch.device) -> torch.autocast:
        """Context for the forward pass."""
        return torch.autocast(device.type, torch.bfloat16, enabled=self is Precision.BFLOAT16)

    @contextmanager
    def products(self) -> Iterator[None]:
        """Surrounds a training: float32 products on GPUs are TF32 inside, or exact; restored afterwards."""
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
    """Precisions that the devices of all ranks compute LSTMs in, the fastest first; float32 is always the last.

    Args:
        device: This rank's.
        mixed: Whether less than float32 will do; all ranks say the same.
    """
    if not mixed:
        return (Precision.FLOAT32,)
    own = _precisions(device)
    votes = torch.tensor([precision in own for precision in Precision], dtype=torch.float32, device=device)
    sum_over_ranks([votes])
    world = rank_and_world()[1]
    return tuple(precision for precision, vote in zip(Precision, votes.tolist(), strict=True) if vote == world)


@cache
def _precisions(device: torch.device) -> frozenset[Precision]:
    """Precisions that a device computes LSTMs in."""
    found = {Precision.FLOAT32}
    if device.type == "cuda" and torch.cuda.is_tf32_supported():
        found.add(Precision.TF32)
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the host
        lstm = nn.LSTM(4, 4).to(device)
    try:
        kind = _trial(lstm, device)
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        logger.info("no bfloat16 LSTM on %s: %s", device, error)
    else:
        logger.info("LSTMs asked for bfloat16 on %s give %s", device, kind)
        if kind == torch.bfloat16:
            found.add(Precision.BFLOAT16)
    return frozenset(found)


def _trial(lstm: nn.LSTM, device: torch.device) -> torch.dtype:
    """The type that an LSTM gives under autocast to bfloat16, once its backward has run as well."""
    with torch.enable_grad():
        with torch.autocast(device.type, torch.bfloat16):
            out, _ = lstm(torch.zeros(2, 1, 4, device=device))
        out.float().sum().backward()
    return out.dtype
