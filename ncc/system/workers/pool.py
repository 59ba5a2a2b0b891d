"""Worker processes with memory and time limits: an input that crashes, hangs or fills one fails alone.

Workers serve one request after the other and are replaced when one ends. The parent keeps the time, since a thread of
the worker could not interrupt native code that holds Python's lock. Any number of threads may use a pool.
"""

import functools
import logging
import math
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ncc.errors import NccError, OutputError
from ncc.system.sandbox import confine as confinement
from ncc.system.sandbox.limits import GIGABYTE, fair_share
from ncc.system.sandbox.process import WatchedProcess, python_command, signal_name
from ncc.system.workers.failures import describe_defect, is_defect
from ncc.system.workers.worker import ParentPipe, limit_memory

ITEM_SECONDS = 300.0
"""Time for reading one file and what is done with it; compilers have their own, which is added."""

_GRACE_S, _TICK_S, _MESSAGE_S = 2.0, 1.0, 30.0
_MAX_STARTS = 3
_AHEAD = 8
"""Items per worker that may be done before their turn comes."""
_RESUME = "run the same command again to resume"
_Result = TypeVar("_Result")
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Task:
    """Items, named in messages, that one worker takes together; ``run`` yields after each, in order."""

    name: str
    items: Sequence[str]
    run: Callable[[Mapping[int, str]], Generator[None]]
    """Called in a worker with index → reason of items to leave out; what follows the items writes the result."""
    seconds: Sequence[float]
    """For each item, beyond the pool's."""

    def run_alone(self, index: int) -> None:
        """Run one item and nothing that follows the items."""
        with closing(self.run({other: "" for other in range(len(self.items)) if other != index})) as run:
            next(run)


class _Reply(NamedTuple):
    """Last reply to a request; "late" and "ended" have a reason as their value."""

    kind: str
    value: Any
    num_items: int
    is_first: bool
    """Whether the worker had served nobody before."""


class _Worker(WatchedProcess):
    """A process that serves requests; one that has served may have kept something of them."""

    def __init__(self, memory_bytes: int) -> None:
        command = python_command(f"from ncc.system.workers.pool import serve; serve({memory_bytes})")
        super().__init__(command, keep_messages=False, own_group=False)  # in our group, so that Ctrl-Z stops it too
        self._memory_bytes = memory_bytes
        self.has_served = self.is_idle = False

    def ask(self, request: tuple[Any, ...], seconds: Iterator[float]) -> _Reply:
        """Send a request; each of its replies has its time."""
        is_first, self.has_served, self.is_idle = not self.has_served, True, False
        with suppress(BrokenPipeError, TimeoutError):  # if it has died, the reply says so
            self.send(pickle.dumps(request), time.monotonic() + _MESSAGE_S)
        num_items = -1
        kind = "item"
        while kind == "item":
            kind, value = self.reply(next(seconds, math.inf))
            num_items += 1
        self.is_idle = kind in ("result", "error")
        return _Reply(kind, value, num_items, is_first)

    def reply(self, seconds: float = math.inf) -> tuple[str, Any]:
        """Return kind and value of the next reply."""
        left = seconds
        try:
            while not self.has_answer(min(left, _TICK_S)):
                left -= _TICK_S  # a longer tick is one in which all of us were stopped, as by Ctrl-Z
                if left <= 0:
                    raise TimeoutError
            # a worker is no stranger: it has the rights of this process
            reply: tuple[str, Any] = pickle.loads(
                self.receive(time.monotonic() + _MESSAGE_S + left, self._memory_bytes)
            )
        except TimeoutError:
            return "late", f"took longer than {seconds:g} s"
        except (EOFError, OSError):
            self.wait(_GRACE_S)
            return "ended", _describe_exit(self.end())
        return reply


def _describe_exit(exit_code: int) -> str:
    name = signal_name(exit_code)
    if name is None:
        return f"worker ended with exit code {exit_code}"
    return f"worker killed ({name})" + (", probably out of memory; try fewer --jobs" if name == "SIGKILL" else "")


