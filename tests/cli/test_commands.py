"""What all commands share: the API's names and defaults, errors, tables, the version."""

import inspect
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ncc as package
import ncc_lab.cli
from tests.rooms import app, print_rows, told_defects

VERBS = {
    "embed": "embed",
    "graph": "build_graph",
    "predict-device": "predict_device",
    "predict-gpu": "predict_gpu",
    "profile": "profile",
    "predict-coarsening": "predict_coarsening",
    "classify": "classify",
    "devices": "list_devices",
    "measure": "measure_kernels",
    "calibrate": "calibrate",
    "corpus build": "build_corpus",
    "index": "index",
    "train embedding": "train_embedding",
    "train encoder": "train_encoder",
    "train devmap": "train_devmap",
    "train coarsening": "train_coarsening",
    "train gpu": "train_gpu",
    "train classify": "train_classifier",
    "evaluate embedding": "evaluate_embedding",
    "evaluate coverage": "evaluate_coverage",
    "evaluate devmap": "evaluate_devmap",
    "evaluate coarsening": "evaluate_coarsening",
    "evaluate classify": "evaluate_classification",
    "evaluate gpu": "evaluate_gpu",
    "evaluate times": "evaluate_times",
    "evaluate retrieval": "evaluate_retrieval",
    "evaluate functions": "evaluate_functions",
    "bench scaling": "bench_scaling",
}
"""Command → the function of the API that it calls."""

OTHERWISE = {
    "arg": "arguments",
    "program_args": "program_arguments",
    "transfer": "transfer_bytes",
    "budget": "budget_minutes",
    "timeout": "timeout_s",
}
"""Option → argument, where their names differ: units are in the names of arguments."""

ONLY_PRINTED = {"as_json", "into", "report", "plot", "explain", "inputs", "level", "require_confinement"}
"""Options that say what is printed or written, over what a command runs, and what must hold while it does."""

OF_OTHER_VERBS = {
    "embed": {"scheduler"},
    "evaluate embedding": {"inst2vec", "plot", "html", "method"},
    "graph": {"function"},
    "evaluate coverage": {"inst2vec"},
    "evaluate classify": {"head", "clang"},
}
"""Options that choose what the function is given, or another function."""

COMPILER = {
    "clang",
    "include",
    "define",
    "flag",
    "optimization",
    "language",
    "timeout",
    "verify",
    "compile_commands",
    "cuda_path",
}


def _commands(typer_app, prefix=""):
    found = {prefix + command.name: command.callback for command in typer_app.registered_commands}
    for group in typer_app.registered_groups:
        found |= _commands(group.typer_instance, f"{prefix}{group.name} ")
    return found


COMMANDS = _commands(app) | _commands(ncc_lab.cli.evaluate, "evaluate ") | _commands(ncc_lab.cli.bench, "bench ")


def test_every_command_but_those_of_the_machine_has_a_function():
    assert set(COMMANDS) - set(VERBS) == {"search", "info", "data list", "data fetch", "data verify"}
    assert set(VERBS.values()) <= {*package.__all__, *ncc_lab.__all__}


@pytest.mark.parametrize("command", VERBS)
def test_an_option_has_the_name_and_the_default_of_an_argument(command):
    options = inspect.signature(COMMANDS[command]).parameters
    function = getattr(package if VERBS[command] in package.__all__ else ncc_lab, VERBS[command])
    arguments = dict(inspect.signature(function).parameters)
    if "config" in arguments:
        arguments |= inspect.signature(type(arguments["config"].default)).parameters
    left_out = ONLY_PRINTED | OF_OTHER_VERBS.get(command, set())
    if "options" in arguments or command == "classify":
        left_out |= COMPILER
    left_out |= {"output", "jobs"} - set(arguments)
    for name, option in options.items():
        if name in left_out:
            continue
        argument = arguments[name if name in arguments else OTHERWISE[name]]
        if option.default is inspect.Parameter.empty:  # such as the folder that a command writes
            assert argument.default in (None, inspect.Parameter.empty), name
        else:
            assert option.default == _as_typed(argument.default, option.default), name


def _as_typed(default, option):
    """A sequence as it is typed; nothing where none is, or where only a call has to say that it is empty."""
    if default in ((), inspect.Parameter.empty) and option is None:
        return None
    return ",".join(map(str, default)) if isinstance(default, tuple) and isinstance(option, str) else default


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(ncc, command):
    finished = ncc(*command.split(), "--help")
    assert finished.code == 0
    assert COMMANDS[command].__doc__.splitlines()[0][:60] in " ".join(finished.out.split())


def test_a_defect_is_told_as_one_with_its_traceback(capsys):
    with pytest.raises(SystemExit) as end, told_defects():
        raise KeyError("nothing of the sort")
    err = capsys.readouterr().err
    assert end.value.code == 1
    assert err.startswith("Traceback")
    assert "ncc: this command: KeyError: 'nothing of the sort' at test_commands.py:" in err
    assert "a defect of ncc, please report it" in err


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "No space left on device", "/x")])
def test_what_the_machine_lacks_is_no_defect(capsys, error):
    with pytest.raises(SystemExit), told_defects():
        raise error
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "defect" not in err
    assert err.startswith("ncc: this command: ")


def test_rows_are_plain_columns_but_on_a_terminal(capsys, monkeypatch):
    rows = [("a", "here", "one\x1b[31m"), ("longer", "missing", "other")]
    print_rows(rows, ("name", "state", "title"))
    assert capsys.readouterr().out == "a       here     one\\u001b[31m\nlonger  missing  other\n"
    print_rows([("name", "value")], plain="{}: {}")
    assert capsys.readouterr().out == "name: value\n"
    monkeypatch.setattr("ncc.cli.output.sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    print_rows(rows, ("name", "state", "title"))
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
    assert printing == {"__init__.py", "output.py", "streams.py"}  # the version, and an error of the system
