"""``ncc train gpu``: a head for one card, from gpuFLOPBench's profiles or a user's table.

Sources are compiled once and their launches counted; boosted trees learn the roofline's residuals, with errors from
programs held out of each model.
"""

import functools
import hashlib
import io
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Bools, Floats, Ints, Rows
from ncc.errors import CompileError, InputError, NccError
from ncc.ir import frontend
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import find_kernel
from ncc.learning.data import registry
from ncc.learning.heads.trees import trees_of
from ncc.system.files.writing import check_folder, write_atomically
from ncc.tasks.gpus.cards import MEASURED, Card, find_card
from ncc.tasks.gpus.columns import count_launch, launch_columns
from ncc.tasks.gpus.head import (
    TARGETS,
    GpuHead,
    expected_error,
    nearest_distance,
    roofline_estimate,
    save_gpu_head,
    standardize,
)
from ncc.tasks.gpus.host import HOST_SUFFIXES, host_arguments, read_text
from ncc.tasks.gpus.tables import MeasuredLaunch, read_launches

logger = logging.getLogger(__name__)

Options = Callable[[Path], CompileOptions]

COUNTING_VERSION = 2
"""Raised whenever a launch's columns change: by what compiles it, reads it, counts it or puts it against a card."""
_NAMES_FLAG = "-fno-discard-value-names"

_FLAG = re.compile(r"(?<!\S)-([DI]) ?(\S+)")
_DEVICE = re.compile(r'__global__|<<<|#\s*include\s*"')
_AS_CUDA = re.compile(r"-x cu\b")
_INCLUDED = re.compile(r'#\s*include\s*"(?:[^"]*/)?([^"/]+\.(?:cu|hip))"')
_FOLDS = 4
_MEMBERS = 3
_INTERVAL = 0.8
_LEAST_ERROR = 0.02
_FAMILIAR = 0.9
_TREES: dict[str, Any] = {
    "max_iter": 150, "learning_rate": 0.05, "max_leaf_nodes": 8, "l2_regularization": 5.0, "max_features": 0.2,
    "early_stopping": False,
}  # fmt: skip
_FEWEST_IN_LEAF = 20


