"""A worker seen from its parent: started, given blocks, waited for, and ended with all that it started."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

from fuzz.slot import Slot
from ncc.system.sandbox.process import WatchedProcess, python_command

__all__ = ["Worker"]

_START_TIMEOUT_S = 300.0
_TICK_S = 0.05
_MESSAGE_S = 30.0


class Worker:
    """A process of `fuzz.worker`, seen from outside."""

    def __init__(self, folder: Path, memory_mib: int, names: str) -> None:
        """Starts it.

        Raises:
            RuntimeError: It ended, or said nothing for long.
        """
        self.slot = Slot(folder / "slot", create=True)
        temporary = folder / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        arguments = (str(folder / "slot"), memory_mib, names)
        self._process = WatchedProcess(
            python_command(f"from fuzz.worker import main; main{arguments!r}"),
            environment={**os.environ, **one_thread, "TMPDIR": str(temporary)},
        )
        try:
            end = self._last_words() if self._answer(_START_TIMEOUT_S) is None else ""
        except TimeoutError:
            end = f"it was silent for {_START_TIMEOUT_S:g} s"
        if end:
            self.stop()
            raise RuntimeError(f"a worker did not start: {end}")

    def do(self, target: str, start: int, count: int, seed: int, timeout_s: float) -> tuple[dict[str, Any], str]:
        """Result of a block, and how the worker ended if it did: "hang", or its last output."""
        self.slot.clear()
        began = time.perf_counter()
        request = {"target": target, "start": start, "count": count, "seed": seed}
        findings, counts, end = [], {"seconds": 0.0}, ""
        try:
            self._process.send(json.dumps(request).encode(), time.monotonic() + _MESSAGE_S)
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
        """The next answer, however long it takes while executions follow each other; None at the end of the process.

        Raises:
            TimeoutError: One execution takes longer than that.
        """
        begun, since = -1, time.monotonic()
        while not self._process.has_answer(_TICK_S):
            if self.slot.begun() != begun:
                begun, since = self.slot.begun(), time.monotonic()
            elif time.monotonic() - since > timeout_s:
                raise TimeoutError
        try:
            answer: dict[str, Any] = json.loads(self._process.receive(time.monotonic() + _MESSAGE_S))
        except EOFError:
            return None
        return answer

    def _last_words(self) -> str:
        code = self._process.process.wait()
        said = self._process.messages().decode("utf-8", "backslashreplace").strip().splitlines()
        return f"exit code {code}" + (f": {said[-1][:300]}" if said else "")

    def stop(self) -> None:
        """Ends the process and all that it started."""
        self._process.stop()
        self.slot.close()
