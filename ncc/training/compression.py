"""Ways of sending gradients in fewer bytes, as communication hooks of torch's DistributedDataParallel.

A hook is called for each bucket, a flat tensor of the gradients of some parameters, and returns a future of its mean
over all ranks.

References: Stich et al. 2018 ("Sparsified SGD with memory"), algorithm 1, and Lin et al. 2018 ("Deep gradient
compression"), without its corrections for momentum; Alistarh et al. 2017 ("QSGD: communication-efficient SGD via
gradient quantization and encoding"), in its variant where chunks of a gradient have scales of their own, without its
variable-length code; Vogels et al. 2019 ("PowerSGD: practical low-rank gradient compression for distributed
optimization").
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch import distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState, powerSGD_hook
from torch.futures import Future
from torch.nn.functional import pad
from torch.nn.parallel import DistributedDataParallel

from ncc.training.config import TrainingConfig
from ncc.training.exchange import Exchange

if TYPE_CHECKING:  # torch.distributed has it, but does not say so to type checkers
    from torch._C._distributed_c10d import GradBucket
else:
    from torch.distributed import GradBucket

__all__ = ["CHUNK", "RANK", "Compression", "Halved", "LowRank", "Quantized", "TopK", "make_compression"]

CHUNK = 2048
"""Entries that share a scale when they are quantised."""

RANK = 2
"""Columns of PowerSGD's thin matrices: the paper's choice for its language model is 4, for its images 2."""

_FIRST_STEP = 2  # torch keeps errors by bucket, and cuts its buckets anew after the first step


class Compression(ABC):
    """A way of sending gradients in fewer bytes.

    Attributes:
        step: The step that gradients belong to.
        exchange: Where bytes are counted.
    """

    def __init__(self, exchange: Exchange) -> None:
        """Counts bytes at an exchange."""
        self.exchange = exchange
        self.step = 0

    def bucket_mb(self, parameters: Sequence[Tensor]) -> float | None:  # noqa: ARG002
        """Largest bucket in MiB; None leaves it to torch."""
        return None

    def register(self, replica: DistributedDataParallel) -> None:
        """Sends a replica's gradients from now on."""
        replica.register_comm_hook(self, _send)

    @abstractmethod
    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to send a bucket; the future is its mean over all ranks."""


def _send(state: Compression, bucket: GradBucket) -> Future[Tensor]:
    return state.send(bucket)


class Halved(Compression):
    """Sends gradients as float16 or bfloat16, divided by the number of ranks first, so that sums stay in range."""

    def __init__(self, exchange: Exchange, dtype: torch.dtype) -> None:
        """Sends numbers of a 16-bit type."""
        super().__init__(exchange)
        self._dtype = dtype

    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to sum a bucket in 16 bits; the future is its mean over all ranks."""
        gradient = bucket.buffer()
        work = self.exchange.begin_sum((gradient / self.exchange.world).to(self._dtype))
        assert work
        return work.get_future().then(lambda sent: gradient.copy_(sent.value()[0]))


class _Gathered(Compression):
    """Compressions whose messages can't be summed on their way: each rank gets all of them and sums what they say."""

    def send(self, bucket: GradBucket) -> Future[Tensor]:
        """Begins to gather all ranks' messages; the future is the mean of what they say."""
        gradient = bucket.buffer()
        message = self.message(gradient, bucket)
        self.exchange.count(message)
        messages = [torch.empty_like(message) for _ in range(self.exchange.world)]
        work = dist.all_gather(messages, message, async_op=True)
        assert work is not None
        return work.get_future().then(partial(self._mean, gradient, messages))

    def _mean(self, gradient: Tensor, messages: Sequence[Tensor], sent: Future[list[Tensor]]) -> Tensor:
        sent.value()  # raises what went wrong
        gradient.zero_()
        for message in messages:
            self.add_decoded(gradient, message)
        return gradient.div_(self.exchange.world)

    @abstractmethod
    def message(self, gradient: Tensor, bucket: GradBucket) -> Tensor:
        """The message for a bucket's flat float32 gradient: of one length on all ranks."""

    @abstractmethod
    def add_decoded(self, gradient: Tensor, message: Tensor) -> None:
        """Adds to a flat gradient what a message says."""


