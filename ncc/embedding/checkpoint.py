"""Checkpoints of an embedding's training: matrices, moments and losses in one file, written whole or not at all."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ncc.errors import AssetError
from ncc.storage import read_tensors, write_atomically

__all__ = ["load_checkpoint", "save_checkpoint"]

FORMAT_VERSION = 1


def save_checkpoint(path: Path, state: dict[str, NDArray[np.float32]], losses: list[float], fingerprint: str) -> None:
    """Writes a checkpoint.

    Args:
        path: file in the safetensors format.
        state: what the model needs to go on.
        losses: one an epoch done.
        fingerprint: of counts and configuration.

    Raises:
        OutputError: the file can't be written.
    """
    from safetensors.numpy import save

    about = {"format_version": str(FORMAT_VERSION), "fingerprint": fingerprint, "losses": json.dumps(losses)}
    write_atomically(path, save({name: np.ascontiguousarray(array) for name, array in state.items()}, about))


def load_checkpoint(
    path: Path, names: Iterable[str], fingerprint: str
) -> tuple[dict[str, NDArray[np.float32]], list[float]]:
    """Reads a checkpoint: the state and the losses so far.

    Raises:
        AssetError: the file is damaged, or of other counts or another configuration.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            about = file.metadata() or {}
        losses = [float(loss) for loss in json.loads(about["losses"])]
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise AssetError(f"{path}: is no checkpoint of an embedding ({error!r}); delete it to start anew") from error
    if about.get("format_version") != str(FORMAT_VERSION) or about.get("fingerprint") != fingerprint:
        raise AssetError(f"{path}: is of other counts or another configuration; delete it to start anew")
    return read_tensors(path, [f"{name}{suffix}" for name in names for suffix in ("", ".mean", ".variance")]), losses
