"""Labelled programs for commands: the options that name them, and reading them."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ncc.cli.figures import now_and_then
from ncc.cli.output import check_folder, say
from ncc.runtime.ranks import rank_and_world

__all__ = ["Levels", "ProgramFolder", "ProgramsCache", "labelled_files", "load_labelled_programs", "tell_batches"]

ProgramFolder = Annotated[
    Path | None, typer.Argument(metavar="FOLDER", help="A folder of programs for each class; default POJ-104.")
]
Levels = Annotated[str, typer.Option(metavar="LEVELS", help="Optimisation levels to compile programs at, as '0,1,2'.")]
ProgramsCache = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where programs are kept once read; default the user's cache.")
]


def labelled_files(folder: Path | None, levels: str, data: str | None) -> tuple[Any, tuple[str, ...]]:
    """The files of a folder of classes, POJ-104's by default, and the names of optimisation levels.

    Raises:
        NccError: There are none, or a level is unknown.
    """
    from ncc.classification.places import level_names, programs_folder
    from ncc.classification.samples import find_labelled_files

    names = level_names(levels)
    return find_labelled_files(programs_folder(folder, data)), names


def tell_batches() -> Callable[[int, int], None]:
    """Says now and then how far reading programs has come."""
    tell = now_and_then(say)
    return lambda done, total: tell(f"{done} of {total} batches of programs compiled and read")


def load_labelled_programs(
    folder: Path | None, levels: str, abstraction: Any, *, data: str | None, cache: Path | None, jobs: int
) -> Any:
    """The programs of `labelled_files`, compiled at some levels and read for an embedding.

    Raises:
        NccError: There are none, or the compiler or the cache fails.
    """
    from ncc.classification.places import programs_cache
    from ncc.classification.samples import load_programs

    files, names = labelled_files(folder, levels, data)
    if cache:
        check_folder(cache)
    samples = load_programs(
        files,
        names,
        abstraction=abstraction,
        cache=cache or programs_cache(),
        jobs=jobs,
        progress=tell_batches(),
    )
    if rank_and_world()[0] == 0:
        say(f"{len(samples)} programs of {len(samples.classes)} classes; {len(samples.failures)} left out")
    return samples
