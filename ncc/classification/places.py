"""What commands are told of labelled programs: where they are, where they are kept, at which levels to compile."""

from pathlib import Path

from ncc.data import cache_folder, extracted
from ncc.frontend import CompileOptions

__all__ = ["level_names", "programs_cache", "programs_folder"]


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
