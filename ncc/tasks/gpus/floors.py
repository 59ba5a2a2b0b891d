"""Times that a launch on a card is never below, and bytes that it moves at least, by what is certain of its work."""

from collections.abc import Mapping
from dataclasses import dataclass

from ncc.kernels.bounds import WorkBound
from ncc.tasks.gpus.cards import Card

OVERHEAD = "launch overhead"
_OVERHEAD_S = 1.7e-6
"""The shortest of gpuFLOPBench's 1,460 launches."""


@dataclass(frozen=True)
class Floors:
    """What a launch can't be below.

    Attributes:
        seconds: What sets a limit ("launch overhead", "bandwidth", "compute", "chain") → seconds.
        num_bytes: Bytes that memory and card exchange; 0 where the card's cache may hold all.
    """

    seconds: Mapping[str, float]
    num_bytes: float

    @property
    def highest(self) -> str:
        """The limit that is above the others."""
        return max(self.seconds, key=lambda name: self.seconds[name])


def floors_of(least: WorkBound, buffers: Mapping[int, float], card: Card) -> Floors:
    """Limits of a launch by a card's data sheet.

    What its level-2 cache holds may be there before the launch, or stay there after it.

    Args:
        least: What is certain of its work.
        buffers: Number of an argument → bytes of its memory, where they are known.
        card: The card.
    """
    touched = sum(
        min(size, buffers.get(number, size))
        for part in (least.load_bytes, least.store_bytes)
        for number, size in part.items()
    )
    peaks = {"single": card.single, "double": card.double}
    seconds = {
        OVERHEAD: _OVERHEAD_S,
        "bandwidth": max(touched - card.cache_bytes, 0.0) / card.bandwidth,
        "compute": max(least.flops.get(name, 0.0) / peak for name, peak in peaks.items()),
        "chain": least.critical_path_cycles / card.clock_hz,
    }
    return Floors(seconds, touched if touched > card.cache_bytes else 0.0)
