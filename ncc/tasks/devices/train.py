"""``ncc train devmap``: a device head from the published times or a user's table, with its scores in the card."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ncc.arrays import Ints, Split
from ncc.errors import DataError, InputError
from ncc.kernels.measure.table import LaunchTimes, LaunchUnit, read_times
from ncc.kernels.reading import read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.learning.heads.figures import calibration_error
from ncc.learning.heads.folds import balanced_folds
from ncc.system.files.writing import check_folder
from ncc.tasks.devices.features import KernelFeatures, kernel_features, launch_columns
from ncc.tasks.devices.fit import MODELS as TIMES_MODELS
from ncc.tasks.devices.fit import fit_times
from ncc.tasks.devices.head import TimesHead, save_device_head
from ncc.tasks.devices.prediction import DevicePrediction
from ncc.tasks.devices.published import SOURCES, Platform, clgen_launches, combine, suite_launches

MODELS = ("times", *TIMES_MODELS)
_MIN_KERNELS = 8
_MANY_LAUNCHES = 4000
_BINS = 10
_PUBLISHED = {"suites": "gp", "clgen": "trees"}


def train_devmap(
    output: str | Path | None = None,
    *,
    tables: Sequence[str | Path] = (),
    platform: Platform = "nvidia",
    model: Literal["times", "gp", "trees", "lstm"] | None = None,
    embedding: AnyEmbedding | None = None,
    seed: int = 204,
    data: str | None = None,
    card: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> TimesHead:
    """Fit a device head to measured times, scored on kernels and families held out."""
    folder = None if output is None else Path(output)
    check_folder(folder)
    embedding = load_embedding(embedding)
    tell = progress or (lambda _line: None)
    if tables:
        head = _from_tables([Path(path) for path in tables], model or "gp", embedding, seed, tell)
    elif model in (None, *MODELS):
        head = _from_published(platform, model or "times", embedding, seed, data, tell)
    else:
        raise InputError(f"model is {model!r}; expected {', '.join(MODELS)} for the published times")
    head.card.update(card or {})
    if folder:
        save_device_head(head, folder)
    return head


def _from_tables(
    paths: list[Path], model: str, embedding: Embedding, seed: int, tell: Callable[[str], None]
) -> TimesHead:
    if model not in TIMES_MODELS:
        raise InputError(f"model is {model!r}; expected {', '.join(TIMES_MODELS)} for tables of times")
    start = time.perf_counter()
    parts = [read_times(path) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if part.devices != parts[0].devices:
            devices, expected = ", ".join(part.devices), ", ".join(parts[0].devices)
            raise DataError(f"{path}: devices {devices}; expected {expected}, as in {paths[0]}")
    table = LaunchTimes.joined(parts)
    if (found := len(set(table.groups("kernel")))) < _MIN_KERNELS:
        raise InputError(f"{found} kernels; expected at least {_MIN_KERNELS} to learn from")
    features = describe_launches(table, embedding)
    units: tuple[LaunchUnit, ...] = ("kernel", "family") if len(set(table.family)) > 3 else ("kernel",)
    scores: dict[str, Any] = {}
    for unit in units:
        score = score_times(table, features, unit, model, seed=seed)
        scores[f"by {unit}"] = score.to_dict() | {"controls": score_controls(table, features, unit, seed=seed)}
        tell(f"by {unit}: {score}")
    card = {
        "model": model,
        "data": ", ".join(path.name for path in paths),
        "num_launches": len(table),
        "num_kernels": len(set(table.groups("kernel"))),
        "devices": list(table.devices),
        "protocol": f"{num_folds(table, model)} folds, one run, seed {seed}",
        "scores": scores,
    }
    identity = {"platform": paths[0].stem, "embedding_id": embedding.fingerprint}
    head = fit_times(table, features, model=model, seed=seed, **identity)  # type: ignore[arg-type]
    head.card.update(card | {"seconds": round(time.perf_counter() - start, 1)})
    return head


def describe_launches(table: LaunchTimes, embedding: Embedding) -> KernelFeatures:
    """Describe the kernel of every launch, read from its file; DataError if a file does not have it."""
    known: dict[tuple[str, str], KernelFeatures] = {}
    for path in dict.fromkeys(table.file.tolist()):
        for kernel in read_kernels(path, embedding, None):
            known[path, kernel.name] = kernel_features(kernel.module, kernel.function, kernel.vectors)
    rows = list(zip(table.file.tolist(), table.kernel.tolist(), strict=True))
    for path, name in rows:
        if (path, name) not in known:
            found = ", ".join(kernel for file, kernel in known if file == path)
            raise DataError(f"{path}: no kernel {name!r}, which the table has times of; found {found}")
    return KernelFeatures.joined([known[row] for row in rows])


def _from_published(
    platform: Platform, model: str, embedding: Embedding, seed: int, data: str | None, tell: Callable[[str], None]
) -> TimesHead:
    start = time.perf_counter()
    models = _PUBLISHED if model == "times" else dict.fromkeys(_PUBLISHED, model)
    suites = suite_launches(platform, embedding, data)
    clgen = clgen_launches(platform, embedding, data)
    scores: dict[str, TimesScore] = {}
    for name, rows in (("suites", suites), ("clgen", clgen)):
        for unit in ("kernel", "family") if name == "suites" else ("kernel",):
            scores[f"{name} by {'application' if unit == 'family' else unit}"] = score_times(
                *rows, unit, models[name], seed=seed, published=True, max_folds=None if name == "suites" else 1
            )
    for name, score in scores.items():
        tell(f"{platform}, {name}: {score}")
    both = combine([suites, clgen])
    known = {"platform": platform, "seed": seed, "embedding_id": embedding.fingerprint}
    head = fit_times(*both, model=models, sources=SOURCES, end_to_end_source="clgen", **known)  # type: ignore[arg-type]
    folds = num_folds(suites[0], models["suites"])
    head.card.update(
        platform=platform,
        model=model,
        data="CGO'17 device mapping, 680 rows, and CLgen's kernels (Cummins et al. 2017)",
        protocol=f"{folds} folds of the suites, a quarter of CLgen's kernels, one run, seed {seed}",
        scores={name: score.to_dict() for name, score in scores.items()},
        seconds=round(time.perf_counter() - start, 1),
    )
    return head


@dataclass(frozen=True, kw_only=True)
class TimesScore:
    """Scores of predicted times on launches held out."""

    accuracy: float  # fraction of launches given to their faster device
    geomean_speedup: float  # over the device that is faster in most launches
    factors: Mapping[str, float]  # Device → median factor between predicted and measured time
    coverage: float  # fraction of measured log ratios in the 80 % interval
    calibration_error: float  # mean distance between confidence and accuracy over ten bins of confidence
    confidence: float  # mean of it
    familiar: float  # fraction of launches that the head calls familiar
    num_launches: int  # how many there are

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values by name."""
        return asdict(self) | {"factors": dict(self.factors)}

    def __str__(self) -> str:
        factors = ", ".join(f"{name} {factor:.2f}" for name, factor in self.factors.items())
        return (
            f"accuracy {self.accuracy:.1%}, factor of times {factors}, coverage {self.coverage:.1%}, "
            f"calibration error {self.calibration_error:.3f}"
        )


