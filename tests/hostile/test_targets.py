"""A short run of every fast target: inputs that were read and refused, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.targets import all_targets, find_target
from fuzz.trial import Problem, attempt
from ncc.errors import InputError

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
def test_what_is_as_it_should_be_is_read(name: str) -> None:
    """Or the fuzzer would test refusals alone."""
    target = find_target(name)
    from fuzz.folders import pack

    seeds = [seed if isinstance(seed, bytes) else pack(seed) for seed in target.seeds()][:20]
    assert [attempt(target, seed) for seed in seeds] == [True] * len(seeds)


@pytest.mark.parametrize("path", sorted(KEPT.iterdir()), ids=lambda path: path.name)
def test_what_was_found_once_is_read_or_refused(path: Path) -> None:
    """In a process of its own: some of them ended it."""
    command = [sys.executable, "-m", "fuzz", "--replay", str(path)]
    done = subprocess.run(command, cwd=KEPT.parents[2], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith((": read\n", ": refused\n"))


def _planted(run):
    from fuzz.targets import Target

    return Target(name="here", seeds=lambda: [b""], mutate=lambda dice, seeds: b"", run=run)


def _raises(error):
    def run(_):
        raise error

    return run


def _out_of_memory(_):
    try:
        raise MemoryError
    except MemoryError as error:
        raise InputError("too large") from error


def _warns(_):
    import warnings

    warnings.warn("odd", RuntimeWarning, stacklevel=1)


def test_what_a_trial_comes_to() -> None:
    assert attempt(_planted(lambda _: None), b"") is True
    assert attempt(_planted(_raises(InputError("no"))), b"") is False
    problem = attempt(_planted(_raises(InputError(" "))), b"")
    assert isinstance(problem, Problem)
    assert problem.message == "an error without a message"
    problem = attempt(_planted(_raises(ValueError("why"))), b"")
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.message) == ("exception", "ValueError: why")
    problem = attempt(_planted(_warns), b"")
    assert isinstance(problem, Problem)
    assert problem.message == "RuntimeWarning: odd"
    problem = attempt(_planted(_out_of_memory), b"")
    assert isinstance(problem, Problem)
    assert problem.kind == "memory"
