"""Measured launches with what models see of them: sources compiled once, launches counted, host code read."""

import functools
import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Rows
from ncc.errors import CompileError, InputError, NccError
from ncc.ir import frontend
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import find_kernel
from ncc.learning.data import registry as data
from ncc.system.files.models import write_atomically
from ncc.tasks.gpus.cards import Card
from ncc.tasks.gpus.columns import columns_of, count_launch
from ncc.tasks.gpus.sources import HOST_SUFFIXES, device_sources, host_arguments
from ncc.tasks.gpus.tables import MeasuredLaunch

logger = logging.getLogger(__name__)

Options = Callable[[Path], CompileOptions]

COUNTING_VERSION = 1
"""Raised whenever a launch's columns change: by what compiles it, reads it, counts it or puts it against a card."""
_NAMES_FLAG = "-fno-discard-value-names"


@dataclass(frozen=True, eq=False)
class Launches(Rows):
    """Measured launches as arrays.

    Attributes:
        columns: Names of the k columns.
        values: (n, k) float64, see `ncc.tasks.gpus.columns.columns_of`.
        program: (n,) what is held out together.
        kernel: (n,) names.
        log_time: (n,) float64 logarithm to base 10 of seconds.
        log_traffic: (n,) float64 of bytes; NaN where not measured.
        compute: (n,) float64 1 where bound by computing, else 0; NaN where not known.
        log_ceiling: (n,) float64 of the seconds that a roofline says of measured operations and bytes; NaN without.
        is_told: (n,) bool whether the program's own arguments were used.
    """

    columns: tuple[str, ...]
    values: Floats
    program: NDArray[np.str_]
    kernel: NDArray[np.str_]
    log_time: Floats
    log_traffic: Floats
    compute: Floats
    log_ceiling: Floats
    is_told: Bools

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> Floats:
        """(n,) values of a column."""
        return self.values[:, self.columns.index(name)]


def measured_launches(
    table: Sequence[MeasuredLaunch],
    sources: Path,
    card: Card,
    options_of: Options,
    progress: Callable[[str], None] | None = None,
) -> Launches:
    """Compiles and counts the launches of a table, with and without the program's own arguments where they are known.

    Launches whose kernel is not found in a source that compiles are left out, and named.

    Args:
        table: The launches.
        sources: Folder that their sources are in.
        card: The card that they were measured on.
        options_of: Says how a folder's sources are compiled.
        progress: Called with a line of text after each source.

    Raises:
        InputError: No kernel of the table is found.
    """
    by_source: dict[str, list[MeasuredLaunch]] = {}
    for launch in table:
        by_source.setdefault(launch.source, []).append(launch)
    found: list[tuple[MeasuredLaunch, bool, dict[str, float]]] = []
    for number, (source, launches) in enumerate(sorted(by_source.items()), 1):
        before = len(found)
        reader = _Reader(sources / source, options_of, card)
        for launch in launches:
            ways = (False,) if launch.program_arguments is None else (False, True)
            found += [(launch, told, row) for told in ways if (row := reader.columns(launch, told))]
        if progress:
            kernels = sum(not told for _, told, _ in found[before:])
            progress(f"{number}/{len(by_source)} {source or sources}: {kernels} of {len(launches)} launches read")
    if not found:
        raise InputError(f"{sources}: no kernel of the table is in a source there that compiles")
    nan = float("nan")
    return Launches(
        columns=tuple(found[0][2]),
        values=np.array([list(row.values()) for *_, row in found]),
        program=np.array([one.program for one, *_ in found]),
        kernel=np.array([one.kernel for one, *_ in found]),
        log_time=np.log10([one.time_s for one, *_ in found]),
        log_traffic=np.log10([nan if one.traffic_bytes is None else max(one.traffic_bytes, 32) for one, *_ in found]),
        compute=np.array([nan if one.is_compute_bound is None else one.is_compute_bound for one, *_ in found], float),
        log_ceiling=np.log10([nan if one.roofline_s is None else one.roofline_s for one, *_ in found]),
        is_told=np.array([told for _, told, _ in found]),
    )


class _Reader:
    """The modules of a source, or of a folder of sources."""

    def __init__(self, source: Path, options_of: Options, card: Card) -> None:
        self.card, self.options = card, options_of(source if source.is_dir() else source.parent)
        self.modules = list(program_modules(source, self.options))
        self.seen: dict[tuple[str, object, bool], dict[str, float]] = {}

    def columns(self, measured: MeasuredLaunch, told: bool) -> dict[str, float]:
        """The columns of a launch; empty where no module has its kernel."""
        sizes = (measured.launch.grid, measured.launch.block, tuple(measured.launch.arguments.items()))
        key = (measured.kernel, sizes, told)
        if key not in self.seen:
            self.seen[key] = self._columns(measured, told)
        return self.seen[key]

    def _columns(self, measured: MeasuredLaunch, told: bool) -> dict[str, float]:
        for file, module in self.modules:
            try:
                kernel = find_kernel(module, measured.kernel)
            except InputError:
                continue
            own = measured.program_arguments if told else None
            known = host_arguments(file, measured.kernel, measured.launch, self.options, own)
            return columns_of(count_launch(module, kernel, measured.launch, known), self.card)
        logger.warning("%s: no source that compiles has it; it is left out", measured.kernel)
        return {}


def program_modules(
    source: Path, options: CompileOptions, abstraction: Abstraction | None = None
) -> Iterator[tuple[Path, Module]]:
    """Files of a program and their device code, but for those that do not compile; what compiled once is kept.

    Args:
        source: A folder, or one source.
        options: How it is compiled.
        abstraction: What statements keep; default `Abstraction()`.
    """
    folder = source if source.is_dir() else source.parent
    options = replace(options, flags=(_NAMES_FLAG, *options.flags), debug_lines=True)
    portable = replace(options, include_paths=())
    headers = [file.read_bytes() for file in sorted(folder.rglob("*")) if file.suffix in HOST_SUFFIXES]
    key = hashlib.sha256(repr((_front_end(), portable, headers)).encode())
    for file in device_sources(source):
        named = hashlib.sha256(f"{key.hexdigest()} {file.relative_to(folder)}".encode()).hexdigest()
        kept = data.cache_folder() / "gpus" / f"{named[:32]}.ll"
        if not kept.exists():
            try:
                ir = compile_source(file, options, readable=(folder.parent,)).ir
            except NccError as error:
                logger.warning("%s is left out: %s", file, str(error).split("\n", 1)[0])
                if isinstance(error, CompileError) and error.timed_out:
                    continue  # on a quieter machine it may compile
                ir = b""
            write_atomically(kept, ir)
        if ir := kept.read_bytes():
            yield file, read_module(ir, name=str(file), abstraction=abstraction)


@functools.cache
def _front_end() -> str:
    """What tells one front end, with its headers, from another."""
    files = [file for file in sorted(Path(frontend.__file__).parent.rglob("*")) if file.suffix in (".py", ".h")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