class HeldOut(NamedTuple):
    """A fold: (n,) rows to train on and (m,) held out, the head of the former, its predictions of the latter."""

    train: Ints
    test: Ints
    head: TimesHead
    predictions: list[DevicePrediction]


def hold_out_folds(
    table: LaunchTimes, features: KernelFeatures, splits: Iterable[Split], model: str, *, seed: int, published: bool
) -> Iterator[HeldOut]:
    """Fit a head to each split's training launches and ask it about the others; `SOURCES` has published ones."""
    options: dict[str, Any] = {"sources": SOURCES, "end_to_end_source": "clgen"} if published else {}
    is_suite = published and {SOURCES[suite] for suite in table.suite} == {"suites"}
    for train, test in splits:
        head = fit_times(table.rows(train), features.rows(train), model=model, seed=seed, **options)  # type: ignore[arg-type]
        source = "suites" if is_suite else None
        yield HeldOut(train, test, head, head.predict(features.rows(test), table.sizes[test], source))


def score_times(
    table: LaunchTimes,
    features: KernelFeatures,
    unit: LaunchUnit,
    model: str,
    *,
    seed: int = 204,
    max_folds: int | None = None,
    published: bool = False,
) -> TimesScore:
    """Score a model with kernels, families or suites held out, `max_folds` folds at most; else as `hold_out_folds`."""
    splits = itertools.islice(launch_folds(table, unit, model, seed), max_folds)
    folds = hold_out_folds(table, features, splits, model, seed=seed, published=published)
    pairs = (zip(fold.test.tolist(), fold.predictions, strict=True) for fold in folds)
    return measure_times(table, dict(itertools.chain.from_iterable(pairs)))


