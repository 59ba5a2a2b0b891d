"""A worker seen from its parent: started, given blocks, waited for, and ended with all that it started."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from fuzz.slot import Slot

__all__ = ["Worker"]

_START_TIMEOUT_S = 300.0


class Worker:
    """A process of `fuzz.worker`, seen from outside."""

    def __init__(self, folder: Path, memory_mib: int, names: str) -> None:
        self._folder = folder
        self.slot = Slot(folder / "slot", create=True)
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        temporary = folder / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fuzz.worker", str(folder / "slot"), str(memory_mib), names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={**os.environ, **one_thread, "PYTHONPATH": path, "TMPDIR": str(temporary)},
            start_new_session=True,  # so that one signal reaches compilers and helpers as well
        )
        self._buffer = b""
        try:
            end = self._last_words() if self._answer(_START_TIMEOUT_S) is None else ""
        except TimeoutError:
            end = f"it was silent for {_START_TIMEOUT_S:g} s"
        if end:
            self.stop()
            raise RuntimeError(f"a worker did not start: {end}")

    def do(self, target: str, start: int, count: int, seed: int, timeout_s: float) -> tuple[dict[str, Any], str]:
        """What a block came to, and how the worker ended if it did: "hang", or its last words."""
        assert self._process.stdin
        self.slot.clear()
        began = time.perf_counter()
        request = {"target": target, "start": start, "count": count, "seed": seed}
        findings, counts, end = [], {"seconds": 0.0}, ""
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            while answer := self._answer(timeout_s):
                if "data" not in answer:
                    break
                findings.append(answer)
            counts, end = (answer, "") if answer else (counts, self._last_words())
        except TimeoutError:
            end = "hang"
        except BrokenPipeError:
            end = self._last_words()
        return counts | {"seconds": time.perf_counter() - began, "findings": findings}, end

    def _answer(self, timeout_s: float) -> dict[str, Any] | None:
        """The next line, however long it takes while executions follow each other; None at the end of the process.

        Raises:
            TimeoutError: One execution takes longer than that.
        """
        assert self._process.stdout
        begun, since = -1, time.monotonic()
        while b"\n" not in self._buffer:
            if select.select([self._process.stdout], [], [], 0.05)[0]:
                piece = os.read(self._process.stdout.fileno(), 1 << 20)
                if not piece:
                    return None
                self._buffer += piece
            elif self.slot.begun() != begun:
                begun, since = self.slot.begun(), time.monotonic()
            elif time.monotonic() - since > timeout_s:
                raise TimeoutError
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        self._words.seek(0)
        said = self._words.read().decode("utf-8", "backslashreplace").strip().splitlines()
        return f"exit code {code}" + (f": {said[-1][:300]}" if said else "")

    def stop(self) -> None:
        """Ends the process and all that it started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._words):
            try:
                if pipe:
                    pipe.close()
            except BrokenPipeError:
                pass
        self._process.wait()
        self.slot.close()
