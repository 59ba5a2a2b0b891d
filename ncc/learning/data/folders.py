"""Where to look for datasets, and where to write what is derived from them."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Return the folder that ncc may write to; it need not exist yet.

    Returns:
        The folder named by the environment variable NCC_CACHE, else the platform's cache folder.
    """
    if chosen := os.environ.get("NCC_CACHE"):
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("ncc")


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds the datasets, one sub-folder each; it need not exist.

    Args:
        folder: The caller's choice, which wins over the environment.

    Returns:
        `folder`, else the folder named by the environment variable NCC_DATA, else `cache_folder()`.
    """
    if folder is not None:
        return Path(folder).expanduser()
    if chosen := os.environ.get("NCC_DATA"):
        return Path(chosen).expanduser()
    return cache_folder()
