"""Files of device heads: arrays of every expert in ``head.safetensors``, and a card with the rest."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import convert
from numpy.typing import NDArray

from ncc.arrays import Floats
from ncc.errors import InputError
from ncc.learning.heads.files import HeadFiles, HeadParts, join_ensemble, split_ensemble
from ncc.learning.heads.trees import TREE_DTYPES, Boosted, read_trees
from ncc.tasks.devices.features import CODE_WIDTH, LAUNCH, NUM_COLUMNS
from ncc.tasks.devices.head import (
    COVARIANCES,
    LEVELS,
    Errors,
    Expert,
    GaussianProcess,
    LSTMTimes,
    TimesHead,
    TimesModel,
)
from ncc.tasks.devices.physics import LAUNCH_TERMS, PUBLISHED_TERMS, MachineModel

PLATFORMS = ("amd", "nvidia")
_DTYPES = {
    GaussianProcess: {"mean": "f4", "scale": "f4", "points": "f2", "weights": "f4", "base": "f8"},
    Boosted: TREE_DTYPES,
    LSTMTimes: {"mean": "f4", "scale": "f4"},
}
_MODELS: dict[str, type[TimesModel]] = {"gp": GaussianProcess, "trees": Boosted, "lstm": LSTMTimes}
_MAX_VALUE, _MAX_LOG = 1e6, 100.0


@dataclass(frozen=True, kw_only=True)
class _ErrorsCard:
    slope: float
    sharpness: float
    is_guess: bool

    def __post_init__(self) -> None:
        if not 0 <= self.slope <= 1 or not 0 < self.sharpness <= 100:
            raise ValueError("errors are out of range")


@dataclass(frozen=True, kw_only=True)
class _ExpertCard:
    """Fields of an `Expert` that are no arrays."""

    source: str
    model: str
    names: tuple[str, ...]
    familiar: float
    strange: float
    reach: tuple[float, float]
    beyond_constants: bool
    fade: float
    near: _ErrorsCard
    far: _ErrorsCard
    covariance: str = "code"
    networks: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.names or not 1e-3 <= self.familiar <= _MAX_VALUE:
            raise ValueError(f"{len(self.names)} kernels, familiar up to {self.familiar:g}")
        if not (1e-3 <= self.reach[0] < self.reach[1] <= _MAX_VALUE and self.familiar < self.strange <= _MAX_VALUE):
            raise ValueError(f"reach is {self.reach}; expected two ascending distances")
        if not 0 <= self.fade <= _MAX_VALUE:
            raise ValueError(f"fade is {self.fade:g}; expected 0 to {_MAX_VALUE:g}")


@dataclass(frozen=True, kw_only=True)
class _HeadCard:
    """Fields of a `TimesHead` that are no arrays."""

    devices: tuple[str, ...]
    experts: tuple[_ExpertCard, ...]
    machine_slope: float
    astray: _ErrorsCard
    group: float
    platform: str
    about: dict[str, Any]
    embedding_id: str | None

    def __post_init__(self) -> None:
        if len(self.devices) < 2 or len(set(self.devices)) < len(self.devices) or not 1 <= self.group <= 1 << 16:
            raise ValueError(f"devices {self.devices!r:.80}, work-groups of {self.group:g}")
        if not self.experts or not 0 <= self.machine_slope <= 1:
            raise ValueError(f"{len(self.experts)} experts, machine slope {self.machine_slope:g}")
        if self.embedding_id is None and any(expert.model == "lstm" for expert in self.experts):
            raise ValueError("a model reads statements, but no embedding is named")


def _split(head: TimesHead) -> HeadParts:
    experts, tensors = [], {"physics": head.physics.constants}

    def keep_errors(prefix: str, errors: Errors) -> _ErrorsCard:
        tensors.update({f"{prefix}.ratio": errors.ratio, f"{prefix}.times": errors.times})
        return _ErrorsCard(slope=errors.slope, sharpness=errors.sharpness, is_guess=errors.is_guess)

    for index, expert in enumerate(head.experts):
        model = expert.model
        networks = split_ensemble(model.ensemble) if isinstance(model, LSTMTimes) else HeadParts({}, {})
        arrays = {"code": expert.code.astype("f2"), "low": expert.low, "high": expert.high}
        arrays |= {f"model.{name}": getattr(model, name).astype(kind) for name, kind in _DTYPES[type(model)].items()}
        arrays |= {f"networks.{name}": array for name, array in networks.tensors.items()}
        tensors |= {f"{index}.{name}": array for name, array in arrays.items()}
        experts.append(
            _ExpertCard(
                **{name: getattr(expert, name) for name in ("source", "names", "familiar", "strange", "reach")},
                model=next(name for name, kind in _MODELS.items() if isinstance(model, kind)),
                beyond_constants=expert.beyond_constants,
                fade=expert.fade,
                near=keep_errors(f"{index}.near", expert.near),
                far=keep_errors(f"{index}.far", expert.far),
                covariance=getattr(model, "covariance", "code"),
                networks=networks.card or None,
            )
        )
    card = _HeadCard(
        **{name: getattr(head, name) for name in ("devices", "group", "platform", "about", "embedding_id")},
        experts=tuple(experts),
        machine_slope=head.physics.slope,
        astray=keep_errors("astray", head.astray),
    )
    return HeadParts(asdict(card), tensors)


def _join(parts: HeadParts) -> TimesHead:
    fields = _HeadCard.__dataclass_fields__
    card, tensors = convert({name: parts.card[name] for name in fields}, _HeadCard), parts.tensors
    devices = len(card.devices)

    def read_errors(prefix: str, numbers: _ErrorsCard) -> Errors:
        ratio = _floats(tensors[f"{prefix}.ratio"], (len(LEVELS),))
        errors = Errors(ratio, _floats(tensors[f"{prefix}.times"], (devices,)), **vars(numbers))
        if (np.diff(ratio) < 0).any() or ratio[0] < 0 or errors.times.min() < 0:
            raise ValueError("errors are out of range")
        return errors

    def read_expert(prefix: str, expert: _ExpertCard) -> Expert:
        shapes = {"code": (len(expert.names), CODE_WIDTH), "low": (3,), "high": (3,)}
        arrays = {name: _floats(tensors[f"{prefix}.{name}"], shape) for name, shape in shapes.items()}
        if max(np.abs(arrays["low"]).max(), np.abs(arrays["high"]).max()) > _MAX_LOG:
            raise ValueError("sizes are out of range")
        if (arrays["low"] > arrays["high"]).any():
            raise ValueError("sizes are out of range")
        numbers = ("source", "names", "familiar", "strange", "reach", "beyond_constants", "fade")
        known: dict[str, Any] = {name: getattr(expert, name) for name in numbers}
        return Expert(
            **known,
            **arrays,  # type: ignore[arg-type]
            model=_read_model(expert, tensors, f"{prefix}.", devices),
            near=read_errors(f"{prefix}.near", expert.near),
            far=read_errors(f"{prefix}.far", expert.far),
        )

    # heads of published times have constants of fewer terms
    terms = PUBLISHED_TERMS if tensors["physics"].shape[1:] == PUBLISHED_TERMS.shape else LAUNCH_TERMS
    constants = _floats(tensors["physics"], (devices, len(terms)))
    if np.abs(constants).max() > _MAX_LOG:
        raise ValueError("constants are out of range")
    return TimesHead(
        **{name: getattr(card, name) for name in ("devices", "group", "platform", "about", "embedding_id")},
        experts=tuple(read_expert(str(index), expert) for index, expert in enumerate(card.experts)),
        physics=MachineModel(constants, card.machine_slope),
        astray=read_errors("astray", card.astray),
    )


def _read_model(card: _ExpertCard, tensors: dict[str, NDArray[Any]], prefix: str, devices: int) -> TimesModel:
    kind = _MODELS[card.model]
    arrays = {name: tensors[f"{prefix}model.{name}"] for name in _DTYPES[kind]}
    if kind is Boosted:
        return read_trees(arrays, devices, NUM_COLUMNS)
    points, width = len(arrays.get("points", ())), len(LAUNCH)
    if kind is GaussianProcess:
        width = len(COVARIANCES[card.covariance][0])
    shapes = {"points": (points, width), "weights": (points, devices), "base": (devices,)}
    floats = {name: _floats(array, shapes.get(name, (width,))) for name, array in arrays.items()}
    scale = floats["scale"]
    if (scale < 0).any() or (scale[scale > 0] < 1e-6).any():
        raise ValueError("a scale is out of range")
    if kind is GaussianProcess:
        if not points:
            raise ValueError("no points")
        return GaussianProcess(**floats, covariance=card.covariance)
    start = f"{prefix}networks."
    networks = {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
    ensemble = join_ensemble(HeadParts(card.networks or {}, networks))
    if {(each.head.num_outputs, each.head.num_auxiliary) for each in ensemble.members} != {(devices, width)}:
        raise ValueError(f"networks that do not take {width} numbers, or do not predict {devices}")
    return LSTMTimes(ensemble, **floats)


def _floats(array: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    if array.dtype.kind != "f" or array.shape != shape:
        raise ValueError(f"an array is {array.dtype} of shape {array.shape}; expected floats of {shape}")
    with np.errstate(invalid="ignore"):
        result = array.astype(np.float64)
    if not (np.abs(result) <= _MAX_VALUE).all():
        raise ValueError(f"a number is not finite, or beyond {_MAX_VALUE:g}")
    return result


FILES: HeadFiles[TimesHead] = HeadFiles(
    "device-mapping head",
    3,
    {"times": TimesHead},
    split={TimesHead: _split},
    join={TimesHead: _join},
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
