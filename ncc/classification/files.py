"""Files of a `ClassifierHead`: ``head.safetensors`` and ``head.json``."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.classification.head import ClassifierHead
from ncc.classification.network_model import ProgramNetwork, program_encoder
from ncc.classification.ngram_model import NgramModel
from ncc.errors import AssetError, InputError
from ncc.runtime.storage import number_in, read_model, text_in, write_model

__all__ = ["load_classifier_head", "save_classifier_head"]

FORMAT_VERSION = 2
_LARGEST = float(np.finfo(np.float16).max)
_LOWEST_TEMPERATURE = 1e-6
_LEVEL = re.compile(r"-O(?:[0-3sz]|fast)")
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
        OutputError: The folder can't be written.
    """
    folder = Path(folder)
    network = head.network
    card = {
        "format_version": FORMAT_VERSION,
        "layers": network.config.layers,
        "buckets": network.config.buckets,
        "words": len(network.row),
        "longest": network.longest,
        "ngram_buckets": len(head.ngrams.weights),
        "ngram_factor": head.ngram_factor,
        "classes": head.classes,
        "titles": head.titles,
        "temperature": head.temperature,
        "threshold": head.threshold,
        "embedding_id": head.embedding_id,
        "levels": head.levels,
        "about": head.about,
    }
    tensors = {
        name: np.ascontiguousarray(np.clip(tensor, -_LARGEST, _LARGEST), np.float16)
        for name, tensor in network.tensors.items()
    }
    tensors |= {_NGRAMS + name: getattr(head.ngrams, name) for name in _NGRAM_TENSORS}
    write_model(folder, "head", card, tensors | {"row": network.row.astype(np.int32)})


def load_classifier_head(folder: str | Path) -> ClassifierHead:
    """Reads what `save_classifier_head` wrote.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    card, tensors = read_model(folder, "head", FORMAT_VERSION, _REQUIRED)
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise AssetError(f"{folder}: a weight is not a finite number; it is damaged")
    try:
        row = tensors.pop("row")
        if row.dtype != np.int32:
            raise ValueError(f"rows are {row.dtype}")
        _check_card(card)
        if row.shape != (card["words"],) or not len(row):
            raise ValueError("classes or rows")
        _check_weights(tensors)
        if not 1 <= card["layers"] <= len(tensors):  # before a shape is worked out for every layer
            raise ValueError(f"{card['layers']!r:.40} layers")
        ngrams = NgramModel(*(tensors.pop(_NGRAMS + name) for name in _NGRAM_TENSORS))
        literals = len(tensors.get("literals.weight", ()))
        if literals != card["buckets"] or len(ngrams.weights) != card["ngram_buckets"]:
            raise ValueError(f"{literals} rows of literals, {len(ngrams.weights)} of n-grams")
        arrays = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
        sizes = program_encoder(len(arrays["ahead.0.bias_ih_l0"]) // 4, card["layers"], card["buckets"])
        network = ProgramNetwork.from_arrays(arrays, sizes, row, card["longest"])
        head = ClassifierHead(
            network=network,
            ngrams=ngrams,
            ngram_factor=number_in(card, "ngram_factor"),
            classes=tuple(card["classes"]),
            temperature=number_in(card, "temperature"),
            threshold=number_in(card, "threshold"),
            embedding_id=text_in(card, "embedding_id"),
            levels=_levels(card),
            about=dict(card["about"]),
            titles=_titles(card),
        )
    except (LookupError, TypeError, ValueError, OverflowError, InputError) as error:
        raise AssetError(f"{folder}: is not a classifier ({error!r}); it is damaged") from error
    return head


def _check_card(card: dict[str, Any]) -> None:
    """Types and ranges of what the card says, before it is relied on.

    Raises:
        KeyError, TypeError, ValueError: something is missing, or is not what it should be.
    """
    for name in ("layers", "longest", "words", "buckets", "ngram_buckets"):
        if type(card[name]) is not int:
            raise TypeError(f"{name} is {card[name]!r:.40}; expected a whole number")
    classes = card["classes"]
    if not isinstance(classes, list) or not classes or not all(isinstance(name, str) for name in classes):
        raise TypeError("classes are no list of texts")
    if not number_in(card, "temperature") >= _LOWEST_TEMPERATURE or not number_in(card, "ngram_factor") <= _LARGEST:
        raise ValueError("temperature or ngram_factor is out of range")


def _levels(card: dict[str, Any]) -> tuple[str, ...]:
    """The optimisation levels of training; heads of earlier versions of ncc name them in the card alone, or not at all.

    Raises:
        TypeError, ValueError: They are none.
    """
    levels = card["levels"] if "levels" in card else dict(card["about"]).get("levels", ["-O1"])
    known = isinstance(levels, list) and all(isinstance(level, str) and _LEVEL.fullmatch(level) for level in levels)
    if not known or not levels:
        raise ValueError(f"levels are {levels!r:.80}; expected some of -O0 to -O3, -Os, -Oz, -Ofast")
    return tuple(levels)


def _titles(card: dict[str, Any]) -> dict[str, str]:
    """Titles of classes; heads of earlier versions of ncc have none.

    Raises:
        TypeError: They are no texts, or are of classes that there are not.
    """
    titles = card.get("titles", {})
    if not isinstance(titles, dict) or not all(isinstance(title, str) for title in titles.values()):
        raise TypeError("titles are no texts")
    if not titles.keys() <= set(card["classes"]):
        raise TypeError("a title is of no class")
    return titles


def _check_weights(tensors: dict[str, NDArray[Any]]) -> None:
    """The network's are floats, and none is larger than a head is written with.

    Raises:
        ValueError: One is not.
    """
    for name, tensor in tensors.items():
        if tensor.dtype.kind != "f" and not name.startswith(_NGRAMS):  # `NgramModel` knows its own
            raise ValueError(f"{name} is {tensor.dtype}")
        wide = tensor.dtype.kind == "f" and tensor.dtype != np.float16  # which can't hold more
        if wide and tensor.size and not -_LARGEST <= tensor.min() <= tensor.max() <= _LARGEST:
            raise ValueError(f"a number of {name} is beyond {_LARGEST:g}")
    if 0 in tensors["vectors"].shape or 0 in tensors["ahead.0.bias_ih_l0"].shape:
        raise ValueError("a network without units")
