"""Graphics cards by their data sheets: peaks, bandwidths and sizes, each with where it stands."""

import difflib
from dataclasses import dataclass

from ncc.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a card can do.

    Attributes:
        name: As its maker calls it.
        bandwidth: Bytes a second of its memory.
        single, double, integer: Operations a second of each type, a fused one counting twice.
        processors: Streaming multiprocessors.
        clock_hz: Boost clock.
        cache_bytes: Level-2 cache.
        processor_threads: Threads that a multiprocessor holds at once.
        processor_blocks: Blocks that it holds at once.
        shared_bytes: Shared memory of a multiprocessor.
        source: Where the figures stand.
    """

    name: str
    bandwidth: float
    single: float
    double: float
    integer: float
    processors: int
    clock_hz: float
    cache_bytes: float
    processor_threads: int = 2048
    processor_blocks: int = 32
    shared_bytes: float = 96 * 2.0**10
    source: str


_AMPERE = "NVIDIA, Ampere GA102 GPU architecture whitepaper, V2.0"
_ADA = "NVIDIA, Ada GPU architecture whitepaper, V1.1"


def _card(
    name: str, tera_single: float, tera_double: float, gigabytes: float, processors: int, giga_hz: float,
    cache_mib: float, resident: tuple[int, int, int], source: str, integer_share: float = 0.5,
) -> Card:  # fmt: skip
    threads, blocks, shared_kib = resident
    return Card(
        name=name, bandwidth=gigabytes * 1e9, single=tera_single * 1e12, double=tera_double * 1e12,
        integer=tera_single * integer_share * 1e12, processors=processors, clock_hz=giga_hz * 1e9,
        cache_bytes=cache_mib * 2**20, processor_threads=threads, processor_blocks=blocks,
        shared_bytes=shared_kib * 2.0**10, source=source,
    )  # fmt: skip


CARDS = {
    card.name: card
    for card in (
        _card("RTX 3080", 29.8, 0.465, 760, 68, 1.71, 5, (1536, 16, 100), _AMPERE),
        _card("RTX 3090", 35.6, 0.556, 936, 82, 1.695, 6, (1536, 16, 100), _AMPERE),
        _card("RTX 4090", 82.6, 1.29, 1008, 128, 2.52, 72, (1536, 24, 100), _ADA),
        _card("RTX 2080 Ti", 13.4, 0.42, 616, 68, 1.545, 5.5, (1024, 16, 64),
              "NVIDIA, Turing GPU architecture whitepaper, V01", 1.0),
        _card("P100", 9.3, 4.7, 732, 56, 1.303, 4, (2048, 32, 64), "NVIDIA, Tesla P100 PCIe data sheet", 1.0),
        _card("V100", 14.0, 7.0, 900, 80, 1.38, 6, (2048, 32, 96), "NVIDIA, Tesla V100 PCIe data sheet", 1.0),
        _card("A100", 19.5, 9.7, 1555, 108, 1.41, 40, (2048, 32, 164),
              "NVIDIA, A100 Tensor Core GPU architecture whitepaper, V1.0", 1.0),
        _card("H100", 66.9, 33.5, 3352, 132, 1.98, 50, (2048, 32, 228),
              "NVIDIA, H100 Tensor Core GPU architecture whitepaper, SXM5"),
        _card("L4", 30.3, 0.49, 300, 58, 2.04, 48, (1536, 24, 100), "NVIDIA, L4 data sheet"),
    )
}  # fmt: skip
"""Cards by name."""

MEASURED = "RTX 3080"
"""The card that the shipped head's launches were measured on."""


def find_card(name: str) -> Card:
    """The card of a name, whatever its case and blanks.

    Raises:
        InputError: None is called so; says which there are, nearest first.
    """
    by_key = {_key(one): card for one, card in CARDS.items()}
    found = by_key.get(_key(name).removeprefix("nvidia").removeprefix("geforce").removeprefix("tesla"))
    if found is None:
        near = sorted(CARDS, key=lambda one: -difflib.SequenceMatcher(None, _key(one), _key(name)).ratio())
        raise InputError(f"no card is called {name!r}; ncc knows {', '.join(near)}")
    return found


def _key(name: str) -> str:
    return "".join(name.lower().split()).replace("-", "")
