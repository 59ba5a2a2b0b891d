"""Which compiler runs, the time limit, and compilers that can't be started."""

import contextlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ncc.errors import CompileError
from tests.rooms import CompileOptions, compile_source, find_compiler
from tests.support.clangs import CLANGS, ENDLESS, installed
from tests.support.processes import has_ended, wait_until
from tests.support.refuses import refuses


def script(tmp_path, text):
    path = tmp_path / "clang script"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", CLANGS[1:])
def test_own_clang_by_option_keeps_its_own_headers(sources, name):
    compiled = compile_source(sources / "dot.c", CompileOptions(clang=name))
    assert compiled.command[0] == name
    assert f"clang version {name.removeprefix('clang-')}".encode() in compiled.ir
    assert not any("ziglang" in part for part in compiled.command)


@pytest.mark.parametrize("by_environment", installed("clang-16"))
@pytest.mark.parametrize("by_option", installed("clang-14"))
def test_own_clang_by_environment_and_option_wins(monkeypatch, by_environment, by_option):
    monkeypatch.setenv("NCC_CLANG", by_environment)
    text = b"int one(void) { return 1; }"
    assert b"clang version 16" in compile_source(text, CompileOptions(language="c")).ir
    assert b"clang version 14" in compile_source(text, CompileOptions(language="c", clang=by_option)).ir


def test_a_compiler_that_is_missing_is_named_with_its_origin(sources, tmp_path, monkeypatch):
    missing = str(tmp_path / "clang-99")
    with refuses(CompileError, "clang-99", "the clang option"):
        compile_source(sources / "dot.c", CompileOptions(clang=missing))
    monkeypatch.setenv("NCC_CLANG", missing)
    with refuses(CompileError, "NCC_CLANG", "No such file"):
        compile_source(sources / "dot.c")


def test_a_compiler_that_is_no_program(sources):
    with refuses(CompileError, "dot.c", "Permission denied"):
        compile_source(sources / "dot.c", CompileOptions(clang=str(sources / "dot.c")))


def test_without_ziglang_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setattr("ncc.ir.frontend.clang._package_folders", lambda _: ())
    with refuses(CompileError, "pip install ziglang", "NCC_CLANG"):
        find_compiler()


def test_a_compiler_that_crashes(sources, tmp_path):
    crash = script(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with refuses(CompileError, "dot.c: ", "SIGSEGV"):
        compile_source(sources / "dot.c", CompileOptions(clang=crash))


def test_a_compiler_that_fails_without_an_error_line(sources, tmp_path):
    failing = script(tmp_path, "import sys\nsys.exit('no licence')\n")
    with refuses(CompileError, "exit code 1", "no licence", "command: "):
        compile_source(sources / "dot.c", CompileOptions(clang=failing))


def test_the_time_limit_stops_the_compiler():
    options = CompileOptions(language="c++", timeout_s=0.5)
    with refuses(CompileError, "0.5 seconds", "time limit", "command: "):
        compile_source(ENDLESS.encode(), options)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to look at processes")
def test_the_time_limit_stops_the_children_too(sources, tmp_path):
    mark = f"child of {tmp_path}"
    text = (
        "import subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', {mark!r}])\n"
        "time.sleep(60)\n"
    )
    options = CompileOptions(clang=script(tmp_path, text), timeout_s=3)
    with ThreadPoolExecutor(1) as thread:
        compiling = thread.submit(compile_source, sources / "dot.c", options)
        while not (child := process_with(mark)) and not compiling.done():
            time.sleep(0.02)
        assert child
        with refuses(CompileError, "3 seconds"):
            compiling.result()
    wait_until(lambda: has_ended(child), seconds=5)


def process_with(mark):
    """Number of the process that has this argument; None if there is none."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended
            if mark.encode() in path.read_bytes().split(b"\0"):
                return int(path.parent.name)
    return None
