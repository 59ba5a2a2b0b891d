"""The runs of a sweep: ranks × strategy × compression × batch size × model size, each repeated as requested."""

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Annotated

from ncc.errors import InputError, check_positive
from ncc.verbs.types import Words

if TYPE_CHECKING:
    from ncc.tasks.classification.config import NetworkTraining


def _parts(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",")))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, _parts(text))) if text else ()
    except ValueError as error:
        raise InputError(f"{text!r}: expected whole numbers with commas between them") from error


Numbers = Annotated["tuple[int, ...]", Words("N,N", parse=_numbers)]
Names = Annotated["tuple[str, ...]", Words("NAMES", parse=_parts)]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Parameters that a sweep varies; runs of one setting differ only in their seed."""

    world: int
    threads: int
    strategy: str
    compression: str
    batch_size: int
    hidden: int
    epochs: int
    per_class: int | None

    def training(self, seed: int) -> "NetworkTraining":
        """Return the network's training: as in ``ncc train classify``, except for this setting's values."""
        from ncc.learning.encoder.config import program_encoder
        from ncc.tasks.classification.config import NetworkTraining

        loop = replace(
            NetworkTraining().loop,
            epochs=self.epochs,
            batch_size=self.batch_size,
            global_batch=True,
            strategy=self.strategy,
            compression=self.compression,
            seed=seed,
        )
        return NetworkTraining(encoder=program_encoder(hidden=self.hidden), min_steps=1, loop=loop)

    @property
    def way(self) -> str:
        """How the work is shared, as text."""
        if self.world == 1:
            return "one process" if self.threads == 1 else f"one process, {self.threads} threads"
        return self.strategy if self.compression == "none" else f"{self.strategy}, {self.compression}"

    def to_text(self) -> str:
        """Return the setting in a line."""
        ranks = "" if self.world == 1 else f"{self.world} ranks, "
        return f"{ranks}{self.way}, batch {self.batch_size}, hidden {self.hidden}"


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One training; runs of one repeat share the seed of weights, order of programs and dropout."""

    setting: Setting
    repeat: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class SweepConfig:
    """Settings of a sweep.

    Attributes:
        world: Numbers of ranks, including 1, such as '1,2,4'.
        strategy: How ranks share the work: mirrored, local.
        compression: How mirrored ranks compress gradients: none, fp16, bf16.
        batch_size: Programs per step, in all ranks together.
        hidden: Units in each direction of the LSTM: the sizes of the model.
        epochs: Passes over the programs.
        per_class: Training programs per class.
        threads: Threads to try for one rank; several ranks have one thread per rank.
        target: Also report the time to this accuracy on validation programs.
        repeats: Runs of each setting, with successive seeds from --seed.
        device: Device to train on, cpu or cuda; each rank uses its own GPU.
        seed: Random seed of the first run of each setting.
        timeout: Time limit of a run in seconds.
    """

    world: Numbers = (1, 2)
    strategy: Names = ("mirrored",)
    compression: Names = ("none",)
    batch_size: Numbers = (64,)
    hidden: Numbers = (128,)
    epochs: int = 12
    per_class: int | None = None
    threads: Numbers = (1,)
    target: Annotated[float | None, Words("ACCURACY")] = None
    repeats: int = 3
    device: Annotated[str, Words("cpu|cuda")] = "cpu"
    seed: int = 204
    timeout: Annotated[float, Words("SECONDS")] = 3600.0

    def __post_init__(self) -> None:
        for name in ("world", "strategy", "compression", "batch_size", "hidden", "threads"):
            values = getattr(self, name)
            if not values or (not isinstance(values[0], str) and min(values) < 1):
                found = min(values) if values else "none"
                raise InputError(f"{name}: expected one or more, each 1 or more, found {found}")
        if 1 not in self.world:
            raise InputError("world: expected 1 among the numbers of ranks, which speedups are measured against")
        check_positive(per_class=self.per_class, repeats=self.repeats, timeout=self.timeout)
        if self.target is not None and not 0 < self.target <= 1:
            raise InputError(f"target is {self.target}; expected an accuracy above 0 and at most 1")
        if "mirrored" not in self.strategy and set(self.compression) != {"none"}:
            sent = ", ".join(name for name in self.compression if name != "none")
            raise InputError(f"compression {sent} needs strategy mirrored, not {', '.join(self.strategy)} alone")
        for setting in self.settings():
            setting.training(self.seed)  # which checks its options

    def settings(self) -> list[Setting]:
        """Return what is run, each once, model by model."""
        ways = [(name, sent if name == "mirrored" else "none") for name in self.strategy for sent in self.compression]
        alone = [(1, threads, "mirrored", "none") for threads in self.threads]
        shared = [(world, 1, *way) for world in sorted(set(self.world) - {1}) for way in ways]
        settings = []
        for hidden, batch_size, (world, threads, strategy, compression) in product(
            self.hidden, self.batch_size, [*alone, *shared]
        ):
            setting = Setting(
                world=world,
                threads=threads,
                strategy=strategy,
                compression=compression,
                batch_size=batch_size,
                hidden=hidden,
                epochs=self.epochs,
                per_class=self.per_class,
            )
            settings.append(setting)
        return list(dict.fromkeys(settings))

    def runs(self) -> list[PlannedRun]:
        """Return all runs; a repeat runs every setting before the next begins, so that a busy machine meets all."""
        return [
            PlannedRun(setting=setting, repeat=repeat, seed=self.seed + repeat)
            for repeat in range(self.repeats)
            for setting in self.settings()
        ]
