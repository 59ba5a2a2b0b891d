"""The runs of a sweep: ranks × strategy × compression × batch size × model size, each repeated as requested."""

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from ncc.errors import InputError, check_positive

if TYPE_CHECKING:
    from ncc.tasks.classification.config import NetworkTraining


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is varied in a sweep; runs of one setting differ in their seed alone."""

    world: int
    threads: int
    strategy: str
    compression: str
    batch_size: int
    hidden: int
    epochs: int
    per_class: int | None

    def training(self, seed: int) -> "NetworkTraining":
        """Return how the network is trained: as by ``ncc train classify``, but for what the setting says."""
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
        """How the work is shared, in a few words."""
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
    """What a sweep runs.

    Attributes:
        world: Numbers of ranks, 1 among them.
        strategy: How ranks share the work: "mirrored", "central", "stale", "local".
        compression: How mirrored ranks send: "none", "fp16", "bf16", "topk", "int8".
        batch_size: Programs of a step, over all ranks.
        hidden: Units of each direction of the LSTM: sizes of the model.
        epochs: Passes over the programs.
        per_class: Train on so many programs of a class.
        threads: Numbers of threads to try for one rank; several ranks have one each.
        target: Accuracy on validation programs, the time to which is measured too.
        repeats: Runs of each setting.
        device: "cpu" or "cuda"; each rank takes a GPU of its own.
        seed: Of the first run of each setting.
        timeout: Time limit of a run in seconds.
    """

    world: tuple[int, ...] = (1, 2)
    strategy: tuple[str, ...] = ("mirrored",)
    compression: tuple[str, ...] = ("none",)
    batch_size: tuple[int, ...] = (64,)
    hidden: tuple[int, ...] = (128,)
    epochs: int = 12
    per_class: int | None = None
    threads: tuple[int, ...] = (1,)
    target: float | None = None
    repeats: int = 3
    device: str = "cpu"
    seed: int = 204
    timeout: float = 3600.0

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
        mirrored = [("mirrored", name) for name in self.compression if "mirrored" in self.strategy]
        others = [(name, "none") for name in self.strategy if name != "mirrored"]
        ways = sorted([*mirrored, *others], key=lambda way: self.strategy.index(way[0]))
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
