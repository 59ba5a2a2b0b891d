"""One run of a sweep: ``python -m ncc_lab.scaling.worker JOB.json``, under torchrun if there are several ranks."""

import faulthandler
import gc
import os
import platform
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import msgspec
import numpy as np
import torch

from ncc.arrays import Ints
from ncc.learning.training.config import TrainingStatistics
from ncc.learning.training.ranks import all_gather_object, process_group, rank_and_world
from ncc.tasks.classification.network import TrainedNetwork, fit_network
from ncc_lab.scaling.programs import Programs
from ncc_lab.scaling.runs import EpochEnd, Measured, RunOrder, save

_GRACE_S = 20.0


def main(job_file: str) -> None:
    """Do a run; the first rank writes what was measured, the first to fail writes why."""
    entered = time.time()
    job = msgspec.json.decode(Path(job_file).read_bytes(), type=RunOrder)
    # who starts the run ends it in time; should that process have died, no rank outlives the limit by much
    faulthandler.dump_traceback_later(job.timeout_s + _GRACE_S, exit=True)
    torch.set_num_threads(job.run.setting.threads)
    try:
        with process_group(job.device) as device:
            before = {"imports_s": entered - job.launched_s, "group_s": time.time() - entered}
            measured = measure(job, device, defaultdict(float, before))
            if rank_and_world()[0] == 0:
                save(measured, job.result_file)
    except Exception as error:
        # what other ranks meet after the first failure is its consequence
        with suppress(FileExistsError), job.failure_file.open("x", encoding="utf-8") as file:
            file.write(f"{type(error).__name__}: {error}")
        raise
    faulthandler.cancel_dump_traceback_later()
    gc.freeze()  # else the interpreter looks through all that was imported for cycles before it ends, for a second


def measure(job: RunOrder, device: str, seconds: defaultdict[str, float]) -> Measured:
    """Read programs, train and evaluate, adding to the seconds of the phases before."""
    setting, seed = job.run.setting, job.run.seed
    training, statistics = setting.training(seed), TrainingStatistics()
    epochs: list[EpochEnd] = []
    with timed(seconds, "reading_s"):
        programs = job.source.load()
        rows = programs.training_rows(setting.per_class)

    def validate(_epoch: int, loss: float, network: TrainedNetwork) -> None:
        elapsed = time.time() - job.launched_s - seconds["validation_s"]
        with timed(seconds, "validation_s"):
            accuracy = accuracy_of(network, programs, programs.split.valid)
        epochs.append(EpochEnd(seconds=elapsed, loss=loss, accuracy=accuracy))

    with timed(seconds, "building_s"):
        network = fit_network(
            programs.samples,
            rows,
            programs.embedding,
            training,
            np.random.default_rng(seed),
            device=device,
            checkpoint=Path(job.folder) / "checkpoint.pt",
            progress=validate,
            statistics=statistics,
        )
    with timed(seconds, "test_s"):
        test_accuracy = accuracy_of(network, programs, programs.split.test)
    in_training_s = statistics.seconds_total - seconds["validation_s"]
    phases = dict(seconds) | {
        "building_s": seconds["building_s"] - statistics.seconds_total,
        "validation_s": seconds["validation_s"],
        "steps_s": statistics.seconds_in_steps - statistics.seconds_in_data,
        "input_s": statistics.seconds_in_data,
        "checkpoints_s": statistics.seconds_in_checkpoints,
        "rest_s": in_training_s - statistics.seconds_in_steps - statistics.seconds_in_checkpoints,
    }
    return Measured(
        phases=phases,
        epochs=tuple(epochs),
        test_accuracy=test_accuracy,
        num_weights=sum(weights.numel() for weights in network.model.parameters() if weights.requires_grad),
        num_training=len(rows),
        num_validation=len(programs.split.valid),
        num_test=len(programs.split.test),
        samples=statistics.samples,
        steps=statistics.steps,
        bytes_sent=tuple(all_gather_object(statistics.bytes_sent)),
        hardware={"device": processor_name(device), "cores": num_cores()},
        training=asdict(training),
        precision=statistics.precision,
        quick_step_s=float(np.quantile(statistics.seconds_of_steps, 0.25)),
    )


def accuracy_of(network: TrainedNetwork, programs: Programs, rows: Ints) -> float:
    """Return the fraction of programs whose class the network predicts; every rank asks about its part of them."""
    rank, world = rank_and_world()
    local, samples = rows[rank::world], programs.samples
    scores = [network.scores(samples.variants[level].rows(local)) for level in network.training.levels(samples)]
    right = int((np.mean(scores, axis=0).argmax(axis=1) == samples.label[local]).sum())
    return sum(all_gather_object(right)) / len(rows)


@contextmanager
def timed(seconds: defaultdict[str, float], name: str) -> Iterator[None]:
    """Add the time of what it surrounds."""
    start = time.perf_counter()
    yield
    seconds[name] += time.perf_counter() - start


def num_cores() -> int | None:
    """Return how many cores the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def processor_name(device: str) -> str:
    """Return the name of the GPU, or of the processor where the system knows it."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    lines: list[str] = []
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


if __name__ == "__main__":
    main(sys.argv[1])
