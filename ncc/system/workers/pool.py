"""Worker processes with memory and time limits: an input that crashes, hangs or fills one fails alone.

Workers serve requests in order and are replaced when they end. The parent measures time, since a thread of the worker
could not interrupt native code that holds Python's lock. Any number of threads may use a pool.
"""

import functools
import math
import pickle
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from ncc.errors import NccError, OutputError
from ncc.system.sandbox.confine import warn_unconfined
from ncc.system.sandbox.limits import memory_limit, physical_memory
from ncc.system.sandbox.process import WatchedProcess, python_command, signal_name
from ncc.system.workers.failures import failure_reason

ITEM_SECONDS = 300.0
"""Time limit for reading and processing one file, in addition to that of compilers."""

_GRACE_S, _TICK_S, _MESSAGE_S = 2.0, 1.0, 30.0
_MAX_TRIES = 3
_AHEAD = 8
"""Items per worker that may be finished ahead of their order."""
_RESUME = "run the same command again to resume"
_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Batch(ABC):
    """Items with a ``path`` that one worker reads in order into one file."""

    items: Sequence[Any]
    file: Path
    seconds: float
    """Time for an item and for writing, in addition to the pool's."""

    @abstractmethod
    def read(self, item: Any) -> Any:
        """Read an item; called in a worker, as is `write`."""

    @abstractmethod
    def write(self, outcomes: Sequence[tuple[Any, str | None]]) -> None:
        """Write the file with the content of each item, or None and the reason."""

    def run(self, failed: Mapping[int, str]) -> Generator[None]:
        """Read the items except those that failed before (index → reason), yielding after each; write the file."""
        outcomes: list[tuple[Any, str | None]] = []
        for index, item in enumerate(self.items):
            result, reason = None, failed.get(index)
            if index not in failed:
                try:
                    result = self.read(item)
                except MemoryError:  # the pool tries the item alone
                    raise
                except Exception as error:
                    reason = failure_reason(item.path, error)
                yield
            outcomes.append((result, reason))
        self.write(outcomes)

    def run_alone(self, index: int) -> None:
        """Read one item and write nothing."""
        next(self.run({other: "" for other in range(len(self.items)) if other != index}))


class _Reply(NamedTuple):
    """The last reply to a request: a "result", an "error" that is raised, or another kind with a reason."""

    kind: str
    value: Any
    num_items: int


class _Worker(WatchedProcess):
    """A process that serves requests, and may keep something in memory after each."""

    def __init__(self, memory_bytes: int) -> None:
        command = python_command(f"from ncc.system.workers.worker import serve; serve({memory_bytes})")
        super().__init__(command, is_attached=True)  # so that Ctrl-Z also stops it
        self._memory_bytes = memory_bytes
        self.is_new, self.is_idle = True, False

    def ask(self, request: tuple[Any, ...], seconds: float) -> _Reply:
        """Send a request, and wait as long for each of its replies."""
        is_new, self.is_new, self.is_idle = self.is_new, False, False
        if is_new and (ready := self._reply(math.inf))[0] != "ready":
            return _Reply("retry", ready[1], 0)
        with suppress(OSError):  # if it has died, the reply reports it
            self.send(pickle.dumps(request), time.monotonic() + _MESSAGE_S)
        num_items = 0
        while (reply := self._reply(seconds))[0] == "item":
            num_items += 1
        kind, value = reply
        self.is_idle = kind in ("result", "error")
        is_full = kind == "memory" and not is_new  # memory that earlier requests left may have been too much
        return _Reply("retry" if is_full else kind, value, num_items)

    def _reply(self, seconds: float) -> tuple[str, Any]:
        """Return kind and value of the next reply."""
        left = seconds
        try:
            while not self.has_answer(min(left, _TICK_S)):
                left -= _TICK_S  # a longer tick means that all processes were stopped, as by Ctrl-Z
                if left <= 0:
                    raise TimeoutError
            message = self.receive(time.monotonic() + _MESSAGE_S + left, self._memory_bytes)
        except TimeoutError:
            return "late", f"took longer than {seconds:g} s"
        except (EOFError, OSError):
            self.wait(_GRACE_S)
            code = self.end()
            name = signal_name(code)
            hint = ", probably out of memory; try fewer --jobs" if name == "SIGKILL" else ""
            return "ended", f"worker killed ({name}){hint}" if name else f"worker ended with exit code {code}"
        return cast(tuple[str, Any], pickle.loads(message))  # a worker is trusted: it has the same rights

    def leave(self) -> None:
        """End it, after time to end a compiler that it runs."""
        self.terminate()
        self.stop(_GRACE_S)


