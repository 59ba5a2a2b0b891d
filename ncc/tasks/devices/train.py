"""``ncc train devmap``, ``ncc calibrate``: a head from published, given or measured times, with scores in the card.

The published times are those of two platforms: of the suites of device mapping (Cummins et al., PACT 2017, case
study A), and of CLgen's generated kernels (Cummins et al., CGO 2017).
"""

import itertools
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import sklearn.ensemble  # noqa: F401 - for models, whose lack is known before launches are counted

from ncc.arrays import Bools, Floats, Split
from ncc.errors import DataError, InputError, NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.reader import read_module
from ncc.kernels.measure.table import LaunchTimes, LaunchUnit, read_times
from ncc.kernels.reading import read_kernels
from ncc.learning.data import tables
from ncc.learning.data.archives import iter_members
from ncc.learning.data.registry import Folder, locate
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.learning.heads.figures import calibration_error
from ncc.learning.heads.folds import balanced_folds
from ncc.tasks.devices.features import KernelFeatures, KernelWork
from ncc.tasks.devices.fit import CLGEN, OWN, SUITES, fit_times, ratios_of
from ncc.tasks.devices.head import Platform, TimesHead, check_platform
from ncc.tasks.devices.models import MODELS, Launches, Model, targets_of
from ncc.tasks.devices.prediction import DevicePrediction

MIN_KERNELS = 8
_MANY_LAUNCHES = 4000
_TEXTS, _NUMBERS = ("benchmark", "dataset"), ("transfer", "wgsize", "runtime_cpu", "runtime_gpu")
_MAX_NUMBER = 1e18
# suite, its version, application, kernel: "npb-3.3-BT-add", "amd-app-sdk-3.0-Reduction-reduce"
_BENCHMARK = re.compile(r"(?P<suite>[^-]+)(?:-[^-]+)*?-\d+(?:\.\d+)+-(?P<application>[^-]+)-(?P<kernel>.+)")


def fit_head(
    paths: Sequence[Path],
    platform: Platform,
    model: Model | None,
    embedding: AnyEmbedding | None,
    seed: int,
    data: str | None,
    progress: Callable[[str], None] | None,
) -> TimesHead:
    """Fit a head to measured or published times, with scores on held-out kernels and families."""
    start = time.perf_counter()
    if model not in (None, *MODELS):
        raise InputError(f"model is {model!r}; expected {', '.join(MODELS)}")
    embedding = load_embedding(embedding)
    if paths:
        parts, about = {OWN: own_launches(paths, embedding)}, ", ".join(path.name for path in paths)
    else:
        parts = {SUITES: suite_launches(platform, embedding, data), CLGEN: clgen_launches(platform, embedding, data)}
        about = "CGO'17 device mapping, 680 rows, and CLgen's kernels (Cummins et al. 2017)"
    models: dict[str, Model] = {name: model or ("trees" if name == CLGEN else "gp") for name in parts}
    scores: dict[str, Any] = {}
    for name, launches in parts.items():
        has_families = name != CLGEN and len(set(launches.family)) > 3
        units: list[LaunchUnit] = ["kernel", "family"] if has_families else ["kernel"]
        for unit in units:
            title = f"by {unit}" if paths else f"{name} by {'application' if unit == 'family' else unit}"
            splits = itertools.islice(launch_folds(launches, unit, models[name], seed), 1 if name == CLGEN else None)
            answers = held_out_answers(launches, splits, name, models[name], seed)
            scores[title] = measure_times(launches, answers)
            if progress:
                progress(f"{title}: {summary(scores[title])}")
    platform_name = paths[0].stem if paths else platform
    head = fit_times(parts, models, platform=platform_name, seed=seed, embedding_id=embedding.fingerprint)
    first, *_ = parts
    folds = f"{num_folds(parts[first], models[first])} folds"
    folds += "" if paths else " of the suites, a quarter of CLgen's kernels"
    head.card.update(
        model=", ".join(dict.fromkeys(models.values())),
        data=about,
        num_launches=sum(map(len, parts.values())),
        num_kernels=len({kernel for launches in parts.values() for kernel in launches.groups("kernel")}),
        devices=list(head.devices),
        protocol=f"{folds}, one run, seed {seed}",
        scores=scores,
        seconds=round(time.perf_counter() - start, 1),
    )
    return head


