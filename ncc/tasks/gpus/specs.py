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
    """A data sheet, in bytes, operations and threads (a second)."""

    name: str  # the maker's name
    bandwidth: float  # of its memory
    peak_fp32: float  # operations of each type, a fused one counting twice
    peak_fp64: float
    peak_int32: float
    num_sms: int  # streaming multiprocessors
    clock_hz: float  # boost clock
    l2_bytes: float  # level-2 cache
    max_threads_per_sm: int  # resident on a multiprocessor
    max_blocks_per_sm: int
    shared_bytes_per_sm: float  # its shared memory
    source: str  # where the figures stand


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
        raise InputError(f"unknown GPU {name!r}; ncc knows {', '.join(near)}")
    return spec


def _key(name: str) -> str:
    return "".join(name.lower().split()).replace("-", "")
