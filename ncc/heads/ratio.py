"""`RatioHead`: an ensemble that predicts a distribution of log(CPU time / GPU time), and its files.

The label, the expected speedup and the confidence all follow from that distribution. Missing inputs are not guessed:
the answer is the mixture over the values that training saw.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.errors import AssetError, InputError
from ncc.heads.inference import NumpyLSTMHead
from ncc.storage import read_json, read_tensors, write_atomically

__all__ = ["RatioHead", "RatioPrediction", "load_ratio_head", "save_ratio_head"]

FORMAT_VERSION = 1
INTERVAL = 0.8
_MEMBER_TENSORS = ("norm.weight", "norm.bias", "norm.running_mean", "norm.running_var")
LOG_SCALE_RANGE = (-3.0, 2.0)
_BUMPS = np.linspace(-2.0, 2.0, 9)
_BUMP_WIDTH = 0.4
NUM_AUXILIARY = 2 * (1 + len(_BUMPS))

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RatioPrediction:
    """What is known of log(CPU time / GPU time) for one kernel.

    Attributes:
        log_ratio: median; positive where the GPU is the faster device.
        interval: (low, high), which should hold the true value in 80 % of cases.
        probability_gpu: of the GPU being faster.
    """

    log_ratio: float
    interval: tuple[float, float]
    probability_gpu: float


@dataclass(frozen=True, eq=False)
class RatioHead:
    """Heads trained from different seeds, and what turns their outputs into a distribution.

    Attributes:
        members: heads with outputs (location, log scale) of a Laplace distribution.
        auxiliary_mean, auxiliary_std: (2,) of log1p(transfer bytes) and log1p(work-group size) in training.
        reference: (m, 2) float64 pairs (transfer bytes, work-group size) that stand for a missing input.
        spread: factor on the scales that makes the interval hold as often as it says, on kernels not trained on.
        embedding_id: fingerprint of the embedding that the head was trained on.
        about: platform, data, command and scores, as the card in the JSON file.
    """

    members: tuple[NumpyLSTMHead, ...]
    auxiliary_mean: Array
    auxiliary_std: Array
    reference: Array
    spread: float
    embedding_id: str
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks what the members share.

        Raises:
            ValueError: there is no member or no reference, or a number is not finite.
        """
        if not self.members or self.reference.ndim != 2 or self.reference.shape[1:] != (2,) or not len(self.reference):
            raise ValueError(f"{len(self.members)} members and a reference of shape {self.reference.shape}")
        if self.auxiliary_mean.shape != (2,) or self.auxiliary_std.shape != (2,):
            raise ValueError("auxiliary_mean and auxiliary_std must have 2 numbers each")
        numbers = (self.auxiliary_mean, self.auxiliary_std, self.reference, np.array([self.spread]))
        if not all(np.isfinite(array).all() for array in numbers) or self.spread <= 0:
            raise ValueError("a number is not finite, or the spread is not above 0")

    def predict(
        self, vectors: NDArray[np.float32], transfer_bytes: float | None = None, wgsize: float | None = None
    ) -> RatioPrediction:
        """Predicts for one kernel.

        Args:
            vectors: (time, dim) float32 vectors of the kernel's statements, in order.
            transfer_bytes: bytes moved between host and device; None covers the range seen in training.
            wgsize: work-items a work-group; None likewise.

        Raises:
            InputError: there is no statement, or an input is negative or not finite.
        """
        if not len(vectors):
            raise InputError("a kernel without statements can't be predicted")
        auxiliary = self._auxiliary(transfer_bytes, wgsize)
        outputs = np.concatenate([member.outputs(member.encode(vectors), auxiliary) for member in self.members])
        location = outputs[:, 0].astype(np.float64)
        scale = np.exp(np.clip(outputs[:, 1], *LOG_SCALE_RANGE)).astype(np.float64) * self.spread
        tail = (1 - INTERVAL) / 2
        low, middle, high = (mixture_quantile(location, scale, q) for q in (tail, 0.5, 1 - tail))
        return RatioPrediction(middle, (low, high), 1 - mixture_cdf(location, scale, 0.0))

    def _auxiliary(self, transfer_bytes: float | None, wgsize: float | None) -> NDArray[np.float32]:
        """The auxiliary inputs as given, or the whole reference in place of what was not."""
        rows = self.reference if transfer_bytes is None or wgsize is None else self.reference[:1]
        rows = rows.copy()
        for column, (name, value) in enumerate((("transfer", transfer_bytes), ("wgsize", wgsize))):
            if value is None:
                continue
            if not np.isfinite(value) or value < 0:
                raise InputError(f"{name} is {value}; expected a number, 0 or more")
            rows[:, column] = value
        return auxiliary_features(rows, self.auxiliary_mean, self.auxiliary_std)