class TopK(_Gathered):
    """Sends the largest entries of each bucket as values and places, 8 bytes an entry; the rest is added next time.

    What is kept is not part of a checkpoint: a run that goes on from one begins with nothing kept.
    """

    def __init__(self, exchange: Exchange, share: float) -> None:
        """Sends a share, in (0, 1], of the entries."""
        super().__init__(exchange)
        self._share = share
        self._kept: dict[int, Tensor] = {}

    def num_sent(self, size: int) -> int:
        """Entries sent of a bucket: rounded down, so that no more is sent than was asked for, but at least one."""
        return max(1, int(self._share * size))

    def kept(self, parameters: Sequence[Tensor]) -> Tensor:
        """What has not been sent yet of some parameters' gradients, flat and in their order.

        torch orders and cuts its buckets anew after the first step, so what is kept is known by parameter.
        """
        for parameter in parameters:
            if id(parameter) not in self._kept:
                self._kept[id(parameter)] = parameter.new_zeros(parameter.numel())
        return torch.cat([self._kept[id(parameter)] for parameter in parameters])

    def message(self, gradient: Tensor, bucket: GradBucket) -> Tensor:
        """(2 * k,) int32: the bits of k float32 values, then their places in the bucket's flat gradient."""
        parameters = bucket.parameters()
        whole = self.kept(parameters) + gradient
        places = whole.abs().topk(self.num_sent(len(whole)), sorted=False).indices
        values = whole[places]
        whole[places] = 0.0
        left = torch.split(whole, [parameter.numel() for parameter in parameters])
        self._kept |= zip(map(id, parameters), left, strict=True)
        return torch.cat([values.view(torch.int32), places.to(torch.int32)])

    def add_decoded(self, gradient: Tensor, message: Tensor) -> None:
        """Adds to a flat gradient what a message says."""
        values, places = message.chunk(2)
        gradient.index_add_(0, places, values.view(torch.float32))


class Quantized(_Gathered):
    """Sends entries as signed integers of 8 or 4 bits, and a float32 scale for each chunk of 2048.

    Rounding is stochastic, so that it is right on average.
    """

    def __init__(self, exchange: Exchange, bits: int, seed: int) -> None:
        """Sends 8 or 4 bits an entry, rounded by what is drawn from a seed, the rank, the step and the bucket."""
        super().__init__(exchange)
        self._bits = bits
        self._levels = 2 ** (bits - 1) - 1
        self._seed = seed

    def message(self, gradient: Tensor, bucket: GradBucket) -> Tensor:
        """uint8: the bytes of the chunks' scales, then the entries', of 4 bits two a byte, the lower half first."""
        chunks = pad(gradient, (0, -len(gradient) % CHUNK)).view(-1, CHUNK)
        scale = chunks.abs().amax(dim=1) / self._levels
        exact = chunks / torch.where(scale > 0, scale, 1.0)[:, None]
        generator = self._generator(gradient.device, bucket.index())
        noise = torch.rand(exact.shape, generator=generator, device=gradient.device)
        rounded = (exact + noise).floor().clamp(-self._levels, self._levels)
        entries = rounded.view(-1)[: len(gradient)].to(torch.int8)
        return torch.cat([scale.view(torch.uint8), self._pack(entries)])

    def add_decoded(self, gradient: Tensor, message: Tensor) -> None:
        """Adds to a flat gradient what a message says."""
        num_chunks = -(-len(gradient) // CHUNK)
        scale = message[: 4 * num_chunks].view(torch.float32)
        entries = self._unpack(message[4 * num_chunks :])[: len(gradient)].float()
        whole = len(gradient) // CHUNK * CHUNK
        gradient[:whole] += (entries[:whole].view(-1, CHUNK) * scale[: whole // CHUNK, None]).view(-1)
        if whole < len(gradient):
            gradient[whole:] += entries[whole:] * scale[-1]

    def _pack(self, entries: Tensor) -> Tensor:
        if self._bits == 8:
            return entries.view(torch.uint8)
        low, high = pad(entries + 8, (0, len(entries) % 2)).view(torch.uint8).view(-1, 2).unbind(dim=1)
        return low | high << 4

    def _unpack(self, packed: Tensor) -> Tensor:
        if self._bits == 8:
            return packed.view(torch.int8)
        return torch.stack([packed & 15, packed >> 4], dim=1).view(-1).view(torch.int8) - 8

    def _generator(self, device: torch.device, bucket: int) -> torch.Generator:
        seed = np.random.SeedSequence([self._seed, self.exchange.rank, self.step, bucket])
        return torch.Generator(device).manual_seed(int(seed.generate_state(1, np.uint64)[0]) >> 1)


class LowRank(Compression):
    """torch's own PowerSGD: each matrix's gradient as a product of two thin ones, with error feedback.

    The first two steps, vectors and small matrices are sent as they are. Errors and thin matrices are not part of a
    checkpoint: a run that goes on from one begins with none.
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


def make_compression(config: TrainingConfig, exchange: Exchange) -> Compression | None:
    """The compression that a configuration names; None where gradients are sent as they are.

    Args:
        config: How to train.
        exchange: Where bytes are counted.
    """
    match config.compression:
        case "fp16" | "bf16" as name:
            return Halved(exchange, torch.float16 if name == "fp16" else torch.bfloat16)
        case "int8" | "int4" as name:
            return Quantized(exchange, 8 if name == "int8" else 4, config.seed)
        case "topk":
            return TopK(exchange, config.topk_share)
        case "powersgd":
            return LowRank(exchange, config.seed)
        case _:
            return None
