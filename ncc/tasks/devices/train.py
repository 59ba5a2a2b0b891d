"""``ncc train devmap``: a device head from the published times or a user's table, with its scores in the card."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from ncc.errors import DataError, InputError
from ncc.kernels.measure.devices_table import LaunchTimes, LaunchUnit, read_times
from ncc.kernels.reading import read_kernels
from ncc.learning.embedding.embedding import AnyEmbedding, Embedding, load_embedding
from ncc.system.files.writing import check_folder
from ncc.tasks.devices.devices_head import TimesHead
from ncc.tasks.devices.devices_published import SOURCES, clgen_launches, combine, suite_launches
from ncc.tasks.devices.features import KernelInputs, kernel_inputs
from ncc.tasks.devices.files import save_device_head
from ncc.tasks.devices.fit import MODELS as TIMES_MODELS
from ncc.tasks.devices.fit import fit_times
from ncc.tasks.devices.published import Platform
from ncc.tasks.devices.times import TimesScore, num_folds, score_controls, score_times

MODELS = ("times", *TIMES_MODELS)
_LEAST_KERNELS = 8
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
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> TimesHead:
    """Fits a device head to the published times of a platform, or to tables of your own.

    Args:
        output: Folder that gets the head.
        tables: Of times, see `ncc.kernels.measure.devices_table.COLUMNS`, all of the same devices.
        platform: Without tables, "amd" (Tahiti 7970) or "nvidia" (GTX 970).
        model: With tables "gp" (Gaussian processes, the default) or "trees" (gradient boosting), both on sizes, what
            kernels do and what a thread does at the launch, or "lstm", which reads statements and takes longer. Without
            also "times", the default: processes for the suites, trees for CLgen's kernels, as in the head that ships.
        embedding: Whose vectors of statements "lstm" reads; default the one that ships with ncc.
        seed: Of the folds, and of all that is drawn in training.
        data: Folder of datasets; default NCC_DATA, then the cache.
        about: What else the card is to say, such as the command.
        progress: Called with a line of text now and then.

    Returns:
        The head, with its scores in the card.

    Raises:
        InputError: There is no such platform, or no such model for what is learnt from.
        DataError: A table, or the IR, is missing or damaged.
        OutputError: The folder can't be written.

    Reference: Cummins et al. 2017 (data); Ben-Nun et al. 2018, section 6.2 (task).
    """
    folder = None if output is None else Path(output)
    check_folder(folder)
    embedding = load_embedding(embedding)
    tell = progress or (lambda _line: None)
    if tables:
        head = _from_tables([Path(one) for one in tables], model or "gp", embedding, seed, tell)
    elif model in (None, *MODELS):
        head = _from_published(platform, model or "times", embedding, seed, data, tell)
    else:
        raise InputError(f"model is {model!r}; expected {', '.join(MODELS)} for the published times")
    head.about.update(about or {})
    if folder:
        save_device_head(head, folder)
    return head


def _from_tables(
    paths: list[Path], model: str, embedding: Embedding, seed: int, tell: Callable[[str], None]
) -> TimesHead:
    if model not in TIMES_MODELS:
        raise InputError(f"model is {model!r}; expected {', '.join(TIMES_MODELS)} for tables of times")
    start = time.perf_counter()
    table = _read_all(paths)
    if (found := len(set(table.groups("kernel")))) < _LEAST_KERNELS:
        raise InputError(f"{found} kernels; expected at least {_LEAST_KERNELS} to learn from")
    inputs = describe_launches(table, embedding)
    units: tuple[LaunchUnit, ...] = ("kernel", "family") if len(set(table.family)) > 3 else ("kernel",)
    scores: dict[str, Any] = {}
    for unit in units:
        score = score_times(table, inputs, unit, model, seed=seed)
        scores[f"by {unit}"] = score.to_dict() | {"controls": score_controls(table, inputs, unit, seed=seed)}
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
    known = {"platform": paths[0].stem, "seed": seed, "embedding_id": embedding.fingerprint}
    head = fit_times(table, inputs, model=model, **known)  # type: ignore[arg-type]
    head.about.update(card | {"seconds": round(time.perf_counter() - start, 1)})
    return head


def _read_all(paths: list[Path]) -> LaunchTimes:
    tables = [read_times(path) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        if table.devices != tables[0].devices:
            found, expected = ", ".join(table.devices), ", ".join(tables[0].devices)
            raise DataError(f"{path}: devices {found}; expected {expected}, as in {paths[0]}")
    return LaunchTimes.joined(tables)


def describe_launches(table: LaunchTimes, embedding: Embedding) -> KernelInputs:
    """What is known of the kernel of every launch, read from its file.

    Raises:
        DataError: A file does not have the kernel.
        InputError, CompileError, IRError: A file can't be read.
    """
    known: dict[tuple[str, str], KernelInputs] = {}
    for path in dict.fromkeys(table.file.tolist()):
        known |= {(path, one.name): kernel_inputs(one) for one in read_kernels(path, embedding, None)}
    rows = list(zip(table.file.tolist(), table.kernel.tolist(), strict=True))
    for path, name in dict.fromkeys(rows):
        if (path, name) not in known:
            found = ", ".join(kernel for file, kernel in known if file == path)
            raise DataError(f"{path}: no kernel {name!r}, which the table has times of; found {found}")
    return KernelInputs.joined([known[row] for row in rows])


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
                *rows, unit, models[name], seed=seed, published=True, most=None if name == "suites" else 1
            )
    for name, score in scores.items():
        tell(f"{platform}, {name}: {score}")
    both = combine(suites, clgen)
    known = {"platform": platform, "seed": seed, "embedding_id": embedding.fingerprint}
    head = fit_times(*both, model=models, sources=SOURCES, whole="clgen", **known)  # type: ignore[arg-type]
    folds = num_folds(suites[0], models["suites"])
    head.about.update(
        platform=platform,
        model=model,
        data="CGO'17 device mapping, 680 rows, and CLgen's kernels (Cummins et al. 2017)",
        protocol=f"{folds} folds of the suites, a quarter of CLgen's kernels, one run, seed {seed}",
        scores={name: score.to_dict() for name, score in scores.items()},
        seconds=round(time.perf_counter() - start, 1),
    )
    return head