def train_gpu(
    output: str | Path | None = None,
    *,
    table: str | Path | None = None,
    sources: str | Path | None = None,
    gpu: str = MEASURED,
    options: CompileOptions | None = None,
    seed: int = 204,
    data: str | None = None,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> GpuHead:
    """Fits a head that predicts launches on one card.

    Args:
        output: Folder that gets the head.
        table: Measured launches, see `ncc.tasks.gpus.tables.read_launches`; default gpuFLOPBench's, of an RTX 3080.
        sources: Folder of the sources that the table's are relative to; default the table's folder.
        gpu: The card that the table was measured on.
        options: How the sources are compiled; default by the Makefiles beside them.
        seed: Of folds and of training.
        data: Folder of datasets; default NCC_DATA, then the cache.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text now and then.

    Raises:
        InputError: There is no such card or folder, the table is none that ncc reads, or it has fewer than four
            programs whose kernels are found.
        DataError: The files of gpuFLOPBench are missing or damaged.
        OutputError: The folder can't be written.
    """
    folder = None if output is None else Path(output)
    check_folder(folder)
    card = find_card(gpu)
    if table is None:
        launches = published_launches(data, progress)
    else:
        base = Path(sources) if sources else Path(table).parent
        if not base.is_dir():
            raise InputError(f"{base}: no such folder of sources")
        how = (lambda _folder: options) if options else make_options
        launches = measured_launches(read_launches(table), base, card, how, progress)
    told = {
        "launches": int(np.sum(~launches.is_told)),
        "kernels": len(set(zip(launches.program.tolist(), launches.kernel.tolist(), strict=True))),
        "programs": len(set(launches.program.tolist())),
    }
    head = fit_gpus(launches, card.name, seed=seed, card={**told, "seed": seed, **(about or {})})
    if folder:
        save_gpu_head(head, folder)
    return head


@dataclass(frozen=True, eq=False)
class Launches(Rows):
    """Measured launches as arrays.

    Attributes:
        columns: Names of the k columns.
        values: (n, k) float64, see `ncc.tasks.gpus.columns.launch_columns`.
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


def published_launches(data: str | None = None, progress: Callable[[str], None] | None = None) -> Launches:
    """CUDA launches of gpuFLOPBench, kept in the cache until `COUNTING_VERSION` changes.

    Raises:
        DataError: The files are missing or damaged.
    """
    profile = registry.locate("gpuflop", "profile.csv", data)
    key = hashlib.sha256(profile.read_bytes() + f"counted by {COUNTING_VERSION}".encode()).hexdigest()
    kept = registry.cache_folder() / "gpus" / f"launches-{key[:32]}.npz"
    names = [name for name in Launches.__dataclass_fields__ if name != "columns"]
    if kept.exists():
        with np.load(kept, allow_pickle=False) as arrays:
            return Launches(columns=tuple(arrays["columns"].tolist()), **{name: arrays[name] for name in names})
    sources = registry.extracted("gpuflop", "sources.tar.xz", data)
    launches = measured_launches(read_launches(profile), sources, find_card(MEASURED), make_options, progress)
    buffer = io.BytesIO()
    np.savez(buffer, columns=np.array(launches.columns), **{name: getattr(launches, name) for name in names})
    write_atomically(kept, buffer.getvalue())
    return launches


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
            return launch_columns(count_launch(module, kernel, measured.launch, known), self.card)
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
        kept = registry.cache_folder() / "gpus" / f"{named[:32]}.ll"
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


def make_options(program: Path) -> CompileOptions:
    """The macros and folders that a program's Makefile names, and its own folders."""
    flags = [
        found
        for file in sorted(program.rglob("Makefile*"))
        for found in _FLAG.findall(file.read_text(errors="replace"))
        if "$" not in found[1]
    ]
    folders = [program, program / "include", program / "src", program.parent / "include"]
    folders += [program / value for kind, value in flags if kind == "I"]
    defines = dict.fromkeys(value for kind, value in flags if kind == "D" and value not in ("DEBUG", "VERIFY"))
    return CompileOptions(
        include_paths=tuple(dict.fromkeys(str(folder.resolve()) for folder in folders if folder.is_dir())),
        defines=tuple(defines),
        language="cuda",
        timeout_s=240.0,
    )


def device_sources(program: Path) -> list[Path]:
    """A program's sources that may hold device code, but for those that others include.

    Args:
        program: A folder, or one source, which is then all.
    """
    if program.is_file():
        return [program]
    is_cuda = any(_AS_CUDA.search(read_text(file)) for file in program.rglob("Makefile*"))
    suffixes = (".cu", ".hip", ".c", ".cpp") if is_cuda else (".cu", ".hip")
    files = [file for file in sorted(program.rglob("*")) if file.suffix in suffixes and file.is_file()]
    texts = {file: read_text(file) for file in files}
    included = {name for text in texts.values() for name in _INCLUDED.findall(text)}
    return [file for file, text in texts.items() if file.name not in included and _DEVICE.search(text)]


def program_folds(program: NDArray[np.str_], number: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Rows of training and of testing, a program's all on one side.

    Raises:
        InputError: There are fewer programs than folds.
    """
    names = np.unique(program)
    if len(names) < number:
        raise InputError(f"{len(names)} programs; expected at least {number} to hold some out")
    fold = dict(
        zip(np.random.default_rng(seed).permutation(names).tolist(), np.arange(len(names)) % number, strict=True)
    )
    of_row = np.array([fold[name] for name in program.tolist()])
    for one in range(number):
        yield np.flatnonzero(of_row != one), np.flatnonzero(of_row == one)


def fit_gpus(launches: Launches, gpu: str, *, seed: int = 204, card: dict[str, Any] | None = None) -> GpuHead:
    """Fits a head to measured launches.

    Where no row says what it is bound by, the roofline's own view of the counts stands in for that; where none says
    what it moved, the distinct bytes do.

    Raises:
        InputError: There are fewer than four programs.
    """
    values = launches.values
    roofline, moved = roofline_estimate(values, launches.columns)
    kept = np.flatnonzero(np.ptp(values, axis=0) > 0)
    rest = launches.log_time - roofline
    compute = np.where(np.isnan(launches.compute), _seems_compute(launches), launches.compute) > 0
    traffic = np.where(np.isnan(launches.log_traffic), 0, launches.log_traffic - moved)
    said, odds = np.zeros(len(values)), np.zeros(len(values))
    folds = list(program_folds(launches.program, _FOLDS, seed))
    for train, test in folds:
        said[test] = _fit_values(values[np.ix_(train, kept)], rest[train], seed).predict(values[np.ix_(test, kept)])
        odds[test] = _fit_odds(values[np.ix_(train, kept)], compute[train], seed, values[np.ix_(test, kept)])
    errors = np.abs(rest - said)
    log_error = np.log(errors + _LEAST_ERROR)
    spread = np.zeros(len(values))
    for train, test in folds:
        model = _fit_values(values[np.ix_(train, kept)], log_error[train], seed, squared=True)
        spread[test] = model.predict(values[np.ix_(test, kept)])
    fitted: list[tuple[int, Any, float]] = []
    for member in range(_MEMBERS):
        for name, target in (("time", rest), ("spread", log_error), ("traffic", traffic)):
            model = _fit_values(values[:, kept], target, seed + member, squared=name == "spread")
            fitted.append((TARGETS.index(name), model, 1 / _MEMBERS))
        if len(np.unique(compute)) == 2:
            model = _classifier(values[:, kept], compute, seed + member)
            fitted.append((TARGETS.index("compute"), model, 1 / _MEMBERS))
    told = launches.rows(np.unique(values, axis=0, return_index=True)[1])
    mean, scale = told.values.mean(axis=0), told.values.std(axis=0)
    points = standardize(told.values, mean, np.where(scale > _LEAST_ERROR, scale, 0))
    share = float(np.clip(compute.mean(), 0.01, 0.99))
    return GpuHead(
        gpu=gpu,
        feature_names=launches.columns,
        trees=trees_of(fitted, kept, len(TARGETS)),
        interval_scale=max(float(np.quantile(errors / expected_error(spread), _INTERVAL)), _LEAST_ERROR),
        logit_calibration=_calibrated(odds, compute),
        prior_log_odds=float(np.log(share / (1 - share))),
        mean=mean,
        scale=np.where(scale > _LEAST_ERROR, scale, 0),
        train_points=points,
        in_domain_radius=_familiar(points, told.program, folds=list(program_folds(told.program, _FOLDS, seed))),
        card=card or {},
    )


def _seems_compute(launches: Launches) -> Floats:
    """Whether the roofline says that operations take longer than bytes."""
    operations = np.max([launches.column(f"time_{name}") for name in ("single", "double", "integer")], axis=0)
    return (operations > launches.column("time_memory")).astype(float)


def _fit_values(columns: Floats, target: Floats, seed: int, squared: bool = False) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    loss = "squared_error" if squared else "absolute_error"
    return HistGradientBoostingRegressor(
        loss=loss, random_state=seed, min_samples_leaf=_in_leaf(columns), **_TREES
    ).fit(columns, target)


def _in_leaf(columns: Floats) -> int:
    """Fewest rows of a leaf: less where rows are few."""
    return int(np.clip(len(columns) // _FEWEST_IN_LEAF, 2, _FEWEST_IN_LEAF))


def _classifier(columns: Floats, compute: Bools, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    share = compute.mean()
    weight = np.where(compute, 0.5 / share, 0.5 / (1 - share))
    return HistGradientBoostingClassifier(random_state=seed, **_TREES).fit(columns, compute, sample_weight=weight)


def _fit_odds(columns: Floats, compute: Bools, seed: int, asked: Floats) -> Floats:
    """Log odds that trees say of rows that they were not trained on."""
    if len(np.unique(compute)) < 2:
        return np.zeros(len(asked))
    return _classifier(columns, compute, seed).decision_function(asked)


def _calibrated(odds: Floats, compute: Bools) -> Floats:
    """Slope and offset of log odds that fit what was held out, both classes weighing the same.

    Reference: Platt 1999.
    """
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(compute)) < 2:
        return np.array([1.0, 0.0])
    fitted = LogisticRegression(class_weight="balanced", C=1e3).fit(odds[:, None], compute)
    return np.array([max(float(fitted.coef_[0, 0]), 0.05), float(fitted.intercept_[0])])


def _familiar(points: Floats, program: NDArray[np.str_], folds: list[tuple[Ints, Ints]]) -> float:
    """Distance within which nine in ten launches have one of another program."""
    assert len(points) == len(program)
    far = [nearest_distance(points[test], points[train]) for train, test in folds]
    return max(float(np.quantile(np.concatenate(far), _FAMILIAR)), _LEAST_ERROR)
