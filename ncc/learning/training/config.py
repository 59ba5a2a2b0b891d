"""Options of the training loop and its strategies, and the statistics of a training."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ncc.errors import InputError

STRATEGIES = ("mirrored", "local")
"""Ways to divide the work among ranks; see `ncc.learning.training.strategies`."""

COMPRESSIONS = ("none", "fp16", "bf16")
"""Types in which `mirrored` sends gradients; "none" is float32."""

LR_SCALINGS = ("sqrt", "linear", "none")
"""Scaling of the learning rate with the number of ranks, if each rank has its own batch.

References: Goyal et al. 2017 ("Accurate, large minibatch SGD"), for the linear rule and warm-up; Malladi et al. 2022
("On the SDEs and scaling rules for adaptive gradient algorithms"), for the square root with Adam.
"""


def check_fields(config: object, expected: str, is_valid: Callable[[Any], bool], *names: str) -> None:
    """Raise InputError if a field has an invalid value."""
    for name in names:
        if not is_valid(value := getattr(config, name)):
            raise InputError(f"{name} is {value!r}; expected {expected}")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Options of a training.

    Attributes:
        epochs: Passes over the samples.
        batch_size: Samples per step and rank.
        global_batch: Split ``batch_size`` samples among all ranks, and don't scale the learning rate.
        learning_rate: Peak learning rate of AdamW for one rank: one epoch of warm-up, then cosine decay to 0.
        lr_scaling: Scaling of the learning rate with the number of ranks.
        weight_decay: Decoupled L2 penalty.
        max_grad_norm: Maximum norm of a gradient; larger ones are clipped.
        mixed_precision: Multiply matrices in bfloat16 if the device runs LSTMs in it, else in TF32 if available;
            weights and sums stay float32.
        seed: Random seed for sample order and dropout.
        strategy: How ranks share the work.
        compression: Compression of the gradients that `mirrored` sends.
        sync_every: Steps of `local` between two averages of the weights.
        checkpoint_every_s: Seconds between checkpoints within an epoch; 0 writes them only at the end of an epoch.
    """

    epochs: int = 30
    batch_size: int = 32
    global_batch: bool = False
    learning_rate: float = 2e-3
    lr_scaling: str = "sqrt"
    weight_decay: float = 1e-2
    max_grad_norm: float = 1.0
    mixed_precision: bool = False
    seed: int = 204
    strategy: str = "mirrored"
    compression: str = "none"
    sync_every: int = 8
    checkpoint_every_s: float = 60.0

    def __post_init__(self) -> None:
        check_fields(self, "1 or more", lambda number: number >= 1, "epochs", "batch_size", "sync_every")
        check_fields(self, "0 or more", lambda number: number >= 0, "weight_decay", "checkpoint_every_s")
        check_fields(self, "a number above 0", lambda number: number > 0, "learning_rate", "max_grad_norm")
        names = {"strategy": STRATEGIES, "compression": COMPRESSIONS, "lr_scaling": LR_SCALINGS}
        for name, valid in names.items():
            check_fields(self, f"one of {', '.join(valid)}", valid.__contains__, name)
        if self.compression != "none" and self.strategy != "mirrored":
            raise InputError(f"compression {self.compression!r} needs strategy 'mirrored', not {self.strategy!r}")

    def for_ranks(self, world_size: int) -> Self:
        """The same training with the batch size and learning rate of all ranks together."""
        if self.global_batch:
            return self
        factor = {"sqrt": world_size**0.5, "linear": float(world_size), "none": 1.0}[self.lr_scaling]
        rate, size = self.learning_rate * factor, self.batch_size * world_size
        return replace(self, batch_size=size, learning_rate=rate, global_batch=True)


@dataclass
class TrainingStatistics:
    """Measurements of a training; a resumed run reports only its own part. On a GPU, times are of its queue."""

    precision: str = ""  # of matrix products
    bytes_sent: int = 0  # by this rank, for gradients, weights after the first, buffers and moments
    samples: int = 0  # of all ranks
    steps: int = 0
    seconds_in_steps: float = 0.0
    seconds_of_steps: list[float] = field(default_factory=list)  # the same, per step
    seconds_in_data: float = 0.0  # part of it that gathers samples and moves them to the device
    seconds_in_checkpoints: float = 0.0
    seconds_total: float = 0.0
