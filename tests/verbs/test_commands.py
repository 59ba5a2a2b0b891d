"""What all commands share: the API's names and defaults, errors, tables, the version."""

import importlib
import inspect
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ncc as package
import ncc_lab.cli
from tests.rooms import VERBS, Rows, app, print_rows, report_crashes

COMMANDS = [
    *VERBS,
    *(f"{group.name} {name}" for group in (ncc_lab.cli.evaluate, ncc_lab.cli.bench) for name in group.verbs),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_text(command):
    click_command: Any = app
    for word in command.split():
        click_command = click_command.get_command(None, word)
    assert click_command.help
    for parameter in click_command.params:
        assert parameter.help, parameter.name


DEFINED_BY_TASKS = [
    name
    for name in package.__all__
    if getattr(getattr(package, name), "__wrapped__", None)
    and getattr(package, name).__module__.startswith("ncc.verbs")
]


@pytest.mark.parametrize("name", DEFINED_BY_TASKS)
def test_a_verb_and_the_function_that_it_calls_have_the_same_parameters(name):
    verb = getattr(package, name)
    module = next(cell.cell_contents for cell in verb.__closure__ if isinstance(cell.cell_contents, str))
    function = inspect.signature(getattr(importlib.import_module(module), name))
    declared = inspect.signature(verb)
    assert [*function.parameters] == [*declared.parameters]
    for parameter, other in zip(function.parameters.values(), declared.parameters.values(), strict=True):
        assert (parameter.kind, parameter.default) == (other.kind, other.default), parameter


def test_a_defect_is_told_as_one_with_its_traceback(capsys):
    with pytest.raises(SystemExit) as end, report_crashes():
        raise KeyError("nothing of the sort")
    err = capsys.readouterr().err
    assert end.value.code == 1
    assert err.startswith("Traceback")
    assert "ncc: this command: KeyError: 'nothing of the sort' at test_commands.py:" in err
    assert "a defect of ncc, please report it" in err


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "No space left on device", "/x")])
def test_what_the_machine_lacks_is_no_defect(capsys, error):
    with pytest.raises(SystemExit), report_crashes():
        raise error
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "defect" not in err
    assert err.startswith("ncc: this command: ")


def test_rows_are_plain_columns_but_on_a_terminal(capsys, monkeypatch):
    rows = [("a", "here", "one\x1b[31m"), ("longer", "missing", "other")]
    print_rows(Rows(rows, ("name", "state", "title")))
    assert capsys.readouterr().out == "a       here     one\\u001b[31m\nlonger  missing  other\n"
    print_rows(Rows([("name", "value")], line="{}: {}"))
    assert capsys.readouterr().out == "name: value\n"
    monkeypatch.setattr("ncc.cli.printing.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    print_rows(Rows(rows, ("name", "state", "title")))
    shown = capsys.readouterr().out
    assert shown.split()[:3] == ["name", "state", "title"]
    assert "\\u001b[31m" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
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


def test_commands_print_by_the_functions_that_escape():
    folder = Path(package.__file__).parent / "cli"
    printing = {path.name for path in folder.glob("*.py") if re.search(r"(?<![\w.])print\(", path.read_text("utf-8"))}
    assert printing == {"printing.py"}
