"""An `Ensemble` as a part of a head's two files: fields of the card, and tensors."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.encoder.config import EncoderConfig
from ncc.encoder.inference import Ensemble, NumpyNetwork

__all__ = ["ensemble_card", "ensemble_from", "ensemble_tensors"]

_LARGEST = 1e9
"""Bound of every number, so that no product overflows."""


def ensemble_card(ensemble: Ensemble) -> dict[str, Any]:
    """Fields of the card."""
    return {"members": len(ensemble.members), "encoder": asdict(ensemble.members[0].encoder.config)}


def ensemble_tensors(ensemble: Ensemble) -> dict[str, NDArray[np.float32]]:
    """All that the members learnt, by names of their own."""
    return {
        f"member{number}.{name}": tensor
        for number, member in enumerate(ensemble.members)
        for name, tensor in member.tensors.items()
    }


def ensemble_from(card: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Ensemble:
    """Reads what the other two gave; tensors with other names are ignored.

    Raises:
        KeyError, TypeError, ValueError, InputError: Something is missing, or is not what it should be.
    """
    sizes, members = card["encoder"], card["members"]
    if type(members) is not int or not 1 <= members <= len(tensors):
        raise ValueError(f"{members!r:.40} members")
    if not isinstance(sizes, dict) or not isinstance(sizes.get("pooling"), list):
        raise TypeError("sizes of the encoder are not what they should be")
    for name, field in EncoderConfig.__dataclass_fields__.items():
        if field.type in (int, "int", bool, "bool") and type(sizes[name]) not in (int, bool):
            raise TypeError(f"{name} is {sizes[name]!r:.40}; expected a whole number")
    config = EncoderConfig(**sizes | {"pooling": tuple(sizes["pooling"])})
    return Ensemble(tuple(_member(tensors, f"member{number}.", config) for number in range(members)))


def _member(tensors: Mapping[str, NDArray[Any]], prefix: str, config: EncoderConfig) -> NumpyNetwork:
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    for name, tensor in own.items():
        with np.errstate(invalid="ignore"):  # what is no number is refused
            whole = tensor.astype(np.float64)  # a half can't hold the bound
        if tensor.dtype.kind != "f" or not (np.abs(whole) <= _LARGEST).all():
            raise ValueError(f"a number of {name} is no float, not finite, or beyond {_LARGEST:g}")
    return NumpyNetwork.from_arrays({name: tensor.astype(np.float32) for name, tensor in own.items()}, config)
