"""Files of device heads: of times, which is what ships, or of ratios by Gaussian processes or an ensemble of LSTMs."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from msgspec import convert

from ncc.devices.head import Blocks, Calibration, KernelInputs, MapperHead, Process, Term
from ncc.devices.lstm_head import LSTMMapperHead
from ncc.devices.times_files import join_times, split_times
from ncc.devices.times_head import TimesHead
from ncc.devices.work import WORK_WIDTH
from ncc.encoder.files import HeadFiles, HeadParts
from ncc.ir import OPCODES
from ncc.kernels import FEATURE_NAMES

__all__ = ["FILES", "DeviceHead", "load_head", "save_head"]

_BLOCKS = ("mean", "scale", "training")
_LARGEST, _SMALLEST = 1e9, 1e-9
"""Bounds of what is multiplied and divided by, so that no product overflows."""
_LARGEST_LOG = 100.0
"""Of the bytes that a kernel moves: e¹⁰⁰ of them are out of this world."""

DeviceHead = MapperHead | LSTMMapperHead | TimesHead


@dataclass(frozen=True)
class _ProcessCard:
    """What the card says of a `Process`."""

    mean: float
    terms: tuple[Term, ...]


def _split(head: MapperHead) -> HeadParts:
    """Training rows as float32, embeddings among them as float16."""
    tensors = {
        f"{kind}.{name}": columns.astype(np.float16 if (kind, name) == ("training", "embedding") else np.float32)
        for kind in _BLOCKS
        for name, columns in getattr(head, kind).items()
    }
    tensors |= {f"process{i}.weights": process.weights for i, process in enumerate(head.processes)}
    tensors |= {"process_scale": head.process_scale, "reference": head.reference}
    tensors |= {f"calibration.{name}": getattr(head.calibration, name) for name in ("score", "log_ratio")}
    card = {
        "processes": [asdict(_ProcessCard(process.mean, process.terms)) for process in head.processes],
        "calibration_slope": head.calibration.slope,
        "embedding_id": head.embedding_id,
        "platform": head.platform,
        "about": head.about,
    }
    return HeadParts(card, tensors)


def _join(parts: HeadParts) -> MapperHead:
    card = parts.card
    if any(tensor.dtype.kind != "f" for tensor in parts.tensors.values()):
        raise TypeError("numbers are no floats")
    with np.errstate(invalid="ignore"):  # what is no number is refused below
        arrays = {name: array.astype(np.float64) for name, array in parts.tensors.items()}
    processes = convert(card["processes"], tuple[_ProcessCard, ...])
    about = convert(card["about"], dict[str, Any])
    slope = convert(card["calibration_slope"], float)
    head = MapperHead(
        **{kind: _block(arrays, f"{kind}.") for kind in _BLOCKS},
        processes=tuple(Process(one.terms, one.mean, arrays[f"process{i}.weights"]) for i, one in enumerate(processes)),
        process_scale=arrays["process_scale"],
        calibration=Calibration(arrays["calibration.score"], arrays["calibration.log_ratio"], slope),
        reference=arrays["reference"],
        embedding_id=convert(card["embedding_id"], str),
        # heads of earlier versions of ncc name their platform in the card alone
        platform=convert(card.get("platform", about.get("platform", "unknown")), str),
        about=about,
    )
    _check_shapes(head)
    _check_numbers(head)
    return head


def _block(arrays: Blocks, prefix: str) -> Blocks:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _check_shapes(head: MapperHead) -> None:
    """Shapes that must agree, before a prediction trips over them."""
    rows, dim = len(head.training["data"]), head.training["embedding"].shape[1]
    widths = (len(FEATURE_NAMES), len(OPCODES), dim, WORK_WIDTH)
    described = KernelInputs(*(np.zeros((1, width)) for width in widths))
    for name, block in described.blocks(np.ones(1), np.ones(1)).items():
        width = block.shape[1:]
        shapes = (head.training[name].shape, head.mean[name].shape, head.scale[name].shape)
        if shapes != ((rows, *width), width, width):
            raise ValueError(f"block {name} is of shape {shapes[0]}")
    if not head.processes or any(process.weights.shape != (rows,) for process in head.processes):
        raise ValueError(f"{len(head.processes)} processes for {rows} rows")
    if head.process_scale.shape != (len(head.processes),) or head.reference.shape[1:] != (2,):
        raise ValueError("scales or reference")
    calibration = head.calibration
    if calibration.score.ndim != 1 or calibration.score.shape != calibration.log_ratio.shape:
        raise ValueError("calibration")
    if not rows or not len(head.reference) or not len(calibration.score):
        raise ValueError("no rows")


def _check_numbers(head: MapperHead) -> None:
    """Numbers that must be finite, and those that must not be negative or 0."""
    terms = [term for process in head.processes for term in process.terms]
    if any(name not in head.training for term in terms for name in term.weights):
        raise ValueError("a covariance of a block that is not there")
    if not all(process.terms for process in head.processes) or not all(term.weights for term in terms):
        raise ValueError("a covariance of nothing")
    calibration = head.calibration
    positive = [head.process_scale, np.array([calibration.slope, *(term.length for term in terms)])]
    shares = [share for term in terms for share in (term.variance, *term.weights.values())]
    not_negative = [*head.scale.values(), head.reference, np.array(shares)]
    others = [*head.mean.values(), *head.training.values(), calibration.score, calibration.log_ratio]
    others += [np.append(process.weights, process.mean) for process in head.processes]
    if not all(np.isfinite(array).all() for array in (*positive, *not_negative, *others)):
        raise ValueError("a number is not finite")
    if any((array <= 0).any() for array in positive) or any((array < 0).any() for array in not_negative):
        raise ValueError("a number is out of range")
    if (calibration.score[1:] < calibration.score[:-1]).any():
        raise ValueError("a number is out of range: scores of the calibration do not ascend")
    bounded = [*positive, *head.scale.values(), np.array(shares), *others]
    divisors = [*positive, *(scale[scale > 0] for scale in head.scale.values())]
    if any((np.abs(array) > _LARGEST).any() for array in bounded) or any((a < _SMALLEST).any() for a in divisors):
        raise ValueError(f"a number is beyond {_LARGEST:g}, or divides and is below {_SMALLEST:g}")
    transfer = head.training["data"][:, 0] * head.scale["data"][0] + head.mean["data"][0]
    if (np.abs(transfer) > _LARGEST_LOG).any():
        raise ValueError("a transfer in training is out of range")


FILES: HeadFiles[DeviceHead] = HeadFiles(
    "device-mapping head",
    2,
    {"gp": MapperHead, "lstm": LSTMMapperHead, "times": TimesHead},
    split={MapperHead: _split, TimesHead: split_times},
    join={MapperHead: _join, TimesHead: join_times},
)
load_head, save_head = FILES.load, FILES.save
