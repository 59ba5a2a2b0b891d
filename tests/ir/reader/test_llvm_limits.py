"""LLVM within limits: a module that aborts it, hangs it or exhausts memory is an error, and the next one is served."""

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import llvmlite
import pytest

from ncc.errors import IRError, NccError
from tests.rooms import Abstraction, landlock_version, llvm, optimize_if_needed, print_canonically, read_module

IR = Path(__file__).parents[2] / "data" / "ir"
GOOD = b"define void @f() {\n  ret void\n}\n"
STARTED = "import sys\nsys.stdout.buffer.write(bytes(9))\nsys.stdout.flush()\n"
"""What a helper says when it has started."""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are for Linux")


@pytest.fixture(autouse=True)
def _fresh_helper():
    llvm.stop_helper()
    yield
    llvm.stop_helper()


def function_of(num_bytes, line=b"  add i8 0, 0\n"):
    return b"define void @f() {\n" + line * (num_bytes // len(line)) + b"  ret void\n}\n"


def test_bitcode_that_aborts_llvm():
    """A flipped bit here and there: some of these LLVM reads, some it refuses, and of some it dies."""
    whole = (IR / "saxpy.llvm15.bc").read_bytes()
    dice = random.Random(3)
    crashes = refusals = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        try:
            print_canonically(bytes(damaged), "damaged")
        except IRError as error:
            refusals += 1
            crashes += "LLVM crashes on this input (exit code -6)" in str(error)
            assert str(error).startswith("damaged: LLVM can't read this bitcode: ")
        if crashes > 1:
            break
    assert crashes > 1
    assert refusals > crashes
    assert b"@" in print_canonically(whole)


@on_linux
@pytest.mark.parametrize("num_bytes", [10_000_000])
def test_memory(monkeypatch, num_bytes):
    text = function_of(num_bytes)
    monkeypatch.setenv("NCC_MEMORY_GB", "0.3")
    with pytest.raises(IRError, match=r"^big: .*LLVM needs more than 0\.3 GB of memory for this input; NCC_MEMORY_GB"):
        print_canonically(text, "big")
    assert b"@f" in print_canonically(GOOD)
    monkeypatch.delenv("NCC_MEMORY_GB")
    assert len(print_canonically(text)) > num_bytes


@on_linux
def test_a_limit_holds_for_one_request(monkeypatch):
    monkeypatch.setenv("NCC_MEMORY_GB", "0.4")
    print_canonically(GOOD)
    (helper,) = llvm._helpers
    monkeypatch.setenv("NCC_MEMORY_GB", "4")
    assert print_canonically(function_of(8_000_000))
    assert llvm._helpers == [helper]


def test_a_large_module_has_a_helper_of_its_own():
    print_canonically(GOOD)
    (helper,) = llvm._helpers
    print_canonically(
        function_of(llvm._LARGE + 2000, b"  ; a comment, of which nothing stays behind " + b"x" * 1000 + b"\n")
    )
    assert llvm._helpers == []
    assert helper.process.poll() is not None
    assert b"@f" in print_canonically(GOOD)


def test_time(monkeypatch):
    print_canonically(GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "_SECONDS", 0.2)
        patch.setattr(llvm, "_SECONDS_PER_BYTE", 0.0)
        with pytest.raises(IRError, match=r"^slow: .*LLVM did not finish within 0\.2 seconds and was stopped"):
            print_canonically(function_of(30_000_000), "slow")
    assert b"@f" in print_canonically(GOOD)


@pytest.mark.parametrize("hangs", ["while True: pass", "import time; time.sleep(60)", "sys.stdin.buffer.read(2**30)"])
def test_a_helper_that_hangs_is_killed_and_replaced(monkeypatch, tmp_path, hangs):
    script = tmp_path / "helper.py"
    script.write_text(f"{STARTED}{hangs}\n")
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "_HELPER", script)
        patch.setattr(llvm, "_SECONDS", 0.2)
        patch.setattr(llvm, "_SECONDS_PER_BYTE", 0.0)
        threads = threading.active_count()
        # more than a pipe holds
        with pytest.raises(IRError, match=r"did not finish within 0\.2 seconds"):
            print_canonically(function_of(1_000_000))
        assert threading.active_count() == threads
    assert llvm._helpers == []
    assert b"@f" in print_canonically(GOOD)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"\0" + (100).to_bytes(8, "little") + b"short", "LLVM crashes on this input"),
        (b"\0\1", "LLVM crashes on this input"),
        (b"", "LLVM crashes on this input"),
        (b"\0" + (2**62).to_bytes(8, "little"), "LLVM prints more than 2 GB; NCC_OUTPUT_GB"),
        (b"\2" + bytes(8), "LLVM needs more than"),
    ],
    ids=["cut", "cut at once", "nothing", "endless", "memory"],
)
def test_answers_that_are_none(monkeypatch, tmp_path, answer, message):
    script = tmp_path / "helper.py"
    script.write_text(
        f"{STARTED}import time\nsys.stdin.buffer.read(24 + {len(GOOD)})\n"
        f"sys.stdout.buffer.write({answer!r})\nsys.stdout.flush()\n"
        f"time.sleep({2 if len(answer) == 9 else 0})\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "_HELPER", script)
        with pytest.raises(IRError, match=message):
            print_canonically(GOOD)
    assert b"@f" in print_canonically(GOOD)


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
@pytest.mark.parametrize(
    "code", ["open('/etc/passwd')", "open({here!r})", "open('/proc/self/environ')", "os.execv('/bin/sh', ['sh'])"]
)
def test_the_helper_reads_nothing_else(monkeypatch, tmp_path, code):
    script = tmp_path / "helper.py"
    code = code.format(here=str(Path(__file__)))
    script.write_text(f"{STARTED}import os\n{code}\n")
    monkeypatch.setattr(llvm, "_HELPER", script)
    with pytest.raises(IRError, match=r"exit code 1\): PermissionError"):
        print_canonically(GOOD)


def test_the_helper_gets_no_passwords(monkeypatch, tmp_path):
    monkeypatch.setenv("SECRET_TOKEN", "12345")
    script = tmp_path / "helper.py"
    script.write_text(f"{STARTED}import os\nraise SystemExit(' '.join(os.environ))\n")
    monkeypatch.setattr(llvm, "_HELPER", script)
    with pytest.raises(IRError) as caught:
        print_canonically(GOOD)
    assert "LC_ALL" in str(caught.value)
    assert "SECRET_TOKEN" not in str(caught.value)


def test_a_helper_that_does_not_start_is_no_verdict_on_a_module(monkeypatch, tmp_path):
    script = tmp_path / "helper.py"
    script.write_text("raise ImportError('no LLVM here')\n")
    monkeypatch.setattr(llvm, "_HELPER", script)
    unoptimised = read_module(GOOD.replace(b"{", b"#0 {", 1) + b"attributes #0 = { noinline optnone }\n")
    for ask in (lambda: print_canonically(GOOD), lambda: optimize_if_needed(unoptimised, Abstraction())):
        with pytest.raises(NccError, match=r"can't be started: ImportError: no LLVM here") as caught:
            ask()
        assert not isinstance(caught.value, IRError)


def test_a_helper_starts_with_llvmlite_in_any_folder(tmp_path):
    (tmp_path / "llvmlite").symlink_to(Path(llvmlite.__file__).parent)
    code = f"from tests.rooms import print_canonically; print(print_canonically({GOOD!r}))"
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[3]}"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "@f()" in done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="this system has no alarms")
def test_a_helper_whose_parent_was_killed_ends_by_itself(monkeypatch):
    """Its own alarm ends it in the middle of a module; it is given here what the parent would send."""
    helper = subprocess.Popen(llvm._helper_command(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    text = function_of(60_000_000)
    with helper:
        assert helper.stdin
        helper.stdin.write(llvm._REQUEST.pack(len(text), 2**33, 1, 0))
        helper.stdin.write(text)
        helper.stdin.flush()
        assert helper.wait(30) == -signal.SIGALRM


def test_a_killed_helper_leaves_no_open_files():
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("needs /proc to count open files")
    print_canonically(GOOD)
    llvm.stop_helper()
    before = len(os.listdir(folder))  # noqa: PTH208
    for _ in range(3):
        print_canonically(GOOD)
        llvm._helpers[0].process.kill()
        with pytest.raises(IRError):
            print_canonically(GOOD)
    assert len(os.listdir(folder)) == before  # noqa: PTH208
