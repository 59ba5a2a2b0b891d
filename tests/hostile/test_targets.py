"""A short run of every fast target: inputs that were read and refused, and nothing else; mutants of real modules."""

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.differential import compare
from fuzz.folders import pack
from fuzz.targets import all_targets, find_target
from fuzz.trial import Problem, attempt

FAST = [target.name for target in all_targets() if target.fast and not target.planted]
EXECUTIONS = 250
KEPT = Path(__file__).parents[1] / "data" / "fuzz"


@pytest.mark.parametrize("name", FAST)
def test_mutated_inputs_are_read_or_refused(name: str) -> None:
    target = find_target(name)
    results = [attempt(target, target.input(204, number)) for number in range(EXECUTIONS)]
    assert [result for result in results if isinstance(result, Problem)] == []
    assert results.count(True) > 5
    assert results.count(False) > 5 or name == "gzip"  # which says that something must be made again


@pytest.mark.parametrize("name", FAST)
def test_seeds_are_read(name: str) -> None:
    """Or the fuzzer would test refusals alone."""
    target = find_target(name)
    seeds = [seed if isinstance(seed, bytes) else pack(seed) for seed in target.seeds()][:20]
    assert [attempt(target, seed) for seed in seeds] == [True] * len(seeds)


@pytest.mark.parametrize("path", sorted(KEPT.iterdir()), ids=lambda path: path.name)
def test_what_was_found_once_is_read_or_refused(path: Path) -> None:
    """In a process of its own: some of them ended it."""
    command = [sys.executable, "-m", "fuzz", "--replay", str(path)]
    done = subprocess.run(command, cwd=KEPT.parents[2], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith((": read\n", ": refused\n"))


@pytest.mark.parametrize("faults", [False, True])
def test_few_mutants_that_llvm_refuses_are_read(faults: bool) -> None:
    found = compare(600, seed=7, faults=faults)
    assert found.refused > 400
    assert found.rate < 0.05, found.accepted
