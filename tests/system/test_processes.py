"""Processes that are watched: talked to within limits, ended with all that they started, and with their parent."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.rooms import WatchedProcess, python_command, signal_name
from tests.support.processes import has_ended, wait_until

ECHO = (
    "from ncc.system.workers.worker import ParentPipe\n"
    "parent = ParentPipe()\nwhile (m := parent.receive()) is not None:\n    "
)


def _soon(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def _python(code: str) -> list[str]:
    return python_command(f"exec({code!r})")


def _close(process: WatchedProcess) -> None:
    assert process.process.stdin
    process.process.stdin.close()


def test_messages_go_there_and_back_whatever_is_printed():
    message = b"\0\xff\n" * 300_000  # more than a pipe holds
    with WatchedProcess(_python(f"{ECHO}print('noise'); parent.send(m[::-1])")) as process:
        for sent in (b"", message):
            process.forget_messages()
            process.send(sent, _soon())
            assert process.receive(_soon()) == sent[::-1]
            assert process.messages() == b"noise\n"
        _close(process)
        assert process.wait(60)
        assert process.end() == 0
        assert process.messages() == b"noise\n"


@pytest.mark.parametrize("told", ["by a signal", "by its pipe"])
def test_who_is_leaving_is_not_torn_out_of_it(told):
    code = "import atexit, time; atexit.register(lambda: (print('leaving'), time.sleep(1), print('left')));"
    with WatchedProcess(_python(f"{code}{ECHO}parent.send(m)")) as process:
        process.send(b"x", _soon())
        assert process.receive(_soon()) == b"x"
        if told == "by its pipe":
            _close(process)
        else:
            process.process.terminate()
        wait_until(lambda: bool(process.messages()))
        process.process.terminate()
        assert process.wait(60)
        assert process.messages() == b"leaving\nleft\n"


def test_who_hangs_is_noticed_and_who_ends_too():
    with WatchedProcess(_python("import time; time.sleep(600)")) as process:
        with pytest.raises(TimeoutError):
            process.receive(_soon(0.2))
        with pytest.raises(TimeoutError):
            process.send(bytes(10_000_000), _soon(0.2))
        assert not process.wait(0.1)
        assert not process.has_answer(0.1)
        assert signal_name(process.end()) == "SIGKILL"
        assert process.has_answer(0.1)
        with pytest.raises(EOFError):
            process.receive(_soon())
        with pytest.raises(BrokenPipeError):
            process.send(b"x", _soon())


def test_long_messages_are_cut_in_the_middle_and_one_beyond_all_measure_is_not_read():
    endless = _python("import sys; sys.stdout.buffer.write(b'\\xff' * 8)")
    with WatchedProcess(endless) as process, pytest.raises(EOFError):
        process.receive(_soon())
    code = "import sys; sys.stderr.write('a' * 200_000 + 'b')"
    with WatchedProcess(_python(code), stdout=subprocess.DEVNULL) as process:
        assert process.wait(60)
        assert len(process.messages()) == 200_001
        said = process.messages(1000)
    assert len(said) == 1000 + len(b"\n[...]\n") + 2**16
    assert said.endswith(b"ab")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes in /proc")
def test_what_it_started_ends_with_it():
    code = (
        "import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"{ECHO}parent.send(str(child.pid).encode())"
    )
    with WatchedProcess(_python(code)) as process:
        process.send(b"?", _soon())
        child = int(process.receive(_soon()))
        assert not has_ended(child)
    wait_until(lambda: has_ended(child))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("work", ["time.sleep(600)", "[None for _ in iter(int, 1)]"])
def test_a_worker_ends_with_its_parent_in_the_middle_of_its_work(work):
    worker = f"import os, time\n{ECHO}parent.send(str(os.getpid()).encode()); {work}"
    code = (
        "import time\nfrom ncc.system.sandbox.process import *\n"
        f"process = WatchedProcess({_python(worker)!r})\nprocess.send(b'x', time.monotonic() + 60)\n"
        "print(process.receive(time.monotonic() + 60).decode(), flush=True)\ntime.sleep(600)"
    )
    with subprocess.Popen(_python(code), stdout=subprocess.PIPE) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    wait_until(lambda: has_ended(pid))


def test_a_command_that_is_none_leaves_no_files_open():
    folder = Path("/proc/self/fd")
    before = len(os.listdir(folder)) if folder.exists() else 0  # noqa: PTH208
    with pytest.raises(OSError, match="No such file"):
        WatchedProcess(["/no/such/command"])
    if folder.exists():
        assert len(os.listdir(folder)) == before  # noqa: PTH208
