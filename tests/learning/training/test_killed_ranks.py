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
@pytest.mark.parametrize(("strategy", "world"), [("mirrored", 2), ("central", 4), ("mirrored", 4)])
def test_a_killed_rank_comes_back_and_the_metrics_are_those_of_an_undisturbed_run(
    environment, tmp_path, strategy, world
):
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"),
        *("--max-restarts", "1", "--nproc-per-node", str(world), SCRIPT, strategy, tmp_path),
    ]
    # torchrun else keeps one store for all starts, in which who comes back finds the addresses of those who died, and
    # waits for them (torch 2.13, https://github.com/pytorch/pytorch/issues/135712)
    environment = environment | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    done = torch.load(tmp_path / "done.pt", weights_only=True)
    assert done["restarts"] == 1
    # the first may have been stopped while it wrote the last checkpoint, but then it had written the one before
    assert 0 <= done["statistics"]["steps"] - (3 * 6 - (RANKS["KILLED_AT"] - 1)) <= 1
    undisturbed = RANKS["checkpointed"](strategy)
    assert done["losses"] == pytest.approx(undisturbed["losses"], abs=1e-5)
    for name, tensor in done["model"].items():
        assert torch.allclose(tensor, undisturbed["model"][name], atol=1e-5, rtol=0), name