class Pool:
    """Worker processes, started when a request needs one; use it as a context manager, or call `close`."""

    def __init__(self, jobs: int = 1, memory_bytes: int | None = None, seconds: float = ITEM_SECONDS) -> None:
        """Set the number of workers, the memory of each (default `fair_share`), and the time for a call or an item."""
        self._jobs = jobs
        self._memory_bytes = memory_bytes or fair_share(jobs)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._is_closed = False

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; calls that are under way fail."""
        with self._lock:
            self._is_closed = True
            for worker in self._busy:
                worker.process.terminate()
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close_stdin()
            worker.stop(_GRACE_S)

    def call(self, name: str, function: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
        """Call a function in a worker; function, arguments and result travel by pickle."""
        return self._call(name, self._seconds, function, *args, **kwargs)

    def _call(self, name: str, seconds: float, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        while True:
            reply = self._ask(name, (function, args, kwargs), [seconds])
            if reply.kind == "result":
                return reply.value
            if reply.kind == "error":
                raise reply.value
            if reply.kind != "memory" or reply.is_first:  # what earlier calls left may have been too much
                raise NccError(f"{name}: {reply.value}")

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
        with self._threads() as threads:
            for item in items:
                if self._jobs == 1 or runs_inline(item):
                    ahead.append(functools.partial(work, item))
                else:
                    ahead.append(threads.submit(self.call, name_of(item), work, item).result)
                if self._jobs == 1 or len(ahead) > _AHEAD * self._jobs:
                    yield ahead.popleft()
            yield from ahead

    def run(self, tasks: Sequence[Task]) -> Generator[None]:
        """Run tasks, yielding after each; closes the pool."""
        with self._threads() as threads:
            for future in as_completed([threads.submit(self._run, task) for task in tasks]):
                future.result()
                yield

    def _run(self, task: Task) -> None:
        failed: dict[int, str] = {}
        suspects: set[int | None] = set()
        while True:
            rest = [index for index in range(len(task.items)) if index not in failed]
            seconds = [self._seconds + task.seconds[index] for index in rest]
            reply = self._ask(task.name, (task.run, (failed,), {}), seconds)
            if reply.kind == "result":
                return
            if isinstance(reply.value, NccError):
                raise reply.value
            index = rest[reply.num_items] if reply.num_items < len(rest) else None
            if index is None and index in suspects:
                raise NccError(f"{task.name}: {reply.value}, twice, at no file; {_RESUME}")
            if index is not None:
                if reply.kind == "late" or index in suspects:
                    failed[index] = f"{task.items[index]}: {reply.value}"
                else:
                    try:
                        self._call(task.items[index], seconds[reply.num_items], task.run_alone, index)
                    except OutputError:
                        raise
                    except NccError as error:
                        failed[index] = str(error)
            suspects.add(index)

    @contextmanager
    def _threads(self) -> Iterator[ThreadPoolExecutor]:
        threads = ThreadPoolExecutor(self._jobs)
        try:
            yield threads
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            self.close()

    def _ask(self, name: str, request: tuple[Any, ...], seconds: Iterable[float]) -> _Reply:
        """Ask an idle worker or a new one, which is ended if it is not idle afterwards."""
        worker = self._take(name)
        try:
            return worker.ask(request, iter(seconds))
        finally:
            self._give_back(worker)

    def _take(self, name: str) -> _Worker:
        for _ in range(_MAX_STARTS):
            with self._lock:
                if self._is_closed:
                    raise NccError(f"{name}: the workers have been ended")
                confinement.warn_unconfined()
                try:
                    worker = self._idle.pop() if self._idle else _Worker(self._memory_bytes)
                except OSError as error:
                    raise NccError(f"workers can't be started: {error}; {_RESUME}") from error
                self._busy.add(worker)
            kind, reason = ("ready", None) if worker.has_served else worker.reply()
            if kind == "ready":
                return worker
            self._give_back(worker)
        raise NccError(f"workers can't be started: {reason}; {_RESUME}")

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            self._busy.discard(worker)
            if worker.is_idle and not self._is_closed:
                self._idle.append(worker)
                return
        worker.process.terminate()
        worker.stop(_GRACE_S)  # time to end a compiler that it runs


def serve(memory_bytes: int) -> None:
    """In a worker: answer requests until the parent has no more; a generator's items are answered one by one."""
    limit_memory(memory_bytes)
    logging.getLogger(confinement.__name__).setLevel(logging.ERROR)  # the parent has warned
    parent = ParentPipe()

    def reply(kind: str, value: Any = None) -> None:
        parent.send(pickle.dumps((kind, value)))

    reply("ready")
    while request := parent.receive():
        try:
            function, args, kwargs = pickle.loads(request)
            result = function(*args, **kwargs)
            if isinstance(result, Generator):
                for _ in result:
                    reply("item")
                result = None
            reply("result", result)
        except NccError as error:
            reply("error", error)
        except MemoryError:
            reply("memory", f"needs more memory than {memory_bytes / GIGABYTE:.3g} GB")
        except Exception as error:
            if is_defect(error):
                reply("defect", describe_defect(error))
            else:
                reply("error", type(error)(*error.args))


def run_inline(task: Task) -> None:
    """Run a task in this process."""
    for _ in task.run({}):
        pass


def run_on_executor(executor: Executor, tasks: Sequence[Task]) -> Generator[None]:
    """Run tasks on a caller's executor, which is not watched and stays open, yielding after each."""
    pending = {executor.submit(run_inline, task) for task in tasks}
    try:
        for future in as_completed(pending):
            future.result()
            yield
    except NccError:
        raise
    except Exception as error:
        raise NccError(f"a worker ended abruptly ({type(error).__name__}: {error}); {_RESUME}") from error
    finally:
        for future in pending:
            future.cancel()


@contextmanager
def cluster_executor(address: str | None, executor: Executor | None = None) -> Iterator[Executor | None]:
    """Open the Dask cluster whose scheduler has an address as an executor; without one, return ``executor``."""
    if address is None:
        yield executor
        return
    try:
        from distributed import Client

        client = Client(address, timeout="15s")
    except ImportError as error:
        raise NccError(
            "--scheduler needs dask.distributed: in ncc's checkout, pip install -c constraints.txt '.[cluster]'"
        ) from error
    except (OSError, ValueError) as error:
        raise NccError(f"no Dask scheduler answers at {address}: {error}") from error
    with client, client.get_executor(pure=False) as workers:
        yield workers
