"""Inputs over which something unforeseen happens, and inputs that are not files: only these fail."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import ncc as ncc_package
from ncc.errors import InputError
from tests.rooms import load_module

NCC = [sys.executable, "-W", "error", "-m", "ncc"]


@pytest.fixture
def three(tmp_path, ir) -> list[Path]:
    paths = [tmp_path / name for name in ("a.ll", "b.ll", "c.ll")]
    for path in paths:
        shutil.copy(ir / "tree.clang22.ll", path)
    return paths


DEFECT = "; a defect of ncc, please report it (NCC_DEBUG=1 shows more)"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "{name}: needs more memory than it may take"),
        (RecursionError("maximum recursion depth exceeded"), "{name}: is nested too deep"),
        (OSError(5, "Input/output error"), "{name}: can't be read or worked on: Input/output error"),
        (
            OSError(28, "No space left on device", "/tmp/x"),
            "{name}: can't be read or worked on: No space left on devic",
        ),
        (TypeError("no such thing"), "{name}: TypeError: no such thing at test_unexpected.py:"),
        (AssertionError(), "{name}: AssertionError:  at test_unexpected.py:"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
@pytest.mark.parametrize("debug", [False, True])
def test_an_unforeseen_error_is_the_inputs_alone(ncc, three, monkeypatch, error, reason, debug):
    embed = ncc_package.embed

    def fails_at_b(name, **options):
        if str(name).endswith("b.ll"):
            raise error
        return embed(name, **options)

    monkeypatch.setattr("ncc.verbs.embed.embed", fails_at_b)
    if debug:
        monkeypatch.setenv("NCC_DEBUG", "1")
    finished = ncc("embed", *three, "--json")
    rows = [json.loads(line) for line in finished.out.splitlines()]
    assert finished.code == 1
    assert [row["ok"] for row in rows] == [True, False, True]
    assert rows[1]["error"].startswith(reason.format(name=three[1]))
    assert rows[1]["error"].endswith(DEFECT) == isinstance(error, TypeError | AssertionError)
    assert f"ncc: {rows[1]['error']}\n" in finished.err
    assert ("Traceback" in finished.err) == debug


def test_an_interrupt_ends_the_run(ncc, three, monkeypatch):
    seen = []

    def interrupted(name, **_):
        seen.append(name)
        raise KeyboardInterrupt

    monkeypatch.setattr("ncc.verbs.embed.embed", interrupted)
    finished = ncc("embed", *three)
    assert finished.code != 0
    assert len(seen) == 1


def test_coverage_goes_on_too(ncc, three, monkeypatch):
    def fails_at_b(name, **options):
        if str(name).endswith("b.ll"):
            raise MemoryError
        return load_module(name, **options)

    monkeypatch.setattr("ncc_lab.embedding.coverage.load_module", fails_at_b)
    finished = ncc("evaluate", "coverage", *three, "--json")
    assert finished.code == 1
    assert json.loads(finished.out)["failures"] == {str(three[1]): f"{three[1]}: needs more memory than it may take"}


# ---- no files


@pytest.fixture
def odd(three, tmp_path) -> Path:
    """A folder of good files, a pipe that nobody writes to, a socket, and links to devices and to nothing."""
    os.mkfifo(tmp_path / "pipe.ll")
    here = Path.cwd()
    os.chdir(tmp_path)  # a socket's name must be short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.ll")
    finally:
        os.chdir(here)
    (tmp_path / "endless.ll").symlink_to("/dev/zero")
    (tmp_path / "empty.c").symlink_to("/dev/null")
    (tmp_path / "gone.ll").symlink_to(tmp_path / "nothing")
    return tmp_path


def test_a_folder_is_not_held_up_by_what_is_no_file(odd):
    finished = subprocess.run([*NCC, "embed", odd, "--json"], capture_output=True, text=True, timeout=60, check=False)
    rows = {Path(row["input"]).name: row for row in map(json.loads, finished.stdout.splitlines())}
    assert finished.returncode == 1
    assert {name for name, row in rows.items() if row["ok"]} == {"a.ll", "b.ll", "c.ll"}
    assert {name for name, row in rows.items() if not row["ok"]} == {
        "pipe.ll", "socket.ll", "endless.ll", "empty.c", "gone.ll"
    }  # fmt: skip
    assert all("not a file" in rows[name]["error"] for name in ("pipe.ll", "socket.ll", "endless.ll", "empty.c"))


@pytest.mark.parametrize("command", ["embed", "graph", "classify", "predict-coarsening", "predict-device"])
@pytest.mark.parametrize("name", ["socket.ll", "endless.ll", "empty.c", "/dev/zero"])
def test_devices_are_refused_by_name(ncc, odd, command, name):
    path = odd / name
    for options in ([], ["--language", "c"]):
        finished = ncc(command, path, *options)
        assert finished.code == 1
        assert finished.err == (
            f"ncc: {path}: is a device or a socket; expected a file, a pipe, or - for standard input\n"
        )
    with pytest.raises(InputError, match="is a device or a socket"):
        load_module(path)


@pytest.mark.skipif(not shutil.which("bash"), reason="needs a shell that makes pipes")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("embed <(cat tree.clang22.ll)", "tree.clang22.ll"),
        ("embed <(cat tree.llvm11.bc)", "tree.llvm11.bc"),
        ("embed --language c <(cat sources/tree.c)", "sources/tree.c"),
        ("embed --language c /dev/stdin < sources/tree.c", "sources/tree.c"),
        ("embed /dev/stdin < tree.clang22.ll", "tree.clang22.ll"),
        ("embed - < tree.clang22.ll", "tree.clang22.ll"),
        ("graph <(cat tree.clang22.ll)", "tree.clang22.ll"),
        ("classify --language c <(cat sources/tree.c)", None),
        ("predict-device --explain --language opencl <(cat {kernels})", None),
    ],
    ids=lambda value: value,
)
def test_pipes_that_are_named_are_read(ncc, ir, kernels, command, name):
    shell = f'ncc() {{ "{sys.executable}" -W error -m ncc "$@"; }}; ncc {command.format(kernels=kernels)} --json'
    finished = subprocess.run(["bash", "-c", shell], cwd=ir, capture_output=True, text=True, timeout=100, check=False)
    assert (finished.returncode, finished.stderr) == (0, "")
    (row,) = map(json.loads, finished.stdout.splitlines())
    assert row["ok"]
    if name:
        assert row["num_statements"] == load_module(ir / name).num_statements


def test_a_pipe_with_an_extension_needs_no_language(tmp_path, ir):
    os.mkfifo(tmp_path / "pipe.c")
    with subprocess.Popen(["/bin/sh", "-c", f"cat '{ir}/sources/tree.c' > '{tmp_path}/pipe.c'"]) as writer:
        module = load_module(tmp_path / "pipe.c")
        writer.wait(timeout=30)
    assert module.num_statements == load_module(ir / "sources" / "tree.c").num_statements


def test_a_pipe_without_end_is_refused_in_bounded_memory(ncc, tmp_path, monkeypatch):
    monkeypatch.setattr("ncc.system.files.reading.MAX_STREAM_BYTES", 1 << 30)
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", f"exec yes > '{tmp_path}/pipe'"], stderr=subprocess.DEVNULL):
        finished = ncc("embed", tmp_path / "pipe")
    assert (finished.code, finished.err) == (1, f"ncc: {tmp_path}/pipe has more than 1 GiB; give it as a file\n")


def test_empty_streams_are_told(ncc, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["/bin/sh", "-c", f": > '{tmp_path}/pipe'"]):
        finished = ncc("embed", tmp_path / "pipe")
    assert (finished.code, finished.err) == (1, f"ncc: {tmp_path}/pipe is empty\n")
