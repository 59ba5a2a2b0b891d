"""How right `ncc predict-device --gpu` is, by halves and by simulated truth: its intervals, confidence and verdicts.

    python benchmarks/device_halves.py -o benchmarks/results/device_halves.json

The CPU's half is a device of a measured table with families held out, the GPU's half are gpuFLOPBench's launches on an
RTX 3080 with programs held out. A launch of one and a launch of the other make a pair, whose true ratio is that of both
measured times; the GPU's times are scaled so that expected ratios are spread around 1. No copies are simulated: what
they take is an assumption.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Floats
from ncc.learning.embedding.embedding import load_embedding
from ncc.system.files.text import command_line
from ncc.tasks.devices.fit import OWN
from ncc.tasks.devices.train import held_out_answers, launch_folds, own_launches
from ncc.tasks.gpus.specs import MEASURED
from ncc.tasks.gpus.train import fit_gpus, program_folds, published_launches
from ncc.verbs.predict import compare_times
from ncc_lab.environment import environment

_FOLDS, _PAIRS, _SPREAD = 5, 20_000, 1.0


def cpu_half(path: Path, device: str, seed: int) -> Floats:
    """(n, 2) float64 log measured over expected time, and the log half width of its interval, families held out."""
    launches = own_launches([path], load_embedding())
    column, found = launches.devices.index(device), []
    splits = launch_folds(launches, "family", "gp", seed)
    for row, answer in held_out_answers(launches, splits, OWN, "gp", seed).items():
        expected, _, high = (answer.times_ms or {})[device]
        found.append((launches.log_times[row, column] - np.log(expected), np.log(high / expected)))
    return np.array(found)


def gpu_half(seed: int) -> Floats:
    """(n, 2) float64 the same for launches on a GPU, with programs held out."""
    launches, found = published_launches(), []
    for train, test in program_folds(launches.program, _FOLDS, seed):
        asked = launches.rows(test)
        estimate = fit_gpus(launches.rows(train), MEASURED, seed=seed).predict(asked.values)
        found.append(np.log(10) * np.stack([asked.log_time - estimate.log_time, estimate.half_width], axis=1))
    return np.concatenate(found)


def pair(cpu: Floats, gpu: Floats, seed: int) -> dict[str, Any]:
    """Compare launches drawn from both halves, by simulated truth."""
    random = np.random.default_rng(seed)
    held, right, sure, decided = (np.zeros(_PAIRS) for _ in range(4))
    for index in range(_PAIRS):
        (cpu_error, cpu_width), (gpu_error, gpu_width) = cpu[random.integers(len(cpu))], gpu[random.integers(len(gpu))]
        ratio = random.normal(0, _SPREAD)
        first = np.exp(ratio), np.exp(ratio - cpu_width), np.exp(ratio + cpu_width)
        second = 1.0, np.exp(-gpu_width), np.exp(gpu_width)
        answer, truth = compare_times(first, second, 1e-9), np.exp(ratio + cpu_error - gpu_error)
        low, high = answer["interval"]
        held[index] = low <= truth <= high
        right[index] = (truth > 1) == (answer["device"] == "GPU")
        sure[index], decided[index] = answer["confidence"], not low <= 1 <= high
    return {
        "coverage": float(held.mean()),
        "accuracy": float(right.mean()),
        "confidence": float(sure.mean()),
        "decided": float(decided.mean()),
        "accuracy_of_decided": float(right[decided > 0].mean()),
    }


def main() -> None:
    """Write both halves and the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--table", type=Path, default=Path("benchmarks/results/pocl.parquet"))
    parser.add_argument("--device", default="pthread-AMD EPYC")
    parser.add_argument("--seed", type=int, default=204)
    chosen = parser.parse_args()
    halves = {"cpu": cpu_half(chosen.table, chosen.device, chosen.seed), "gpu": gpu_half(chosen.seed)}
    result: dict[str, Any] = {
        name: {
            "launches": len(half),
            "coverage": float((np.abs(half[:, 0]) <= half[:, 1]).mean()),
            "median_factor": math.exp(np.median(np.abs(half[:, 0]))),
            "median_width": math.exp(np.median(half[:, 1])),
        }
        for name, half in halves.items()
    }
    result["pairs"] = pair(halves["cpu"], halves["gpu"], chosen.seed)
    rounded = {name: {key: round(value, 4) for key, value in part.items()} for name, part in result.items()}
    report = {"command": command_line("python benchmarks/device_halves.py"), **environment(), **rounded}
    chosen.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(rounded, indent=1))


if __name__ == "__main__":
    main()
