"""What the commands on labelled folders of programs share: options, where programs are kept, reading them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.output import say

__all__ = [
    "Levels",
    "ProgramFolder",
    "ProgramsCache",
    "labelled_files",
    "load_labelled_programs",
    "programs_cache",
    "tell_batches",
]

ProgramFolder = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="A folder of programs for each class; default POJ-104.")
]
Levels = Annotated[str, typer.Option(metavar="LEVELS", help="Optimisation levels to compile programs at, as '0,1,2'.")]
ProgramsCache = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where programs are kept once read; default the user's cache.")
]


def labelled_files(folder: Path | None, levels: str, data: str | None) -> tuple[Any, list[str]]:
    """The files of a folder of classes, POJ-104's by default, and the names of optimisation levels.

    Raises:
        NccError: there are none, or a level is unknown.
    """
    from ncc.data import extracted
    from ncc.frontend import CompileOptions
    from ncc.tasks.classification.samples import find_labelled_files

    names = [CompileOptions(optimization=level.strip()).optimization for level in levels.split(",")]
    place = folder or extracted("poj104", "poj104.tar.xz", data) / "poj104"
    return find_labelled_files(place), list(dict.fromkeys(names))


def programs_cache() -> Path:
    """Where programs are kept once compiled and read."""
    from ncc.data import cache_folder

    return cache_folder() / "programs"


def tell_batches(done: int, total: int) -> None:
    """Says how far reading programs has come."""
    if done == total or done % 16 == 0:
        say(f"{done} of {total} batches of programs compiled and read")


def load_labelled_programs(folder: Path | None, levels: str, *, data: str | None, cache: Path | None, jobs: int) -> Any:
    """The programs of `labelled_files`, compiled at some levels.

    Raises:
        NccError: there are none, or the compiler or the cache fails.
    """
    from ncc.embedding import load_embedding
    from ncc.tasks.classification.samples import load_programs

    files, names = labelled_files(folder, levels, data)
    samples = load_programs(
        files,
        names,
        abstraction=load_embedding().abstraction,
        cache=cache or programs_cache(),
        jobs=jobs,
        progress=tell_batches,
    )
    say(f"{len(samples)} programs of {len(samples.classes)} classes; {len(samples.failures)} left out")
    return samples
