"""Where a training's time goes: by the clock, or between events in the queue of a GPU, which runs behind the host."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ncc.learning.training.config import TrainingStatistics


class PhaseTimer:
    """Adds the times of phases to statistics.

    Attributes:
        statistics: Whose fields of seconds grow.
    """

    def __init__(self, statistics: TrainingStatistics, device: torch.device) -> None:
        """Times what runs on a device."""
        self.statistics = statistics
        self._on_gpu = device.type == "cuda"
        self._pending: list[tuple[str, torch.cuda.Event, torch.cuda.Event]] = []

    @contextmanager
    def by_the_clock(self, name: str) -> Iterator[None]:
        """Adds the wall-clock time of what it surrounds to a number of seconds."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._add(name, time.perf_counter() - began)

    @contextmanager
    def of_device(self, name: str) -> Iterator[None]:
        """The same, but on a GPU the time that its queue takes; the host waits for nothing, and `collect` adds it."""
        if not self._on_gpu:
            with self.by_the_clock(name):
                yield
            return
        began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        began.record()
        yield
        ended.record()
        self._pending.append((name, began, ended))

    def collect(self) -> None:
        """Waits for the device, and adds what it took."""
        if self._pending:
            torch.cuda.synchronize()
        for name, began, ended in self._pending:
            self._add(name, began.elapsed_time(ended) / 1e3)
        self._pending.clear()

    def _add(self, name: str, seconds: float) -> None:
        setattr(self.statistics, name, getattr(self.statistics, name) + seconds)
        if name == "seconds_in_steps":
            self.statistics.seconds_of_steps.append(seconds)
