"""Checkpoints of embedding training: matrices, moments and losses in one file, written atomically."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import AssetError
from ncc.system.files.models import read_tensors, write_atomically

FORMAT_VERSION = 1


def save_checkpoint(path: Path, state: dict[str, Floats32], losses: list[float], fingerprint: str) -> None:
    """Writes a checkpoint.

    Raises:
        OutputError: The file can't be written.
    """
    from safetensors.numpy import save

    about = {"format_version": str(FORMAT_VERSION), "fingerprint": fingerprint, "losses": json.dumps(losses)}
    write_atomically(path, save({name: np.ascontiguousarray(array) for name, array in state.items()}, about))


def load_checkpoint(
    path: Path, shapes: Mapping[str, tuple[int, ...]], fingerprint: str
) -> tuple[dict[str, Floats32], list[float]]:
    """Reads a checkpoint: the state and the losses so far.

    Raises:
        AssetError: The file is damaged, or of other counts or another configuration.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            about, names = file.metadata() or {}, set(file.keys())
        losses = [float(loss) for loss in json.loads(about["losses"])]
        if not np.isfinite(losses).all():
            raise ValueError("a loss is not finite")
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise AssetError(f"{path}: not a checkpoint of an embedding ({error!r}); delete it to start anew") from error
    if about.get("format_version") != str(FORMAT_VERSION) or about.get("fingerprint") != fingerprint:
        raise AssetError(f"{path}: is of other counts or another configuration; delete it to start anew")
    expected = {f"{name}{suffix}": shape for name, shape in shapes.items() for suffix in ("", ".mean", ".variance")}
    state = read_tensors(path, expected, kinds="f", most_bytes=sys.maxsize)
    for name in sorted(names):
        if name not in expected or state[name].dtype != np.float32 or not np.isfinite(state[name]).all():
            raise AssetError(f"{path}: {name!r:.80} is damaged, or of another model; delete the file to start anew")
    return state, losses
