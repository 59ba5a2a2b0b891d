"""Files of a `ClassifierHead`."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, convert
from numpy.typing import NDArray

from ncc.learning.encoder.network_model import ProgramNetwork, program_encoder
from ncc.learning.heads.files import HeadFiles, HeadParts
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.ngrams import NgramModel

_LARGEST = float(np.finfo(np.float16).max)
_NGRAMS = "ngrams."
_NGRAM_TENSORS = ("weights", "scale", "bias", "rarity")
_FIELDS = ("ngram_factor", "classes", "titles", "temperature", "threshold", "embedding_id", "levels", "about")
"""What the card has of the head as it is."""


@dataclass(frozen=True)
class _Card:
    """What the card says, beside the arrays."""

    layers: int
    buckets: int
    words: int
    longest: int
    ngram_buckets: int
    ngram_factor: Annotated[float, Meta(le=_LARGEST)]
    classes: tuple[str, ...]
    temperature: Annotated[float, Meta(ge=1e-6)]
    threshold: float
    embedding_id: str
    levels: Annotated[tuple[Annotated[str, Meta(pattern=r"^-O([0-3sz]|fast)\Z")], ...], Meta(min_length=1)]
    about: dict[str, Any]
    titles: dict[str, str] = field(default_factory=dict)


def _split(head: ClassifierHead) -> HeadParts:
    """The network's weights as float16 and those of the n-grams as bytes."""
    network = head.network
    card = _Card(
        layers=network.config.layers,
        buckets=network.config.buckets,
        words=len(network.row),
        longest=network.longest,
        ngram_buckets=len(head.ngrams.weights),
        **{name: getattr(head, name) for name in _FIELDS},
    )
    tensors: dict[str, NDArray[Any]] = {
        name: np.clip(tensor, -_LARGEST, _LARGEST).astype(np.float16) for name, tensor in network.tensors.items()
    }
    tensors |= {_NGRAMS + name: getattr(head.ngrams, name) for name in _NGRAM_TENSORS}
    return HeadParts(vars(card), tensors | {"row": network.row.astype(np.int32)})


def _join(parts: HeadParts) -> ClassifierHead:
    # heads of earlier versions of ncc name their levels in the free part of the card alone, or not at all
    card = convert({"levels": dict(parts.card["about"]).get("levels", ["-O1"])} | parts.card, _Card)
    tensors = dict(parts.tensors)
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError("a weight is not a finite number")
    row = tensors.pop("row")
    if row.dtype != np.int32 or row.shape != (card.words,) or not len(row):
        raise ValueError(f"rows are {row.dtype} of shape {row.shape}")
    _check_weights(tensors)
    if not 1 <= card.layers <= len(tensors):  # before a shape is worked out for every layer
        raise ValueError(f"{card.layers} layers")
    ngrams = NgramModel(*(tensors.pop(_NGRAMS + name) for name in _NGRAM_TENSORS))
    literals = len(tensors.get("literals.weight", ()))
    if literals != card.buckets or len(ngrams.weights) != card.ngram_buckets:
        raise ValueError(f"{literals} rows of literals, {len(ngrams.weights)} of n-grams")
    arrays = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    sizes = program_encoder(len(arrays["ahead.0.bias_ih_l0"]) // 4, card.layers, card.buckets)
    return ClassifierHead(
        network=ProgramNetwork.from_arrays(arrays, sizes, row, card.longest),
        ngrams=ngrams,
        **{name: getattr(card, name) for name in _FIELDS},
    )


def _check_weights(tensors: dict[str, NDArray[Any]]) -> None:
    """The network's are floats, and none is larger than a head is written with."""
    for name, tensor in tensors.items():
        if tensor.dtype.kind != "f" and not name.startswith(_NGRAMS):  # `NgramModel` knows its own
            raise ValueError(f"{name} is {tensor.dtype}")
        wide = tensor.dtype.kind == "f" and tensor.dtype != np.float16  # which can't hold more
        if wide and tensor.size and not -_LARGEST <= tensor.min() <= tensor.max() <= _LARGEST:
            raise ValueError(f"a number of {name} is beyond {_LARGEST:g}")
    if 0 in tensors["vectors"].shape or 0 in tensors["ahead.0.bias_ih_l0"].shape:
        raise ValueError("a network without units")


FILES = HeadFiles("classifier", 2, {"network": ClassifierHead}, {ClassifierHead: _split}, {ClassifierHead: _join})


def load_classifier(folder: ClassifierHead | str | os.PathLike[str] | None = None) -> ClassifierHead:
    """Reads a program classifier; a loaded one is returned unchanged.

    Args:
        folder: Written by `save_classifier` or ``ncc train classify``; default the one that ships with ncc, of the 104
            problems of POJ-104.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FILES.load(folder, "classify")


def save_classifier(head: ClassifierHead, folder: str | Path) -> None:
    """Writes a classifier made by `ncc.train_classifier`.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    FILES.save(head, folder)
