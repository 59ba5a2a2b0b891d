"""Files of a `ClassifierHead`: ``head.safetensors`` and ``head.json``."""

import json
from pathlib import Path

import numpy as np

from ncc.errors import AssetError
from ncc.heads.classifier import ClassifierHead
from ncc.storage import read_json, read_tensors, write_atomically

__all__ = ["load_classifier_head", "save_classifier_head"]

FORMAT_VERSION = 1
_REQUIRED = ("row", "vectors", "ahead.0.bias_ih_l0", "dense.bias")


def save_classifier_head(head: ClassifierHead, folder: str | Path) -> None:
    """Writes a head, its weights as float16.

    Raises:
        OutputError: the folder can't be written.
    """
    from safetensors.numpy import save

    folder = Path(folder)
    card = {
        "format_version": FORMAT_VERSION,
        "layers": head.layers,
        "buckets": head.buckets,
        "words": len(head.row),
        "classes": head.classes,
        "temperature": head.temperature,
        "threshold": head.threshold,
        "longest": head.longest,
        "embedding_id": head.embedding_id,
        "about": head.about,
    }
    largest = np.finfo(np.float16).max
    tensors = {name: np.clip(tensor, -largest, largest).astype(np.float16) for name, tensor in head.tensors.items()}
    write_atomically(folder / "head.safetensors", save(tensors | {"row": head.row.astype(np.int32)}))
    write_atomically(folder / "head.json", (json.dumps(card, indent=1, ensure_ascii=False) + "\n").encode())


def load_classifier_head(folder: str | Path) -> ClassifierHead:
    """Reads what `save_classifier_head` wrote.

    Raises:
        AssetError: a file is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    card = read_json(folder / "head.json", FORMAT_VERSION)
    tensors = read_tensors(folder / "head.safetensors", _REQUIRED)
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise AssetError(f"{folder}: a weight is not a finite number; it is damaged")
    try:
        row = tensors.pop("row")
        if row.dtype != np.int32:
            raise ValueError(f"rows are {row.dtype}")
        if not isinstance(card["classes"], list) or row.shape != (card["words"],):
            raise ValueError("classes or rows")
        head = ClassifierHead(
            tensors={name: tensor.astype(np.float32) for name, tensor in tensors.items()},
            row=row,
            layers=int(card["layers"]),
            classes=tuple(str(name) for name in card["classes"]),
            temperature=float(card["temperature"]),
            threshold=float(card["threshold"]),
            longest=int(card["longest"]),
            embedding_id=str(card["embedding_id"]),
            about=dict(card["about"]),
        )
        if head.buckets != card["buckets"]:
            raise ValueError(f"{head.buckets} rows of literals")
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise AssetError(f"{folder}: is not a classifier ({error!r}); it is damaged") from error
    return head
