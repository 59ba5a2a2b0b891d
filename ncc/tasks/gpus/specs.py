"""GPUs by their data sheets, in ``specs.toml``: peaks, bandwidths and sizes, each with its source."""

import difflib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ncc.errors import InputError

MEASURED = "RTX 3080"
"""The GPU that the shipped head's launches were measured on."""


@dataclass(frozen=True, kw_only=True)
class GpuSpec:
    """A data sheet, in bytes, operations and threads (a second).

    Attributes:
        name: The maker's name.
        bandwidth: Of its memory.
        peak_fp32, peak_fp64, peak_int32: Operations of each type, a fused one counting twice.
        num_sms: Streaming multiprocessors.
        clock_hz: Boost clock.
        l2_bytes: Level-2 cache.
        max_threads_per_sm, max_blocks_per_sm: Resident on a multiprocessor.
        shared_bytes_per_sm: Its shared memory.
        source: Where the figures stand.
    """

    name: str
    bandwidth: float
    peak_fp32: float
    peak_fp64: float
    peak_int32: float
    num_sms: int
    clock_hz: float
    l2_bytes: float
    max_threads_per_sm: int
    max_blocks_per_sm: int
    shared_bytes_per_sm: float
    source: str


@cache
def load_specs() -> dict[str, GpuSpec]:
    """Data sheets by name."""
    sheets = tomllib.loads(Path(__file__).with_name("specs.toml").read_text(encoding="utf-8"))
    return {name: GpuSpec(name=name, **sheet) for name, sheet in sheets.items()}


def find_spec(name: str) -> GpuSpec:
    """Find a GPU whatever the name's case and blanks; InputError names the known ones, nearest first."""
    specs = load_specs()
    by_key = {_key(known): spec for known, spec in specs.items()}
    spec = by_key.get(_key(name).removeprefix("nvidia").removeprefix("geforce").removeprefix("tesla"))
    if spec is None:
        near = sorted(specs, key=lambda known: -difflib.SequenceMatcher(None, _key(known), _key(name)).ratio())
        raise InputError(f"no card is called {name!r}; ncc knows {', '.join(near)}")
    return spec


def _key(name: str) -> str:
    return "".join(name.lower().split()).replace("-", "")
