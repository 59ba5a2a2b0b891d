"""Wrong usage that only one verb knows, and what all commands print by."""

import os
import pty
import re
import subprocess
import sys

import pytest

from tests.contract.cases import CUDA, KERNELS, SOURCES
from tests.rooms import VectorFile, print_progress, report_crashes
from tests.support.refuses import check_message
from tests.support.tiny import Tiny
from tests.support.verbs import run_here

LAUNCH = "--grid 1 --block 64"
WRONG: dict[str, tuple[str, ...]] = {
    "embed {c} --level word": ("word", "module"),
    "embed {c} -O 9": ("9",),
    "embed {c} --timeout 0": ("0.0",),
    "graph {c} {c} -o {tmp}/a.json": ("-o", "--json"),
    "graph {folder} -o {tmp}/a.json": ("-o", "--json"),
    "graph {c} -o {tmp}/a.json --function dot": ("--function", ".svg"),
    "graph {c} -o {tmp}/a.svg --function dott": ("dott", "dot"),
    "predict-device {cl} {cl} --plot {tmp}/a.svg": ("--plot", "one input"),
    "predict-device {folder} --plot {tmp}/a.svg": ("--plot", "one input"),
    f"predict-gpu {{cu}} {LAUNCH} -I nowhere": ("-I", "nowhere"),
    "search {index}": ("--duplicates",),
    "search {index} {c} --duplicates": ("--duplicates",),
    "search {index} {c} -o {tmp}/a.txt": ("a.txt", ".html"),
    "train classify {programs} -o {tmp}/out --strategy local --compression fp16": ("mirrored",),
    "corpus build {folder} -o {corpus}": ("recipe",),
    "evaluate embedding -k 0": ("k is 0",),
    "evaluate devmap --protocol random": ("protocol", "random"),
    "evaluate devmap --platform intel": ("platform", "intel", "amd"),
    "evaluate devmap --trees 0": ("--trees", "0"),
    "evaluate devmap --cache {tmp}/x --no-cache": ("--cache", "--no-cache"),
    "evaluate devmap --seeds 0": ("--seeds",),
    "evaluate devmap --jobs 0": ("--jobs",),
    "evaluate coarsening --protocol random": ("protocol", "random"),
    "evaluate coarsening --cache {tmp}/x --no-cache": ("--cache", "--no-cache"),
    "evaluate classify {programs} --no-cache --method nothing": ("method", "nothing"),
    "evaluate devmap --into {tmp}": ("no model",),
    "evaluate classify {programs} --no-cache --levels 7": ("level", "7"),
}
"""Command → nouns of its message."""


@pytest.mark.parametrize("command", WRONG)
def test_wrong_usage_is_told_by_name_and_leaves_nothing(command, tiny: Tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("NCC_CACHE", str(tiny.cache))
    places = {"c": SOURCES / "dot.c", "cl": KERNELS, "cu": CUDA, "folder": SOURCES, "tmp": tmp_path}
    made = {"index": tiny.index, "corpus": tiny.corpus, "programs": tiny.programs}
    finished = run_here(*command.format(**places, **made).split())
    assert (finished.code, finished.out) == (2, "")
    check_message(finished.err, *WRONG[command])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "is_defect"),
    [(KeyError("nothing"), True), (MemoryError(), False), (OSError(28, "No space left on device", "/x"), False)],
)
def test_a_defect_is_told_as_one_and_what_the_machine_lacks_is_not(capsys, error, is_defect):
    with pytest.raises(SystemExit) as end, report_crashes():
        raise error
    err = capsys.readouterr().err
    assert end.value.code == 1
    assert "ncc: this command: " in err
    for words in ("Traceback", "a defect of ncc, please report it", "KeyError: 'nothing' at test_usage.py:"):
        assert (words in err) == is_defect


def test_a_narrow_terminal_gets_a_table(tmp_path):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "50", "TERM": "xterm", "NCC_DATA": str(tmp_path)}
    command = [sys.executable, "-m", "ncc", "data", "list"]
    subprocess.run(command, stdout=theirs, env=environment, check=True, timeout=60)
    os.close(theirs)
    with os.fdopen(ours, "rb") as terminal:
        shown = os.read(terminal.fileno(), 1 << 16).decode()
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert lines[0].split() == ["name", "state", "title"]
    assert max(map(len, lines)) <= 50


@pytest.mark.parametrize(("is_terminal", "shown"), [(True, "ace"), (False, "")])
def test_progress_comes_at_most_once_a_second_and_on_a_terminal_alone(monkeypatch, capsys, is_terminal, shown):
    now = [100.0]
    monkeypatch.setattr("ncc.cli.printing.time.monotonic", lambda: now[0])
    monkeypatch.setattr("ncc.cli.printing.sys.stderr.isatty", lambda: is_terminal)
    pass_on = print_progress(1.0)
    for seconds, message in ((0, "a"), (0.5, "b"), (0.6, "c"), (0.9, "d"), (0.2, "e")):
        now[0] += seconds
        pass_on(message)
    assert capsys.readouterr().err.split() == list(shown)


def test_cells_that_look_like_formulas_get_an_apostrophe(tmp_path):
    import csv

    import numpy as np

    labels = ["=1+1", "+f", "-f", "@f", "\tf", "\rf", "f=", "'f", ""]
    with VectorFile(tmp_path / "out.csv") as file:
        file.add({"input": labels, "label": labels}, np.full((len(labels), 2), -0.5, np.float32))
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    shown = ["'=1+1", "'+f", "'-f", "'@f", "'\tf", "'\rf", "f=", "'f", ""]
    assert rows == [[label, label, "-0.5", "-0.5"] for label in shown]


def test_without_the_lab_its_verbs_say_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ncc_lab", None)
    for verb in ("evaluate", "bench"):
        finished = run_here(verb, "devmap")
        assert finished.code == 2
        check_message(finished.err, f"ncc {verb}", "ncc-lab", "pip install")
    help_ = run_here("--help")
    assert help_.code == 0 and "evaluate" not in help_.out


@pytest.mark.parametrize("verb", ["", "embed", "train gpu"])
def test_help_of_a_verb_is_its_option_for_help(verb):
    asked, option = run_here("help", *verb.split()), run_here(*verb.split(), "--help")
    assert (asked.code, asked.out) == (0, option.out)
    assert option.out.startswith("Usage: ncc")
