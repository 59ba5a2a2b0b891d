"""The fuzzer itself: what dies, hangs, raises or swells is found, kept and told, and the run goes on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.coverage import fuzz
from fuzz.kept import read_input
from fuzz.runner import FuzzConfig, run_fuzzer
from fuzz.targets import find_target
from ncc.errors import NccError

ROOT = Path(__file__).parents[2]
EXECUTIONS = 60
PLANTED = {
    "abort": ("death", "exit code -6"),
    "exit": ("death", "exit code 0"),
    "hang": ("hang", "hang"),
    "memory": ("exception", "MemoryError: "),
    "raise": ("exception", "ZeroDivisionError: planted"),
}


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_what_crashes_hangs_and_raises_is_found_and_the_rest_is_done(tmp_path: Path) -> None:
    targets = {name: find_target(f"planted-{name}") for name in PLANTED}
    config = FuzzConfig(executions=len(targets) * EXECUTIONS, jobs=2, seed=3, findings=tmp_path / "found")
    result = run_fuzzer(list(targets.values()), config)
    for name, target in targets.items():
        found = [finding for finding in result.findings if finding.target == target.name]
        planted = [number for number in range(EXECUTIONS) if target.input(3, number) == name.encode()]
        assert [finding.index for finding in found] == planted != []
        assert {(finding.kind, finding.message) for finding in found} == {PLANTED[name]}
        counts = result.targets[target.name]
        assert (counts.found, counts.executions) == (len(planted), EXECUTIONS)
        assert min(counts.accepted, counts.refused) > 10
        kept = {read_input(Path(finding.file)) for finding in found if finding.file}
        assert kept == {(target.name, name.encode())}
    assert result.executions == len(targets) * EXECUTIONS
    assert len(list((tmp_path / "found").iterdir())) == len(targets)


def test_an_input_that_swells_the_process_is_found() -> None:
    found = run_fuzzer([find_target("planted-swell")], FuzzConfig(executions=100, seed=2)).findings[0]
    assert (found.kind, found.message[:5], found.file) == ("memory", "held ", None)


def test_counts_follow_from_the_seed_whatever_the_number_of_processes() -> None:
    targets = [find_target("tar"), find_target("gzip")]
    runs = [run_fuzzer(targets, FuzzConfig(executions=1_200, jobs=jobs, seed=5)) for jobs in (1, 2)]
    one, other = ([(name, c.accepted, c.refused) for name, c in result.targets.items()] for result in runs)
    assert one == other
    assert all(accepted + refused > 400 for _, accepted, refused in one)
    assert runs[0].findings == runs[1].findings == []


def test_the_command_prints_json_keeps_inputs_and_replays_them(tmp_path: Path) -> None:
    settings = ("--only", "planted-raise,gzip", "-n", 160, "--seed", 3, "--json", "--findings", tmp_path)
    found = run("fuzz", *settings, "-o", tmp_path / "result.json")
    assert found.returncode == 1, found.stderr
    report = json.loads(found.stdout)
    assert report == json.loads((tmp_path / "result.json").read_text())
    assert report["executions"] == 160
    assert report["targets"]["gzip"]["accepted"] == report["targets"]["gzip"]["executions"] == 120
    assert {finding["message"] for finding in report["findings"]} == {"ZeroDivisionError: planted"}
    again = run("fuzz", "--replay", report["findings"][0]["file"])
    assert (again.returncode, "ZeroDivisionError: planted" in again.stdout) == (1, True)
    assert run("fuzz", "--replay", tmp_path / "result.json").returncode == 2
    fine = run("fuzz", "--only", "gzip", "-n", 50, "--findings", tmp_path)
    assert (fine.returncode, fine.stderr, "50 executions in" in fine.stdout) == (0, "", True)
    assert run("fuzz", "--only", "nothing").returncode == 2


@pytest.mark.full
def test_a_second_of_libfuzzer_finds_nothing(tmp_path: Path) -> None:
    try:
        assert fuzz(tmp_path, seconds=1, jobs=1) == 0
    except NccError as error:
        pytest.skip(str(error))
    assert list((tmp_path / "kept").iterdir())
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("crash", "leak", "timeout", "oom"))]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_run_over_hostile_files_answers_for_each(tmp_path: Path) -> None:
    finished = run("fuzz.hostile", tmp_path / "files", "--files", 40, "--timeout", 10)
    figures = json.loads(finished.stdout)
    assert (figures["answers"], figures["in_order"], figures["defects"]) == (40, True, 0), finished.stderr
