"""A run's input and output as JSON, between the process that measures and those that train."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ncc.system.files.writing import write_atomically
from ncc_lab.scaling.plan import PlannedRun
from ncc_lab.scaling.programs import ProgramSource

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RunOrder:
    """What the processes of a run are given.

    Attributes:
        run: What to train and how.
        source: The programs.
        device: "cpu" or "cuda".
        folder: Where the run leaves its checkpoint and its result.
        launched_s: Time of the clock, in seconds since 1970, when the first process was started.
        timeout_s: Seconds after which the run is given up.
    """

    run: PlannedRun
    source: ProgramSource
    device: str
    folder: str
    launched_s: float
    timeout_s: float

    @property
    def result_file(self) -> Path:
        """Where the first rank writes what was measured."""
        return Path(self.folder) / "result.json"

    @property
    def failure_file(self) -> Path:
        """Where the rank that fails first writes why."""
        return Path(self.folder) / "failure.txt"


@dataclass(frozen=True, kw_only=True)
class Phases:
    """Where the first rank's time went, in seconds, from the start of the first process on.

    Attributes:
        imports_s: Interpreter, torchrun and imports.
        group_s: Joining the process group.
        reading_s: Embedding, programs, split.
        building_s: Programs as rows of vectors, and the network.
        steps_s: Forward, backward, exchange, optimizer.
        input_s: Gathering batches and moving them to the device.
        checkpoints_s: Writing checkpoints.
        rest_s: The rest of training: the optimizer's imports and state, ends of epochs.
        validation_s: Accuracy after each epoch, made for the time to an accuracy alone.
        test_s: Accuracy at the end.
    """

    imports_s: float
    group_s: float
    reading_s: float
    building_s: float
    steps_s: float
    input_s: float
    checkpoints_s: float
    rest_s: float
    validation_s: float
    test_s: float


_MEASURED = [field.name for field in fields(Phases)]
PHASES = (*_MEASURED[:-2], "ending_s", *_MEASURED[-2:])
"""Phases of a run, that of ending among them; the last two are evaluations, which end-to-end times leave out."""


@dataclass(frozen=True, kw_only=True)
class EpochEnd:
    """Where a training stood after an epoch.

    Attributes:
        seconds: Since the start of the first process, without validation.
        loss: Mean over the epoch.
        accuracy: On the validation programs.
    """

    seconds: float
    loss: float
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a run that went well measured.

    Attributes:
        phases: Where its time went.
        epochs: Where training stood after each.
        test_accuracy: On the test programs, at the end.
        num_weights: Trained parameters of the model.
        num_training: Programs trained on, in each epoch.
        num_validation: Programs that validate.
        num_test: Programs that test.
        samples: Programs trained on, counted again in each epoch.
        steps: Batches.
        bytes_sent: What each rank put on the wire.
        measuring_s: Part of the time that went into timers and into collecting figures.
        hardware: Name of the device, and cores that the process may use.
        training: All options of the network and of its training.
        precision: What matrices were multiplied in; empty where older results don't say.
        quick_step_s: Seconds that the quickest quarter of the first rank's steps stayed below: what a step takes where
            nothing else wants its core; 0 where older results don't say.
    """

    phases: Phases
    epochs: tuple[EpochEnd, ...]
    test_accuracy: float
    num_weights: int
    num_training: int
    num_validation: int
    num_test: int
    samples: int
    steps: int
    bytes_sent: tuple[int, ...]
    measuring_s: float
    hardware: dict[str, Any]
    training: dict[str, Any]
    precision: str = ""
    quick_step_s: float = 0.0

    @property
    def training_s(self) -> float:
        """Training alone: steps with their input, checkpoints, ends of epochs."""
        phases = self.phases
        return phases.steps_s + phases.input_s + phases.checkpoints_s + phases.rest_s

    def seconds_to(self, accuracy: float | None) -> float | None:
        """Seconds from the start of the first process to the end of the first epoch that is so good; None if none."""
        if accuracy is None:
            return None
        return next((epoch.seconds for epoch in self.epochs if epoch.accuracy >= accuracy), None)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A run, whether it went well or not.

    Attributes:
        run: What was run.
        wall_s: From the start of the first process to the end of the last.
        load: Processes that wanted a core just before, one minute's average; None where the system does not say.
        measured: What it measured; None where it failed.
        error: Why it failed; None where it went well.
    """

    run: PlannedRun
    wall_s: float
    load: float | None
    measured: Measured | None = None
    error: str | None = None

    @property
    def seconds(self) -> float:
        """End to end, from the first process's start to the last one's end, without the evaluations."""
        return self.wall_s - self.phase("validation_s") - self.phase("test_s")

    def phase(self, name: str) -> float:
        """Seconds of one of `PHASES`; 0 where the run failed.

        Ending goes from the end of the last phase to that of the last process; the result is written in it.
        """
        if not self.measured:
            return 0.0
        phases = asdict(self.measured.phases)
        return float(self.wall_s - sum(phases.values()) if name == "ending_s" else phases[name])

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name, as ``--json`` prints them."""
        figures = asdict(self.measured) if self.measured else {}
        if self.measured:
            figures["phases"]["ending_s"] = self.phase("ending_s")
        return {
            **asdict(self.run.setting),
            "repeat": self.run.repeat,
            "seed": self.run.seed,
            "ok": self.error is None,
            "error": self.error,
            "wall_s": self.wall_s,
            "seconds": self.seconds if self.measured else None,
            "load": self.load,
            **figures,
        }


def save(found: RunOrder | Measured, path: Path) -> None:
    """Writes a job for a run's processes, or what they measured for the one that started them."""
    write_atomically(path, msgspec.json.encode(found))


def load(kind: type[T], path: Path) -> T:
    """What `save` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=kind)
