"""What a script does that runs as a rank: it meets the others in a file, works, and leaves what it came to."""

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.rooms import process_group


def run_rank(work: Callable[[int, int, Path], Any]) -> None:
    """Works as a rank, and saves what that gives.

    Args:
        work: Gets the arguments of the script: the rank, the number of ranks, and a folder for all of them.
    """
    torch.set_num_threads(1)
    warnings.simplefilter("error", FutureWarning)
    rank, world, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(world)}
    with process_group("cpu", f"file://{folder}/meeting?rank={rank}&world_size={world}"):
        result = work(rank, world, folder)
    torch.save(result, folder / f"rank{rank}.pt")
    threads = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").glob("*")]  # none but on Linux
    assert not any("gloo" in name for name in threads), threads  # those that are left abort the process at its end
