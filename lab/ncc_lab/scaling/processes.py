"""Starts the processes of a run, waits for their end or the time limit, and reports the outcome."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ncc.system.sandbox.process import WatchedProcess
from ncc_lab.scaling.plan import PlannedRun
from ncc_lab.scaling.programs import ProgramSource
from ncc_lab.scaling.results import Measured, RunOrder, RunResult, load, save

_GRACE_S = 10.0


def worker_command(job_file: Path, world: int) -> list[str]:
    """What starts the ranks of a run; one rank alone starts without torchrun, as one would without other ranks."""
    worker = ["-m", "ncc_lab.scaling.worker", str(job_file)]
    if world == 1:
        return [sys.executable, *worker]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(world)]
    return [sys.executable, *launcher, *worker]


def start_run(run: PlannedRun, source: ProgramSource, *, device: str = "cpu", timeout_s: float = 3600.0) -> RunResult:
    """Runs a training in processes of its own; a failure is a result as well."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    with TemporaryDirectory() as folder:
        launched = time.time()
        job = RunOrder(run=run, source=source, device=device, folder=folder, launched_s=launched, timeout_s=timeout_s)
        job_file = Path(folder) / "job.json"
        save(job, job_file)
        environment = {**os.environ, "OMP_NUM_THREADS": str(run.setting.threads)}
        error = _wait(worker_command(job_file, run.setting.world), environment, timeout_s)
        if error and job.failure_file.exists():
            error = job.failure_file.read_text(encoding="utf-8")
        wall_s = time.time() - launched
        if error is None and not job.result_file.exists():
            error = "ended without a result"
        measured = None if error else load(Measured, job.result_file)
        return RunResult(run=run, wall_s=wall_s, load=busy, measured=measured, error=error)


def _wait(command: Sequence[str], environment: dict[str, str], timeout_s: float) -> str | None:
    """Runs a command to its end, or to the time limit; returns what went wrong."""
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
