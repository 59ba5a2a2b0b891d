"""Graphics cards by their data sheets, in ``cards.toml``: peaks, bandwidths and sizes, each with where it stands."""

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ncc.errors import InputError

MEASURED = "RTX 3080"
"""The card that the shipped head's launches were measured on."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """A data sheet.

    Attributes:
        name: The maker's name.
        bandwidth: Bytes a second of its memory.
        single, double, integer: Operations a second of each type, a fused one counting twice.
        processors: Streaming multiprocessors.
        clock_hz: Boost clock.
        cache_bytes: Level-2 cache.
        processor_threads: Threads resident on a multiprocessor.
        processor_blocks: Blocks resident on it.
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
    processor_threads: int
    processor_blocks: int
    shared_bytes: float
    source: str


@cache
def load_cards() -> dict[str, Card]:
    """Cards by name."""
    sheets = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
    return {
        name: Card(
            name=name,
            bandwidth=sheet["bandwidth_gb"] * 1e9,
            single=sheet["single_tflops"] * 1e12,
            double=sheet["double_tflops"] * 1e12,
            integer=sheet["single_tflops"] * sheet["integer_share"] * 1e12,
            clock_hz=sheet["clock_ghz"] * 1e9,
            cache_bytes=sheet["cache_mib"] * 2**20,
            shared_bytes=sheet["shared_kib"] * 2.0**10,
            **{key: sheet[key] for key in ("processors", "processor_threads", "processor_blocks", "source")},
        )
        for name, sheet in sheets.items()
    }


def find_card(name: str) -> Card:
    """Find a card whatever the name's case and blanks; InputError names the known ones, nearest first."""
    cards = load_cards()
    by_key = {_key(known): card for known, card in cards.items()}
    card = by_key.get(_key(name).removeprefix("nvidia").removeprefix("geforce").removeprefix("tesla"))
    if card is None:
        near = sorted(cards, key=lambda known: -difflib.SequenceMatcher(None, _key(known), _key(name)).ratio())
        raise InputError(f"no card is called {name!r}; ncc knows {', '.join(near)}")
    return card


def _key(name: str) -> str:
    return "".join(name.lower().split()).replace("-", "")
