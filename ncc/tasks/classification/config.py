"""Options for training a classifier."""

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Literal

from ncc.learning.encoder.config import EncoderConfig, HeadConfig, program_encoder, program_head
from ncc.learning.training.config import TrainingConfig, check_fields

if TYPE_CHECKING:
    from ncc.learning.encoder.network_numpy import ProgramNetwork
    from ncc.learning.programs.labelled import ProgramSamples


@dataclass(frozen=True, kw_only=True)
class ClassifierTraining(TrainingConfig):
    """Options for training a classifier, in addition to those of `TrainingConfig`.

    Attributes:
        hidden: LSTM units per direction.
        layers: Bidirectional LSTM layers.
        min_steps: Minimum number of steps; small sets of programs get more epochs.
        batch_by: Batch by number of programs (samples) or of statements (tokens, little padding).
    """

    epochs: int = 12
    batch_size: int = 64
    mixed_precision: bool = True
    hidden: int = 128
    layers: int = 1
    min_steps: int = 600
    batch_by: Literal["samples", "tokens"] = "samples"

    def __post_init__(self) -> None:
        """Check ranges and names."""
        super().__post_init__()
        self.network  # noqa: B018 - checks what is its own

    @property
    def network(self) -> "NetworkTraining":
        """Training of the network with these options."""
        return NetworkTraining(
            encoder=program_encoder(self.hidden, self.layers),
            min_steps=self.min_steps,
            batch_by=self.batch_by,
            loop=TrainingConfig(**{each.name: getattr(self, each.name) for each in fields(TrainingConfig)}),
        )


@dataclass(frozen=True, kw_only=True)
class NetworkTraining:
    """Options of a network and its training; the defaults are those of the shipped classifier."""

    encoder: EncoderConfig = field(default_factory=program_encoder)
    head: HeadConfig = field(default_factory=program_head)
    pretrained: bool = True  # initialize from the embedding's vectors, not from random ones of the same lengths
    label_smoothing: float = 0.1  # label smoothing: probability shared among all classes
    min_steps: int = 600  # small sets get more epochs than in `loop`
    all_levels: bool = True  # read programs at all levels of the samples, not only at the first
    batch_by: str = "samples"  # or "tokens", see `ClassifierTraining`
    loop: TrainingConfig = field(default_factory=lambda: TrainingConfig(epochs=12, batch_size=64, mixed_precision=True))

    def __post_init__(self) -> None:
        """Check ranges and names."""
        check_fields(self, "1 or more", lambda number: number >= 1, "min_steps")
        check_fields(self, "samples or tokens", ("samples", "tokens").__contains__, "batch_by")

    def levels(self, samples: "ProgramSamples") -> list[str]:
        """Return the levels of the samples that are read."""
        return list(samples.variants)[: None if self.all_levels else 1]

    def resized(self, network: "ProgramNetwork") -> "NetworkTraining":
        """Return the same options for a network with the sizes of a trained one."""
        sizes = {name: getattr(network.network.encoder.config, name) for name in ("hidden", "layers", "buckets")}
        dense = len(network.network.head.tensors["dense.bias"])
        return replace(self, encoder=replace(self.encoder, **sizes), head=replace(self.head, dense=dense))