def own_launches(paths: Sequence[Path], embedding: Embedding) -> Launches:
    """Read tables of the same devices, and the kernel of every launch; DataError if it is missing in its file."""
    parts = [read_times(path) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if part.devices != parts[0].devices:
            devices, expected = ", ".join(part.devices), ", ".join(parts[0].devices)
            raise DataError(f"{path}: devices {devices}; expected {expected}, as in {paths[0]}")
    table = LaunchTimes.joined(parts)
    if (found := len(set(table.groups("kernel")))) < MIN_KERNELS:
        raise InputError(f"{found} kernels; expected at least {MIN_KERNELS} to learn from")
    known: dict[tuple[str, str], KernelFeatures] = {}
    for file in dict.fromkeys(table.file.tolist()):
        for kernel in read_kernels(file, embedding, None, CompileOptions(), None):
            known[file, kernel.name] = KernelWork(kernel.module, kernel.function).features(kernel.vectors)
    rows = list(zip(table.file.tolist(), table.kernel.tolist(), strict=True))
    for file, name in rows:
        if (file, name) not in known:
            kernels = ", ".join(kernel for other, kernel in known if other == file)
            raise DataError(f"{file}: no kernel {name!r}, but the table has times for it; found {kernels}")
    return Launches.of(table, KernelFeatures.joined([known[row] for row in rows]))


def suite_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> Launches:
    """Load the 680 rows of device mapping with the published IR, and again with the bundled clang's if it compiles."""
    table, ir_names = read_suites(locate("devmap", f"cgo17-{check_platform(platform)}.csv", folder))
    described = _compiled_features(locate("devmap", "kernels.tar.bz2", folder), embedding)
    compiled = np.flatnonzero([name in described for name in table.kernel.tolist()])
    features = KernelFeatures.joined([described[name] for name in table.kernel[compiled].tolist()])
    legacy = Launches.of(table, legacy_features(ir_names, embedding, folder))
    return Launches.joined([legacy, Launches.of(table.rows(compiled), features)])


def read_suites(path: Path) -> tuple[LaunchTimes, list[str]]:
    """Read the table of the suites, and the names of its rows' kernels in the legacy IR; DataError if malformed."""
    rows = tables.read_rows(path, (*_TEXTS, *_NUMBERS))
    for column in _TEXTS:
        tables.check_names(path, rows, column)
    numbers = read_numbers(path, rows, _NUMBERS)
    check_rows(path, numbers[:, 2:].min(axis=1) > 0, "runtimes must be positive")
    numbers[:, 1] = np.maximum(numbers[:, 1], 1)
    names = [_BENCHMARK.fullmatch(row["benchmark"]) for row in rows]
    check_rows(path, np.array([name is not None for name in names]), "expected SUITE-VERSION-APPLICATION-KERNEL")
    suites, applications = zip(*(name.group("suite", "application") for name in names if name), strict=True)
    families = [" ".join(pair) for pair in zip(suites, applications, strict=True)]
    items = np.full((len(rows), 1), np.nan)
    table = _launch_times("devmap", [row["benchmark"] for row in rows], families, suites, np.hstack([items, numbers]))
    return table, [legacy_name(row["benchmark"], row["dataset"]) for row in rows]


def _launch_times(
    file: str, kernels: Sequence[str], families: Sequence[str], suites: Sequence[str], numbers: Floats
) -> LaunchTimes:
    """Launches by (n, 5) float64 global size, bytes moved, work-group size, and times on the CPU and the GPU."""
    names = {"file": [file] * len(kernels), "kernel": kernels, "family": families, "suite": suites}
    sizes = dict(zip(("global_size", "transfer_bytes", "local_size"), numbers.T, strict=False))
    texts = {name: np.array(column) for name, column in names.items()}
    return LaunchTimes(devices=("CPU", "GPU"), **texts, **sizes, times_ms=numbers[:, 3:])


def read_numbers(path: Path, rows: Sequence[Mapping[str, str]], columns: Sequence[str]) -> Floats:
    """(n, columns) float64 numbers from 0; DataError for others."""
    numbers = np.stack([tables.read_numbers(path, rows, column, _MAX_NUMBER) for column in columns], axis=1)
    check_rows(path, np.isfinite(numbers.sum(axis=1)), f"expected numbers in {', '.join(columns)}")
    return numbers


def check_rows(path: Path, holds: Bools, rule: str) -> None:
    """Raise DataError for the first row that breaks a rule."""
    if not holds.all():
        raise DataError(f"{path}: row {int(np.argmin(holds))} (of {len(holds)}, from 0): {rule}")


def legacy_name(benchmark: str, dataset: str) -> str:
    """File name of a row's kernel in the legacy IR."""
    # NPB's kernels have sizes compiled in, so there the IR depends on the data size
    return f"{benchmark}_{dataset}.ll" if benchmark.startswith("npb-") else f"{benchmark}.ll"


def load_legacy_ir(folder: Folder = None) -> dict[str, bytes]:
    """Load the LLVM 5 IR of the suites' kernels, by file name; DataError if it is missing or damaged."""
    archive = locate("legacy_ir", "devmap-kernels-llvm5.tar.xz", folder)
    return {PurePosixPath(name).name: text for name, text in iter_members(archive, ".ll")}


def legacy_features(names: Sequence[str], embedding: Embedding, folder: Folder = None) -> KernelFeatures:
    """Describe the kernel of every file of the legacy IR, names repeated as often as they are given."""
    legacy = load_legacy_ir(folder)
    known = {name: _features(legacy[name], name, embedding) for name in set(names)}
    return KernelFeatures.joined([known[name] for name in names])


def _features(ir: bytes, name: str, embedding: Embedding) -> KernelFeatures:
    module = read_module(ir, name=name, abstraction=embedding.abstraction)
    words, _ = embedding.vocabulary.encode(module.texts)
    return KernelWork(module, module.first_kernel).features(embedding.vectors[words[module.text_id]])


def clgen_launches(platform: Platform, embedding: Embedding, folder: Folder = None) -> Launches:
    """Load CLgen's kernels that compile, each at up to 16 sizes."""
    # 16 of the 1,000 that were published mix pointers with integers; none of them was measured
    described = _compiled_features(locate("clgen", "kernels.tar.xz", folder), embedding)
    path = locate("clgen", f"{platform}.csv", folder)
    rows = tables.read_rows(path, (*_TEXTS, *_NUMBERS))
    rows = [row for row in rows if row["benchmark"].partition(".")[0] in described]
    if not rows:
        raise DataError(f"{path}: no times of the kernels in kernels.tar.xz")
    numbers = read_numbers(path, rows, ("dataset", *_NUMBERS))
    check_rows(path, numbers.min(axis=1) > 0, "sizes and times must be positive")
    names = [row["benchmark"].partition(".")[0] for row in rows]
    table = _launch_times(CLGEN, names, names, [CLGEN] * len(names), numbers)
    return Launches.of(table, KernelFeatures.joined([described[name] for name in names]))


def _compiled_features(archive: Path, embedding: Embedding) -> dict[str, KernelFeatures]:
    """Describe the kernel of every source in an archive that compiles, by the file's stem."""
    described: dict[str, KernelFeatures] = {}
    for name, text in iter_members(archive, ".cl"):
        with suppress(NccError):
            ir = compile_source(text, CompileOptions(language="opencl", is_strict=True)).ir
            described[PurePosixPath(name).stem] = _features(ir, name, embedding)
    return described


def held_out_answers(
    launches: Launches, splits: Iterable[Split], source: str, model: Model, seed: int
) -> dict[int, DevicePrediction]:
    """Fit a head to the training launches of each split, and predict the others: answers by row."""
    as_measured, answers = source == SUITES and CLGEN not in launches.suite, dict[int, DevicePrediction]()
    for train, test in splits:
        head, asked = fit_times({source: launches.rows(train)}, {source: model}, seed=seed), launches.rows(test)
        answers |= zip(test.tolist(), head.predict(asked, asked.sizes, as_measured), strict=True)
    return answers


def num_folds(table: LaunchTimes, model: str) -> int:
    """Return 10, or 4 if a model takes long."""
    return 4 if len(table) > _MANY_LAUNCHES or model == "lstm" else 10


def launch_folds(table: LaunchTimes, unit: LaunchUnit, model: str, seed: int) -> Iterator[Split]:
    """Split launches by kernel or family into `num_folds`, or hold out each suite."""
    groups = table.groups(unit)
    num_groups = len(set(groups))
    return balanced_folds(groups, num_groups if unit == "suite" else min(num_folds(table, model), num_groups), seed)


def measure_times(table: LaunchTimes, predictions: Mapping[int, DevicePrediction]) -> dict[str, Any]:
    """Score predictions by row of the table; a single device has no ratios."""
    rows = np.array(sorted(predictions))
    said = [predictions[row] for row in rows.tolist()]
    logs, measured = table.log_times[rows], ratios_of(targets_of(table.log_times))[rows].max(axis=1)
    ratio, confidence = np.array([(one.log_ratio, one.confidence) for one in said]).T
    low, high = np.log([one.interval for one in said]).T
    times, shortest, longest = np.log([list((one.times_ms or {}).values()) for one in said]).transpose(2, 0, 1)
    right = (ratio > 0) == (measured > 0)
    # speedups are relative to the device that is faster in most launches
    static = measured if np.mean(measured > 0) > 0.5 else np.zeros(len(measured))
    figures = {
        "accuracy": right.mean(),
        "geomean_speedup": np.exp((np.where(ratio > 0, measured, 0) - static).mean()),
        "coverage": ((low <= measured) & (measured <= high)).mean(),
        "calibration_error": calibration_error(confidence, right, bins=10, lowest=0.5),
        "confidence": confidence.mean(),
    }
    figures = (figures if len(table.devices) > 1 else {}) | {"familiar": np.mean([one.familiar for one in said])}
    by_device = {
        "factors": np.exp(np.median(np.abs(times - logs), axis=0)),
        "time_coverage": ((shortest <= logs) & (logs <= longest)).mean(axis=0),
    }
    named = {name: dict(zip(table.devices, each.round(4).tolist(), strict=True)) for name, each in by_device.items()}
    return {name: round(float(each), 4) for name, each in figures.items()} | named | {"num_launches": len(rows)}


def summary(score: Mapping[str, Any]) -> str:
    """The main scores of `measure_times` in one line."""
    factors = ", ".join(f"{name} {factor:.2f}" for name, factor in score["factors"].items())
    if "accuracy" not in score:
        return f"factor of times {factors}, coverage {min(score['time_coverage'].values()):.1%}"
    rest = f"coverage {score['coverage']:.1%}, calibration error {score['calibration_error']:.3f}"
    return f"accuracy {score['accuracy']:.1%}, factor of times {factors}, {rest}"
