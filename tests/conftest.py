"""Killing commands at random moments and running them on until they end, for every test that asks what is left.

And how many processes share a run of all tests; and no test of examples that are drawn looks at the clock.
"""

import os
import random
import runpy
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import hypothesis
import pytest
import torch

from tests.support.tiny import Tiny, tiny_world

hypothesis.settings.register_profile("ncc", deadline=None)
hypothesis.settings.load_profile("ncc")

COMMAND = Path(__file__).parent / "samples" / "command.py"
PRELOADED = [
    "torch",
    "torch._dynamo",
    "sklearn.ensemble",
    "ncc.cli.main",
    "ncc.learning.embedding",
    "ncc.learning.corpus",
    "ncc_lab.frame",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write answers that differ from the kept ones, and fail"
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes share all tests, as each takes a gigabyte; a few tests, or a debugger, have one to themselves."""
    return min(2, os.cpu_count() or 1) if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


@dataclass
class Killer:
    """Runs ``ncc`` with arguments, kills its whole process group at random moments, and runs it again until it ends.

    Half of the moments are drawn over the time that an undisturbed run took, half are those at which the folder that
    it writes to has changed for the third time, say: the moments of writing are short, and the dangerous ones.
    """

    log: Path
    rng: random.Random = field(default_factory=lambda: random.Random(204))
    kills: int = 0

    def run(self, *arguments: object, environment: Mapping[str, str] | None = None) -> float:
        """An undisturbed run; returns its seconds."""
        began = time.monotonic()
        self._finish(arguments, environment, lambda: False)
        return time.monotonic() - began

    def run_without_room(self, *arguments: object, file_bytes: int) -> tuple[int, str]:
        """A run whose files can't grow beyond a size; returns its exit code, and what it printed."""
        self.log.unlink(missing_ok=True)
        process = start_prepared(arguments, self.log, file_bytes=file_bytes)
        process.join(300)
        assert process.exitcode is not None, f"{arguments} takes too long"
        return process.exitcode, self.log.read_text()

    def run_through_kills(
        self,
        *arguments: object,
        watched: Path,
        duration_s: float,
        kills: int,
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Kills so many runs, or fewer if one ends before; then lets one end. Returns how many were killed."""
        killed = 0
        while killed < kills:
            # the first comes early, so that there is one for sure
            moment = self._moment(watched, duration_s, 8) if killed else self._moment(watched, duration_s / 2, 2)
            if self._finish(arguments, environment, moment):
                return killed
            killed += 1
            self.kills += 1
        self._finish(arguments, environment, lambda: False)
        return killed

    def _moment(self, watched: Path, duration_s: float, most_changes: int) -> Callable[[], bool]:
        """Says, asked again and again, when to kill."""
        if self.rng.random() < 0.5:
            end = time.monotonic() + self.rng.uniform(0, duration_s)
            return lambda: time.monotonic() >= end
        seen, left = _tree(watched), self.rng.randint(1, most_changes)

        def changed() -> bool:
            nonlocal seen, left
            now = _tree(watched)
            left -= now != seen
            seen = now
            return left <= 0

        return changed

    def _finish(
        self, arguments: tuple[object, ...], environment: Mapping[str, str] | None, moment: Callable[[], bool]
    ) -> bool:
        """Runs to the end, which must be a good one, or to the moment; says whether the end came first."""
        process = start_prepared(arguments, self.log, environment)
        try:
            deadline = time.monotonic() + 300
            while process.exitcode is None and not moment():
                assert time.monotonic() < deadline, f"{arguments} takes too long"
                process.join(0.001)
            ended = process.exitcode is not None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.kill()  # where it was too early for a group of its own
            process.join()
        assert not ended or process.exitcode == 0, self.log.read_text()[-3000:]
        return ended


def start_prepared(
    arguments: Sequence[object],
    log: Path,
    environment: Mapping[str, str] | None = None,
    file_bytes: int | None = None,
) -> BaseProcess:
    """Starts what ``command.py`` says in a process that has imported what takes long."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    given = {
        "ARGUMENTS": [str(argument) for argument in arguments],
        "ENVIRONMENT": {"OMP_NUM_THREADS": "1", **(environment or {})},
        "LOG": str(log),
        "FILE_BYTES": file_bytes,
    }
    process = context.Process(target=runpy.run_path, args=(str(COMMAND), given, "__main__"))
    process.start()
    return process


def _tree(folder: Path) -> set[tuple[str, int, int]]:
    """Every file below a folder, its size and time."""
    found = set()
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                status = Path(parent, name).stat()
                found.add((f"{parent}/{name}", status.st_size, status.st_mtime_ns))
    return found


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """More would wait for each other over so little."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of the tests, for all its processes."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def tiny(shared_folder: Path) -> Tiny:
    """A small world of programs, kernels and models, one for all processes."""
    return tiny_world(shared_folder)


@pytest.fixture(autouse=True)
def _bundled_clang(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names no compiler."""
    monkeypatch.delenv("NCC_CLANG", raising=False)


@pytest.fixture
def sources() -> Path:
    """Code in every language, which compiles, and some that must not."""
    return Path(__file__).parent / "ir" / "frontend" / "sources"


@pytest.fixture
def killer(tmp_path: Path) -> Iterator[Killer]:
    """Kills commands; says at the end how often it did."""
    killer = Killer(tmp_path / "messages.txt")
    yield killer
    print(f"{killer.kills} kills")


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Children heed SIGINT, also where a shell started pytest in the background and so told it to ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# ---- ranks, which meet in a file, so that no port is needed


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """What processes of ranks need; on one machine they meet without a network."""
    root = Path(__file__).parents[1]  # where benchmarks are, of which some ranks run parts
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    values = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    if sys.platform == "linux":
        values["GLOO_SOCKET_IFNAME"] = "lo"
    return values


@pytest.fixture(scope="session")
def run_ranks(environment):
    """Runs a script for each rank, by the arguments of `run_rank`, and returns what each has saved."""

    def run(script: Path, world: int, folder: Path) -> list[dict]:
        logs = [folder / f"rank{rank}.txt" for rank in range(world)]
        processes = [start_prepared((script, rank, world, folder), log, environment) for rank, log in enumerate(logs)]
        try:
            for process in processes:
                process.join(240)
        finally:
            for process in processes:
                process.kill()
        messages = "\n".join(log.read_text() for log in logs if log.exists())
        assert [process.exitcode for process in processes] == [0] * world, messages[-3000:]
        return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(world)]

    return run
