"""`LSTMMapperHead`: log(CPU time / GPU time) of a kernel from its statements in order, in NumPy; and its files."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.devices.head import RatioPrediction, checked_ratio, fill_sizes
from ncc.devices.mixture import NUM_AUXILIARY, auxiliary_features, predict_mixture
from ncc.encoder.files import ensemble_card, ensemble_from, ensemble_tensors
from ncc.encoder.inference import Ensemble
from ncc.errors import AssetError, InputError
from ncc.kernels.reading import Kernel
from ncc.runtime.storage import read_model, text_in, write_model

__all__ = ["LSTMMapperHead", "load_lstm_mapper_head", "save_lstm_mapper_head"]

FORMAT_VERSION = 2
"""The same as of a `MapperHead`: the field ``model`` tells them apart."""
_ARRAYS = ("mean", "std", "reference")
_LARGEST_LOG = 100.0
"""Of what is said of sizes: e¹⁰⁰ bytes are out of this world."""


@dataclass(frozen=True, eq=False)
class LSTMMapperHead:
    """An ensemble of networks that give the location and the log scale of a Laplace distribution each.

    Attributes:
        ensemble: The networks.
        mean, std: (2,) float64 of the logarithms of transfer bytes and work-group sizes in training.
        reference: (m, 2) float64 pairs (transfer bytes, work-group size) that stand for a missing input.
        transfer_range: Smallest and largest transfer in training, in bytes.
        embedding_id: Fingerprint of the embedding that the vectors come from.
        platform: Name of the devices that were measured, such as "amd" or "nvidia".
        about: Data, command and scores, as the card in the JSON file; nothing that an answer needs.
    """

    ensemble: Ensemble
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    reference: NDArray[np.float64]
    transfer_range: tuple[float, float]
    embedding_id: str
    platform: str
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that the parts fit each other.

        Raises:
            InputError: A shape is wrong, or a number is out of range.
        """
        shapes = (self.mean.shape, self.std.shape, self.reference.shape[1:])
        if shapes != ((2,), (2,), (2,)) or not len(self.reference):
            raise InputError(f"mean, std and reference are of shapes {shapes}")
        low, high = self.transfer_range
        if not (np.abs(self.mean) <= _LARGEST_LOG).all() or not 0 <= low <= high < np.exp(_LARGEST_LOG):
            raise InputError("mean or transfer_range is out of range")
        if not ((self.std > 1e-9) & (self.std <= _LARGEST_LOG)).all():
            raise InputError("std is out of range")
        if not ((self.reference >= 0) & np.isfinite(self.reference)).all():
            raise InputError("reference is out of range")
        for member in self.ensemble.members:
            if (member.head.num_outputs, member.head.num_auxiliary) != (2, NUM_AUXILIARY):
                raise InputError(f"a network of {member.head.num_outputs} outputs, {member.head.num_auxiliary} inputs")

    def answers(
        self, kernel: Kernel, transfers: Sequence[float | None], wgsize: float | None, without: Collection[int] = ()
    ) -> list[RatioPrediction]:
        """`predict` for a kernel that was read, at several sizes of its data, as if some statements were not there."""
        encoded = self.ensemble.encode(kernel.sequence(without))
        return [self.predict(encoded, transfer, wgsize) for transfer in transfers]

    def predict(
        self, encoded: NDArray[np.float32], transfer_bytes: float | None = None, wgsize: float | None = None
    ) -> RatioPrediction:
        """Predicts for one kernel.

        Args:
            encoded: From ``ensemble.encode``, (members, vector_size) float32.
            transfer_bytes: Bytes moved between host and device; None covers what was seen in training.
            wgsize: Work-items a work-group; None likewise.

        Raises:
            InputError: An input is negative or not finite.
            AssetError: The answer is no ratio that two devices can have: the head's file was damaged, or forged.
        """
        sizes = np.stack(fill_sizes(self.reference, transfer_bytes, wgsize), axis=1)
        auxiliary = auxiliary_features(sizes, self.mean, self.std)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self.ensemble.outputs(encoded, auxiliary).reshape(-1, 2)
        if not np.isfinite(outputs).all():
            raise AssetError("the device-mapping head's answer is not finite; its file is damaged")
        return checked_ratio(predict_mixture(outputs))


def save_lstm_mapper_head(head: LSTMMapperHead, folder: str | Path) -> None:
    """Writes ``head.safetensors`` and ``head.json``.

    Raises:
        OutputError: The folder can't be written.
    """
    card = {
        "format_version": FORMAT_VERSION,
        "model": "lstm",
        **ensemble_card(head.ensemble),
        "transfer_range": list(head.transfer_range),
        "embedding_id": head.embedding_id,
        "platform": head.platform,
        "about": head.about,
    }
    arrays = {name: getattr(head, name) for name in _ARRAYS}
    write_model(Path(folder), "head", card, ensemble_tensors(head.ensemble) | arrays)


def load_lstm_mapper_head(folder: str | Path) -> LSTMMapperHead:
    """Reads what `save_lstm_mapper_head` wrote.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    folder = Path(folder)
    card, tensors = read_model(folder, "head", FORMAT_VERSION, _ARRAYS, kinds="f")
    try:
        low, high = (float(value) for value in card["transfer_range"])
        return LSTMMapperHead(
            ensemble=ensemble_from(card, tensors),
            **{name: tensors[name].astype(np.float64) for name in _ARRAYS},
            transfer_range=(low, high),
            embedding_id=text_in(card, "embedding_id"),
            platform=text_in(card, "platform"),
            about=dict(card["about"]),
        )
    except (LookupError, TypeError, ValueError, OverflowError, InputError) as error:
        raise AssetError(f"{folder}: is not a device-mapping head of networks ({error!r}); it is damaged") from error
