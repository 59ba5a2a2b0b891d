"""Small inputs of trainers: programs, and invented times of kernels."""

import re
from collections.abc import Sequence
from pathlib import Path

CLASSES = {"bits": "^&|^", "sums": "+-*/"}


def write_programs(folder: Path, number: int = 10) -> Path:
    """Writes two classes of programs, a folder each."""
    for name, words in CLASSES.items():
        (folder / name).mkdir(parents=True)
        for program in range(number):
            signs = [words[(program >> shift) % 4] for shift in range(3)]
            lines = [f"  x[{place + 1}] = x[{place}] {sign} {program + 2};" for place, sign in enumerate(signs)]
            text = "\n".join(["int f(int *x) {", *lines, "  return x[3];", "}", ""])
            (folder / name / f"{program}.c").write_text(text)
    return folder


def write_times(path: Path, kernels: Sequence[Path], sizes: Sequence[int] = (1 << 12, 1 << 16, 1 << 20)) -> Path:
    """Writes invented times of kernels, a file each, on two devices: the second is slow to start."""
    rows = ["kernel_file,kernel,device,global_size,local_size,transfer_bytes,time_ms,family"]
    for number, kernel in enumerate(kernels):
        (name, *_) = re.findall(r"__kernel void (\w+)\(", kernel.read_text())
        for size in sizes:
            for device, start, rate in (("little", 0.01, 1e6), ("big", 0.5, 3e7)):
                time = start + (1 + number % 5) * size / rate
                rows.append(f"{kernel},{name},{device},{size},64,{8 * size},{time:.6g},family{number % 4}")
    path.write_text("\n".join(rows) + "\n")
    return path
