"""One run of a sweep: ``python -m ncc_lab.scaling.worker JOB.json``, under torchrun if there are several ranks."""

import faulthandler
import gc
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ncc.arrays import Ints
from ncc.learning.programs.labelled import ProgramSamples
from ncc.learning.training.config import TrainingStatistics
from ncc.learning.training.ranks import process_group, rank_and_world, sum_over_ranks
from ncc_lab.classification.methods import NetworkMethod, fitted
from ncc_lab.scaling.programs import Programs
from ncc_lab.scaling.results import EpochEnd, Measured, Phases, RunOrder, load, save

_GRACE_S = 20.0
_CALIBRATING = 1000


def main(job_file: str) -> None:
    """Does a run; the first rank writes what was measured, the first to fail writes why."""
    entered = time.time()
    job = load(RunOrder, Path(job_file))
    # who starts the run ends it in time; should that process have died, no rank outlives the limit by much
    faulthandler.dump_traceback_later(job.timeout_s + _GRACE_S, exit=True)
    torch.set_num_threads(job.run.setting.threads)
    try:
        with process_group(job.device) as device:
            joined = time.time()
            measured = _Stages(job, device, imports_s=entered - job.launched_s, group_s=joined - entered).all()
            if rank_and_world()[0] == 0:
                save(measured, job.result_file)
    except Exception as error:
        # what other ranks meet after the first failure is its consequence
        with suppress(FileExistsError), job.failure_file.open("x", encoding="utf-8") as file:
            file.write(f"{type(error).__name__}: {error}")
        raise
    faulthandler.cancel_dump_traceback_later()
    gc.freeze()  # else the interpreter looks through all that was imported for cycles before it ends, for a second


class _Stages:
    """The stages of a run, with their times on this rank."""

    def __init__(self, job: RunOrder, device: str, *, imports_s: float, group_s: float) -> None:
        self.job = job
        self.device = device
        self.statistics = TrainingStatistics()
        self.seconds = {"imports_s": imports_s, "group_s": group_s, "validation_s": 0.0}
        self.epochs: list[EpochEnd] = []

    def all(self) -> Measured:
        """Reads, trains, evaluates."""
        setting, seed = self.job.run.setting, self.job.run.seed
        with self._timed("reading_s"):
            programs = self.job.source.load()
            rows = programs.training_rows(setting.per_class)
        network = NetworkMethod(
            programs.embedding,
            setting.training(seed),
            device=self.device,
            checkpoint=Path(self.job.folder) / "checkpoint.pt",
            progress=lambda _, loss: self._validate(network, programs, loss),
            statistics=self.statistics,
        )
        with self._timed("building_s"):
            network.fit(programs.samples, rows, np.random.default_rng(seed))
        with self._timed("test_s"):
            test_accuracy = self._accuracy(network, programs.samples, programs.split.test)
        began = time.perf_counter()
        bytes_sent = _of_all_ranks(self.statistics.bytes_sent, self.device)
        num_timed = 2 * self.statistics.steps + 3 * len(self.epochs) + len(self.seconds)
        measuring_s = num_timed * self._seconds_per_timer() + time.perf_counter() - began
        weights = (
            parameter.numel() for parameter in fitted(network.network).model.parameters() if parameter.requires_grad
        )
        return Measured(
            phases=self._phases(),
            epochs=tuple(self.epochs),
            test_accuracy=test_accuracy,
            num_weights=sum(weights),
            num_training=len(rows),
            num_validation=len(programs.split.valid),
            num_test=len(programs.split.test),
            samples=self.statistics.samples,
            steps=self.statistics.steps,
            bytes_sent=bytes_sent,
            measuring_s=measuring_s,
            hardware=_hardware(self.device),
            training=asdict(network.training),
            precision=self.statistics.precision,
            quick_step_s=float(np.quantile(self.statistics.seconds_of_steps, 0.25)),
        )

    def _accuracy(self, network: NetworkMethod, samples: ProgramSamples, rows: Ints) -> float:
        """Share of programs whose class the network says; every rank asks about its part of them."""
        rank, world = rank_and_world()
        own = rows[rank::world]
        right = int((network.predict(samples, own).argmax(axis=1) == samples.label[own]).sum())
        return sum(_of_all_ranks(right, self.device)) / len(rows)

    def _validate(self, network: NetworkMethod, programs: Programs, loss: float) -> None:
        seconds = time.time() - self.job.launched_s - self.seconds["validation_s"]
        with self._timed("validation_s"):
            accuracy = self._accuracy(network, programs.samples, programs.split.valid)
        self.epochs.append(EpochEnd(seconds=seconds, loss=loss, accuracy=accuracy))

    def _phases(self) -> Phases:
        statistics = self.statistics
        training_s = statistics.seconds_total - self.seconds["validation_s"]
        return Phases(
            **self.seconds | {"building_s": self.seconds["building_s"] - statistics.seconds_total},
            steps_s=statistics.seconds_in_steps - statistics.seconds_in_data,
            input_s=statistics.seconds_in_data,
            checkpoints_s=statistics.seconds_in_checkpoints,
            rest_s=training_s - statistics.seconds_in_steps - statistics.seconds_in_checkpoints,
        )

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        """Adds the time of what it surrounds."""
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def _seconds_per_timer(self) -> float:
        """What taking a time once takes."""
        began = time.perf_counter()
        for _ in range(_CALIBRATING):
            with self._timed("calibrating"):
                pass
        del self.seconds["calibrating"]
        return (time.perf_counter() - began) / _CALIBRATING


def _of_all_ranks(number: int, device: str) -> tuple[int, ...]:
    rank, world = rank_and_world()
    found = torch.zeros(world, dtype=torch.int64, device=device)
    found[rank] = number
    sum_over_ranks([found])
    return tuple(found.tolist())


def _hardware(device: str) -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else _processor()
    return {"device": name, "cores": cores}


def _processor() -> str:
    """Name of the processor, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


if __name__ == "__main__":
    main(sys.argv[1])
