"""Writes matplotlib pictures to files."""

import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ncc.errors import InputError
from ncc.system.files.models import write_output

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMATS = (".png", ".svg", ".pdf")


def check_picture(path: str | os.PathLike[str]) -> Path:
    """The path of a picture.

    Raises:
        InputError: The extension is none of .png, .svg and .pdf.
    """
    path = Path(path)
    if path.suffix not in _FORMATS:
        raise InputError(f"{path}: extension {path.suffix!r} is not one of {' '.join(_FORMATS)}")
    return path


def save_picture(figure: "Figure", path: Path) -> None:
    """Writes a figure by its path's extension.

    Raises:
        OutputError: The file can't be written.
    """
    buffer = BytesIO()
    figure.savefig(buffer, format=path.suffix[1:])
    write_output(path, buffer.getvalue())
