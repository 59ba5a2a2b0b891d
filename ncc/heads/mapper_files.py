"""Files of a `MapperHead`: ``head.safetensors`` and ``head.json``."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ncc.errors import AssetError
from ncc.heads.mapper import Blocks, Calibration, MapperHead, Process, Term
from ncc.storage import read_json, read_tensors, write_atomically

__all__ = ["load_mapper_head", "save_mapper_head"]

FORMAT_VERSION = 2
_BLOCKS = ("mean", "scale", "training")
_ARRAYS = ("process_scale", "reference", "calibration.score", "calibration.log_ratio")


def save_mapper_head(head: MapperHead, folder: str | Path) -> None:
    """Writes a head; training rows as float32, embeddings among them as float16.

    Raises:
        OutputError: the folder can't be written.
    """
    from safetensors.numpy import save

    folder = Path(folder)
    arrays = {
        f"{kind}.{name}": columns.astype(np.float16 if (kind, name) == ("training", "embedding") else np.float32)
        for kind in _BLOCKS
        for name, columns in getattr(head, kind).items()
    }
    arrays |= {f"process{i}.weights": process.weights for i, process in enumerate(head.processes)}
    arrays |= {
        "process_scale": head.process_scale,
        "reference": head.reference,
        "calibration.score": head.calibration.score,
        "calibration.log_ratio": head.calibration.log_ratio,
    }
    card = {
        "format_version": FORMAT_VERSION,
        "processes": [
            {"mean": process.mean, "terms": [asdict(term) for term in process.terms]} for process in head.processes
        ],
        "calibration_slope": head.calibration.slope,
        "embedding_id": head.embedding_id,
        "about": head.about,
    }
    write_atomically(folder / "head.safetensors", save({name: array.copy() for name, array in arrays.items()}))
    write_atomically(folder / "head.json", (json.dumps(card, indent=1) + "\n").encode())


def load_mapper_head(folder: str | Path) -> MapperHead:
    """Reads what `save_mapper_head` wrote.

    Raises:
        AssetError: a file is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    card = read_json(folder / "head.json", FORMAT_VERSION)
    arrays = {
        name: array.astype(np.float64) for name, array in read_tensors(folder / "head.safetensors", _ARRAYS).items()
    }
    try:
        blocks = {kind: _block(arrays, kind) for kind in _BLOCKS}
        head = MapperHead(
            **blocks,
            processes=tuple(
                Process(
                    tuple(
                        Term(float(term["variance"]), _shares(term["weights"]), float(term["length"]))
                        for term in process["terms"]
                    ),
                    float(process["mean"]),
                    arrays[f"process{i}.weights"],
                )
                for i, process in enumerate(card["processes"])
            ),
            process_scale=arrays["process_scale"],
            calibration=Calibration(
                arrays["calibration.score"], arrays["calibration.log_ratio"], float(card["calibration_slope"])
            ),
            reference=arrays["reference"],
            embedding_id=str(card["embedding_id"]),
            about=dict(card["about"]),
        )
        _check(head)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AssetError(f"{folder}: is not a device-mapping head ({error!r}); it is damaged") from error
    return head


def _block(arrays: Blocks, kind: str) -> Blocks:
    return {name.removeprefix(f"{kind}."): array for name, array in arrays.items() if name.startswith(f"{kind}.")}


def _shares(weights: dict[str, float]) -> dict[str, float]:
    return {str(name): float(weight) for name, weight in weights.items()}


def _check(head: MapperHead) -> None:
    """Shapes that must agree, before a prediction trips over them."""
    rows = len(head.training["data"])
    used = {name for process in head.processes for term in process.terms for name in term.weights}
    for name in used:
        columns = head.training[name]
        if columns.shape[:1] != (rows,) or not head.mean[name].shape == head.scale[name].shape == columns.shape[1:]:
            raise ValueError(f"block {name} is of shape {columns.shape}")
    if not head.processes or any(process.weights.shape != (rows,) for process in head.processes):
        raise ValueError(f"{len(head.processes)} processes for {rows} rows")
    if head.process_scale.shape != (len(head.processes),) or head.reference.shape[1:] != (2,) or not rows:
        raise ValueError("scales or reference")
    calibration = head.calibration
    if calibration.score.shape != calibration.log_ratio.shape or not len(calibration.score):
        raise ValueError("calibration")
    everything = [*head.training.values(), head.process_scale, head.reference, calibration.score, calibration.log_ratio]
    if not all(np.isfinite(array).all() for array in everything) or (head.process_scale <= 0).any():
        raise ValueError("a number is not finite")
