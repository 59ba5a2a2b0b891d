"""Small inputs of every trainer: programs, and invented tables of times."""

import re
from collections.abc import Sequence
from pathlib import Path

CLASSES = {"bits": "^&|^", "sums": "+-*/"}
GPU_KERNEL = """
__global__ void work(int n, const float *x, float *y) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < {times}; k++) sum = sum * x[i] + k;
  if (i < n) y[i] = sum;
}}
"""


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
        name = kernel_name(kernel)
        for size in sizes:
            for device, start, rate in (("little", 0.01, 1e6), ("big", 0.5, 3e7)):
                time = start + (1 + number % 5) * size / rate
                rows.append(f"{kernel},{name},{device},{size},64,{8 * size},{time:.6g},family{number % 4}")
    path.write_text("\n".join(rows) + "\n")
    return path


def write_launches(folder: Path) -> Path:
    """Writes four CUDA programs and invented times of their launches."""
    folder.mkdir(parents=True)
    rows = ["kernel,grid,block,time_ms,source,arguments,program_arguments"]
    for number, times in enumerate((8, 64, 512, 4096)):
        (folder / f"p{number}.cu").write_text(GPU_KERNEL.format(times=times))
        rows += [f"work,{grid},256,{1e-6 * times * grid},p{number}.cu,n={256 * grid}," for grid in (1024, 8192, 65536)]
    path = folder / "own.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def kernel_name(path: Path) -> str:
    """The name of a file's first kernel."""
    found = re.search(r"__kernel void (\w+)\(", path.read_text())
    assert found, path
    return found[1]
