"""Files of any model: arrays in STEM.safetensors, everything else in STEM.json, as declared by its dataclasses.

A field that is an array, or a dict of arrays by name, is stored under its dotted path, as its `Stored` specifies::

    code: Annotated[Floats, Stored("f2", bound=1e6)]

Fields of a dataclass, a union of dataclasses or a tuple of either are stored in the same way; a `Stored` of the field
applies to all arrays in it of the same kind without one. Every other field is a value of the card, with its range
in msgspec's ``Meta``::

    familiar: Annotated[float, Meta(gt=0, le=1e6)]
    classes: Annotated[tuple[str, ...], DISTINCT]

A file has exactly the declared arrays, in the shapes that its card lists, and every number is finite and within its
bound. Constraints between fields are checked by ``__post_init__``, which raises `InputError` or ValueError.
"""

import hashlib
import os
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from msgspec import convert
from numpy.typing import NDArray

from ncc.errors import AssetError, InputError
from ncc.system.files.hub import ASSETS, resolve
from ncc.system.files.models import read_model, write_model

H = TypeVar("H")

DISTINCT = "distinct"
"""Annotates a tuple of distinct items."""


@dataclass(frozen=True)
class Stored:
    """How an array is stored: its type in the file (default: as in memory), and the maximum magnitude of numbers."""

    dtype: str | None = None
    bound: float = 1e9

    def type_of(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the type in the file of an array of ``dtype``; integers don't become floats."""
        stored = np.dtype(self.dtype or dtype)
        return stored if stored.kind == dtype.kind else dtype


@dataclass(frozen=True, eq=False)
class ModelFormat(Generic[H]):
    """The files of one kind of model."""

    title: str  # noun of messages, such as "GPU head"
    version: int
    kind: Any  # a dataclass, or a union of them
    command: str  # to make such a model
    stem: str = "head"  # name of the files

    def save(self, model: H, folder: str | os.PathLike[str]) -> None:
        """Write the two files into a folder."""
        tensors: dict[str, NDArray[Any]] = {}
        card = _split(model, self.kind, "", Stored(), tensors)
        shapes = {name: list(array.shape) for name, array in tensors.items()}
        write_model(Path(folder), self.stem, {"format_version": self.version, **card, "shapes": shapes}, tensors)

    def load(self, model: str | os.PathLike[str] | H | None, kind: str = "") -> H:
        """Read a model by its name or folder, see `resolve`; return a model unchanged."""
        if model is not None and not isinstance(model, str | os.PathLike):
            return model
        folder = resolve(model, kind, self.stem)
        return cast(H, _load_shipped(self, folder)) if folder.is_relative_to(ASSETS) else self._read(folder)

    def _read(self, folder: Path) -> H:
        try:
            card, tensors = read_model(folder, self.stem, self.version)
        except AssetError as error:
            raise AssetError(f"{error}; `{self.command}` makes {self.title}s") from error
        try:
            if convert(card["shapes"], dict[str, tuple[int, ...]]) != {name: a.shape for name, a in tensors.items()}:
                raise ValueError("shapes of arrays differ from the card")
            model = _join(self.kind, card, "", Stored(), tensors)
            if tensors:
                raise ValueError(f"{len(tensors)} unexpected arrays, such as {min(tensors)!r:.40}")
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, InputError) as error:
            raise AssetError(f"{folder}: not a {self.title} ({str(error)!r:.300}); it is damaged") from error
        return cast(H, model)


def fingerprint(settings: object, *arrays: NDArray[Any]) -> str:
    """A short hash of settings and arrays."""
    digest = hashlib.sha256(repr(settings).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]


@cache
def _load_shipped(files: ModelFormat[Any], folder: Path) -> Any:
    return files._read(folder)


