"""Worker processes for tasks of many items: an item that crashes, hangs or fills one fails alone.

A worker says which item it is at. When it dies, or is at an item for too long and is ended, its task is taken item by
item by a fresh one; an item that does it again is written down as lost, and is left out from then on. The parent keeps
the time, since a thread of the worker could not interrupt native code that holds Python's lock.
"""

import json
import logging
import pickle
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ncc.errors import NccError, OutputError
from ncc.system.files.models import write_atomically
from ncc.system.sandbox import confine as confinement
from ncc.system.sandbox.limits import fair_share
from ncc.system.sandbox.process import WatchedProcess, last_words, python_command, wait_for_answers
from ncc.system.workers.failures import describe_failure
from ncc.system.workers.worker import Parent, limit_memory

ITEM_SECONDS = 300.0
"""Time for reading one file and what is done with it; compilers have their own, which is added."""

_GRACE_S = 2.0
_TICK_S = 1.0
_MESSAGE_S = 30.0
_TRIES = 2
_MOST_FAILED_STARTS = 3


class CrewTask(ABC):
    """Some items that a worker takes together; it travels to the worker by pickle."""

    @property
    @abstractmethod
    def record(self) -> Path:
        """The file that names the items that are lost."""

    @abstractmethod
    def run(self, at: Callable[[int | None], None]) -> None:
        """Does the work, but for items that are lost.

        Args:
            at: To be called with the index of each item before it is begun, and with None when all are read.

        Raises:
            NccError: All tasks must be given up, and this is why.
            MemoryError: All items together need too much.
        """

    @abstractmethod
    def seconds_for(self, index: int) -> float:
        """Time for an item, beyond that of any."""

    @abstractmethod
    def name_of(self, index: int | None) -> str:
        """What messages call an item; None for the whole task."""

    def lost(self) -> dict[int, str] | None:
        """Index → reason, of items that are left out; None where no process died over this task so far."""
        try:
            found = json.loads(self.record.read_bytes())
            return {int(index): str(reason) for index, reason in found.items()}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, AttributeError, RecursionError):  # not ours: items are tried one by one again
            return {}

    def lose(self, reasons: Mapping[int, str]) -> None:
        """Has items taken one by one from now on, and adds to those that are left out.

        Raises:
            OutputError: That can't be written down.
        """
        known = {**(self.lost() or {}), **reasons}
        write_atomically(self.record, json.dumps(known).encode())


@dataclass(eq=False)
class _Worker:
    """A process and what it is doing: a task by its number, and the index of an item of it, None between items."""

    process: WatchedProcess
    began: bool = False
    task: int | None = None
    index: int | None = None
    since: float = 0.0


@dataclass(frozen=True)
class _End:
    """Why a worker ended: in words, and whether the item that it was at is surely to blame.

    Who is killed may have been the wrong one, and who runs out of memory may have filled it with items before.
    """

    reason: str
    certain: bool = False


def work_through(
    tasks: Sequence[CrewTask], jobs: int, *, item_seconds: float = ITEM_SECONDS, memory_bytes: int | None = None
) -> Generator[None]:
    """Has tasks done by worker processes, yielding after each.

    Args:
        tasks: What to do.
        jobs: Worker processes.
        item_seconds: Time that an item may take, beside its own.
        memory_bytes: What a worker may take; default NCC_MEMORY_GB, then the machine's memory by the workers, but not
            less than 4 GiB.

    Raises:
        NccError: A task can't be done, or workers can't be started, or end again and again at no item.
    """
    crew = _Crew(tasks, jobs, item_seconds, memory_bytes or fair_share(jobs))
    try:
        yield from crew.work()
    finally:
        crew.close()


def run_unwatched(task: CrewTask) -> None:
    """Does a task, and item by item if all of them together need too much memory, where nobody watches the process."""
    try:
        task.run(lambda _: None)
    except MemoryError:
        task.lose({})
        task.run(lambda _: None)


def work_by(executor: Executor, tasks: Sequence[CrewTask]) -> Generator[None]:
    """Has tasks done on a caller's executor, which stays open; yields after each.

    Args:
        executor: It is not watched.
        tasks: Item by item where all items of one together need too much memory.

    Raises:
        NccError: A task raises it, or its worker ended.
    """
    pending: set[Future[None]] = {executor.submit(run_unwatched, task) for task in tasks}
    try:
        for future in as_completed(pending):
            future.result()
            yield
    except BaseException as error:
        for future in pending:
            future.cancel()
        if isinstance(error, Exception) and not isinstance(error, NccError):
            reason = f"{type(error).__name__}: {error}"
            raise NccError(f"a worker ended abruptly ({reason}); start again to go on where it stopped") from error
        raise


