"""LLVM in a process of its own: a module that aborts it, hangs it or exhausts memory is refused, and the next read."""

import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import llvmlite
import pytest

from ncc.errors import IRError, NccError
from tests.rooms import Abstraction, landlock_version, llvm, optimize_if_needed, print_canonically, read_module
from tests.support.refuses import refuses

IR = Path(__file__).parents[2] / "data" / "ir"
# so deep that LLVM's parser runs out of stack
DEADLY = b"@g = global i32 " + b"add (i32 " * 300_000
GOOD = b"define void @f() {\n  ret void\n}\n"
STARTED = "import sys\nsys.stdout.buffer.write(bytes(9))\nsys.stdout.flush()\n"
"""What a helper says when it has started."""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are for Linux")


@pytest.fixture(autouse=True)
def _fresh_helper():
    llvm.stop_helper()
    yield
    llvm.stop_helper()


@pytest.fixture
def helper_is(monkeypatch, tmp_path):
    """Has a script in the place of the helper, which says first that it has started."""

    def replace(code, started=STARTED):
        (tmp_path / "helper.py").write_text(f"{started}{code}\n")
        monkeypatch.setattr(llvm, "_HELPER", tmp_path / "helper.py")

    return replace


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
def test_memory(monkeypatch):
    text = function_of(10_000_000)
    monkeypatch.setenv("NCC_MEMORY_GB", "0.3")
    with refuses(IRError, "big: ", "0.3 GB", "NCC_MEMORY_GB"):
        print_canonically(text, "big")
    assert b"@f" in print_canonically(GOOD)
    monkeypatch.delenv("NCC_MEMORY_GB")
    assert len(print_canonically(text)) > 10_000_000


def test_time(monkeypatch):
    print_canonically(GOOD)
    with monkeypatch.context() as patch:
        patch.setattr(llvm, "_SECONDS", 0.2)
        patch.setattr(llvm, "_SECONDS_PER_BYTE", 0.0)
        with refuses(IRError, "slow: ", "0.2 seconds"):
            print_canonically(function_of(30_000_000), "slow")
    assert b"@f" in print_canonically(GOOD)


@pytest.mark.parametrize("hangs", ["while True: pass", "import time; time.sleep(60)", "sys.stdin.buffer.read(2**30)"])
def test_a_helper_that_hangs_is_killed_and_replaced(monkeypatch, helper_is, hangs):
    helper_is(hangs)
    monkeypatch.setattr(llvm, "_SECONDS", 0.2)
    monkeypatch.setattr(llvm, "_SECONDS_PER_BYTE", 0.0)
    threads = threading.active_count()
    with refuses(IRError, "0.2 seconds"):
        print_canonically(function_of(1_000_000))  # more than a pipe holds
    assert threading.active_count() == threads
    assert llvm._helpers == []
    monkeypatch.undo()
    assert b"@f" in print_canonically(GOOD)


@pytest.mark.parametrize(
    ("answer", "noun"),
    [
        (b"\0" + (100).to_bytes(8, "little") + b"short", "crashes"),
        (b"\0\1", "crashes"),
        (b"", "crashes"),
        (b"\0" + (2**62).to_bytes(8, "little"), "NCC_OUTPUT_GB"),
        (b"\2" + bytes(8), "NCC_MEMORY_GB"),
    ],
    ids=["cut", "cut at once", "nothing", "endless", "memory"],
)
def test_answers_that_are_none(monkeypatch, helper_is, answer, noun):
    helper_is(
        f"import time\nsys.stdin.buffer.read(24 + {len(GOOD)})\nsys.stdout.buffer.write({answer!r})\n"
        f"sys.stdout.flush()\ntime.sleep({2 if len(answer) == 9 else 0})"
    )
    with refuses(IRError, "LLVM", noun):
        print_canonically(GOOD)
    monkeypatch.undo()
    assert b"@f" in print_canonically(GOOD)


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
@pytest.mark.parametrize(
    "code", ["open('/etc/passwd')", "open({here!r})", "open('/proc/self/environ')", "os.execv('/bin/sh', ['sh'])"]
)
def test_the_helper_reads_nothing_else(helper_is, code):
    helper_is("import os\n" + code.format(here=str(Path(__file__))))
    with refuses(IRError, "exit code 1", "PermissionError"):
        print_canonically(GOOD)


def test_the_helper_gets_no_passwords(monkeypatch, helper_is):
    monkeypatch.setenv("SECRET_TOKEN", "12345")
    helper_is("import os\nraise SystemExit(' '.join(os.environ))")
    with refuses(IRError, "LC_ALL") as caught:
        print_canonically(GOOD)
    assert "SECRET_TOKEN" not in str(caught.value)


def test_a_helper_that_does_not_start_is_no_verdict_on_a_module(helper_is):
    helper_is("raise ImportError('no LLVM here')", started="")
    unoptimized = read_module(GOOD.replace(b"{", b"#0 {", 1) + b"attributes #0 = { noinline optnone }\n")
    for ask in (lambda: print_canonically(GOOD), lambda: optimize_if_needed(unoptimized, Abstraction())):
        with refuses(NccError, "LLVM", "ImportError: no LLVM here") as caught:
            ask()
        assert not isinstance(caught.value, IRError)


def test_a_helper_starts_with_llvmlite_in_any_folder(tmp_path):
    (tmp_path / "llvmlite").symlink_to(Path(llvmlite.__file__).parent)
    code = f"from ncc.ir.reader.reader import print_canonically; print(print_canonically({GOOD!r}))"
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


def test_reading_survives_a_crash_and_says_where_the_direct_reader_stopped() -> None:
    with refuses(IRError, "deep:1:", "bracket"):
        read_module(DEADLY, name="deep")
    assert read_module(GOOD).num_statements == 2


def test_threads_take_turns() -> None:
    texts = [b"define void @f%d() {\n  ret void\n}\n" % i for i in range(50)]
    with ThreadPoolExecutor(8) as threads:
        printed = list(threads.map(print_canonically, texts))
    assert all(b"@f%d()" % i in text for i, text in enumerate(printed))


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("another_thread_waits", [False, True])
def test_a_forked_process_has_a_helper_of_its_own(another_thread_waits) -> None:
    print_canonically(GOOD)
    (helper,) = llvm._helpers
    with llvm._lock if another_thread_waits else nullcontext():
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # which ends a process that waits without end
            code = 1
            try:
                served = b"@f" in print_canonically(GOOD)
                code = 0 if served and llvm._helpers[0].process.pid != helper.process.pid else 2
                llvm.stop_helper()
            finally:
                os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert llvm._helpers == [helper]
    assert b"@f" in print_canonically(GOOD)


INRANGE = """\
@t = constant { [3 x i8*] } zeroinitializer

define i8** @f() {
  ret i8** getelementptr inbounds ({ [3 x i8*] }, { [3 x i8*] }* @t, i64 0, inrange i32 0, i64 2)
}
"""


def test_addresses_in_virtual_tables_are_read_as_older_versions_print_them() -> None:
    for indices in ("i64 0, inrange i32 0, i64 2", "i32 0, inrange i32 0, i32 2"):
        text = INRANGE.replace("i64 0, inrange i32 0, i64 2", indices)
        assert b"@t" in print_canonically(text.encode())
        assert read_module(text.encode(), verify=True).num_statements == 2
    wrong = INRANGE.replace("i64 2)", "?64 2)")
    column = wrong.splitlines()[3].index("?") + 1
    with refuses(IRError, f"x:4:{column}: "):
        print_canonically(wrong.encode(), "x")
