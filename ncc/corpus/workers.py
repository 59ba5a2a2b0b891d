"""Processes that count batches: a file that kills, hangs or fills one costs that file, not the build.

A worker says through a pipe which file it is at. When it dies, or is at a file for too long and is ended, the batch is
taken file by file by a fresh one; a file that does it again is written down as lost, and is left out from then on. The
parent keeps the time, since a thread of the worker could not interrupt native code that holds Python's lock.
"""

import json
import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Never

from ncc.corpus.batch import Batch, count_batch
from ncc.errors import NccError, OutputError
from ncc.runtime.failures import describe_failure
from ncc.runtime.limits import memory_limit

__all__ = ["FILE_SECONDS", "count_batches"]

FILE_SECONDS = 300.0
"""Time for reading and counting one file; compilers have their own, which is added."""

_GRACE_S = 2.0
_TICK_S = 1.0
_TRIES = 2
_MOST_FAILED_STARTS = 3


@dataclass
class _Worker:
    """A process and what it is doing: a batch, and the index of a file of it, None between files."""

    process: BaseProcess
    connection: Connection
    began: bool = False
    batch: Batch | None = None
    index: int | None = None
    since: float = 0.0


@dataclass(frozen=True)
class _End:
    """Why a worker ended: in words, and whether the file that it was at is surely to blame.

    Who is killed may have been the wrong one, and who runs out of memory may have filled it with files before.
    """

    reason: str
    certain: bool = False


def count_batches(
    batches: Sequence[Batch],
    jobs: int,
    *,
    file_seconds: float = FILE_SECONDS,
    memory_bytes: int | None = None,
) -> Generator[None]:
    """Makes the shards of some batches, yielding after each.

    Args:
        batches: What to count.
        jobs: Worker processes.
        file_seconds: Time that a file may take, its compilation not counted in.
        memory_bytes: What a worker may take; default NCC_MEMORY_GB, then the machine's memory by the workers, but not
            less than 4 GiB.

    Raises:
        OutputError: A shard can't be written.
        NccError: Workers can't be started, or end again and again at no file.
    """
    crew = _Crew(deque(batches), jobs, file_seconds, memory_bytes or _fair_share(jobs))
    try:
        yield from crew.work()
    finally:
        crew.close()


class _Crew:
    """The parent's side: hands out batches, listens, keeps the time, replaces who dies."""

    def __init__(self, queue: deque[Batch], jobs: int, file_seconds: float, memory_bytes: int) -> None:
        self._queue = queue
        self._file_seconds = file_seconds
        self._memory_bytes = memory_bytes
        self._ends: Counter[tuple[Any, int | None]] = Counter()
        self._failed_starts = 0
        self._workers: list[_Worker] = []
        self._jobs = jobs

    def work(self) -> Iterator[None]:
        """Yields after each batch."""
        while self._queue or any(worker.batch for worker in self._workers):
            busy = sum(worker.batch is not None for worker in self._workers)
            while len(self._workers) < min(self._jobs, busy + len(self._queue)):
                self._workers.append(_start(self._memory_bytes))
            for worker in self._workers:
                if worker.began and worker.batch is None and self._queue:
                    self._give(worker, self._queue.popleft())
            for worker in self._speaking():
                if self._listen(worker):
                    yield
            for worker in [worker for worker in self._workers if self._left(worker) <= 0]:
                self._overdue(worker)

    def close(self) -> None:
        """Ends all workers, in the middle of a file too."""
        for worker in self._workers:
            worker.connection.close()
            if worker.batch:
                worker.process.terminate()
        for worker in self._workers:
            _end(worker)
        self._workers = []

    def _give(self, worker: _Worker, batch: Batch) -> None:
        worker.batch, worker.index, worker.since = batch, None, time.monotonic()
        with suppress(OSError):  # it has just died; its pipe's end says so
            worker.connection.send(batch)

    def _left(self, worker: _Worker) -> float:
        """Seconds that a worker still has for its file."""
        if worker.batch is None or worker.index is None:
            return float("inf")
        return worker.since + _allowed(worker.batch, worker.index, self._file_seconds) - time.monotonic()

    def _speaking(self) -> list[_Worker]:
        """Those that have something to say, or are dead; none once somebody's time is up."""
        timeout_s = min(_TICK_S, *(max(0.0, self._left(worker)) for worker in self._workers))
        began = time.monotonic()
        ready = wait([worker.connection for worker in self._workers], timeout_s)
        # while all of us were stopped, as by Ctrl-Z, nobody's time went by
        stopped_s = time.monotonic() - began - timeout_s
        if stopped_s > _TICK_S:
            for worker in self._workers:
                worker.since += stopped_s
        return [worker for worker in self._workers if worker.connection in ready]

    def _listen(self, worker: _Worker) -> bool:
        """Takes one message, or a death; says whether a batch is done."""
        try:
            kind, value = json.loads(worker.connection.recv_bytes())
        except (EOFError, OSError):
            worker.process.join(_GRACE_S)
            self._replace(worker, _End(_last_words(worker.process.exitcode)))
            return False
        if kind == "at":
            worker.index, worker.since = value, time.monotonic()
        elif kind == "ready":
            worker.began, self._failed_starts = True, 0
        elif kind == "done":
            worker.batch = worker.index = None
            return True
        elif kind == "output":
            raise OutputError(value)
        elif kind == "error":
            raise NccError(value)
        else:
            assert worker.batch is not None
            self._replace(worker, _End(value, certain=worker.batch.lost() is not None))
        return False

    def _overdue(self, worker: _Worker) -> None:
        assert worker.batch is not None
        assert worker.index is not None
        allowed = _allowed(worker.batch, worker.index, self._file_seconds)
        self._replace(worker, _End(f"took longer than {allowed:g} s", certain=True))

    def _replace(self, worker: _Worker, end: _End) -> None:
        """Another worker in place of one that ended, and what it was doing back into the queue."""
        worker.process.terminate()
        _end(worker)
        self._workers.remove(worker)
        if worker.batch:
            self._blame(worker.batch, worker.index, end)
            self._queue.appendleft(worker.batch)
        elif not worker.began:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise NccError(f"workers can't be started: {end.reason}; start again to go on where it stopped")

    def _blame(self, batch: Batch, index: int | None, end: _End) -> None:
        """Writes down that a worker ended over a batch, and the file where that is clear."""
        self._ends[batch.shard, index] += 1
        again = self._ends[batch.shard, index] >= _TRIES
        if index is not None and (end.certain or again):
            batch.lose({index: f"{batch.files[index].path}: {end.reason}"})
        elif again:
            raise NccError(f"{batch.shard}: {end.reason}, twice, at no file; start again to go on where it stopped")
        else:
            batch.lose({})


