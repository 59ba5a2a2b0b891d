"""How right the counts of `ncc profile` are: floating-point operations beside those that a profiler counted.

    python benchmarks/gpu_counts.py -o benchmarks/results/gpu_counts.json

Kernels are gpuFLOPBench's: HeCBench's programs on an RTX 3080, with the grid and block of each launch, and nothing of
the arguments. Profiled operations are operations per second times the time. A kernel is bounded where the trips of all
its loops are known, and right where at least half of its launches are within ten percent.
"""

import argparse
import ast
import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from cuda_coverage import device_sources  # type: ignore[import-not-found]

from ncc import data
from ncc.errors import NccError
from ncc.frontend import compile_source
from ncc.gpus.sources import make_options
from ncc.ir import Module
from ncc.kernels.launch import Launch
from ncc.kernels.launched import LaunchedKernel, load_kernels, profile_launch
from ncc.kernels.names import find_kernel
from ncc.runtime.provenance import command_line, environment

_WITHIN = 0.1


def modules_of(program: Path, kept: Path) -> Iterator[Module]:
    """Modules of a program's device code; its IR is kept in a folder, and read from there the next time."""
    options = make_options(program)
    options = replace(options, flags=("-fno-discard-value-names", *options.flags), debug_lines=True)
    for file in device_sources(program):
        ir = kept / f"{file.relative_to(program.parent).as_posix().replace('/', '@')}.ll"
        try:
            if not ir.exists():
                ir.write_bytes(compile_source(file, options, readable=(program.parent,)).ir)
            yield load_kernels(ir, None, None)[0]
        except NccError:  # cuda_coverage.py says what is not read
            continue


def count(modules: Sequence[Module], row: dict[str, str]) -> LaunchedKernel | None:
    """A launch's counts; None where its kernel is not read."""
    launch = Launch.of(ast.literal_eval(row["Grid Size"]), ast.literal_eval(row["Block Size"]), {})
    for module in modules:
        try:
            return profile_launch(module, find_kernel(module, row["Kernel Name"]), launch)
        except NccError:
            continue
    return None


def profiled_flops(row: dict[str, str]) -> float:
    """Operations on floats and doubles that were counted for a launch."""
    return (float(row["spPerf"]) + float(row["dpPerf"])) * float(row["xtime"]) * 1e-9


def ratio(found: LaunchedKernel, row: dict[str, str]) -> float:
    """Operations that are predicted for each that was counted; 1 where there are none and none are predicted."""
    a_thread = sum(found.per_thread.get(f"{name}_flops", 0.0) for name in ("single", "double"))
    predicted, counted = a_thread * found.launch.num_threads, profiled_flops(row)
    if predicted == 0 or counted == 0:
        return 1.0 if predicted == counted else 0.0 if predicted == 0 else float("inf")
    return predicted / counted


def measure(sources: Path, rows: Sequence[dict[str, str]], kept: Path) -> dict[str, Any]:
    """Shares of kernels that are read, bounded and right, and those that are not right."""
    programs: defaultdict[str, defaultdict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        programs[row["targetName"]][row["Kernel Name"]].append(row)
    totals, ratios, wrong, unread = Counter[str](), list[float](), dict[str, float](), list[str]()
    for number, (program, kernels) in enumerate(sorted(programs.items()), 1):
        modules = list(modules_of(sources / program, kept))
        for name, launches in kernels.items():
            counted = [(found, row) for row in launches if (found := count(modules, row))]
            totals.update({"kernels": 1, "launches": len(launches), "launches_read": len(counted)})
            if not counted:
                unread.append(f"{program}: {name}")
                continue
            totals["read"] += 1
            if unknown := [loop for found, _ in counted for loop in found.unbounded]:
                totals["memory_decides" if any(not loop.formula for loop in unknown) else "arguments_decide"] += 1
                continue
            found_ratios = [ratio(found, row) for found, row in counted]
            computes = any(profiled_flops(row) for _, row in counted)
            right = float(np.mean(np.abs(np.array(found_ratios) - 1) <= _WITHIN)) >= 0.5
            totals.update({"bounded": 1, "right": right, "computing": computes, "computing_right": right and computes})
            if computes:
                ratios.append(float(np.median(found_ratios)))
            if not right:
                wrong[f"{program}: {name}"] = round(float(np.median(found_ratios)), 4)
        print(f"{number}/{len(programs)} {program}: {dict(totals)}", flush=True)
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
    parser.add_argument("--ir", type=Path, default=Path("gpu-ir"), help="folder where IR is kept")
    arguments = parser.parse_args()
    arguments.ir.mkdir(parents=True, exist_ok=True)
    sources = data.extracted("gpuflop", "sources.tar.xz")
    with data.locate("gpuflop", "profile.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["targetName"].endswith("-cuda")]
    figures = measure(sources, rows, arguments.ir)
    about = {"command": command_line("python benchmarks/gpu_counts.py"), **environment()}
    arguments.output.write_text(json.dumps({**about, **figures}, indent=1) + "\n")
    print(json.dumps({name: value for name, value in figures.items() if not name.startswith("not_")}))


if __name__ == "__main__":
    main()
