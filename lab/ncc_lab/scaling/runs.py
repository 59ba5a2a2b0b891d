"""A run in separate processes: their inputs, their measurements, and how they are started and ended."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from ncc.system.files.writing import write_atomically
from ncc.system.sandbox.process import WatchedProcess
from ncc_lab.scaling.plan import PlannedRun
from ncc_lab.scaling.programs import ProgramSource

PHASES = {
    "imports_s": "Interpreter, torchrun and imports",
    "group_s": "Joining the process group",
    "reading_s": "Embedding, programs, split",
    "building_s": "Programs as rows of vectors, and the network",
    "steps_s": "Forward, backward, exchange, optimizer",
    "input_s": "Gathering batches and moving them to the device",
    "checkpoints_s": "Writing checkpoints",
    "rest_s": "The rest of training: the optimizer's imports and state, ends of epochs",
    "ending_s": "From the end of the last phase to that of the last process; the result is written in it",
    "validation_s": "Accuracy after each epoch, made for the time to an accuracy alone",
    "test_s": "Accuracy at the end",
}
"""Where the first rank's time goes from the start of the first process on; the last two are evaluations, which
end-to-end times leave out."""
_EVALUATIONS = ("validation_s", "test_s")
_GRACE_S = 10.0


@dataclass(frozen=True, kw_only=True)
class RunOrder:
    """Inputs of the processes of a run."""

    run: PlannedRun
    source: ProgramSource
    device: str
    folder: str
    launched_s: float
    timeout_s: float

    @property
    def result_file(self) -> Path:
        """File in which the first rank writes what was measured."""
        return Path(self.folder) / "result.json"

    @property
    def failure_file(self) -> Path:
        """File in which the rank that fails first writes why."""
        return Path(self.folder) / "failure.txt"


@dataclass(frozen=True, kw_only=True)
class EpochEnd:
    """Where a training stood after an epoch: seconds since the start of the first process, without validation."""

    seconds: float
    loss: float
    accuracy: float


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Measurements of a successful run."""

    phases: dict[str, float]
    epochs: tuple[EpochEnd, ...]
    test_accuracy: float
    num_weights: int
    num_training: int
    num_validation: int
    num_test: int
    samples: int
    steps: int
    bytes_sent: tuple[int, ...]
    hardware: dict[str, Any]
    training: dict[str, Any]
    precision: str = ""
    quick_step_s: float = 0.0

    @property
    def training_s(self) -> float:
        """Training alone: steps with their input, checkpoints, ends of epochs."""
        return sum(self.phases[name] for name in ("steps_s", "input_s", "checkpoints_s", "rest_s"))

    def seconds_to(self, accuracy: float | None) -> float | None:
        """Return the seconds to the end of the first epoch that is so good; None if none is."""
        if accuracy is None:
            return None
        return next((epoch.seconds for epoch in self.epochs if epoch.accuracy >= accuracy), None)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """A run, whether it went well or not."""

    run: PlannedRun
    wall_s: float
    load: float | None
    measured: Measured | None = None
    error: str | None = None

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of all `PHASES`; none where the run failed."""
        if not self.measured:
            return {}
        seconds = self.measured.phases
        return {name: seconds.get(name, self.wall_s - sum(seconds.values())) for name in PHASES}

    @property
    def seconds(self) -> float:
        """End to end, from the first process's start to the last one's end, without the evaluations."""
        return self.wall_s - sum(self.phases.get(name, 0.0) for name in _EVALUATIONS)

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values by name, as ``--json`` prints them."""
        return {
            **asdict(self.run.setting),
            "repeat": self.run.repeat,
            "seed": self.run.seed,
            "ok": self.error is None,
            "error": self.error,
            "wall_s": self.wall_s,
            "seconds": self.seconds if self.measured else None,
            "load": self.load,
            **(asdict(self.measured) | {"phases": self.phases} if self.measured else {}),
        }


def save(content: RunOrder | Measured, path: Path) -> None:
    """Write an order for a run's processes, or what they measured for the one that started them."""
    write_atomically(path, msgspec.json.encode(content))


def worker_command(job_file: Path, world: int) -> list[str]:
    """Return what starts the ranks of a run; one rank alone starts without torchrun."""
    worker = ["-m", "ncc_lab.scaling.worker", str(job_file)]
    if world == 1:
        return [sys.executable, *worker]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world)]
    return [sys.executable, *launcher, *worker]


def start_run(
    run: PlannedRun,
    source: ProgramSource,
    *,
    device: str = "cpu",
    timeout_s: float = 3600.0,
    command: Callable[[Path, int], list[str]] = worker_command,
) -> RunResult:
    """Run a training in separate processes; a failure is a result, too."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    with TemporaryDirectory() as folder:
        launched = time.time()
        job = RunOrder(run=run, source=source, device=device, folder=folder, launched_s=launched, timeout_s=timeout_s)
        job_file = Path(folder) / "job.json"
        save(job, job_file)
        environment = {**os.environ, "OMP_NUM_THREADS": str(run.setting.threads)}
        error = _wait(command(job_file, run.setting.world), environment, timeout_s)
        if error and job.failure_file.exists():
            error = job.failure_file.read_text(encoding="utf-8")
        wall_s = time.time() - launched
        if error is None and not job.result_file.exists():
            error = "ended without a result"
        measured = None if error else msgspec.json.decode(job.result_file.read_bytes(), type=Measured)
        return RunResult(run=run, wall_s=wall_s, load=busy, measured=measured, error=error)


def _wait(command: Sequence[str], environment: dict[str, str], timeout_s: float) -> str | None:
    """Run a command to its end, or to the time limit, and return what went wrong."""
    nowhere = subprocess.DEVNULL
    with WatchedProcess(command, environment=environment, stdin=nowhere, stdout=nowhere) as watched:
        try:
            is_done = watched.wait(timeout_s)
        finally:
            if watched.process.poll() is None:  # torchrun keeps ranks outside its group, and is asked to end them
                watched.process.terminate()
                watched.wait(_GRACE_S)
        if not is_done:
            return f"not done after {timeout_s:g} s, and ended"
        if not (exit_code := watched.end()):
            return None
        messages = watched.messages().decode(errors="replace")
    last = next((line.strip() for line in reversed(messages.splitlines()) if line.strip(" =-")), "no message")
    return f"exit code {exit_code}: {last}"
