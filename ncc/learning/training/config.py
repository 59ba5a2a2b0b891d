"""Options of the training loop and of its data-parallel strategies, and what a training reports about itself."""

from dataclasses import dataclass, field, replace

from ncc.errors import InputError

STRATEGIES = ("mirrored", "central", "stale", "local")
"""Ways of sharing the work among ranks; see `ncc.learning.training.strategies`."""

COMPRESSIONS = ("none", "fp16", "bf16", "topk", "int8", "int4")
"""Ways of sending gradients in fewer bytes; see `ncc.learning.training.compression`."""

RATE_RULES = ("sqrt", "linear", "none")
"""How the learning rate grows with the number of ranks, where each has a batch of its own.

References: Goyal et al. 2017 ("Accurate, large minibatch SGD"), for the linear rule and warm-up; Malladi et al. 2022
("On the SDEs and scaling rules for adaptive gradient algorithms"), for the square root with Adam.
"""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How to train.

    Attributes:
        epochs: Passes over the samples.
        batch_size: Samples a step, of each rank.
        batch_of_all: Whether the batch size is instead that of all ranks together, and the learning rate stays.
        learning_rate: Of AdamW with one rank, warmed up over the first epoch, then decayed to 0 along a half cosine.
        rate_rule: How it grows with the ranks: one of `RATE_RULES`.
        weight_decay: Decoupled L2 penalty.
        clip: Largest norm of the gradient.
        mixed_precision: Multiply matrices in bfloat16 where the device runs LSTMs in it, or else in TF32 where it has
            that; weights and sums stay float32.
        seed: Of the order of samples and of dropout.
        strategy: How ranks share the work: one of `STRATEGIES`.
        compression: How `mirrored` sends gradients: one of `COMPRESSIONS`.
        topk_share: Share of the gradient that `topk` sends.
        staleness: Steps that `stale` goes on before it applies a gradient; 0 waits for each.
        sync_every: Steps that `local` goes between two averages of the weights.
        accumulate: Pieces that a rank's part of a batch is cut into, to need less memory; their gradients are summed.
            Batch normalisation sees pieces.
        checkpoint_every_s: Seconds between checkpoints inside an epoch; 0 makes them at epochs' ends alone.
    """

    epochs: int = 30
    batch_size: int = 32
    batch_of_all: bool = False
    learning_rate: float = 2e-3
    rate_rule: str = "sqrt"
    weight_decay: float = 1e-2
    clip: float = 1.0
    mixed_precision: bool = False
    seed: int = 204
    strategy: str = "mirrored"
    compression: str = "none"
    topk_share: float = 0.01
    staleness: int = 1
    sync_every: int = 8
    accumulate: int = 1
    checkpoint_every_s: float = 60.0

    def __post_init__(self) -> None:
        """Checks the ranges."""
        if self.epochs < 1 or self.batch_size < 1:
            raise InputError("epochs and batch_size must be 1 or more")
        if self.learning_rate <= 0 or self.weight_decay < 0 or self.clip <= 0:
            raise InputError("learning_rate and clip must be above 0, weight_decay 0 or more")
        if self.strategy not in STRATEGIES:
            raise InputError(f"strategy is {self.strategy!r}; expected one of {', '.join(STRATEGIES)}")
        if self.compression not in COMPRESSIONS:
            raise InputError(f"compression is {self.compression!r}; expected one of {', '.join(COMPRESSIONS)}")
        if self.compression != "none" and self.strategy != "mirrored":
            raise InputError(f"compression {self.compression!r} needs strategy 'mirrored', not {self.strategy!r}")
        if self.rate_rule not in RATE_RULES:
            raise InputError(f"rate_rule is {self.rate_rule!r}; expected one of {', '.join(RATE_RULES)}")
        if not 0 < self.topk_share <= 1:
            raise InputError(f"topk_share is {self.topk_share}; expected above 0 and at most 1")
        if self.sync_every < 1 or self.accumulate < 1:
            raise InputError("sync_every and accumulate must be 1 or more")
        if self.staleness < 0 or self.checkpoint_every_s < 0:
            raise InputError("staleness and checkpoint_every_s must be 0 or more")

    def of_ranks(self, world: int) -> "TrainingConfig":
        """The same training with batch size and learning rate of so many ranks together."""
        if self.batch_of_all:
            return self
        factor = {"sqrt": world**0.5, "linear": float(world), "none": 1.0}[self.rate_rule]
        rate, size = self.learning_rate * factor, self.batch_size * world
        return replace(self, batch_size=size, learning_rate=rate, batch_of_all=True)


@dataclass
class TrainingStatistics:
    """What a training reports of itself; a run that goes on from a checkpoint reports its own part alone.

    Attributes:
        precision: What matrices were multiplied in: bfloat16, tf32 or float32.
        bytes_sent: What this rank put on the wire for gradients, weights, buffers and moments, in steps and at epochs'
            ends, in rings and chains (see `ncc.learning.training.exchange`). Weights at the start, losses and
            checkpoints are left out: they are a few bytes a step, or sent once.
        samples: Samples trained on, by all ranks together, counted again in each epoch.
        steps: Batches, cut over the ranks, that were trained on.
        seconds_in_steps: Time in steps, with gathering their samples: by the clock, or as a GPU's own queue sees it.
        seconds_of_steps: The same, of each step.
        seconds_in_data: The part of it that gathers samples and moves them to the device; a GPU's waiting for them.
        seconds_in_checkpoints: Wall-clock time of reading and writing checkpoints.
        seconds_total: Wall-clock time of the training, with start-up and ends of epochs.
    """

    precision: str = ""
    bytes_sent: int = 0
    samples: int = 0
    steps: int = 0
    seconds_in_steps: float = 0.0
    seconds_of_steps: list[float] = field(default_factory=list)
    seconds_in_data: float = 0.0
    seconds_in_checkpoints: float = 0.0
    seconds_total: float = 0.0
