"""How much CUDA is read: of the kernels that gpuFLOPBench profiled, those whose device code compiles here.

    python benchmarks/cuda_coverage.py -o benchmarks/results/cuda_coverage.json --programs 40

The programs are HeCBench's, as their authors wrote them, for a machine with CUDA's toolkit; here is none. Each
program's sources are compiled with the macros and folders of its Makefile. A kernel counts as read if one of them holds
a kernel of its name; what is not read is listed with the first errors.
"""

import argparse
import csv
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import NccError
from ncc.ir.inputs import load_module
from ncc.kernels.reading import split_kernel_name
from ncc.learning.data import registry as data
from ncc.system.files.reading import InputFile
from ncc.system.files.text import command_line
from ncc.tasks.gpus.train import device_sources, make_options
from ncc_lab.environment import environment


def kernels_of(program: Path) -> tuple[set[str], list[str]]:
    """Plain names of the kernels that a program's sources give, and what went wrong."""
    names, errors = set[str](), list[str]()
    options = make_options(program)
    for file in device_sources(program):
        try:
            module = load_module(InputFile(str(file), str(program.parent)), options=options)
        except NccError as error:
            errors.append(str(error).split("\ncommand:")[0].replace(f"{program.parent}/", ""))
            continue
        kernels = np.flatnonzero(module.function_is_kernel)
        names |= {split_kernel_name(module.function_names[kernel])[0] for kernel in kernels}
    return names, errors


def measure(sources: Path, rows: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Shares of programs, kernels and launches that are read, and what is not."""
    launches: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        launches[row["targetName"]].append(row["Kernel Name"])
    read: list[tuple[str, str, bool]] = []
    missing: dict[str, Any] = {}
    for number, (program, kernels) in enumerate(sorted(launches.items()), 1):
        names, errors = kernels_of(sources / program)
        found = [(program, kernel, split_kernel_name(kernel)[0] in names) for kernel in kernels]
        read += found
        lost = sorted({kernel for _, kernel, is_read in found if not is_read})
        if lost:
            missing[program] = {"kernels": lost, "errors": errors}
        print(f"{number}/{len(launches)} {program}: {len(lost)} of {len(set(kernels))} kernels not read", flush=True)
    kernels_read = {(program, kernel): is_read for program, kernel, is_read in read}
    return {
        "launches": {"num": len(read), "read": sum(is_read for *_, is_read in read)},
        "kernels": {"num": len(kernels_read), "read": sum(kernels_read.values())},
        "programs": {"num": len(launches), "read": len(launches) - len(missing)},
        "not_read": missing,
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--programs", type=int, help="so many programs, drawn; default all")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sources = data.extracted("gpuflop", "sources.tar.xz")
    with data.locate("gpuflop", "profile.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["targetName"].endswith("-cuda")]
    programs = sorted({row["targetName"] for row in rows})
    if arguments.programs:
        programs = random.Random(arguments.seed).sample(programs, min(arguments.programs, len(programs)))
    figures = measure(sources, [row for row in rows if row["targetName"] in programs])
    about = {"command": command_line("python benchmarks/cuda_coverage.py"), **environment(), "seed": arguments.seed}
    arguments.output.write_text(json.dumps({**about, **figures}, indent=1) + "\n")
    print(json.dumps({name: figures[name] for name in ("launches", "kernels", "programs")}))


if __name__ == "__main__":
    main()
