"""Files of device heads: ``head.safetensors`` and ``head.json``, of Gaussian processes or of an ensemble of LSTMs."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from ncc.devices.head import Blocks, Calibration, KernelInputs, MapperHead, Process, Term
from ncc.devices.lstm_head import LSTMMapperHead, load_lstm_mapper_head, save_lstm_mapper_head
from ncc.errors import AssetError
from ncc.ir import OPCODES
from ncc.kernels import FEATURE_NAMES
from ncc.runtime.storage import number_in, read_json, read_model, text_in, write_model

__all__ = ["DeviceHead", "load_head", "load_mapper_head", "save_head", "save_mapper_head"]

FORMAT_VERSION = 2
_BLOCKS = ("mean", "scale", "training")
_ARRAYS = ("process_scale", "reference", "calibration.score", "calibration.log_ratio")
_LARGEST, _SMALLEST = 1e9, 1e-9
"""Bounds of what is multiplied and divided by, so that no product overflows."""
_LARGEST_LOG = 100.0
"""Of the bytes that a kernel moves: e¹⁰⁰ of them are out of this world."""


DeviceHead = MapperHead | LSTMMapperHead
"""What predicts the faster device: Gaussian processes, which is what ships, or an ensemble of LSTMs."""


def load_head(folder: str | Path) -> DeviceHead:
    """Reads what `save_head` wrote.

    Raises:
        AssetError: A file is missing, damaged, or of another format version, or there is no such model.
    """
    model = read_json(Path(folder) / "head.json", FORMAT_VERSION).get("model", "gp")
    if model not in ("gp", "lstm"):
        raise AssetError(f"{folder}: is of model {model!r:.40}; expected gp or lstm")
    return load_lstm_mapper_head(folder) if model == "lstm" else load_mapper_head(folder)


def save_head(head: DeviceHead, folder: str | Path) -> None:
    """Writes ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    if isinstance(head, LSTMMapperHead):
        save_lstm_mapper_head(head, folder)
    else:
        save_mapper_head(head, folder)


def save_mapper_head(head: MapperHead, folder: str | Path) -> None:
    """Writes a head; training rows as float32, embeddings among them as float16.

    Raises:
        OutputError: The folder can't be written.
    """
    folder = Path(folder)
    arrays = {
        f"{kind}.{name}": columns.astype(np.float16 if (kind, name) == ("training", "embedding") else np.float32)
        for kind in _BLOCKS
        for name, columns in getattr(head, kind).items()
    }
    arrays |= {f"process{i}.weights": process.weights for i, process in enumerate(head.processes)}
    arrays |= {
        "process_scale": head.process_scale,
        "reference": head.reference,
        "calibration.score": head.calibration.score,
        "calibration.log_ratio": head.calibration.log_ratio,
    }
    card = {
        "format_version": FORMAT_VERSION,
        "processes": [
            {"mean": process.mean, "terms": [asdict(term) for term in process.terms]} for process in head.processes
        ],
        "calibration_slope": head.calibration.slope,
        "embedding_id": head.embedding_id,
        "platform": head.platform,
        "about": head.about,
    }
    write_model(folder, "head", card, arrays)


def load_mapper_head(folder: str | Path) -> MapperHead:
    """Reads what `save_mapper_head` wrote.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    card, tensors = read_model(folder, "head", FORMAT_VERSION, _ARRAYS, kinds="f")
    with np.errstate(invalid="ignore"):  # what is no number is refused below
        arrays = {name: array.astype(np.float64) for name, array in tensors.items()}
    try:
        blocks = {kind: _block(arrays, kind) for kind in _BLOCKS}
        head = MapperHead(
            **blocks,
            processes=tuple(
                Process(
                    tuple(
                        Term(number_in(term, "variance"), _shares(term["weights"]), number_in(term, "length"))
                        for term in process["terms"]
                    ),
                    number_in(process, "mean"),
                    arrays[f"process{i}.weights"],
                )
                for i, process in enumerate(card["processes"])
            ),
            process_scale=arrays["process_scale"],
            calibration=Calibration(
                arrays["calibration.score"], arrays["calibration.log_ratio"], number_in(card, "calibration_slope")
            ),
            reference=arrays["reference"],
            embedding_id=text_in(card, "embedding_id"),
            # heads of earlier versions of ncc name their platform in the card alone
            platform=text_in(card if "platform" in card else {"platform": "unknown"} | card["about"], "platform"),
            about=dict(card["about"]),
        )
        _check_shapes(head)
        _check_numbers(head)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise AssetError(f"{folder}: is not a device-mapping head ({error!r}); it is damaged") from error
    return head


def _block(arrays: Blocks, kind: str) -> Blocks:
    return {name.removeprefix(f"{kind}."): array for name, array in arrays.items() if name.startswith(f"{kind}.")}


def _shares(weights: dict[str, float]) -> dict[str, float]:
    return {name: number_in(weights, name) for name in weights}


def _check_shapes(head: MapperHead) -> None:
    """Shapes that must agree, before a prediction trips over them."""
    rows, dim = len(head.training["data"]), head.training["embedding"].shape[1]
    described = KernelInputs(np.zeros((1, len(FEATURE_NAMES))), np.zeros((1, len(OPCODES))), np.zeros((1, dim)))
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
