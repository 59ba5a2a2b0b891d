"""What confined processes may do, what is said where nothing confines them, and what a compilation is given."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import ncc
from ncc import CompileOptions
from ncc.errors import NccError
from tests.rooms import (
    Permissions,
    compile_permissions,
    compile_source,
    confine,
    confinement,
    describe_confinement,
    find_compiler,
    landlock_version,
    print_module,
    stop_helper,
)
from tests.support.processes import has_ended, wait_until
from tests.support.refuses import check_message, refuses
from tests.support.verbs import run_here

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the launcher is for Linux")
with_landlock = pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")


DENIED = "PermissionError"


def confined(code, tmp_path, **permissions):
    """What Python prints that may read its own installation and what is allowed besides."""
    read = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", sys.prefix, sys.base_prefix, *permissions.pop("read", ()))
    execute = (sys.executable, "/usr/lib", "/lib", "/lib64")
    command = [sys.executable, "-I", "-S", "-c", f"import os, sys\n{code}"]
    limits = {name: permissions.pop(name) for name in ("memory_bytes", "file_bytes") if name in permissions}
    started = confine(command, Permissions(read=read, execute=execute, **permissions), **limits)
    return subprocess.run(started, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path)


@with_landlock
@pytest.mark.parametrize(
    "code",
    [
        "open('made', 'w')",
        "open('there').read()",
        "open('there', 'a')",
        "os.listdir('.')",
        "os.truncate('there', 0)",
        "os.unlink('there')",
        "os.mkdir('folder')",
        "os.symlink('there', 'link')",
        "os.link('there', 'link')",
        "os.rename('there', 'gone')",
        "os.mkfifo('pipe')",
        "os.execv('/bin/sh', ['sh', '-c', 'echo hello'])",
        "os.kill(os.getppid(), 0)",
    ],
)
def test_what_is_not_allowed_is_denied(tmp_path, code):
    (tmp_path / "there").write_text("text")
    finished = confined(code, tmp_path)
    assert DENIED in finished.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there"]
    assert (tmp_path / "there").read_text() == "text"


@pytest.mark.skipif(landlock_version() < 4, reason="this system's Landlock knows no networks")
def test_no_connections(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert DENIED in confined(f"import socket\nsocket.create_connection(('127.0.0.1', {port}))", tmp_path).stderr
        assert DENIED in confined("import socket\nsocket.create_server(('127.0.0.1', 0))", tmp_path).stderr


@with_landlock
def test_what_is_allowed_is_possible(tmp_path):
    (tmp_path / "in").write_text("text")
    finished = confined("print(open('in').read())", tmp_path, read=(str(tmp_path / "in"), "/no/such/path"))
    assert (finished.stdout, finished.stderr) == ("text\n", "")


@on_linux
def test_limits(tmp_path):
    code = "import resource as r\nprint([r.getrlimit(x) for x in (r.RLIMIT_AS, r.RLIMIT_FSIZE, r.RLIMIT_CORE)])"
    finished = confined(code, tmp_path, memory_bytes=2**31, file_bytes=2**20)
    assert finished.stdout == f"{[(2**31, 2**31), (2**20, 2**20), (0, 0)]}\n"
    finished = confined("bytes(2**31)", tmp_path, memory_bytes=2**30)
    assert "MemoryError" in finished.stderr


@on_linux
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--"], "no command after --"),
        (["--memory", "much", "--", "/bin/true"], "not a number of bytes: much"),
        (["--colour", "red", "--", "/bin/true"], "unknown option --colour"),
        (["--read"], "no value for --read"),
        (["--", "/no/such/program"], "exec 2"),
    ],
)
def test_the_launcher_refuses_what_it_does_not_understand(arguments, message):
    finished = subprocess.run([confinement._LAUNCHER, *arguments], check=False, capture_output=True, text=True)
    assert (finished.returncode, finished.stderr) == (125, f"_confine: {message}\n")


@on_linux
def test_a_confined_process_ends_with_its_parent(tmp_path):
    sleep = confine(["/bin/sleep", "60"], Permissions(read=("/",), execute=("/",)), end_with_parent=True)
    assert sleep[1] == "--parent"
    position = sleep.index("--parent") + 1
    parent = (
        "import os, subprocess, sys, time\n"
        f"command = {sleep!r}\ncommand[{position}] = str(os.getpid())\n"
        "print(subprocess.Popen(command, stdout=subprocess.DEVNULL).pid, flush=True)\ntime.sleep(0.5)\nos._exit(0)\n"
    )
    finished = subprocess.run([sys.executable, "-c", parent], check=True, capture_output=True, text=True, timeout=30)
    child = int(finished.stdout)
    wait_until(lambda: has_ended(child), seconds=10)


def _forget_confinement():
    for cached in (confinement.landlock_version, confinement.warn_unconfined):
        cached.cache_clear()
    stop_helper()


@pytest.fixture
def unconfined(monkeypatch, tmp_path):
    monkeypatch.setattr(confinement, "_LAUNCHER", tmp_path / "none")
    _forget_confinement()
    yield
    _forget_confinement()


def test_what_is_not_confined_is_started_as_it_is_and_told_once(unconfined, sources, caplog):
    assert confine(["a", "b"], Permissions(read=("/",)), memory_bytes=1) == ["a", "b"]
    assert describe_confinement() == "none (time limits only)"
    for _ in range(2):
        assert b"@dot(" in compile_source(sources / "dot.c").ir
    print_module(b"")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "can't confine compilers and LLVM" in caplog.text


def test_confinement_can_be_required(unconfined, sources):
    with ncc.require_confinement():
        with ncc.require_confinement():
            pass
        for ask in (lambda: compile_source(sources / "dot.c"), lambda: print_module(b"")):
            with refuses(NccError, "confinement is required, but this system has no Landlock"):
                ask()
    assert b"@dot(" in compile_source(sources / "dot.c").ir
    finished = run_here("embed", sources / "dot.c", "--require-confinement")
    assert finished.code == 1
    check_message(finished.err, "confinement is required")
    assert not os.environ.get("NCC_REQUIRE_CONFINEMENT")


def test_info_says_what_holds():
    said = run_here("info", "--json").row["confinement"]
    assert said == describe_confinement()
    assert said == f"Landlock ABI {landlock_version()}" if landlock_version() else said.startswith("none (")


def test_the_bundled_compiler_alone_may_be_started(tmp_path):
    compiler = find_compiler()
    permissions = compile_permissions(compiler, CompileOptions(), str(tmp_path / "a.c"))
    assert permissions.execute == (compiler.argv[0],)
    assert str(tmp_path) in permissions.read
    home = Path.home().resolve()
    assert not any(home.is_relative_to(Path(path).resolve()) for path in permissions.read)
