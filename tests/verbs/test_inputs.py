"""What ``ncc embed`` reads beside plain files, what happens over one input, and what workers leave."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ncc
from tests.contract.cases import IR, KERNELS
from tests.support.clangs import ENDLESS
from tests.support.refuses import check_message
from tests.support.verbs import run_here, start

TREE = IR / "tree.clang22.ll"


@pytest.fixture
def three(tmp_path) -> list[Path]:
    return [Path(shutil.copy(TREE, tmp_path / name)) for name in ("a.ll", "b.ll", "c.ll")]


def test_a_folder_is_searched_for_everything_that_ncc_reads(code):
    names = [row["input"].removeprefix(f"{code}{os.sep}") for row in run_here("embed", code, "--json").rows]
    kinds = ["deep/no_includes.cu", "deep/shapes.cpp", "dot.c", "tree.clang22.ll", "tree.llvm11.bc", "two_kernels.cl"]
    assert names == kinds


def test_options_reach_the_compiler(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "own.h").write_text("#define BASE 1\n")
    path = tmp_path / "code" / "a.c"
    path.parent.mkdir()
    path.write_text('#include "own.h"\n#if !BASE\n#error none\n#endif\nint f(int x) { return x + EXTRA; }\n')
    words = ["embed", path, "-I", tmp_path / "inc", "-D", "EXTRA=3", "--flag", "-Wall", "-O", "2", "--timeout", "30"]
    assert run_here(*words).code == 0
    assert run_here(*words[:-2], "--language", "c++").code == 0
    for end in (2, 4):  # without the macro, and without the folder
        finished = run_here(*words[:end])
        assert finished.code == 1
        check_message(finished.err, "own.h" if end == 2 else "EXTRA")


def test_the_compilers_command_is_for_machines(tmp_path, monkeypatch):
    bad, worse = tmp_path / "bad.c", tmp_path / "worse.c"
    for path in (bad, worse):
        path.write_text("int f(void) { return lost; }\n")
    finished = run_here("embed", bad, "--json")
    assert "'lost'" in finished.err
    assert ("command: " in finished.rows[0]["error"], "command: " in finished.err) == (True, False)
    assert "--json" in run_here("embed", bad, worse).err.splitlines()[-1]
    assert "--json" not in run_here("embed", "none.c", "nothing.c").err
    monkeypatch.setenv("NCC_DEBUG", "1")
    assert "command: " in run_here("embed", bad).err


def test_nothing_that_a_terminal_obeys_comes_out_of_a_file(tmp_path):
    (tmp_path / "evil.ll").write_bytes(b"\x1b]0;title\x07\x1b[2J\xc2\x9b31m\n")
    for options in ([], ["--json"]):
        finished = run_here("embed", tmp_path / "evil.ll", *options)
        assert finished.code == 1
        assert "\\u001b]0;title\\u0007" in finished.err
        assert (finished.err + finished.out).replace("\n", "").isprintable()


# ---- over one input


@pytest.mark.parametrize(
    ("error", "noun", "debug"),
    [
        (MemoryError(), "memory", False),
        (RecursionError("maximum recursion depth exceeded"), "nested", False),
        (OSError(28, "No space left on device", "/x"), "No space left on device", False),
        (TypeError("no such thing"), "TypeError: no such thing at test_inputs.py:", False),
        (AssertionError(), "AssertionError:  at test_inputs.py:", True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_unforeseen_error_is_the_inputs_alone(three, monkeypatch, error, noun, debug):
    load_module = ncc.load_module

    def fails_at_b(name: str, **options: Any) -> Any:
        if str(name).endswith("b.ll"):
            raise error
        return load_module(name, **options)

    monkeypatch.setattr("ncc.ir.inputs.load_module", fails_at_b)
    if debug:
        monkeypatch.setenv("NCC_DEBUG", "1")
    finished = run_here("embed", *three, "--json")
    assert (finished.code, [row["ok"] for row in finished.rows]) == (1, [True, False, True])
    message = finished.rows[1]["error"]
    check_message(message, str(three[1]), noun)
    assert ("a defect of ncc" in message) == isinstance(error, TypeError | AssertionError)
    assert f"ncc: {message}\n" in finished.err
    assert ("Traceback" in finished.err) == debug


# ---- no files


def test_a_folder_is_not_held_up_by_what_is_no_file(three, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.ll")
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.ll")
    (tmp_path / "endless.ll").symlink_to("/dev/zero")
    (tmp_path / "empty.c").symlink_to("/dev/null")
    (tmp_path / "gone.ll").symlink_to(tmp_path / "nothing")
    finished = run_here("embed", tmp_path, "--json")
    rows = {Path(row["input"]).name: row for row in finished.rows}
    assert finished.code == 1
    bad = {"pipe.ll", "socket.ll", "endless.ll", "empty.c", "gone.ll"}
    assert {name: row["ok"] for name, row in rows.items()} == {
        name: name not in bad for name in {"a.ll", "b.ll", "c.ll"} | bad
    }
    for name in bad - {"gone.ll"}:
        check_message(rows[name]["error"], name, "not a file")


@pytest.mark.skipif(not shutil.which("bash"), reason="needs a shell that makes pipes")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("embed <(cat tree.llvm11.bc)", "tree.llvm11.bc"),
        ("embed - < tree.llvm11.bc", "tree.llvm11.bc"),
        ("embed --language c /dev/stdin < sources/tree.c", "sources/tree.c"),
        ("predict-device --explain --plot {tmp}/a.svg --language opencl <(cat {kernels})", None),
    ],
)
def test_pipes_that_are_named_are_read(command, name, tmp_path):
    words = command.format(kernels=KERNELS, tmp=tmp_path)
    # what matplotlib uses of its own libraries may be deprecated there
    python = f'"{sys.executable}" -W error -W ignore::DeprecationWarning'
    shell = f'ncc() {{ {python} -m ncc "$@"; }}; ncc {words} --json'
    finished = subprocess.run(["bash", "-c", shell], cwd=IR, capture_output=True, text=True, timeout=100, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    (row,) = map(json.loads, finished.stdout.splitlines())
    assert row["ok"]
    if name:
        assert row["num_statements"] == ncc.embed(IR / name).num_statements


@pytest.mark.parametrize(("writer", "noun"), [("exec yes", "1 GiB"), (":", "empty")], ids=["endless", "empty"])
def test_pipes_that_end_at_once_or_never_are_refused(writer, noun, tmp_path, monkeypatch):
    monkeypatch.setattr("ncc.system.files.reading.MAX_STREAM_BYTES", 1 << 30)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["/bin/sh", "-c", f"{writer} > '{pipe}'"], stderr=subprocess.DEVNULL):
        finished = run_here("embed", pipe)
    assert finished.code == 1
    check_message(finished.err, str(pipe), noun)


def test_a_name_that_is_no_utf_8_is_answered_where_text_is_ascii(code):
    path = os.fsencode(code) + b"/caf\xe9 \xc3\xa9.c"
    (code / "dot.c").rename(os.fsdecode(path))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for words in (["embed"], ["embed", "--json"]):
        with start(*words, path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, b""), words


# ---- readers that leave, and workers


@pytest.mark.parametrize("words", [["embed", "-o", "{out}"], ["embed", "--json"], ["graph"]], ids=str)
def test_a_reader_that_has_seen_enough_is_no_failure(words, tmp_path):
    out = tmp_path / "out.csv"
    words = [word.format(out=out) for word in words]
    with start(*words, *[TREE] * 30, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=60)) == (b"", 0)
    assert str(out) not in words or len(out.read_text().splitlines()) == 31


def test_standard_input_is_read_beside_workers():
    rows = run_here("embed", TREE, "-", TREE, "--jobs", "2", "--json", stdin=TREE.read_bytes()).rows
    assert [row["input"] for row in rows] == [str(TREE), "-", str(TREE)]
    assert rows[0]["vectors"] == rows[1]["vectors"]


def test_ir_is_read_as_compiler_explorer_shows_it():
    whole = (IR / "tree-g.clang22.ll").read_text()
    shown = re.sub(r",? !\w+ ![0-9]+|(?<=\)) #[0-9]+| *;.*", "", whole)  # metadata, attributes and comments hidden
    shown = re.sub(r"^(attributes|!|source_filename|target| *#dbg).*\n", "", shown, flags=re.M)
    assert len(shown) < len(whole) / 2
    [rows, expected] = [run_here("embed", "-", "--json", stdin=text.encode()).rows for text in (shown, whole)]
    assert rows == expected


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupted_command_says_how_to_go_on(tmp_path):
    folder, index = tmp_path / "many", tmp_path / "index"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number}.c").write_text(f"int f{number}(int x) {{ return x + {number}; }}\n")
    (folder / "endless.cpp").write_text(ENDLESS)  # so that it is at work however late the signal comes
    # as a terminal does, the signal goes to the whole group, workers that have hardly begun included
    options: dict[str, Any] = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "start_new_session": True}
    options["env"] = dict(os.environ)  # a worker that the signal met while it was started is still there for a moment
    with start("index", folder, "-o", index, "--jobs", "2", **options) as process:
        # Python's imports can't be interrupted cleanly; files are opened after them, before workers are started
        while process.poll() is None and not (index.exists() and any(index.iterdir())):
            time.sleep(0.01)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert said.splitlines()[-1].startswith(b"ncc: interrupted")
