"""The command as a process: exit codes, pipes that close, odd names, and no traceback anywhere."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.fixtures.frontend import ENDLESS

NCC = [sys.executable, "-W", "error", "-c", "from ncc.cli.main import main; main()"]


def _run(*arguments, **options):
    command = [*NCC, *(argument if isinstance(argument, bytes) else str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def test_exit_codes(code):
    for expected, arguments in (
        (0, ["--help"]),
        (0, ["embed", code / "dot.c"]),
        (1, ["embed", code / "none.c"]),
        (2, ["embed"]),
        (2, ["unheard-of"]),
        (2, ["embed", code / "dot.c", "--level", "word"]),
    ):
        finished = _run(*arguments)
        assert finished.returncode == expected, (arguments, finished.stderr)
        assert b"Traceback" not in finished.stderr


def test_help_names_every_command():
    out = _run("--help").stdout.decode()
    for command in ("embed", "graph", "predict-device", "corpus", "train", "evaluate", "data", "info"):
        assert command in out


def _until_first_line(*arguments):
    """Starts a command, reads one line and closes the pipe; returns the line, exit code and messages."""
    process = subprocess.Popen(
        [*NCC, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ}
    )
    assert process.stdout and process.stderr
    line = process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    return line, process.wait(timeout=60), err


@pytest.mark.parametrize(
    "arguments", [["embed", "--json", "--level", "statement"], ["embed"], ["graph", "--json"], ["graph"]]
)
def test_a_reader_that_has_seen_enough_is_no_failure(code, arguments):
    line, exit_code, err = _until_first_line(*arguments, *[code / "tree.clang22.ll"] * 30)
    assert line
    assert err == b""
    assert exit_code == 0


def test_vectors_are_written_though_nobody_reads_the_answers(code, tmp_path):
    out = tmp_path / "out.csv"
    _, exit_code, err = _until_first_line("embed", *[code / "tree.clang22.ll"] * 30, "-o", out)
    assert (exit_code, err) == (0, b"")
    assert len(out.read_text().splitlines()) == 31


@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["--help"], ["data", "list"]])
def test_a_closed_pipe_gives_no_traceback(arguments):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        finished = subprocess.run([*NCC, *arguments], stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False)
    assert b"Traceback" not in finished.stderr
    assert b"BrokenPipe" not in finished.stderr


def test_a_full_disk_behind_standard_output_is_said_in_words(code):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        finished = subprocess.run(
            [*NCC, "embed", str(code / "dot.c")], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert finished.returncode == 1
    assert b"Traceback" not in finished.stderr
    assert b"No space left on device" in finished.stderr


@pytest.mark.parametrize("arguments", [["embed"], ["embed", "--json"], ["graph", "--json"]])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_name_that_is_no_utf_8_is_answered(code, arguments, encoding):
    path = os.fsencode(code) + b"/caf\xe9 \xc3\xa9.c"
    (code / "dot.c").rename(os.fsdecode(path))
    finished = _run(*arguments, path, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == b""
    if "--json" in arguments:
        (row,) = map(json.loads, finished.stdout.splitlines())
        assert row["ok"]


def test_bitcode_on_standard_input(code):
    finished = _run("embed", "-", "--json", input=(code / "tree.llvm11.bc").read_bytes())
    assert finished.returncode == 0
    assert json.loads(finished.stdout)["input"] == "-"


def test_a_named_pipe_with_a_language_is_read(code, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = subprocess.Popen(["/bin/sh", "-c", f"cat '{code / 'dot.c'}' > '{path}'"])
    try:
        finished = _run("embed", path, "--language", "c")
    finally:
        writer.kill()
        writer.wait()
    assert finished.returncode == 0, finished.stderr


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes")
@pytest.mark.usefixtures("_interruptible")
def test_an_interrupted_command_says_how_to_go_on(code, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number}.c").write_text(f"int f{number}(int x) {{ return x + {number}; }}\n")
    (folder / "endless.cpp").write_text(ENDLESS)  # so that it is at work however late the signal comes
    index = tmp_path / "index"
    command = [*NCC, "index", str(folder), "-o", str(index), "--jobs", "2"]
    # as a terminal does, the signal goes to the whole group, workers that have hardly begun included
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    ) as process:
        while process.poll() is None and not index.exists():
            time.sleep(0.01)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert said.endswith(b"ncc: stopped; give the command again to go on\n")