def _split(value: Any, hint: Any, path: str, stored: Stored, tensors: dict[str, NDArray[Any]]) -> Any:
    """Add the arrays of a value to ``tensors``; return its other fields, a part of the card."""
    hint, stored = _declared(hint, stored)
    if _array(hint):
        arrays = (
            {f"{path}.{name}": array for name, array in value.items()} if isinstance(value, dict) else {path: value}
        )
        tensors |= {name: _rounded(array, stored.type_of(array.dtype)) for name, array in arrays.items()}
    elif kinds := _kinds(hint):
        card = {"kind": type(value).__name__} if len(kinds) > 1 else {}
        for name, each in _fields(cast(Any, type(value))).items():
            part = _split(getattr(value, name), each, f"{path}.{name}".lstrip("."), stored, tensors)
            card |= {} if _array(each) else {name: part}
        return card
    elif _is_list(hint):
        return [_split(each, get_args(hint)[0], f"{path}.{i}", stored, tensors) for i, each in enumerate(value)]
    return value


def _rounded(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    largest = np.finfo(dtype).max if array.dtype.kind == "f" else np.inf
    return (np.clip(array, -largest, largest) if array.dtype.kind == "f" else array).astype(dtype)


def _join(hint: Any, card: Any, path: str, stored: Stored, tensors: dict[str, NDArray[Any]]) -> Any:
    """Make a value from its part of the card and the arrays below ``path``, which are removed from ``tensors``."""
    whole, (hint, stored) = hint, _declared(hint, stored)
    if array := _array(hint):
        names = [path] if array is hint else [name for name in tensors if name.startswith(f"{path}.")]
        arrays = {name[len(path) + 1 :]: _checked(tensors.pop(name), array, stored, name) for name in names}
        return arrays[""] if array is hint else arrays
    if kinds := _kinds(hint):
        if not isinstance(card, dict):
            raise TypeError(f"{path} is {card!r:.40}")
        kind = kinds[0] if len(kinds) == 1 else {each.__name__: each for each in kinds}[card["kind"]]
        return kind(
            **{
                name: _join(each, None if _array(each) else card[name], f"{path}.{name}".lstrip("."), stored, tensors)
                for name, each in _fields(kind).items()
            }
        )
    if _is_list(hint):
        parts = enumerate(convert(card, list))
        return tuple(_join(get_args(hint)[0], part, f"{path}.{i}", stored, tensors) for i, part in parts)
    value = convert(card, whole)
    if get_origin(whole) is Annotated and DISTINCT in whole.__metadata__ and len(set(value)) < len(value):
        raise ValueError(f"{path} has something twice")
    return value


def _checked(array: NDArray[Any], hint: Any, stored: Stored, name: str) -> NDArray[Any]:
    dtype = np.dtype(get_args(get_args(hint)[1])[0])
    if array.dtype != stored.type_of(dtype):
        raise ValueError(f"{name} is {array.dtype}; expected {stored.type_of(dtype)}")
    with np.errstate(invalid="ignore"):
        if array.dtype.kind == "f" and not (np.abs(array.astype(np.float64)) <= stored.bound).all():
            raise ValueError(f"a number of {name} is not finite, or beyond {stored.bound:g}")
    return array.astype(dtype)


@cache
def _fields(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {each.name: hints[each.name] for each in fields(kind)}


def _declared(hint: Any, stored: Stored) -> tuple[Any, Stored]:
    """Strip an annotation; return its `Stored`, or the default."""
    if get_origin(hint) is not Annotated:
        return hint, stored
    return get_args(hint)[0], next((each for each in hint.__metadata__ if isinstance(each, Stored)), stored)


def _array(hint: Any) -> Any:
    """Return the type of an array, or of a mapping's arrays; None if it is neither."""
    hint = _declared(hint, Stored())[0]
    item = get_args(hint)[1] if get_origin(hint) is dict else hint
    return item if get_origin(item) is np.ndarray else None


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return a dataclass, or those of a union; empty if the union has other members."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return kinds if all(isinstance(kind, type) and is_dataclass(kind) for kind in kinds) else ()


def _is_list(hint: Any) -> bool:
    return get_origin(hint) is tuple and bool(_kinds(_declared(get_args(hint)[0], Stored())[0]))


def check_shapes(part: Any, **shapes: tuple[int, ...]) -> None:
    """Refuse a part of a model with an array of another shape."""
    for name, shape in shapes.items():
        if (found := getattr(part, name).shape) != shape:
            raise InputError(f"{name} has shape {found}; expected {shape}")
