"""Files of device heads of either kind: of times, which ship, or of ratios by an ensemble of LSTMs.

Those of times have arrays of every expert, and a card that says the rest.
"""

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import convert
from numpy.typing import NDArray

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.heads.files import HeadFiles, HeadParts, join_ensemble, split_ensemble
from ncc.learning.heads.trees import TREE_DTYPES, Boosted, read_trees
from ncc.tasks.devices.columns import CODE_WIDTH, LAUNCH, NUM_COLUMNS
from ncc.tasks.devices.devices_head import LEVELS, Errors, Expert, TimesHead
from ncc.tasks.devices.head import COVARIANCES, LSTMTimes, Smooth, TimesModel
from ncc.tasks.devices.physics import LAUNCH_TERMS, PUBLISHED_TERMS, Physics

_KINDS = {
    Smooth: {"mean": "f4", "scale": "f4", "points": "f2", "weights": "f4", "base": "f8"},
    Boosted: TREE_DTYPES,
    LSTMTimes: {"mean": "f4", "scale": "f4"},
}
_MODELS: dict[str, type[TimesModel]] = {"gp": Smooth, "trees": Boosted, "lstm": LSTMTimes}
_LARGEST, _LARGEST_LOG = 1e6, 100.0


@dataclass(frozen=True)
class _ExpertCard:
    """What the card says of an `Expert`."""

    source: str
    model: str
    names: tuple[str, ...]
    familiar: float
    strange: float
    reach: tuple[float, float]
    slopes: tuple[float, float]
    sharpness: tuple[float, float]
    covariance: str = "code"
    beyond_constants: bool = False
    fade: float = 0.0
    networks: dict[str, Any] | None = None
    far_is_guess: bool = False


def _split_times(head: TimesHead) -> HeadParts:
    """Card and arrays of a head."""
    cards: list[dict[str, Any]] = []
    tensors: dict[str, NDArray[Any]] = {}
    for number, expert in enumerate(head.experts):
        errors = (expert.near, expert.far)
        model = next(name for name, kind in _MODELS.items() if isinstance(expert.model, kind))
        slopes, sharpness = (tuple(getattr(one, name) for one in errors) for name in ("slope", "sharpness"))
        networks = split_ensemble(expert.model.ensemble) if isinstance(expert.model, LSTMTimes) else HeadParts({}, {})
        covariance = expert.model.covariance if isinstance(expert.model, Smooth) else "code"
        numbers = expert.familiar, expert.strange, expert.reach, slopes, sharpness, covariance
        rest = expert.beyond_constants, expert.fade, networks.card or None, expert.far.is_guess
        cards.append(asdict(_ExpertCard(expert.source, model, expert.names, *numbers, *rest)))
        own: dict[str, NDArray[Any]] = {"code": expert.code.astype("f2"), "low": expert.low, "high": expert.high}
        for name, one in zip(("near", "far"), errors, strict=True):
            own |= {f"{name}.ratio": one.ratio, f"{name}.times": one.times}
        own |= {f"model.{name}": getattr(expert.model, name).astype(k) for name, k in _KINDS[_MODELS[model]].items()}
        own |= {f"networks.{name}": array for name, array in networks.tensors.items()}
        tensors |= {f"{number}.{name}": array for name, array in own.items()}
    tensors |= {"physics": head.physics.constants}
    tensors |= {f"astray.{name}": getattr(head.astray, name) for name in ("ratio", "times")}
    astray = {"slope": head.astray.slope, "sharpness": head.astray.sharpness, "physics": head.physics.slope}
    astray |= {"is_guess": float(head.astray.is_guess)}
    card = {
        "astray": astray,
        "devices": head.devices,
        "group": head.group,
        "platform": head.platform,
        "about": head.about,
        "embedding_id": head.embedding_id,
    }
    return HeadParts(card | {"experts": cards}, tensors)


def _join_times(parts: HeadParts) -> TimesHead:
    """The head that they are of; its errors are those of `HeadFiles.load`."""
    card = parts.card
    devices = convert(card["devices"], tuple[str, ...])
    group = convert(card["group"], float)
    if len(devices) < 2 or len(set(devices)) < len(devices) or not 1 <= group <= 1 << 16:
        raise ValueError(f"devices {devices!r:.80}, work-groups of {group:g}")
    cards = convert(card["experts"], tuple[_ExpertCard, ...])
    tensors, slopes = parts.tensors, convert(card["astray"], dict[str, float])
    # heads of earlier versions of ncc, and those of published times, have constants of fewer terms
    terms = PUBLISHED_TERMS if tensors["physics"].shape[1:] == PUBLISHED_TERMS.shape else LAUNCH_TERMS
    physics = Physics(_floats(tensors["physics"], (len(devices), len(terms))), slopes["physics"])
    astray = _errors(tensors, "astray", len(devices), slopes["slope"], slopes["sharpness"])
    astray = replace(astray, is_guess=bool(slopes.get("is_guess")))  # heads of earlier versions of ncc don't say
    if not 0 <= physics.slope <= 1 or np.abs(physics.constants).max() > _LARGEST_LOG:
        raise ValueError("constants are out of range")
    experts = tuple(_expert(one, tensors, f"{number}.", len(devices)) for number, one in enumerate(cards))
    if not experts:
        raise ValueError("no experts")
    platform, about = convert(card["platform"], str), convert(card["about"], dict[str, Any])
    embedding_id = convert(card.get("embedding_id"), str | None)  # heads of earlier versions of ncc name none
    if any(isinstance(expert.model, LSTMTimes) for expert in experts) and embedding_id is None:
        raise ValueError("a model reads statements, but no embedding is named")
    return TimesHead(devices, experts, physics, astray, group, platform, about, embedding_id)


