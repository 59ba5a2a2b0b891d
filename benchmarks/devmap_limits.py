"""Where device mapping ends with 680 rows: learning curves, and how many rows no method can be sure of.

    python benchmarks/devmap_limits.py -o benchmarks/results/devmap_limits.json

Learning curves: training rows of each fold are cut to a share of their kernels or programs, test rows stay. A curve
that still climbs at its end says that more programs would help; a flat one, that what is missing is not in the inputs.

Noise: how many rows lie so close to the border between the devices that a small error of measurement turns their label
over, and what accuracy is left to a perfect model then.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

from ncc.arrays import Split
from ncc.learning.data.registry import cache_folder
from ncc.learning.embedding.embedding import load_embedding
from ncc.system.files.provenance import command_line, environment
from ncc.tasks.devices.devices_published import load_inputs
from ncc.tasks.devices.published import DeviceMappingSamples, MappingUnit, load_samples
from ncc_lab.devices.controls import learned_controls
from ncc_lab.devices.mapper import MapperMethod
from ncc_lab.devices.protocols import splits
from ncc_lab.devices.task import DeviceMapping, DeviceMethod
from ncc_lab.evaluation import score_runs
from ncc_lab.runs import Plan, run_plans

SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)
NOISE = (0.02, 0.05, 0.1, 0.2)
UNITS: tuple[MappingUnit, ...] = ("kernel", "application")


def cut_training(samples: DeviceMappingSamples, unit: MappingUnit, share: float, seed: int) -> list[Split]:
    """The folds of a protocol with a share of each one's training groups."""
    rng = np.random.default_rng((seed, round(1000 * share)))
    groups = samples.groups(unit)
    folds = []
    for train, test in splits(samples, unit, seed):
        names = np.unique(groups[train])
        kept = rng.choice(names, max(2, round(share * len(names))), replace=False)
        folds.append((train[np.isin(groups[train], kept)], test))
    return folds


def learning_curves(
    samples: DeviceMappingSamples, seeds: Sequence[int], jobs: int, cache: Path | None
) -> dict[str, Any]:
    """Unit → method → accuracy and geometric-mean speedup at each share of the training groups."""
    methods: list[DeviceMethod] = [
        MapperMethod(load_inputs(samples, load_embedding())),
        learned_controls("log_ratio", 100)[0],
    ]
    curves: dict[str, Any] = {}
    for unit in UNITS:
        cases = [
            (method, share, [Plan(method, unit, seed, cut_training(samples, unit, share, seed)) for seed in seeds])
            for method in methods
            for share in SHARES
        ]
        runs = iter(run_plans(samples, [plan for *_, plans in cases for plan in plans], jobs=jobs, cache=cache))
        for method, share, plans in cases:
            metrics = score_runs(DeviceMapping(samples), [next(runs) for _ in plans]).metrics
            curves.setdefault(unit, {}).setdefault(method.name, []).append(
                {
                    "share_of_training_groups": share,
                    "accuracy": metrics.accuracy.value,
                    "geomean_speedup": metrics.geomean_speedup.value,
                }
            )
    return curves


def noise_floor(log_ratio: NDArray[np.float64]) -> list[dict[str, float]]:
    """Accuracy of a perfect model against labels from measurements with an error of log ratios that is normal."""
    return [
        {
            "error_of_log_ratio": noise,
            "rows_within_one_error": float((np.abs(log_ratio) < noise).mean()),
            "best_accuracy": float(1 - (0.5 * erfc(np.abs(log_ratio) / (noise * np.sqrt(2)))).mean()),
        }
        for noise in NOISE
    ]


def main() -> None:
    """Measures both platforms and prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=cache_folder() / "runs")
    options = parser.parse_args()
    seeds = range(204, 204 + options.seeds)
    found: dict[str, Any] = {
        "command": command_line("python benchmarks/devmap_limits.py"),
        **environment(),
        "seeds": list(seeds),
    }
    for platform in ("amd", "nvidia"):
        samples = load_samples(platform)
        found[platform] = {
            "learning_curves": learning_curves(samples, seeds, options.jobs, options.cache),
            "noise": noise_floor(samples.log_ratio),
        }
    text = json.dumps(found, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
