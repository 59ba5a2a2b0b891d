"""A rank that is killed comes back under torchrun, and the training ends as if nothing had been."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).parent / "strategy_ranks.py"
RANKS = runpy.run_path(str(SCRIPT))


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "world"), [*((name, 2) for name in RANKS["STOPPED"]), ("central", 4), ("mirrored", 4)]
)
def test_a_killed_rank_comes_back_and_the_bytes_are_those_of_an_undisturbed_run(environment, tmp_path, name, world):
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"),
        *("--max-restarts", "1", "--nproc-per-node", str(world), SCRIPT, name, tmp_path),
    ]
    # torchrun else keeps one store for all starts, in which who comes back finds the addresses of those who died, and
    # waits for them (torch 2.13, https://github.com/pytorch/pytorch/issues/135712)
    environment = environment | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    done = torch.load(tmp_path / "done.pt", weights_only=True)
    assert done["restarts"] == 1
    # the first may have been stopped while it wrote the last checkpoint, but then it had written the one before
    more = RANKS["STOPPED"][name].get("sync_every", 1)
    assert 0 <= done["resumed"]["statistics"]["steps"] - (3 * 6 - (RANKS["KILLED_AT"] - 1)) <= more
    for part in ("model", "losses"):
        assert RANKS["is_same"](done["resumed"][part], done["undisturbed"][part]), part
