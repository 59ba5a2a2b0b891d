"""Runs that fail, hang or die are results, and leave no process behind."""

import os
import sys
from pathlib import Path

import pytest
import torch

from lab.tests.rooms import PlannedRun, start_run, worker_command
from tests.support.processes import has_ended, wait_until


@pytest.fixture
def run(plain):
    return PlannedRun(setting=plain, repeat=0, seed=204)


def test_several_ranks_start_under_torchrun_and_one_alone():
    assert worker_command(Path("job.json"), 1) == [sys.executable, "-m", "ncc_lab.scaling.worker", "job.json"]
    command = worker_command(Path("job.json"), 3)
    assert command[1:3] == ["-m", "torch.distributed.run"]
    assert command[command.index("--nproc-per-node") + 1] == "3"


@pytest.mark.full
@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_rank_says_why_it_failed(run, source):
    found = start_run(run, source, device="cuda")
    assert (found.error or "").startswith("NccError: device cuda: ")
    assert found.measured is None
    assert found.to_dict()["ok"] is False


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("raise SystemExit('out of luck')", "exit code 1: out of luck"),
        ("import os; os.kill(os.getpid(), 9)", "exit code -9: no message"),
        ("pass", "ended without a result"),
    ],
)
def test_a_command_that_dies_is_recorded(run, source, code, error):
    found = start_run(run, source, command=lambda job_file, world: [sys.executable, "-c", code])
    assert (found.error, found.measured) == (error, None)
    assert found.wall_s > 0


@pytest.mark.skipif(not hasattr(os, "killpg") or not Path("/proc/self/status").exists(), reason="looks into /proc")
def test_a_run_that_hangs_is_ended_with_its_children(run, source, tmp_path):
    code = f"""
import subprocess, time
child = subprocess.Popen(["sleep", "600"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
time.sleep(600)
"""
    found = start_run(run, source, timeout_s=2.0, command=lambda job_file, world: [sys.executable, "-c", code])
    assert found.error == "not done after 2 s, and ended"
    wait_until(lambda: has_ended(int((tmp_path / "pid").read_text())), seconds=5)


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
def test_ranks_that_hang_are_ended_by_torchrun(run, source, tmp_path):
    script = tmp_path / "rank.py"
    script.write_text(
        "import os, pathlib, sys, time\n"
        "pathlib.Path(sys.argv[1], os.environ['RANK']).write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, str(script), str(tmp_path)]
    found = start_run(run, source, timeout_s=30.0, command=lambda job_file, world: command)
    assert found.error == "not done after 30 s, and ended"
    wait_until(lambda: all(has_ended(int((tmp_path / rank).read_text())) for rank in "01"), seconds=5)
