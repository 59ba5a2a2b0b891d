"""Many executions over many targets in a few processes, which may die: the input is kept and another goes on."""

import base64
import hashlib
import math
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.kept import write_input
from fuzz.process import Worker
from fuzz.targets import Target
from ncc.errors import InputError

__all__ = ["Finding", "FuzzConfig", "FuzzResult", "TargetResult", "run_fuzzer"]

_MOST_KEPT = 5


@dataclass(frozen=True, kw_only=True)
class FuzzConfig:
    """How much is tried, and by whom.

    Attributes:
        executions: Over all targets, shared out by their weights.
        seconds: On the wall, after which no more are begun.
        jobs: Processes at a time.
        seed: Random seed of all inputs.
        memory_mib: That a worker may map beyond what it needs to start.
        findings: Folder for the inputs that were found; None keeps none.
    """

    executions: int = 20_000
    seconds: float = math.inf
    jobs: int = 1
    seed: int = 0
    memory_mib: int = 2048
    findings: Path | None = None

    def __post_init__(self) -> None:
        """Checks the numbers.

        Raises:
            InputError: One is below 1.
        """
        if not min(self.executions, self.seconds, self.jobs, self.memory_mib) >= 1:
            raise InputError("executions, seconds, jobs and memory_mib must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An input that did what no input may do.

    Attributes:
        target: Target that read it.
        index: Its number, from which and from the seed it can be made again.
        kind: "exception", "memory", "hang" or "death".
        where: Line of ncc, where it is known.
        message: Message of the exception, or a description of the problem.
        file: Where the input was kept; None if it repeats an earlier problem.
    """

    target: str
    index: int
    kind: str
    where: str
    message: str
    file: str | None


@dataclass
class TargetResult:
    """Result of a target's executions: inputs read and refused, findings, and seconds of one process."""

    accepted: int = 0
    refused: int = 0
    found: int = 0
    seconds: float = 0.0

    @property
    def executions(self) -> int:
        """All of them."""
        return self.accepted + self.refused + self.found

    @property
    def per_second(self) -> float:
        """Executions a second of one process."""
        return self.executions / self.seconds if self.seconds else 0.0


@dataclass
class FuzzResult:
    """Result of a run, with its wall-clock seconds."""

    targets: dict[str, TargetResult] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def executions(self) -> int:
        """Number of executions of all targets."""
        return sum(target.executions for target in self.targets.values())


@dataclass(frozen=True)
class _Block:
    target: Target
    start: int
    count: int


def run_fuzzer(targets: Sequence[Target], config: FuzzConfig) -> FuzzResult:
    """Tries mutated inputs on targets; those that kill, hang or swell a process cost no more than themselves.

    Args:
        targets: Which ones; see `fuzz.targets.all_targets`.
        config: How many inputs, and in how many processes.

    Returns:
        Counts of every target, and the findings, in the order of targets and inputs.
    """
    run = _Run(targets, config)
    start = time.perf_counter()
    folder = Path(tempfile.mkdtemp(prefix="ncc-fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        with ThreadPoolExecutor(config.jobs) as threads:
            try:
                for done in [threads.submit(run.serve, folder / str(number)) for number in range(config.jobs)]:
                    done.result()
            except BaseException:  # Ctrl-C among them: the threads end after their blocks
                run.give_up()
                raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    order = {target.name: place for place, target in enumerate(targets)}
    run.result.findings.sort(key=lambda finding: (order[finding.target], finding.index))
    run.result.seconds = time.perf_counter() - start
    return run.result


def _blocks(targets: Sequence[Target], executions: int) -> Iterator[_Block]:
    """Every target's share, cut so that a block takes a second or so, all targets by turns."""
    total = sum(target.weight for target in targets)
    rest = {target.name: max(1, round(executions * target.weight / total)) for target in targets}
    done = dict.fromkeys(rest, 0)
    while any(rest.values()):
        for target in targets:
            count = min(rest[target.name], 500 if target.fast else 10)
            if count:
                yield _Block(target, done[target.name], count)
                done[target.name] += count
                rest[target.name] -= count


class _Run:
    """Shared state of a run's threads, one per worker."""

    def __init__(self, targets: Sequence[Target], config: FuzzConfig) -> None:
        self.config = config
        self.names = ",".join(target.name for target in targets)
        self.result = FuzzResult({target.name: TargetResult() for target in targets})
        self._blocks = _blocks(targets, config.executions)
        self._end = time.monotonic() + config.seconds
        self._lock = threading.Lock()
        self._alike: dict[tuple[str, str, str], int] = {}

    def give_up(self) -> None:
        """Leaves nothing to do."""
        self._end = 0.0

    def _next_block(self) -> _Block | None:
        """Return the next block; None once all is done, or the time is up."""
        with self._lock:
            return next(self._blocks, None) if time.monotonic() < self._end else None

    def serve(self, folder: Path) -> None:
        """Takes blocks and has them done until there are none."""
        folder.mkdir()
        worker: Worker | None = None
        try:
            while block := self._next_block():
                while block.count:
                    worker = worker or Worker(folder, self.config.memory_mib, self.names)
                    answer, end = worker.do(
                        block.target.name, block.start, block.count, self.config.seed, block.target.timeout_s
                    )
                    begun = self._add(block, answer, worker, end)
                    block = _Block(block.target, block.start + begun, block.count - begun)
                    if end:
                        worker.stop()
                        worker = None
        finally:
            if worker:
                worker.stop()

    def _add(self, block: _Block, answer: dict[str, Any], worker: Worker, end: str) -> int:
        """Adds up what a block came to; returns how many of its executions were begun."""
        with self._lock:
            sums = self.result.targets[block.target.name]
            sums.seconds += answer["seconds"]
            for found in answer["findings"]:
                self._keep(block.target, found | {"data": base64.b64decode(found["data"])})
            if not end:
                sums.found += len(answer["findings"])
                sums.accepted += answer["accepted"]
                sums.refused += answer["refused"]
                return block.count
            trace = worker.slot.read()
            sums.accepted += trace.accepted
            sums.refused += trace.refused
            sums.found += trace.begun - trace.accepted - trace.refused
            kind = "hang" if end == "hang" else "death"
            index = block.start + trace.begun - 1
            self._keep(block.target, {"kind": kind, "where": "", "message": end, "index": index, "data": trace.data})
            return max(trace.begun, 1)

    def _keep(self, target: Target, found: dict[str, Any]) -> None:
        alike = (target.name, found["kind"], found["where"] or found["message"])
        self._alike[alike] = self._alike.get(alike, 0) + 1
        file = None
        if self.config.findings and self._alike[alike] <= _MOST_KEPT:
            self.config.findings.mkdir(parents=True, exist_ok=True)
            name = f"{target.name}-{hashlib.sha256(found['data']).hexdigest()[:12]}.json"
            file = str(self.config.findings / name)
            write_input(Path(file), target.name, found["data"])
        about = {name: found[name] for name in ("index", "kind", "where", "message")}
        self.result.findings.append(Finding(target=target.name, file=file, **about))
