"""One thread a process, as training uses; ranks that meet in a file, so that no port is needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """What processes of ranks need; on one machine they meet without a network."""
    values = {**os.environ, "OMP_NUM_THREADS": "1"}
    if sys.platform == "linux":
        values["GLOO_SOCKET_IFNAME"] = "lo"
    return values


@pytest.fixture(scope="session")
def run_ranks(environment):
    """Runs a script once for each rank, with the rank as its first argument, and returns what each has saved."""

    def run(script: Path, world: int, folder: Path, *arguments: str) -> list[dict]:
        processes = [
            subprocess.Popen(
                [sys.executable, script, str(rank), *arguments, folder], env=environment, stderr=subprocess.PIPE
            )
            for rank in range(world)
        ]
        try:
            messages = [process.communicate(timeout=240)[1].decode() for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        assert [process.returncode for process in processes] == [0] * world, "\n".join(messages)[-3000:]
        return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(world)]

    return run