def auxiliary_features(values: Array, mean: Array, std: Array) -> NDArray[np.float32]:
    """Transfer bytes and work-group sizes as the head takes them: (n, 2 * (1 + number of bumps)) float32.

    The logarithm, standardised, and Gaussian bumps along it: which device wins turns over and back as data grows, and
    a straight line can't say so.

    Args:
        values: (n, 2) transfer bytes and work-group sizes.
        mean: (2,) of log1p of the same in training.
        std: (2,) likewise.
    """
    standard = (np.log1p(values) - mean) / std
    bumps = np.exp(-0.5 * ((standard[:, :, None] - _BUMPS) / _BUMP_WIDTH) ** 2)
    return np.concatenate([standard[:, :, None], bumps], axis=2).reshape(len(values), -1).astype(np.float32)


def mixture_cdf(location: Array, scale: Array, x: float) -> float:
    """Probability that a mixture of Laplace distributions with equal weights lies below x."""
    z = (x - location) / scale
    below = np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))
    return float(below.mean())


def mixture_quantile(location: Array, scale: Array, probability: float) -> float:
    """Where the mixture's distribution function reaches a probability, by bisection."""
    low, high = float((location - 40 * scale).min()), float((location + 40 * scale).max())
    for _ in range(60):
        middle = (low + high) / 2
        if mixture_cdf(location, scale, middle) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def save_ratio_head(head: RatioHead, folder: str | Path) -> None:
    """Writes ``head.safetensors`` (float16 weights) and ``head.json``.

    Raises:
        OutputError: the folder can't be written.
    """
    from safetensors.numpy import save

    folder = Path(folder)
    arrays = {
        f"member{i}.{name}": tensor.astype(np.float32 if name in _MEMBER_TENSORS else np.float16)
        for i, member in enumerate(head.members)
        for name, tensor in member.tensors.items()
    }
    arrays |= {"auxiliary_mean": head.auxiliary_mean, "auxiliary_std": head.auxiliary_std, "reference": head.reference}
    card = {
        "format_version": FORMAT_VERSION,
        "num_members": len(head.members),
        "layers": head.members[0].layers,
        "spread": head.spread,
        "embedding_id": head.embedding_id,
        "about": head.about,
    }
    write_atomically(folder / "head.safetensors", save(arrays))
    write_atomically(folder / "head.json", (json.dumps(card, indent=1) + "\n").encode())


def load_ratio_head(folder: str | Path) -> RatioHead:
    """Reads what `save_ratio_head` wrote.

    Raises:
        AssetError: a file is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    card = read_json(folder / "head.json", FORMAT_VERSION)
    arrays = read_tensors(folder / "head.safetensors", ("auxiliary_mean", "auxiliary_std", "reference"))
    try:
        members = tuple(
            NumpyLSTMHead(
                {
                    name.removeprefix(f"member{i}."): tensor.astype(np.float32)
                    for name, tensor in arrays.items()
                    if name.startswith(f"member{i}.")
                },
                int(card["layers"]),
            )
            for i in range(int(card["num_members"]))
        )
        return RatioHead(
            members=members,
            auxiliary_mean=arrays["auxiliary_mean"],
            auxiliary_std=arrays["auxiliary_std"],
            reference=arrays["reference"],
            spread=float(card["spread"]),
            embedding_id=str(card["embedding_id"]),
            about=dict(card["about"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise AssetError(f"{folder}: is not a device-mapping head ({error!r}); it is damaged") from error
