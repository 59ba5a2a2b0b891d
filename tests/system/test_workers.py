"""Calls in worker processes: what they return and raise, and what becomes of one that dies, hangs or fills memory."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import ncc
from ncc.errors import CompileError, IRError, NccError
from tests.rooms import GIGABYTE, Pool
from tests.support.refuses import refuses


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def defect():
    return dict[str, str]()["nothing"]


def keep(num_bytes, kept=[]):  # noqa: B006 - what stays behind in a worker is the point
    kept.append(bytearray(num_bytes))
    return os.getpid()


@pytest.fixture
def workers():
    with Pool(1, GIGABYTE, 60) as some:
        yield some


def test_a_worker_serves_many_calls_and_one_that_ends_it_costs_itself(workers):
    (worker,) = {workers.call("a", os.getpid) for _ in range(3)}
    assert worker != os.getpid()
    with pytest.raises(NccError, match=r"^a: worker killed \(SIGKILL\)"):
        workers.call("a", kill)
    assert workers.call("b", len, "four") == 4


def test_a_call_has_so_much_time_and_memory(workers):
    with Pool(1, GIGABYTE, 1.0) as slow, refuses(NccError, "a: took longer than 1 s"):
        slow.call("a", time.sleep, 60)
    with refuses(NccError, "a: needs more memory than 1 GB"):
        workers.call("a", bytearray, 2 * GIGABYTE)


def test_what_calls_leave_behind_does_not_fail_the_next(workers):
    first = workers.call("a", keep, GIGABYTE * 6 // 10)
    assert workers.call("a", keep, GIGABYTE * 6 // 10) != first


def test_errors_come_as_they_were_raised(workers):
    with pytest.raises(IRError) as caught:
        workers.call("a", ncc.load_module, "define void @f() {\n  hello\n}\n")
    assert (caught.value.line, caught.value.column) == (2, 3)
    with pytest.raises(CompileError) as refused:
        workers.call("a", ncc.embed, b"int f(void) { return x; }", options=ncc.CompileOptions(language="c"))
    assert refused.value.errors
    with pytest.raises(NccError, match=r"^a: KeyError: 'nothing' at test_workers\.py:\d+; a defect of ncc"):
        workers.call("a", defect)
    with pytest.raises(FileNotFoundError):
        workers.call("a", os.listdir, "/no/such/folder")


def test_threads_have_a_worker_each(workers):
    meet = ThreadPoolExecutor(2)
    began = time.monotonic()
    first, second = meet.submit(workers.call, "a", keep, 1), meet.submit(workers.call, "b", keep, 1)
    assert first.result() and second.result()
    assert time.monotonic() - began < 60


def test_closing_ends_calls_that_are_under_way(workers):
    failed = []

    def call():
        try:
            workers.call("a", time.sleep, 60)
        except NccError as error:
            failed.append(str(error))

    thread = threading.Thread(target=call)
    thread.start()
    while not workers._busy:
        time.sleep(0.01)
    time.sleep(0.5)
    workers.close()
    thread.join(30)
    assert failed and failed[0].startswith("a: ")
    with pytest.raises(NccError, match="the workers were stopped"):
        workers.call("b", len, "")
