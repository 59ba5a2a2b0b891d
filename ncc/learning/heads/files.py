"""Files of any model's head: arrays in ``head.safetensors``, everything else in ``head.json``, by field name."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast, get_origin, get_type_hints

import numpy as np
from msgspec import convert
from numpy.typing import NDArray

from ncc.errors import AssetError, InputError
from ncc.learning.encoder.config import EncoderConfig
from ncc.learning.encoder.network_numpy import Ensemble, NumpyNetwork
from ncc.system.files.models import read_model, write_model

H = TypeVar("H")

_LARGEST = 1e9
"""Bound of every number of an ensemble, so that no product overflows."""


class HeadParts(NamedTuple):
    """What a head's two files hold."""

    card: dict[str, Any]
    tensors: dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class HeadFiles(Generic[H]):
    """The files of all heads that answer one question.

    Attributes:
        title: What messages call such a head.
        version: Of the format, which all its models share: the field ``model`` tells them apart.
        models: Name → class. Their dataclasses say what is in the files.
        split: Classes whose files are laid out otherwise → what makes them.
        join: The same → what reads them.
        first: Model of the files that name none; default the first of them.
    """

    title: str
    version: int
    models: Mapping[str, type[H]]
    split: Mapping[type, Callable[[Any], HeadParts]] = field(default_factory=dict)
    join: Mapping[type, Callable[[HeadParts], H]] = field(default_factory=dict)
    first: str | None = None

    def save(self, head: H, folder: str | Path) -> None:
        """Write ``head.safetensors`` and ``head.json``."""
        model = next(name for name, kind in self.models.items() if isinstance(head, kind))
        parts = self.split.get(type(head), _split)(head)
        write_model(Path(folder), "head", {"format_version": self.version, "model": model, **parts.card}, parts.tensors)

    def load(self, folder: str | os.PathLike[str] | H | None, shipped: str = "") -> H:
        """Read what `save` wrote; a head is returned as it is, and None stands for the one that ships in a folder."""
        if folder is None:
            return cast(H, _load_shipped(self, shipped))
        if not isinstance(folder, str | os.PathLike):
            return folder
        parts = HeadParts(*read_model(Path(folder), "head", self.version, (), others=r"(?s).*"))
        try:
            model = parts.card.get("model", self.first or next(iter(self.models)))
            if isinstance(model, str) and model not in self.models:
                known = " or ".join(self.models)
                raise AssetError(
                    f"{folder}: not a {self.title} of this version: its model is {model!r:.40}; expected {known}: "
                    "name the folder of one, or train it again"
                )
            kind = self.models[model]
            return self.join.get(kind, partial(_join, kind))(parts)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, InputError) as error:
            raise AssetError(f"{folder}: not a {self.title} ({error!r}); it is damaged") from error


@cache
def _load_shipped(files: HeadFiles[Any], folder: str) -> Any:
    return files.load(Path(__file__).parents[2] / "assets" / folder)


def _split(head: Any) -> HeadParts:
    parts = HeadParts({}, {})
    for name in head.__dataclass_fields__:
        value = getattr(head, name)
        if isinstance(value, Ensemble):
            own = split_ensemble(value)
            parts.card.update(own.card)
            parts.tensors.update(own.tensors)
        else:
            (parts.tensors if isinstance(value, np.ndarray) else parts.card)[name] = value
    return parts


def split_ensemble(ensemble: Ensemble) -> HeadParts:
    """Number and sizes of the networks, and what they learnt."""
    card = {"members": len(ensemble.members), "encoder": asdict(ensemble.members[0].encoder.config)}
    members = enumerate(ensemble.members)
    return HeadParts(card, {f"member{n}.{key}": tensor for n, one in members for key, tensor in one.tensors.items()})


def _join(kind: type[H], parts: HeadParts) -> H:
    def read(name: str, annotation: Any) -> Any:
        if annotation is Ensemble:
            return join_ensemble(parts)
        if get_origin(annotation) is not np.ndarray:
            return convert(parts.card[name], annotation)
        if parts.tensors[name].dtype.kind != "f":
            raise TypeError(f"{name} is {parts.tensors[name].dtype}")
        with np.errstate(invalid="ignore"):  # what is not a number is refused by the head
            return parts.tensors[name].astype(np.float64)

    hints = get_type_hints(kind)
    return kind(**{one.name: read(one.name, hints[one.name]) for one in fields(kind)})  # type: ignore[arg-type]


def join_ensemble(parts: HeadParts) -> Ensemble:
    """The ensemble that `split_ensemble` took apart."""
    sizes, members = parts.card["encoder"], convert(parts.card["members"], int)
    if not 1 <= members <= len(parts.tensors) or sizes.keys() != EncoderConfig.__dataclass_fields__.keys():
        raise ValueError(f"{members} members of {sizes!r:.80}")
    config = convert(sizes, EncoderConfig)
    return Ensemble(tuple(_member(parts.tensors, f"member{number}.", config) for number in range(members)))


def _member(tensors: Mapping[str, NDArray[Any]], prefix: str, config: EncoderConfig) -> NumpyNetwork:
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    for name, tensor in own.items():
        with np.errstate(invalid="ignore"):  # what is not a number is refused
            whole = tensor.astype(np.float64)  # a half can't hold the bound
        if tensor.dtype.kind != "f" or not (np.abs(whole) <= _LARGEST).all():
            raise ValueError(f"a number of {name} is not a float, not finite, or beyond {_LARGEST:g}")
    return NumpyNetwork.from_arrays({name: tensor.astype(np.float32) for name, tensor in own.items()}, config)
