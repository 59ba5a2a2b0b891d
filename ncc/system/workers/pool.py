"""Calls in worker processes with memory and time limits: if an input crashes, hangs or fills one, its call fails.

Worker processes serve one call after the other and are replaced when one ends. Any number of threads may call.
"""

import functools
import logging
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ncc.errors import NccError
from ncc.system.sandbox import confine as confinement
from ncc.system.sandbox.limits import GIGABYTE, fair_share
from ncc.system.sandbox.process import WatchedProcess, last_words, python_command
from ncc.system.workers.failures import describe_failure, is_defect
from ncc.system.workers.worker import Parent, limit_memory

_GRACE_S = 2.0
_AHEAD = 8
"""Items a worker that may be done before their turn to be told."""
_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


class _Worker(WatchedProcess):
    """A process that serves calls.

    Attributes:
        has_served: Whether it may have kept something of earlier calls.
    """

    def __init__(self, memory_bytes: int) -> None:
        command = python_command(f"from ncc.system.workers.pool import serve; serve({memory_bytes})")
        super().__init__(command, keep_messages=False, own_group=False)
        self.has_served = False


class Workers:
    """Worker processes, started when a call needs one; use it as a context manager, or call `close`."""

    def __init__(self, memory_bytes: int, seconds: float) -> None:
        """Sets the limits.

        Args:
            memory_bytes: What each may take.
            seconds: Time for a call.
        """
        self._memory_bytes = memory_bytes
        self._seconds = seconds
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_closed = False

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all, in the middle of a call too: that fails."""
        with self._lock:
            self._is_closed = True
            for worker in self._busy:
                worker.process.terminate()
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.hang_up()
            worker.stop(_GRACE_S)

    def call(self, name: str, function: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
        """Calls a function in a worker; function, arguments and result travel by pickle.

        Raises:
            NccError: The function raises it, the worker ended, or the time or memory did not suffice.
        """
        request = pickle.dumps((function, args, kwargs))
        while True:
            worker = self._take(name)
            has_served, worker.has_served = worker.has_served, True
            answered = False
            try:
                fine, answer = self._ask(worker, name, request)
                answered = fine or not isinstance(answer, MemoryError)
            finally:
                self._give_back(worker, end=not answered)
            if fine:
                return answer
            if not isinstance(answer, MemoryError):
                raise answer
            if not has_served:  # else what earlier calls left may have been too much
                raise NccError(f"{name}: needs more memory than {self._memory_bytes / GIGABYTE:.3g} GB")

    def _ask(self, worker: _Worker, name: str, request: bytes) -> tuple[bool, Any]:
        deadline = time.monotonic() + self._seconds
        try:
            worker.send(request, deadline)
            # a worker is no stranger: it has the rights of this process
            fine, answer = pickle.loads(worker.receive(deadline, longest=self._memory_bytes))
        except TimeoutError as error:
            raise NccError(f"{name}: took longer than {self._seconds:g} s") from error
        except (EOFError, OSError) as error:
            worker.ends_within(_GRACE_S)
            raise NccError(f"{name}: {last_words(worker.end())}") from error
        if not fine and is_defect(answer) and not isinstance(answer, NccError):
            raise NccError(f"{name}: {answer}")
        return fine, answer

    def _take(self, name: str) -> _Worker:
        with self._lock:
            if self._is_closed:
                raise NccError(f"{name}: the workers have been ended")
            confinement.tell_unconfined()
            try:
                worker = self._idle.pop() if self._idle else _Worker(self._memory_bytes)
            except OSError as error:
                raise NccError(f"{name}: a worker can't be started: {error}") from error
            self._busy.add(worker)
            return worker

    def _give_back(self, worker: _Worker, *, end: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
            if not end and not self._is_closed:
                self._idle.append(worker)
                return
        worker.process.terminate()
        worker.stop(_GRACE_S)  # time to end a compiler that it runs


def in_order(
    items: Iterable[_Item],
    work: Callable[[_Item], _Result],
    *,
    jobs: int,
    seconds: float,
    name_of: Callable[[_Item], str],
    is_for_us: Callable[[_Item], bool],
) -> Generator[Callable[[], _Result]]:
    """For each item, in order, what returns its result or raises why there is none.

    Args:
        items: Taken as workers get free, so that there may be any number.
        work: A function of a module, or a partial of one, where there is more than one job.
        jobs: Worker processes; one job is done in this one.
        seconds: Time for an item in a worker.
        name_of: What messages call an item.
        is_for_us: Whether an item can't be sent to a worker.
    """
    if jobs == 1:
        yield from (functools.partial(work, item) for item in items)
        return
    workers = Workers(fair_share(jobs), seconds)
    threads = ThreadPoolExecutor(jobs)
    ahead: deque[Callable[[], _Result]] = deque()
    try:
        for item in items:
            if is_for_us(item):
                ahead.append(functools.partial(work, item))
            else:
                ahead.append(threads.submit(workers.call, name_of(item), work, item).result)
            if len(ahead) > _AHEAD * jobs:
                yield ahead.popleft()
        while ahead:
            yield ahead.popleft()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        workers.close()


def serve(memory_bytes: int) -> None:
    """In a worker: makes the calls that the parent sends, until it has no more."""
    limit_memory(memory_bytes)
    logging.getLogger(confinement.__name__).setLevel(logging.ERROR)  # the parent has told it
    parent = Parent()
    while request := parent.receive():
        try:
            function, args, kwargs = pickle.loads(request)
            answer = pickle.dumps((True, function(*args, **kwargs)))
        except NccError as error:
            answer = pickle.dumps((False, error))
        except Exception as error:
            told = RuntimeError(describe_failure(error)) if is_defect(error) else type(error)(*error.args)
            answer = pickle.dumps((False, told))
        parent.send(answer)