class _Crew:
    """The parent's side: hands out tasks, listens, keeps the time, replaces who dies."""

    def __init__(self, tasks: Sequence[CrewTask], jobs: int, item_seconds: float, memory_bytes: int) -> None:
        self._tasks = tasks
        self._queue = deque(range(len(tasks)))
        self._jobs = jobs
        self._item_seconds = item_seconds
        self._memory_bytes = memory_bytes
        self._ends: Counter[tuple[int, int | None]] = Counter()
        self._failed_starts = 0
        self._workers: list[_Worker] = []

    def work(self) -> Iterator[None]:
        """Yields after each task."""
        while self._queue or any(worker.task is not None for worker in self._workers):
            busy = sum(worker.task is not None for worker in self._workers)
            while len(self._workers) < min(self._jobs, busy + len(self._queue)):
                self._workers.append(_start(self._memory_bytes))
            for worker in self._workers:
                if worker.began and worker.task is None and self._queue:
                    self._give(worker, self._queue.popleft())
            for worker in self._speaking():
                if self._listen(worker):
                    yield
            for worker in [worker for worker in self._workers if self._left(worker) <= 0]:
                self._replace(worker, _End(f"took longer than {self._allowed(worker):g} s", certain=True))

    def close(self) -> None:
        """Ends all workers, in the middle of an item too."""
        for worker in self._workers:
            worker.process.hang_up()
            if worker.task is not None:
                worker.process.process.terminate()
        for worker in self._workers:
            worker.process.stop(_GRACE_S)  # time to end a compiler that it runs
        self._workers = []

    def _give(self, worker: _Worker, task: int) -> None:
        worker.task, worker.index, worker.since = task, None, time.monotonic()
        with suppress(BrokenPipeError, TimeoutError):  # it has just died; its pipe's end says so
            worker.process.send(pickle.dumps(self._tasks[task]), time.monotonic() + _MESSAGE_S)

    def _allowed(self, worker: _Worker) -> float:
        """Seconds for what a worker is at."""
        if worker.task is None or worker.index is None:
            return float("inf")
        return self._item_seconds + self._tasks[worker.task].seconds_for(worker.index)

    def _left(self, worker: _Worker) -> float:
        return worker.since + self._allowed(worker) - time.monotonic()

    def _speaking(self) -> list[_Worker]:
        """Those that have something to say, or are dead; none once somebody's time is up."""
        timeout_s = min(_TICK_S, *(max(0.0, self._left(worker)) for worker in self._workers))
        began = time.monotonic()
        ready = wait_for_answers([worker.process for worker in self._workers], timeout_s)
        # while all of us were stopped, as by Ctrl-Z, nobody's time went by
        stopped_s = time.monotonic() - began - timeout_s
        if stopped_s > _TICK_S:
            for worker in self._workers:
                worker.since += stopped_s
        return [worker for worker in self._workers if worker.process in ready]

    def _listen(self, worker: _Worker) -> bool:
        """Takes one message, or a death; says whether a task is done."""
        try:
            kind, value = json.loads(worker.process.receive(time.monotonic() + _MESSAGE_S))
        except (EOFError, OSError):
            worker.process.ends_within(_GRACE_S)
            self._replace(worker, _End(last_words(worker.process.end())))
            return False
        if kind == "at":
            worker.index, worker.since = value, time.monotonic()
        elif kind == "ready":
            worker.began, self._failed_starts = True, 0
        elif kind == "done":
            worker.task = worker.index = None
            return True
        elif kind == "output":
            raise OutputError(value)
        elif kind == "error":
            raise NccError(value)
        else:
            assert worker.task is not None
            self._replace(worker, _End(value, certain=self._tasks[worker.task].lost() is not None))
        return False

    def _replace(self, worker: _Worker, end: _End) -> None:
        """Another worker in place of one that ended, and what it was doing back into the queue."""
        worker.process.process.terminate()
        worker.process.stop(_GRACE_S)
        self._workers.remove(worker)
        if worker.task is not None:
            self._blame(worker.task, worker.index, end)
            self._queue.appendleft(worker.task)
        elif not worker.began:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise NccError(f"workers can't be started: {end.reason}; start again to go on where it stopped")

    def _blame(self, number: int, index: int | None, end: _End) -> None:
        """Writes down that a worker ended over a task, and the item where that is clear."""
        task = self._tasks[number]
        self._ends[number, index] += 1
        again = self._ends[number, index] >= _TRIES
        if index is not None and (end.certain or again):
            task.lose({index: f"{task.name_of(index)}: {end.reason}"})
        elif again:
            raise NccError(
                f"{task.name_of(None)}: {end.reason}, twice, at no file; start again to go on where it stopped"
            )
        else:
            task.lose({})


def _start(memory_bytes: int) -> _Worker:
    confinement.tell_unconfined()
    command = python_command(f"from ncc.system.workers.crew import serve; serve({memory_bytes})")
    try:
        # in our group, so that Ctrl-Z stops them too
        return _Worker(WatchedProcess(command, keep_messages=False, own_group=False))
    except OSError as error:
        raise NccError(f"a worker can't be started: {error}; start again to go on where it stopped") from error


def serve(memory_bytes: int) -> None:
    """In a worker: does the tasks that the parent sends, until it has no more."""
    limit_memory(memory_bytes)
    logging.getLogger(confinement.__name__).setLevel(logging.ERROR)  # the parent has told it
    parent = Parent()

    def tell(kind: str, value: Any = None) -> None:
        parent.send(json.dumps((kind, value)).encode())

    tell("ready")
    while request := parent.receive():
        try:
            task: CrewTask = pickle.loads(request)
            task.run(lambda index: tell("at", index))
        except OutputError as error:
            tell("output", str(error))
        except NccError as error:
            tell("error", str(error))
        except MemoryError:
            tell("broken", "needs more memory than it may take")
        except Exception as error:
            tell("broken", describe_failure(error))
        else:
            tell("done")