def _errors(tensors: dict[str, NDArray[Any]], prefix: str, devices: int, slope: float, sharpness: float) -> Errors:
    ratio = _floats(tensors[f"{prefix}.ratio"], (len(LEVELS),))
    errors = Errors(ratio, _floats(tensors[f"{prefix}.times"], (devices,)), slope, sharpness)
    ascending = (np.diff(errors.ratio) >= 0).all() and errors.ratio[0] >= 0 and errors.times.min() >= 0
    if not ascending or not 0 <= errors.slope <= 1 or not 0 < errors.sharpness <= 100:
        raise ValueError("errors are out of range")
    return errors


def _expert(card: _ExpertCard, tensors: dict[str, NDArray[Any]], prefix: str, devices: int) -> Expert:
    kernels = len(card.names)
    shapes = {"code": (kernels, CODE_WIDTH), "low": (3,), "high": (3,)}
    own = {name: _floats(tensors[prefix + name], shape) for name, shape in shapes.items()}
    near, far = (
        _errors(tensors, prefix + name, devices, slope, sharpness)
        for name, slope, sharpness in zip(("near", "far"), card.slopes, card.sharpness, strict=True)
    )
    if max(np.abs(own["low"]).max(), np.abs(own["high"]).max()) > _LARGEST_LOG or (own["low"] > own["high"]).any():
        raise ValueError("sizes are out of range")
    if not kernels or not 1e-3 <= card.familiar <= _LARGEST:
        raise ValueError(f"{kernels} kernels, familiar up to {card.familiar:g}")
    if not (1e-3 <= card.reach[0] < card.reach[1] <= _LARGEST and card.familiar < card.strange <= _LARGEST):
        raise ValueError(f"a reach of {card.reach}")
    if not 0 <= card.fade <= _LARGEST:
        raise ValueError(f"a fade of {card.fade:g}")
    model = _model(card, tensors, prefix, devices)
    far = replace(far, is_guess=card.far_is_guess)
    known = (card.source, model, card.names, own["code"], own["low"], own["high"], near, far)
    return Expert(*known, card.familiar, card.strange, card.reach, card.beyond_constants, card.fade)


def _model(card: _ExpertCard, tensors: dict[str, NDArray[Any]], prefix: str, devices: int) -> TimesModel:
    kind = _MODELS[card.model]
    arrays = {name: tensors[f"{prefix}model.{name}"] for name in _KINDS[kind]}
    if kind is Boosted:
        return read_trees(arrays, devices, NUM_COLUMNS)
    if kind is Smooth:
        return _smooth(arrays, devices, card.covariance)
    start = f"{prefix}networks."
    own = {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
    ensemble = join_ensemble(HeadParts(card.networks or {}, own))
    if {(one.head.num_outputs, one.head.num_auxiliary) for one in ensemble.members} != {(devices, len(LAUNCH))}:
        raise ValueError(f"networks that do not take {len(LAUNCH)} numbers, or do not say {devices}")
    mean, scale = (_floats(arrays[name], (len(LAUNCH),)) for name in ("mean", "scale"))
    _check_scale(scale)
    return LSTMTimes(ensemble, mean, scale)


def _smooth(arrays: dict[str, NDArray[Any]], devices: int, covariance: str) -> Smooth:
    points, width = len(arrays["points"]), len(COVARIANCES[covariance][0])
    shapes = {"mean": (width,), "scale": (width,), "points": (points, width), "weights": (points, devices)}
    read = {name: _floats(arrays[name], (shapes | {"base": (devices,)})[name]) for name in arrays}
    if not points:
        raise ValueError("no points")
    _check_scale(read["scale"])
    return Smooth(**read, covariance=covariance)


def _check_scale(scale: Floats) -> None:
    if (scale < 0).any() or (scale[scale > 0] < 1e-6).any():
        raise ValueError("a scale is out of range")


def _floats(array: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    if array.dtype.kind != "f" or array.shape != shape:
        raise ValueError(f"an array is {array.dtype} of shape {array.shape}; expected floats of {shape}")
    with np.errstate(invalid="ignore"):
        result = array.astype(np.float64)
    if not (np.abs(result) <= _LARGEST).all():
        raise ValueError(f"a number is not finite, or beyond {_LARGEST:g}")
    return result


PLATFORMS = ("amd", "nvidia")
FILES: HeadFiles[TimesHead] = HeadFiles(
    "device-mapping head",
    2,
    {"times": TimesHead},
    split={TimesHead: _split_times},
    join={TimesHead: _join_times},
    first="gp",
)


def load_device_head(
    folder: TimesHead | str | os.PathLike[str] | None = None, *, platform: str = PLATFORMS[-1]
) -> TimesHead:
    """Reads a head that predicts the faster device; a loaded one is returned unchanged.

    Args:
        folder: Written by `save_device_head` or ``ncc train devmap``; default the head that ships with ncc.
        platform: Of the head that ships: "amd" (Tahiti 7970) or "nvidia" (GTX 970).

    Raises:
        InputError: There is no such platform.
        AssetError: A file is missing, damaged, or of another format version.
    """
    if folder is None and platform not in PLATFORMS:
        raise InputError(f"platform is {platform!r}; expected one of {', '.join(PLATFORMS)}")
    return FILES.load(folder, f"devmap/{platform}")


def save_device_head(head: TimesHead, folder: str | Path) -> None:
    """Writes a head made by `ncc.train_devmap`.

    Args:
        head: To be written.
        folder: Gets ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    FILES.save(head, folder)
