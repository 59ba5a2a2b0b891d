"""Files of a `ClassifierHead`: ``head.safetensors`` and ``head.json``."""

import json
from pathlib import Path

import numpy as np

from ncc.errors import AssetError
from ncc.heads.classifier import ClassifierHead
from ncc.heads.ngram_model import NgramModel
from ncc.heads.program_network import ProgramNetwork
from ncc.storage import read_json, read_tensors, write_atomically

__all__ = ["load_classifier_head", "save_classifier_head"]

FORMAT_VERSION = 2
_NGRAMS = "ngrams."
_NGRAM_TENSORS = ("weights", "scale", "bias", "rarity")
_REQUIRED = (
    "row",
    "vectors",
    "ahead.0.bias_ih_l0",
    "dense.bias",
    "output.bias",
    *(_NGRAMS + n for n in _NGRAM_TENSORS),
)


def save_classifier_head(head: ClassifierHead, folder: str | Path) -> None:
    """Writes a head, the network's weights as float16 and those of the n-grams as bytes.

    Raises:
        OutputError: the folder can't be written.
    """
    from safetensors.numpy import save

    folder = Path(folder)
    network = head.network
    card = {
        "format_version": FORMAT_VERSION,
        "layers": network.layers,
        "buckets": network.buckets,
        "words": len(network.row),
        "longest": network.longest,
        "ngram_buckets": len(head.ngrams.weights),
        "ngram_factor": head.ngram_factor,
        "classes": head.classes,
        "temperature": head.temperature,
        "threshold": head.threshold,
        "embedding_id": head.embedding_id,
        "about": head.about,
    }
    largest = np.finfo(np.float16).max
    tensors = {
        name: np.ascontiguousarray(np.clip(tensor, -largest, largest), np.float16)
        for name, tensor in network.tensors.items()
    }
    # contiguous: safetensors writes memory as it lies
    tensors |= {_NGRAMS + name: np.ascontiguousarray(getattr(head.ngrams, name)) for name in _NGRAM_TENSORS}
    write_atomically(folder / "head.safetensors", save(tensors | {"row": network.row.astype(np.int32)}))
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
        ngrams = NgramModel(*(tensors.pop(_NGRAMS + name) for name in _NGRAM_TENSORS))
        network = ProgramNetwork(
            tensors={name: tensor.astype(np.float32) for name, tensor in tensors.items()},
            row=row,
            layers=int(card["layers"]),
            longest=int(card["longest"]),
        )
        if network.buckets != card["buckets"] or len(ngrams.weights) != card["ngram_buckets"]:
            raise ValueError(f"{network.buckets} rows of literals, {len(ngrams.weights)} of n-grams")
        head = ClassifierHead(
            network=network,
            ngrams=ngrams,
            ngram_factor=float(card["ngram_factor"]),
            classes=tuple(str(name) for name in card["classes"]),
            temperature=float(card["temperature"]),
            threshold=float(card["threshold"]),
            embedding_id=str(card["embedding_id"]),
            about=dict(card["about"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise AssetError(f"{folder}: is not a classifier ({error!r}); it is damaged") from error
    return head
