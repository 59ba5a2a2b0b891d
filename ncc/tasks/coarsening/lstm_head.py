"""`LSTMCoarseningHead`: speedups of a kernel at each factor, from its statements in order, in NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ncc.arrays import Floats, Floats32
from ncc.errors import InputError
from ncc.kernels.reading import Kernel
from ncc.learning.encoder.network_numpy import Ensemble
from ncc.tasks.coarsening.head import LEAST_SPEEDUP, MOST_SPEEDUP, CoarseningPrediction, best_factor, check_axes


@dataclass(frozen=True, eq=False)
class LSTMCoarseningHead:
    """An ensemble of networks that give the logarithms of the speedups at all factors but the first.

    Attributes:
        ensemble: The networks.
        devices: Names of the devices, in the order of the networks' auxiliary inputs.
        factors: Coarsening factors, ascending, from 1.
        spread: (2,) float64: measured over expected speedup of kernels held out, 10 % and 90 % quantile.
        embedding_id: Fingerprint of the embedding that the vectors come from.
        about: Data, command and scores, as the card in the JSON file.
    """

    ensemble: Ensemble
    devices: tuple[str, ...]
    factors: tuple[int, ...]
    spread: Floats
    embedding_id: str
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that the parts fit each other."""
        check_axes(self.devices, self.factors, self.spread)
        for member in self.ensemble.members:
            found = (member.head.num_outputs, member.head.num_auxiliary)
            if found != (len(self.factors) - 1, len(self.devices)):
                raise InputError(f"a network of {found[0]} outputs and {found[1]} auxiliary inputs")

    def answer(self, kernel: Kernel, device: str | None = None) -> CoarseningPrediction:
        """`predict` for a kernel that was read."""
        return self.predict(self.ensemble.encode(kernel.sequence()), device)

    def predict(self, encoded: Floats32, device: str | None = None) -> CoarseningPrediction:
        """Predicts for one kernel.

        Args:
            encoded: From ``ensemble.encode``, (members, vector_size) float32.
            device: One of ``devices``; None for what all of them together would say.

        Raises:
            InputError: The device is not known.
            AssetError: The networks lead beyond all numbers.
        """
        if device is not None and device not in self.devices:
            raise InputError(f"no device {device!r}; expected one of {', '.join(self.devices)}")
        return best_factor(self.speedups(encoded, device), self.factors, self.spread)

    def speedups(self, encoded: Floats32, device: str | None) -> Floats:
        """Expected speedup at each factor, (len(factors),) float64: the geometric mean over members, and devices."""
        auxiliary = device_columns([device] if device else self.devices, self.devices)
        with np.errstate(over="ignore", invalid="ignore"):
            logs = self.ensemble.outputs(encoded, auxiliary).astype(np.float64).mean(axis=(0, 1))
            speedups = np.exp(np.concatenate([[0.0], logs]))
        return np.clip(np.nan_to_num(speedups, nan=MOST_SPEEDUP), LEAST_SPEEDUP, MOST_SPEEDUP)


def device_columns(names: Sequence[str], devices: Sequence[str]) -> Floats32:
    """A column for each device with 1 in its rows and 0 in others, (n, len(devices)) float32."""
    return (np.array(names)[:, None] == np.array(devices)).astype(np.float32)