def _allowed(batch: Batch, index: int, file_seconds: float) -> float:
    """Seconds for a file: compilers end themselves, each attempt's and its header's."""
    compiling = sum(options.timeout_s * (2 if header else 1) for options, header in batch.files[index].attempts)
    return file_seconds + compiling


def _last_words(exit_code: int | None) -> str:
    if exit_code is None or exit_code >= 0:
        return f"its worker ended with exit code {exit_code}"
    with suppress(ValueError):
        name = signal.Signals(-exit_code).name
        perhaps = ", for want of memory perhaps" if name == "SIGKILL" else ""
        return f"its worker was killed by signal {-exit_code} ({name}){perhaps}"
    return f"its worker was killed by signal {-exit_code}"


def _start(memory_bytes: int) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, memory_bytes), name="ncc corpus")
    try:
        process.start()
    except OSError as error:
        raise NccError(f"a worker can't be started: {error}; start again to go on where it stopped") from error
    theirs.close()  # so that ours ends when the worker does
    return _Worker(process, ours)


def _end(worker: _Worker) -> None:
    worker.process.join(_GRACE_S)  # time to end a compiler that it runs
    if worker.process.exitcode is None:
        worker.process.kill()
        worker.process.join()
    worker.process.close()
    worker.connection.close()


def _fair_share(jobs: int) -> int:
    """What the user allows one process, else the machine's memory by the number of workers, if that is enough."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # systems that don't tell
        physical = 0
    return memory_limit(physical // jobs, bytes_for_each=1)


# ---- in a worker


def _serve(connection: Connection, memory_bytes: int) -> None:
    """Counts the batches that come through the pipe, until it ends."""
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends its workers
    _limit(memory_bytes)
    _end_with_parent()

    def tell(kind: str, value: int | str | None = None) -> None:
        try:
            connection.send_bytes(json.dumps((kind, value)).encode())
        except OSError:  # the parent has gone
            _leave()

    tell("ready")
    while True:
        try:
            batch = connection.recv()
        except (EOFError, OSError):
            return
        try:
            count_batch(batch, at=lambda index: tell("at", index))
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


def _leave(*_: object) -> Never:
    """Ends a worker from inside, which ends the compiler that it runs."""
    sys.exit(1)


def _limit(memory_bytes: int) -> None:
    """Has the system refuse memory above a limit, which raises, and write no image of a process that crashes."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in ((resource.RLIMIT_DATA, memory_bytes), (resource.RLIMIT_CORE, 0)):
        soft, hard = resource.getrlimit(what)
        bounds = [bound for bound in (soft, hard, most) if bound != resource.RLIM_INFINITY]
        with suppress(ValueError, OSError):  # macOS knows limits that it refuses to set
            resource.setrlimit(what, (min(bounds), hard))


def _end_with_parent() -> None:
    """Ends the worker when the parent was killed, which it would not notice in the middle of a batch."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_S)  # as long as in `_end`
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