class Pool(AbstractContextManager["Pool"]):
    """Worker processes, started when a request needs one; use it as a context manager, or call `close`."""

    def __init__(self, jobs: int = 1, memory_bytes: int | None = None, seconds: float = ITEM_SECONDS) -> None:
        """Set the number of workers, the memory of each (default: an equal share), and time for a call or an item."""
        self._jobs = jobs
        self._memory_bytes = memory_bytes or memory_limit(physical_memory() // jobs)
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(jobs)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_closed = False

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; running calls fail."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            for worker in (*self._busy, *self._idle):
                worker.terminate()
        while self._idle:
            self._idle.pop().leave()

    def call(self, name: str, function: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
        """Call a function in a worker; function, arguments and result travel by pickle."""
        reply = self._ask(name, (function, args, kwargs), self._seconds)
        if reply.kind == "result":
            return cast(_Result, reply.value)
        raise reply.value if reply.kind == "error" else NccError(f"{name}: {reply.value}")

    def in_order(
        self,
        items: Iterable[_Item],
        work: Callable[[_Item], _Result],
        *,
        name_of: Callable[[_Item], str],
        runs_inline: Callable[[_Item], bool],
    ) -> Generator[Callable[[], _Result]]:
        """Yield for each item, in order, a function that returns its result or raises; closes the pool."""
        ahead: deque[Callable[[], _Result]] = deque()
        with self:
            for item in items:
                if self._jobs == 1 or runs_inline(item):
                    ahead.append(functools.partial(work, item))
                else:
                    ahead.append(self._threads.submit(self.call, name_of(item), work, item).result)
                if self._jobs == 1 or len(ahead) > _AHEAD * self._jobs:
                    yield ahead.popleft()
            yield from ahead

    def run(self, batches: Sequence[Batch], progress: Callable[[str], None] | None = None) -> None:
        """Run the batches whose files are missing; closes the pool."""
        missing = [batch for batch in batches if not batch.file.exists()]
        with self:
            futures = [self._threads.submit(self._run, batch) for batch in missing]
            for done, future in enumerate(as_completed(futures), len(batches) - len(missing) + 1):
                future.result()
                if progress:
                    progress(f"{done} of {len(batches)} batches")

    def _run(self, batch: Batch) -> None:
        """Run a batch until it ends; the first item without an answer is the cause if it fails alone or again."""
        failed: dict[int, str] = {}
        suspects: set[int] = set()
        seconds = self._seconds + batch.seconds
        while True:
            rest = [index for index in range(len(batch.items)) if index not in failed]
            reply = self._ask(str(batch.file), (batch.run, (failed,), {}), seconds)
            if reply.kind == "result":
                return
            if isinstance(reply.value, NccError):
                raise reply.value
            index = rest[reply.num_items] if reply.num_items < len(rest) else -1
            if index < 0 and index in suspects:
                raise NccError(f"{batch.file}: {reply.value}, twice, after its last file; {_RESUME}")
            path = batch.items[index].path
            if index >= 0 and reply.kind != "late" and index not in suspects:
                reply = self._ask(path, (batch.run_alone, (index,), {}), seconds)
                if isinstance(reply.value, OutputError):
                    raise reply.value
            suspects.add(index)
            if index >= 0 and reply.kind != "result":
                failed[index] = f"{path}: {reply.value}"

    def _ask(self, name: str, request: tuple[Any, ...], seconds: float) -> _Reply:
        """Ask an idle worker, or a new one, which is ended unless it is idle afterwards."""
        for num_tries in range(_MAX_TRIES):
            with self._lock:
                if self._is_closed:
                    raise NccError(f"{name}: the workers were stopped")
                warn_unconfined()
                try:
                    worker = self._idle.pop() if self._idle and not num_tries else _Worker(self._memory_bytes)
                except OSError as error:
                    raise NccError(f"workers can't be started: {error}; {_RESUME}") from error
                self._busy.add(worker)
            try:
                reply = worker.ask(request, seconds)
            finally:
                with self._lock:
                    self._busy.discard(worker)
                    is_kept = worker.is_idle and not self._is_closed
                    self._idle += [worker] if is_kept else []
                if not is_kept:
                    worker.leave()
            if reply.kind != "retry":
                return reply
        raise NccError(f"workers can't be started: {reply.value}; {_RESUME}")
