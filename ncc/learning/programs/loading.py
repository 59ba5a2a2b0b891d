"""Loads labelled programs for the commands: from a folder of classes (default POJ-104), at given levels, cached."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.data.registry import cache_folder, extracted
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import LabelledFiles, ProgramSamples, find_labelled_files, load_programs
from ncc.learning.training.ranks import rank_and_world
from ncc.system.files.writing import check_folder


def labelled_files(
    folder: str | Path | None, levels: Sequence[str], data: str | None, classes: str | None = None
) -> tuple[LabelledFiles, tuple[str, ...]]:
    """The files of a folder of classes, POJ-104's by default, or of some, and the names of optimisation levels.

    Raises:
        InputError: There are none, or a class or level is unknown.
        DataError: POJ-104 is asked for and is missing or damaged.
    """
    names = level_names(",".join(levels))
    files = find_labelled_files(programs_folder(None if folder is None else Path(folder), data))
    return (choose_classes(files, classes) if classes else files), names


def choose_classes(
    files: LabelledFiles, wanted: str, *, per_class: int | None = None, seed: int = 204
) -> LabelledFiles:
    """The files of some classes, by names and ranges of numbers, as "1-64,81,trees".

    Args:
        files: Of all classes.
        wanted: Those to choose.
        per_class: So many of each, drawn at random; None for all.
        seed: Of what is drawn.

    Raises:
        InputError: There is no such class, or fewer than two are left.
    """
    chosen: set[str] = set()
    for word in map(str.strip, wanted.split(",")):
        first, dash, last = word.partition("-")
        span = range(int(first), int(last) + 1) if dash and first.isdecimal() and last.isdecimal() else ()
        named = {word} if word in files.classes else {str(n) for n in span} & set(files.classes)
        if not named:
            raise InputError(f"classes: {word!r} names none of {', '.join(files.classes[:5])}, …")
        chosen |= named
    if len(chosen) < 2:
        raise InputError(f"classes: expected two or more, found {', '.join(chosen)}")
    names = tuple(name for name in files.classes if name in chosen)
    number = np.array([names.index(name) if name in chosen else -1 for name in files.classes])
    kept = np.flatnonzero(number[files.label] >= 0)
    if per_class:
        rng = np.random.default_rng(seed)
        drawn = [rng.permutation(kept[number[files.label[kept]] == one])[:per_class] for one in range(len(names))]
        kept = np.sort(np.concatenate(drawn))
    paths = tuple(files.paths[row] for row in kept.tolist())
    return replace(files, paths=paths, label=number[files.label[kept]], classes=names)


def load_labelled_programs(
    folder: str | Path | None,
    levels: Sequence[str],
    embedding: Embedding,
    *,
    cache: str | Path | None,
    data: str | None,
    jobs: int,
    progress: Callable[[str], None] | None,
    options: CompileOptions | None = None,
    classes: str | None = None,
) -> ProgramSamples:
    """The programs of `labelled_files`, compiled at some levels and read for an embedding.

    Raises:
        InputError, DataError: As for `labelled_files`.
        NccError: The compiler or the cache fails.
    """
    files, names = labelled_files(folder, levels, data, classes)
    place = None if cache is None else Path(cache)
    check_folder(place)
    samples = load_programs(
        files,
        names,
        options=options,
        abstraction=embedding.abstraction,
        cache=place or programs_cache(),
        jobs=jobs,
        progress=tell_batches(progress),
    )
    if progress and rank_and_world()[0] == 0:
        progress(f"{len(samples)} programs of {len(samples.classes)} classes; {len(samples.failures)} left out")
    return samples


def tell_batches(progress: Callable[[str], None] | None) -> Callable[[int, int], None] | None:
    """Says how far reading programs has come."""
    if not progress:
        return None
    return lambda done, total: progress(f"{done} of {total} batches of programs compiled and read")


def programs_folder(folder: Path | None = None, data: str | None = None) -> Path:
    """A folder with a folder of programs for each class: the one that is named, or POJ-104.

    Args:
        folder: The one that is named.
        data: Folder of datasets; None for the usual places.

    Raises:
        NccError: POJ-104 is asked for and is not there.
    """
    return folder or extracted("poj104", "poj104.tar.xz", data) / "poj104"


def programs_cache() -> Path:
    """Where programs are kept once compiled and read."""
    return cache_folder() / "programs"


def level_names(levels: str) -> tuple[str, ...]:
    """From "1,2" to "-O1" and "-O2".

    Raises:
        InputError: There is no such level.
    """
    names = (CompileOptions(optimization=level.strip()).optimization for level in levels.split(","))
    return tuple(dict.fromkeys(names))
