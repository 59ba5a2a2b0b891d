"""``ncc train gpu``: a head for one GPU, from gpuFLOPBench's profiles or a user's table.

Sources are compiled once and their launches counted; boosted trees learn the roofline's residuals, with errors from
held-out programs.
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
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression

from ncc.arrays import Bools, Floats, Ints, Rows
from ncc.errors import InputError, NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.abstraction import Abstraction
from ncc.ir.reader.module import Module
from ncc.ir.reader.reader import read_module
from ncc.kernels.host.launches import read_host
from ncc.kernels.host.source import HOST_SUFFIXES, read_text
from ncc.kernels.reading import find_kernels
from ncc.learning.data import registry
from ncc.learning.heads.columns import scaled_distances, standardize
from ncc.learning.heads.trees import trees_of
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc.system.files.writing import write_atomically
from ncc.tasks.gpus.features import count_launch, launch_features
from ncc.tasks.gpus.head import INTERVAL, MAX_STANDARD, TARGETS, GpuHead, expected_error, relative_sizes, rooflines
from ncc.tasks.gpus.specs import MEASURED, GpuSpec, find_spec
from ncc.tasks.gpus.tables import MeasuredLaunch, read_launches

logger = logging.getLogger(__name__)

COUNTING_VERSION = 5
"""Incremented whenever features of a launch change by its compilation, reading, counting or comparison with a GPU."""
_NAMES_FLAG = "-fno-discard-value-names"
_FLAG = re.compile(r"(?<!\S)-([DI]) ?(\S+)")
_DEVICE = re.compile(r'__global__|<<<|#\s*include\s*"')
_AS_CUDA = re.compile(r"-x cu\b")
_INCLUDED = re.compile(r'#\s*include\s*"(?:[^"]*/)?([^"/]+\.(?:cu|hip))"')

# chosen on held-out programs of gpuFLOPBench, before the shipped head was fitted
_FOLDS, _MEMBERS = 4, 3
_MIN_ERROR = 0.02
_IN_DOMAIN = 0.9
_ROWS_PER_LEAF = 20
_TREES: dict[str, Any] = {
    "max_iter": 150, "learning_rate": 0.05, "max_leaf_nodes": 8, "l2_regularization": 5.0, "max_features": 0.2,
    "early_stopping": False,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Launches(Rows):
    """Measured launches as arrays."""

    feature_names: tuple[str, ...]  # names of the k features
    values: Floats  # (n, k) float64, see `ncc.tasks.gpus.features.launch_features`
    program: NDArray[np.str_]  # (n,) programs, which are held out as a whole
    kernel: NDArray[np.str_]  # (n,) names
    log_time: Floats  # (n,) float64 logarithm to base 10 of seconds
    log_traffic: Floats  # (n,) float64 of bytes; NaN where not measured
    compute: Floats  # (n,) float64 1 if compute-bound, else 0; NaN if unknown
    log_ceiling: Floats  # (n,) float64 of the seconds of a roofline of measured operations and bytes; NaN if unknown
    has_program_args: Bools  # (n,) bool whether the program's arguments were used

    def __len__(self) -> int:
        return len(self.values)

    def feature(self, name: str) -> Floats:
        """(n,) float64."""
        return self.values[:, self.feature_names.index(name)]


def published_launches(data: str | None = None, progress: Callable[[str], None] | None = None) -> Launches:
    """CUDA launches of gpuFLOPBench, kept in the cache until `COUNTING_VERSION` changes; DataError if damaged."""
    profile = registry.locate("gpuflop", "profile.csv", data)
    key = hashlib.sha256(profile.read_bytes() + f"counted by {COUNTING_VERSION}".encode()).hexdigest()
    path = registry.cache_folder() / "gpus" / f"launches-{key[:32]}.npz"
    if not path.exists():
        sources = registry.extracted("gpuflop", "sources.tar.xz", data)
        launches = measured_launches(read_launches(profile), sources, find_spec(MEASURED), None, progress)
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **vars(launches))
        write_atomically(path, buffer.getvalue())
    with np.load(path, allow_pickle=False) as file:
        cached = dict(file)
    return Launches(**cached | {"feature_names": tuple(cached["feature_names"].tolist())})


def measured_launches(
    table: Sequence[MeasuredLaunch],
    folder: Path,
    spec: GpuSpec,
    options: CompileOptions | None = None,
    progress: Callable[[str], None] | None = None,
) -> Launches:
    """Compile and count the launches of a table, with and without the program's arguments if known."""
    names = sorted({launch.source for launch in table})
    rows: list[tuple[MeasuredLaunch, bool, dict[str, float]]] = []
    for index, name in enumerate(names, 1):
        launches = [launch for launch in table if launch.source == name]
        source, before = folder / name, len(rows)
        own = options or make_options(source if source.is_dir() else source.parent)
        modules = list(program_modules(source, own))
        seen: dict[tuple[Any, ...], dict[str, float]] = {}
        for launch in launches:
            for with_args in (False,) if launch.program_args is None else (False, True):
                sizes = launch.launch.grid, launch.launch.block, tuple(launch.launch.arguments.items())
                key = (launch.kernel, sizes, with_args)
                if key not in seen:
                    seen[key] = _features(modules, launch, with_args, own, spec)
                rows += [(launch, with_args, seen[key])] if seen[key] else []
        if progress:
            kernels = sum(not with_args for _, with_args, _ in rows[before:])
            progress(f"{index}/{len(names)} {name or folder}: {kernels} of {len(launches)} launches read")
    if not rows:
        raise InputError(f"{folder}: no source there that compiles has a kernel of the table")
    measured = [launch for launch, *_ in rows]

    def numbers(name: str) -> Floats:
        values = [getattr(launch, name) for launch in measured]
        return np.array([np.nan if value is None else value for value in values], np.float64)

    return Launches(
        feature_names=tuple(rows[0][2]),
        values=np.array([list(row.values()) for *_, row in rows]),
        program=np.array([launch.program for launch in measured]),
        kernel=np.array([launch.kernel for launch in measured]),
        log_time=np.log10(numbers("time_s")),
        log_traffic=np.log10(np.maximum(numbers("traffic_bytes"), 32)),
        compute=numbers("is_compute_bound"),
        log_ceiling=np.log10(numbers("roofline_s")),
        has_program_args=np.array([with_args for _, with_args, _ in rows]),
    )


