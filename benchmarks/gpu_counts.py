"""How right the counts of `ncc profile` are: floating-point operations beside those that a profiler counted.

    python benchmarks/gpu_counts.py -o benchmarks/results/gpu_counts.json

Kernels are gpuFLOPBench's: HeCBench's programs on an RTX 3080, with the grid and block of each launch; once with
nothing of the arguments, once with those from host code. Profiled operations are operations per second times
the time. A kernel is bounded where the trips of all its loops are known, and right where at least half of its launches
are within ten percent.
"""

import argparse
import ast
import csv
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import NccError
from ncc.kernels.host.launches import HostLaunch, read_host
from ncc.kernels.launch import Launch
from ncc.kernels.profile import LaunchProfile
from ncc.kernels.reading import find_kernels
from ncc.learning.data import registry as data
from ncc.system.files.text import command_line
from ncc.tasks.gpus.features import count_launch
from ncc.tasks.gpus.train import make_options, program_modules
from ncc_lab.environment import environment

_WITHIN = 0.1
Counted = tuple[LaunchProfile | None, dict[str, str]]


class Program:
    """A program's device code, and how it is compiled."""

    def __init__(self, folder: Path) -> None:
        self.options = make_options(folder)
        self.modules = list(program_modules(folder, self.options))

    def count(self, row: dict[str, str], told: bool) -> LaunchProfile | None:
        """A launch's counts, with arguments from host code if requested; None if it is not read."""
        launch = Launch.of(ast.literal_eval(row["Grid Size"]), ast.literal_eval(row["Block Size"]), {})
        name, known = row["Kernel Name"], HostLaunch()
        for file, module in self.modules:
            try:
                kernel = find_kernels(module, name)[0]
            except NccError:
                continue
            if told:
                own = row["exeArgs"].split()
                known = read_host(file, name, self.options, own).launch_at(name, launch)
            return count_launch(module, kernel, launch, known).profile
        return None


def profiled_flops(row: dict[str, str]) -> float:
    """Operations on floats and doubles that were counted for a launch."""
    return (float(row["spPerf"]) + float(row["dpPerf"])) * float(row["xtime"]) * 1e-9


def ratio(found: LaunchProfile, row: dict[str, str]) -> float:
    """Operations that are predicted for each that was counted; 1 if none are counted and none are predicted."""
    a_thread = sum(found.per_thread.get(f"{name}_flops", 0.0) for name in ("single", "double"))
    predicted, counted = a_thread * found.launch.num_threads, profiled_flops(row)
    if predicted == 0 or counted == 0:
        return 1.0 if predicted == counted else 0.0 if predicted == 0 else float("inf")
    return predicted / counted


def measure(sources: Path, rows: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Figures without and with the arguments of host code."""
    programs: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        programs[row["targetName"]].append(row)
    counted: dict[bool, list[Counted]] = {False: [], True: []}
    for number, (name, launches) in enumerate(sorted(programs.items()), 1):
        program = Program(sources / name)
        for told, found in counted.items():
            found += [(program.count(row, told), row) for row in launches]
        print(f"{number}/{len(programs)} {name}", flush=True)
    return {"sizes": figures_of(counted[False]), "host": figures_of(counted[True])}


def figures_of(launches: Sequence[Counted]) -> dict[str, Any]:
    """Shares of kernels that are read, bounded and right, and those that are not right."""
    kernels: defaultdict[str, list[Counted]] = defaultdict(list)
    for found, row in launches:
        kernels[f"{row['targetName']}: {row['Kernel Name']}"].append((found, row))
    totals, ratios, wrong, unread = Counter[str](), list[float](), dict[str, float](), list[str]()
    for name, all_of_it in kernels.items():
        counted = [(found, row) for found, row in all_of_it if found]
        totals.update({"kernels": 1, "launches": len(all_of_it), "launches_read": len(counted)})
        if not counted:
            unread.append(name)
            continue
        totals["read"] += 1
        if any(found.data_dependent_loops for found, _ in counted):
            totals["data_dependent"] += 1
            continue
        found_ratios = [ratio(found, row) for found, row in counted]
        computes = any(profiled_flops(row) for _, row in counted)
        right = float(np.mean(np.abs(np.array(found_ratios) - 1) <= _WITHIN)) >= 0.5
        totals.update({"bounded": 1, "right": right, "computing": computes, "computing_right": right and computes})
        if computes:
            ratios.append(float(np.median(found_ratios)))
        if not right:
            wrong[name] = round(float(np.median(found_ratios)), 4)
    return {
        **totals,
        "right_share": totals["right"] / totals["bounded"],
        "computing_right_share": totals["computing_right"] / totals["computing"],
        "ratio_quantiles": dict(zip((10, 25, 50, 75, 90), np.percentile(ratios, (10, 25, 50, 75, 90)), strict=True)),
        "not_read": unread,
        "not_right": dict(sorted(wrong.items(), key=lambda item: item[1])),
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    sources = data.extracted("gpuflop", "sources.tar.xz")
    with data.locate("gpuflop", "profile.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["targetName"].endswith("-cuda")]
    figures = measure(sources, rows)
    about = {"command": command_line("python benchmarks/gpu_counts.py"), **environment()}
    arguments.output.write_text(json.dumps({**about, **figures}, indent=1) + "\n")
    for way, found in figures.items():
        print(way, json.dumps({name: value for name, value in found.items() if not name.startswith("not_")}))


if __name__ == "__main__":
    main()