def num_folds(table: LaunchTimes, model: str) -> int:
    """Return 10, or 4 if a model takes long."""
    return 4 if len(table) > _MANY_LAUNCHES or model == "lstm" else 10


def launch_folds(table: LaunchTimes, unit: LaunchUnit, model: str, seed: int) -> Iterator[Split]:
    """Split launches by kernel or family into `num_folds`, or by suite, each held out by itself."""
    groups = table.groups(unit)
    num_groups = len(set(groups))
    return balanced_folds(groups, num_groups if unit == "suite" else min(num_folds(table, model), num_groups), seed)


def measure_times(table: LaunchTimes, predictions: Mapping[int, DevicePrediction]) -> TimesScore:
    """Score predictions by row of the table."""
    rows = np.array(sorted(predictions))
    said = [predictions[row] for row in rows.tolist()]
    logs = table.log_times[rows]
    # of more than two devices the first is compared with the fastest of the others
    measured = logs[:, 0] - logs[:, 1:].min(axis=1)
    ratio, confidence = np.array([(one.log_ratio, one.confidence) for one in said]).T
    low, high = np.log([one.interval for one in said]).T
    times = np.log([[time[0] for time in (one.times_ms or {}).values()] for one in said])
    right = (ratio > 0) == (measured > 0)
    static = measured if np.mean(measured > 0) > 0.5 else np.zeros(len(measured))
    factors = np.exp(np.median(np.abs(times - logs), axis=0)).tolist()
    return TimesScore(
        accuracy=round(float(right.mean()), 4),
        geomean_speedup=round(float(np.exp((np.where(ratio > 0, measured, 0) - static).mean())), 4),
        factors={name: round(factor, 4) for name, factor in zip(table.devices, factors, strict=True)},
        coverage=round(float(((low <= measured) & (measured <= high)).mean()), 4),
        calibration_error=round(calibration_error(confidence, right, _BINS, 0.5), 4),
        confidence=round(float(confidence.mean()), 4),
        familiar=round(float(np.mean([one.familiar for one in said])), 4),
        num_launches=len(rows),
    )


def score_controls(
    table: LaunchTimes, features: KernelFeatures, unit: LaunchUnit, *, seed: int = 204
) -> dict[str, dict[str, float]]:
    """Score controls that know no code: the median time, and extra trees on sizes."""
    from sklearn.ensemble import ExtraTreesRegressor

    logs = table.log_times
    sizes = launch_columns(features, np.nan_to_num(table.sizes, nan=1.0))[:, :3]
    predicted = {"median": np.zeros_like(logs), "sizes only": np.zeros_like(logs)}
    for train, test in launch_folds(table, unit, "", seed):
        predicted["median"][test] = np.median(logs[train], axis=0)
        trees = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed).fit(sizes[train], logs[train])
        predicted["sizes only"][test] = trees.predict(sizes[test])
    scores = {}
    for name, log_times in predicted.items():
        right = (log_times.argmin(axis=1) == logs.argmin(axis=1)).mean()
        factors = np.exp(np.median(np.abs(log_times - logs), axis=0)).tolist()
        named = {f"factor {name}": round(factor, 4) for name, factor in zip(table.devices, factors, strict=True)}
        scores[name] = {"accuracy": round(float(right), 4)} | named
    return scores