def _features(
    modules: Sequence[tuple[Path, Module]], measured: MeasuredLaunch, with_args: bool, options: CompileOptions,
    spec: GpuSpec,
) -> dict[str, float]:  # fmt: skip
    """Features of a launch; empty if no module has its kernel."""
    for file, module in modules:
        try:
            kernel = find_kernels(module, measured.kernel)[0]
            args = measured.program_args if with_args else None
            host = read_host(file, measured.kernel, options, args).launch_at(measured.kernel, measured.launch)
        except InputError:
            continue
        return launch_features(count_launch(module, kernel, measured.launch, host), spec)
    logger.warning("%s: no source that compiles has it; it is left out", measured.kernel)
    return {}


def program_modules(
    source: Path, options: CompileOptions, abstraction: Abstraction | None = None
) -> Iterator[tuple[Path, Module]]:
    """Files of a program, a folder or one source, and their device code; IR is cached, failing files are skipped."""
    folder = source if source.is_dir() else source.parent
    options = replace(options, flags=(_NAMES_FLAG, *options.flags), debug_lines=True)
    texts = b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.suffix in HOST_SUFFIXES)
    key = COUNTING_VERSION, replace(options, include_paths=()), hashlib.sha256(texts).hexdigest()
    compiler = CachingCompiler(Path(), registry.cache_folder() / "gpus")

    def compiled(file: Path) -> bytes:
        return compile_source(file, options, readable=(folder.parent,)).ir

    for file in device_sources(source):
        try:
            ir = compiler.cached((*key, str(file.relative_to(folder))), functools.partial(compiled, file))
        except NccError as error:
            logger.warning("%s is left out: %s", file, str(error).split("\n", 1)[0])
        else:
            yield file, read_module(ir, name=str(file), abstraction=abstraction)


def make_options(program: Path) -> CompileOptions:
    """Macros and include folders from a program's Makefile, and its own folders."""
    texts = [file.read_text(errors="replace") for file in sorted(program.rglob("Makefile*"))]
    flags = [(kind, value) for text in texts for kind, value in _FLAG.findall(text) if "$" not in value]
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
    """Sources of a folder that may contain device code, except included ones; a single source if that is given."""
    if program.is_file():
        return [program]
    is_cuda = any(_AS_CUDA.search(read_text(file)) for file in program.rglob("Makefile*"))
    suffixes = (".cu", ".hip", ".c", ".cpp") if is_cuda else (".cu", ".hip")
    files = [file for file in sorted(program.rglob("*")) if file.suffix in suffixes and file.is_file()]
    texts = {file: read_text(file) for file in files}
    included = {name for text in texts.values() for name in _INCLUDED.findall(text)}
    return [file for file, text in texts.items() if file.name not in included and _DEVICE.search(text)]


