"""Files of coarsening heads of either kind: straight lines, which ship, or an ensemble of LSTMs."""

import os
from pathlib import Path

from ncc.learning.heads.files import HeadFiles
from ncc.tasks.coarsening.head import CoarseningHead
from ncc.tasks.coarsening.lstm_head import LSTMCoarseningHead

AnyCoarseningHead = CoarseningHead | LSTMCoarseningHead
FILES: HeadFiles[AnyCoarseningHead] = HeadFiles(
    "thread-coarsening head", 1, {"line": CoarseningHead, "lstm": LSTMCoarseningHead}
)


def load_coarsening_head(folder: AnyCoarseningHead | str | os.PathLike[str] | None = None) -> AnyCoarseningHead:
    """Reads a head that predicts thread-coarsening factors; a loaded one is returned unchanged.

    Args:
        folder: Written by `save_coarsening_head` or ``ncc train coarsening``; default the head that ships with ncc.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FILES.load(folder, "coarsening")


def save_coarsening_head(head: AnyCoarseningHead, folder: str | Path) -> None:
    """Writes a head made by `ncc.train_coarsening`.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    FILES.save(head, folder)
