"""``ncc bench scaling`` on a small folder of classes."""

import json
import sys
from dataclasses import fields

import pytest
from typer.testing import CliRunner

from lab.tests.rooms import Phases, SweepConfig, processes, run_sweep, save
from ncc.errors import InputError
from tests.rooms import app


@pytest.fixture
def bench(programs, kept):
    """Runs the command; an exception that would be a traceback is raised."""

    def run(*arguments: object):
        words = ["bench", "scaling", str(programs), "--programs", str(kept), *map(str, arguments)]
        finished = CliRunner().invoke(app, words)
        if finished.exception is not None and not isinstance(finished.exception, SystemExit):
            raise finished.exception
        return finished

    return run


@pytest.mark.full
def test_a_sweep_over_one_and_two_ranks(bench, tmp_path):
    small = ("--hidden", "8", "--epochs", "2", "--batch-size", "4", "--repeats", "1", "--per-class", "6")
    files = ("-o", tmp_path / "figures.json", "--report", tmp_path / "report.html")
    finished = bench(*small, "--target", "0.01", *files)
    assert finished.exit_code == 0, finished.stderr
    assert "24 programs of 2 classes; 0 left out" in finished.stderr
    assert "run 2 of 2: 2 ranks, mirrored, batch 4, hidden 8, seed 204: " in finished.stderr
    assert "2 ranks, end to end: " in finished.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert {"command", "hardware", "versions", "preparing_s", "measuring"} <= set(figures)
    one, two = figures["runs"]
    assert (one["world"], two["world"], one["ok"], two["ok"]) == (1, 2, True, True)
    for run in (one, two):
        assert (run["num_training"], run["samples"], run["steps"], len(run["epochs"])) == (12, 24, 6, 2)
        assert sum(run["phases"].values()) == pytest.approx(run["wall_s"])
        assert min(run["phases"].values()) >= 0
        evaluations = run["phases"]["validation_s"] + run["phases"]["test_s"]
        assert run["seconds"] == pytest.approx(run["wall_s"] - evaluations)
        assert run["epochs"][-1]["seconds"] < run["seconds"]
        assert run["training"]["loop"]["batch_size"] == 4
        assert run["measuring_s"] < 0.01 * run["wall_s"]
    assert one["bytes_sent"] == [0]
    # 6 gradients in float32, from each rank, less the rows of tables that no batch touched
    assert two["bytes_sent"][0] == two["bytes_sent"][1] < 6 * 4 * two["num_weights"]
    # one process and two ranks train alike, but for their dropout
    assert one["num_weights"] == two["num_weights"]
    assert [setting["num_reached"] for setting in figures["settings"]] == [1, 1]
    assert [setting["is_baseline"] for setting in figures["settings"]] == [True, False]
    assert [one["what"] for one in figures["break_even"]] == ["end to end", "training alone"]
    page = (tmp_path / "report.html").read_text()
    for part in ("Training over ranks: strong scaling", "seed of the runs", "<img"):
        assert part in page


@pytest.mark.full
def test_a_run_that_fails_is_listed_and_the_others_are_kept(bench, measured, monkeypatch, tmp_path):
    short = Phases(**dict.fromkeys((field.name for field in fields(Phases)), 1e-4))
    save(measured(phases=short), tmp_path / "result.json")
    copy = "import shutil, sys; shutil.copy(*sys.argv[1:])"

    def command(job_file, world):
        if world == 2:
            return [sys.executable, "-c", "raise SystemExit('the second device is on fire')"]
        return [sys.executable, "-c", copy, str(tmp_path / "result.json"), str(job_file.parent / "result.json")]

    monkeypatch.setattr(processes, "worker_command", command)
    arguments = ("--hidden", "8", "--repeats", "2", "--report", tmp_path / "report.html")
    finished = bench(*arguments, "--json", "-o", tmp_path / "figures.json")
    assert finished.exit_code == 1
    figures = json.loads(finished.stdout)
    assert [run["ok"] for run in figures["runs"]] == [True, False, True, False]
    assert figures["runs"][1]["error"] == "exit code 1: the second device is on fire"
    assert [setting["num_failed"] for setting in figures["settings"]] == [0, 2]
    assert figures == json.loads((tmp_path / "figures.json").read_text())
    assert "failed: exit code 1: the second device is on fire" in (tmp_path / "report.html").read_text()
    for world in ("1,2", "1"):
        text = bench("--world", world, "--hidden", "8", "--repeats", "1").stdout
        assert ("1 of 2 runs failed" in text, "on fire" in text) == (world == "1,2", world == "1,2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--world", "0,1"), "world: expected 1 or more, found 0"),
        (("--world", "one"), "--world is 'one'; expected whole numbers"),
        (("--strategy", "local", "--compression", "topk"), "compression topk needs strategy mirrored"),
        (("--scaling", "weak"), "weak scaling needs"),
        (("--predict", "8"), "a prediction needs runs of 1, 2 and more mirrored ranks"),
        (("--predict", "8", "--world", "1,2,4", "--link", "rope"), "link is 'rope'; expected one of nvlink"),
        (("--levels", "7"), "unknown optimization level '7'"),
    ],
)
def test_wrong_usage_is_refused(bench, arguments, message):
    finished = bench(*arguments)
    assert (finished.exit_code, finished.stdout) == (2, "")
    assert message in finished.stderr


def test_weak_scaling_needs_programs_for_all_ranks(source):
    config = SweepConfig(worlds=(1, 4), per_class=3, scaling="weak")
    with pytest.raises(InputError, match="needs 12 training programs of every class; one has"):
        run_sweep(config, source)