def program_folds(program: NDArray[np.str_], num_folds: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Rows for training and for testing, split by program; InputError if there are too few programs."""
    names = np.unique(program)
    if len(names) < num_folds:
        raise InputError(f"{len(names)} programs; expected at least {num_folds} to hold some out")
    shuffled = np.random.default_rng(seed).permutation(names).tolist()
    fold_of = {name: index % num_folds for index, name in enumerate(shuffled)}
    folds = np.array([fold_of[name] for name in program.tolist()])
    return ((np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(num_folds))


def fit_gpus(launches: Launches, gpu: str, *, seed: int = 204) -> GpuHead:
    """Fit a head to measured launches of at least four programs; rooflines replace unknown bounds and traffic."""
    values, names = launches.values, launches.feature_names
    roofline, moved = rooflines(values, names)
    sizes = relative_sizes(values, names)
    kept = np.flatnonzero(np.ptp(sizes, axis=0) > 0)
    seen = sizes[:, kept]
    rest = launches.log_time - roofline
    operations = np.max([launches.feature(f"time_{name}") for name in ("single", "double", "integer")], axis=0)
    stand_in = operations > launches.feature("time_memory")
    compute = np.where(np.isnan(launches.compute), stand_in, launches.compute) > 0
    traffic = np.where(np.isnan(launches.log_traffic), 0, launches.log_traffic - moved)
    has_both = len(np.unique(compute)) == 2
    predicted, log_odds, log_width = np.zeros((3, len(values)))
    folds = list(program_folds(launches.program, _FOLDS, seed))
    for train, test in folds:
        predicted[test] = _fit_trees(seen[train], rest[train], seed).predict(seen[test])
        if len(np.unique(compute[train])) == 2:
            log_odds[test] = _fit_classifier(seen[train], compute[train], seed).decision_function(seen[test])
    errors = np.abs(rest - predicted)
    log_error = np.log(errors + _MIN_ERROR)
    for train, test in folds:
        log_width[test] = _fit_trees(seen[train], log_error[train], seed, "squared_error").predict(seen[test])
    fitted: list[tuple[int, Any, float]] = []
    for member in range(_MEMBERS):
        for name, target in (("time", rest), ("spread", log_error), ("traffic", traffic)):
            loss = "squared_error" if name == "spread" else "absolute_error"
            fitted.append((TARGETS.index(name), _fit_trees(seen, target, seed + member, loss), 1 / _MEMBERS))
        if has_both:
            fitted.append((TARGETS.index("compute"), _fit_classifier(seen, compute, seed + member), 1 / _MEMBERS))
    distinct = launches.rows(np.unique(values, axis=0, return_index=True)[1])
    mean, scale = distinct.values.mean(axis=0), distinct.values.std(axis=0)
    scale = np.where(scale > _MIN_ERROR, scale, 0)
    points = standardize(distinct.values, mean, scale, MAX_STANDARD)
    distances = [
        scaled_distances(points[test], points[train]).min(axis=1)
        for train, test in program_folds(distinct.program, _FOLDS, seed)
    ]
    fraction = float(np.clip(compute.mean(), 0.01, 0.99))
    return GpuHead(
        gpu=gpu,
        feature_names=names,
        trees=trees_of(fitted, kept, len(TARGETS)),
        interval_scale=max(float(np.quantile(errors / expected_error(log_width), INTERVAL)), _MIN_ERROR),
        logit_calibration=_calibrate(log_odds, compute) if has_both else np.array([1.0, 0.0]),
        prior_log_odds=float(np.log(fraction / (1 - fraction))),
        mean=mean,
        scale=scale,
        train_points=points,
        in_domain_radius=max(float(np.quantile(np.concatenate(distances), _IN_DOMAIN)), _MIN_ERROR),
        card={
            "launches": int(np.sum(~launches.has_program_args)),
            "kernels": len(set(zip(launches.program.tolist(), launches.kernel.tolist(), strict=True))),
            "programs": len(set(launches.program.tolist())),
            "seed": seed,
        },
    )


def _fit_trees(features: Floats, target: Floats, seed: int, loss: str = "absolute_error") -> Any:
    in_leaf = int(np.clip(len(features) // _ROWS_PER_LEAF, 2, _ROWS_PER_LEAF))
    trees = HistGradientBoostingRegressor(loss=loss, random_state=seed, min_samples_leaf=in_leaf, **_TREES)
    return trees.fit(features, target)


def _fit_classifier(features: Floats, compute: Bools, seed: int) -> Any:
    fraction = compute.mean()
    weight = np.where(compute, 0.5 / fraction, 0.5 / (1 - fraction))
    return HistGradientBoostingClassifier(random_state=seed, **_TREES).fit(features, compute, sample_weight=weight)


def _calibrate(log_odds: Floats, compute: Bools) -> Floats:
    """Slope and offset of log odds, fitted to held-out launches with equal class weights (Platt 1999)."""
    fitted = LogisticRegression(class_weight="balanced", C=1e3).fit(log_odds[:, None], compute)
    return np.array([max(float(fitted.coef_[0, 0]), 0.05), float(fitted.intercept_[0])])
