"""Questions asked before hours of work: can a result be written where it should go?"""

import os
from pathlib import Path

from ncc.errors import OutputError

__all__ = ["check_folder", "check_writable"]

# os.path says no where nobody may look, and of names that no file can have: Path's questions raise then


def check_writable(*paths: Path | None) -> None:
    """Refuses files that can't be written; None stands for a file that nobody wants.

    Raises:
        OutputError: One is a folder, or would be in no folder, or in one that can't be written.
    """
    for path in filter(None, paths):
        folder = path.parent
        if os.path.isdir(path):  # noqa: PTH112
            raise OutputError(f"{path}: is a folder; expected a file to write")
        if not os.path.isdir(folder):  # noqa: PTH112
            raise OutputError(f"{path}: there is no folder {folder}")
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):  # noqa: PTH110
            raise OutputError(f"{path}: can't be written: Permission denied")


def check_folder(*folders: Path | None) -> None:
    """Refuses folders into which files can't be written; they need not be there yet, and None stands for none.

    Raises:
        OutputError: One is below a file, can't be there, or can't be written.
    """
    for folder in filter(None, folders):
        whole = folder.absolute()
        try:
            whole.stat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:  # nobody may look there, or no folder can have this name
            raise OutputError(f"{folder}: can't be written: {error.strerror}") from error
        existing = next(path for path in (whole, *whole.parents) if os.path.exists(path))  # noqa: PTH110
        if not os.path.isdir(existing):  # noqa: PTH112
            raise OutputError(f"{folder}: can't be written: {existing} is a file; expected a folder")
        if not os.access(existing, os.W_OK):
            raise OutputError(f"{folder}: can't be written: Permission denied")
