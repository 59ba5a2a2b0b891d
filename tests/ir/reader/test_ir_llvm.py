"""LLVM in a process of its own: its crashes are errors, and the next request is served."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ncc.errors import IRError
from tests.rooms import llvm, print_canonically, read_module

GOOD = b"define void @f() {\n  ret void\n}\n"
# so deep that LLVM's parser runs out of stack
DEADLY = b"@g = global i32 " + b"add (i32 " * 300_000


def test_reading_survives_a_crash_and_says_where_the_direct_reader_stopped() -> None:
    with pytest.raises(IRError, match=r"^deep:1:\d+: bracket that is never closed\n"):
        read_module(DEADLY, name="deep")
    assert read_module(GOOD).num_statements == 2


def test_one_helper_serves_many_requests() -> None:
    print_canonically(GOOD)
    (helper,) = llvm._helpers
    for _ in range(20):
        print_canonically(GOOD)
        with pytest.raises(IRError, match="expected top-level entity"):
            print_canonically(b"nonsense")
    assert llvm._helpers == [helper]
    assert helper.process.poll() is None


def test_threads_take_turns() -> None:
    texts = [b"define void @f%d() {\n  ret void\n}\n" % i for i in range(50)]
    with ThreadPoolExecutor(8) as threads:
        printed = list(threads.map(print_canonically, texts))
    assert all(b"@f%d()" % i in text for i, text in enumerate(printed))


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_a_helper_of_its_own() -> None:
    print_canonically(GOOD)
    (helper,) = llvm._helpers
    child = os.fork()
    if child == 0:
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_another_thread_waits_for_the_helper() -> None:
    print_canonically(GOOD)
    with llvm._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # which ends a process that waits without end
            code = 1
            try:
                code = 0 if b"@f" in print_canonically(GOOD) else 2
                llvm.stop_helper()
            finally:
                os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
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
    with pytest.raises(IRError, match=rf"^x:4:{column}: "):
        print_canonically(wrong.encode(), "x")
