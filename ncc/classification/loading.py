"""Labelled programs as verbs take them: a folder of classes, POJ-104 by default, compiled at some levels."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ncc.classification.places import level_names, programs_cache, programs_folder
from ncc.classification.samples import LabelledFiles, ProgramSamples, find_labelled_files, load_programs
from ncc.embedding import Embedding
from ncc.runtime.ranks import rank_and_world
from ncc.runtime.writable import check_folder

__all__ = ["labelled_files", "load_labelled_programs", "tell_batches"]


def labelled_files(
    folder: str | Path | None, levels: Sequence[str], data: str | None
) -> tuple[LabelledFiles, tuple[str, ...]]:
    """The files of a folder of classes, POJ-104's by default, and the names of optimisation levels.

    Raises:
        InputError: There are none, or a level is unknown.
        DataError: POJ-104 is asked for and is missing or damaged.
    """
    names = level_names(",".join(levels))
    return find_labelled_files(programs_folder(None if folder is None else Path(folder), data)), names


def load_labelled_programs(
    folder: str | Path | None,
    levels: Sequence[str],
    embedding: Embedding,
    *,
    cache: str | Path | None,
    data: str | None,
    jobs: int,
    progress: Callable[[str], None] | None,
) -> ProgramSamples:
    """The programs of `labelled_files`, compiled at some levels and read for an embedding.

    Raises:
        InputError, DataError: As for `labelled_files`.
        NccError: The compiler or the cache fails.
    """
    files, names = labelled_files(folder, levels, data)
    place = None if cache is None else Path(cache)
    check_folder(place)
    samples = load_programs(
        files,
        names,
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
