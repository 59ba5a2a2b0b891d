"""PowerSGD: each matrix's gradient as a product of two thin ones, found by a step of the power method.

Reference: Vogels et al. 2019 ("PowerSGD: practical low-rank gradient compression for distributed optimization").
"""

from collections.abc import Sequence

from torch import Tensor
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
from torch.futures import Future

from ncc.training.compression.base import Compression, GradBucket
from ncc.training.exchange import Exchange

__all__ = ["RANK", "LowRank"]

RANK = 2
"""Columns of the thin matrices: the paper's choice for its language model is 4, for its images 2."""

_FIRST_STEP = 2  # torch keeps errors by bucket, and cuts its buckets anew after the first step


class LowRank(Compression):
    """torch's own PowerSGD, with error feedback; the first two steps, vectors and small matrices are sent as they are.

    Errors and thin matrices are not part of a checkpoint: a run that goes on from one begins with none.
    """

    def __init__(self, exchange: Exchange, seed: int) -> None:
        """Begins with thin matrices drawn from a seed."""
        super().__init__(exchange)
        self._state = PowerSGDState(
            process_group=None,
            matrix_approximation_rank=RANK,
            start_powerSGD_iter=_FIRST_STEP,
            orthogonalization_epsilon=1e-8,  # or a gradient of nothing but zeros becomes one of NaNs
            random_seed=seed,
        )

    def bucket_mb(self, parameters: Sequence[Tensor]) -> float | None:
        """One bucket for all: torch's hook waits in gloo's threads, and two buckets would block both."""
        return sum(parameter.numel() * parameter.element_size() for parameter in parameters) / 2**20 + 1

    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to send a bucket; the future is about its mean over all ranks."""
        as_it_is = self._state.iter < _FIRST_STEP
        size, before = bucket.buffer().numel(), self._state.total_numel_after_compression
        sent = powerSGD_hook(self._state, bucket)
        numbers = size if as_it_is else self._state.total_numel_after_compression - before
        self.exchange.bytes_sent += numbers * bucket.buffer().element_size()
        return sent
