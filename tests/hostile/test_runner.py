"""The fuzzer's runner: what dies, hangs, raises or swells is found, kept and told, and the run goes on."""

import json
import subprocess
import sys
from pathlib import Path

from fuzz.kept import read_input
from fuzz.runner import FuzzConfig, run_fuzzer
from fuzz.targets import find_target

ROOT = Path(__file__).parents[2]
EXECUTIONS = 60


def _expected(name: str, wrong: bytes, seed: int) -> list[int]:
    target = find_target(name)
    return [number for number in range(EXECUTIONS) if target.input(seed, number) == wrong]


def test_what_crashes_hangs_and_raises_is_found_and_the_rest_is_done(tmp_path: Path) -> None:
    names = ("abort", "hang", "raise", "memory", "exit")
    targets = [find_target(f"planted-{name}") for name in names]
    config = FuzzConfig(executions=len(names) * EXECUTIONS, jobs=2, seed=3, findings=tmp_path / "found")
    result = run_fuzzer(targets, config)
    kinds = {"abort": "death", "hang": "hang", "raise": "exception", "memory": "exception", "exit": "death"}
    messages = {
        "abort": "exit code -6",
        "hang": "hang",
        "raise": "ZeroDivisionError: planted",
        "memory": "MemoryError: ",
    }
    for name in names:
        target = f"planted-{name}"
        found = [finding for finding in result.findings if finding.target == target]
        expected = _expected(target, name.encode(), 3)
        assert [finding.index for finding in found] == expected != []
        assert {finding.kind for finding in found} == {kinds[name]}
        assert {finding.message for finding in found} == {messages.get(name, "exit code 0")}
        counts = result.targets[target]
        assert counts.found == len(expected)
        assert counts.executions == EXECUTIONS
        assert counts.accepted > 10
        assert counts.refused > 10
        kept = {read_input(Path(finding.file)) for finding in found if finding.file}
        assert kept == {(target, name.encode())}
    assert result.executions == len(names) * EXECUTIONS
    assert len(list((tmp_path / "found").iterdir())) == len(names)


def test_an_input_that_swells_the_process_is_found() -> None:
    (found,) = run_fuzzer([find_target("planted-swell")], FuzzConfig(executions=100, seed=2)).findings[:1]
    assert found.kind == "memory"
    assert found.message.startswith("held ")
    assert found.file is None


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fuzz", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_prints_json_keeps_inputs_and_replays_them(tmp_path: Path) -> None:
    found = _command(
        *("--only", "planted-raise,gzip", "-n", "160", "--seed", "3", "--json"),
        *("--findings", str(tmp_path), "-o", str(tmp_path / "result.json")),
    )
    assert found.returncode == 1, found.stderr
    report = json.loads(found.stdout)
    assert report == json.loads((tmp_path / "result.json").read_text())
    assert report["executions"] == 160
    assert report["targets"]["gzip"]["accepted"] == report["targets"]["gzip"]["executions"] == 120
    assert {finding["message"] for finding in report["findings"]} == {"ZeroDivisionError: planted"}
    again = _command("--replay", report["findings"][0]["file"])
    assert again.returncode == 1
    assert "ZeroDivisionError: planted" in again.stdout
    assert _command("--replay", str(tmp_path / "result.json")).returncode == 2
