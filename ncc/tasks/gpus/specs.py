"""GPUs by their data sheets, in ``specs.toml``: peaks, bandwidths and sizes, each with its source."""

import difflib
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from msgspec import convert

from ncc.errors import InputError
from ncc.system.files.reading import open_input

MEASURED = "RTX 3080"
"""The GPU that the shipped head's launches were measured on."""

_MAX_SHEET_BYTES = 2**16
_MAX_FIGURE = 1e18
"""A thousand times what the largest GPU has of anything."""


@dataclass(frozen=True, kw_only=True)
class GpuSpec:
    """A data sheet: bytes, operations and threads, rates per second."""

    name: str  # name by the vendor
    bus_bandwidth: float  # bandwidth of the bus to the host, one way: PCIe of its generation with 16 lanes
    bandwidth: float  # memory bandwidth
    peak_fp32: float  # operations of each type; a fused one counts twice
    peak_fp64: float
    peak_int32: float
    num_sms: int  # streaming multiprocessors
    clock_hz: float  # boost clock
    l2_bytes: float  # level-2 cache
    max_threads_per_sm: int  # resident per multiprocessor
    max_blocks_per_sm: int
    shared_bytes_per_sm: float  # shared memory per multiprocessor
    source: str  # source of the figures


@cache
def load_specs() -> dict[str, GpuSpec]:
    """Data sheets by name."""
    return _read_specs(Path(__file__).with_name("specs.toml"))


def _read_specs(path: Path) -> dict[str, GpuSpec]:
    try:
        with open_input(path) as file:
            sheets = tomllib.loads(file.read(_MAX_SHEET_BYTES).decode())
        specs = {name: convert({"name": name, **sheet}, GpuSpec, strict=False) for name, sheet in sheets.items()}
        if not specs:
            raise ValueError("it is empty")
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        names = ", ".join(field.name for field in fields(GpuSpec) if field.name != "name")
        raise InputError(f"{path}: not a data sheet ({str(error)!r:.200}); expected [NAME] with {names}") from error
    for spec in specs.values():
        if not all(1 <= value <= _MAX_FIGURE for value in vars(spec).values() if not isinstance(value, str)):
            raise InputError(f"{path}: {spec.name:.40} has a figure that is not from 1 to {_MAX_FIGURE:g}")
    return specs


def find_spec(name: str) -> GpuSpec:
    """Find a GPU by name, ignoring case and blanks, or the first of a data sheet (.toml); InputError if unknown."""
    if name.endswith(".toml"):
        return next(iter(_read_specs(Path(name)).values()))
    specs = load_specs()
    by_key = {_key(known): spec for known, spec in specs.items()}
    spec = by_key.get(_key(name).removeprefix("nvidia").removeprefix("geforce").removeprefix("tesla"))
    if spec is None:
        near = sorted(specs, key=lambda known: -difflib.SequenceMatcher(None, _key(known), _key(name)).ratio())
        raise InputError(
            f"unknown GPU {name!r}; ncc knows {', '.join(near)}. Choose the one whose data sheet is closest, or pass a "
            "data sheet (.toml)"
        )
    return spec


def _key(name: str) -> str:
    return "".join(name.lower().split()).replace("-", "")
