"""Loading and saving of what is trained: the heads that ship with ncc, and those of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncc.classification.head import ClassifierHead
    from ncc.coarsening.files import AnyCoarseningHead
    from ncc.devices.head import TimesHead


def load_device_head(folder: str | Path | None = None, *, platform: str = "nvidia") -> "TimesHead":
    """Reads a head that predicts the faster device.

    Args:
        folder: Written by `save_device_head` or ``ncc train devmap``; default the head that ships with ncc.
        platform: Of the head that ships: "amd" (Tahiti 7970) or "nvidia" (GTX 970).

    Raises:
        InputError: There is no such platform.
        AssetError: A file is missing, damaged, or of another format version.
    """
    from ncc.devices.files import load_head
    from ncc.devices.predict import load_shipped_device_head

    return load_shipped_device_head(platform) if folder is None else load_head(folder)


def save_device_head(head: "TimesHead", folder: str | Path) -> None:
    """Writes a head that `ncc.train_devmap` made.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    from ncc.devices.files import save_head

    save_head(head, folder)


def load_coarsening_head(folder: str | Path | None = None) -> "AnyCoarseningHead":
    """Reads a head that predicts thread-coarsening factors.

    Args:
        folder: Written by `save_coarsening_head` or ``ncc train coarsening``; default the head that ships with ncc.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    from ncc.coarsening import load_shipped_coarsening_head
    from ncc.coarsening.files import load_head

    return load_shipped_coarsening_head() if folder is None else load_head(folder)


def save_coarsening_head(head: "AnyCoarseningHead", folder: str | Path) -> None:
    """Writes a head that `ncc.train_coarsening` made.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    from ncc.coarsening.files import save_head

    save_head(head, folder)


def load_classifier(folder: str | Path | None = None) -> "ClassifierHead":
    """Reads a classifier of programs.

    Args:
        folder: Written by `save_classifier` or ``ncc train classify``; default the one that ships with ncc, of the 104
            problems of POJ-104.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    from ncc.classification import load_shipped_classifier
    from ncc.classification.files import load_head

    return load_shipped_classifier() if folder is None else load_head(folder)


def save_classifier(head: "ClassifierHead", folder: str | Path) -> None:
    """Writes a classifier that `ncc.train_classifier` made.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    from ncc.classification.files import save_head

    save_head(head, folder)
