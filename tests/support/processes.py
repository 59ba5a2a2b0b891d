"""Waiting for other processes."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Waits for a condition, which holds before so many seconds are over."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def has_ended(pid: int) -> bool:
    """Whether a process is gone; a killed orphan may stay a zombie until it is reaped."""
    with suppress(OSError):
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    return True
