"""Heads that predict speedups at each coarsening factor: a line in one feature, which ships, or LSTMs; their files.

Merging copies divergent regions for each work-item, so the line's feature is the fraction of statements that only
some threads execute (Magni, Dubach, O'Boyle, PACT 2014, section 3 and table 2).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from msgspec import Meta

from ncc.arrays import Floats, Floats32
from ncc.errors import InputError
from ncc.ir.reader.module import Module
from ncc.kernels.addresses import thread_strides
from ncc.kernels.control_flow import divergent_blocks, loops_around
from ncc.learning.encoder.network_numpy import Ensemble
from ncc.learning.heads.files import DISTINCT, ModelFormat, Stored, check_shapes
from ncc.system.files.hub import Shareable

LOOP_WEIGHT = 10.0
"""Weight of a statement per enclosing loop; 5 and 20 gain the same, 1 gains 0.03 less."""
MAX_LOOP_DEPTH = 3
"""Maximum loop depth for weights; 2 and 5 gain the same, 1 gains 0.02 less."""
MIN_SPEEDUP = 0.01
"""Limits of speedups, which a straight line can exceed."""
MAX_SPEEDUP = 1e9


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class _Head(Shareable):
    """Devices, factors, interval and card of a head of either kind."""

    _noun = "coarsening_head"

    devices: Annotated[tuple[str, ...], DISTINCT]
    factors: tuple[Annotated[int, Meta(ge=1)], ...]  # ascending, from 1
    # (2,) float64 10% and 90% quantiles of measured over predicted speedup, held out
    interval_quantiles: Floats = field(default_factory=lambda: np.ones(2))
    card: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if list(self.factors) != sorted({1, *self.factors}):
            raise InputError(f"factors are {self.factors!s:.80}; expected whole numbers, ascending, from 1")
        check_shapes(self, interval_quantiles=(2,))
        if not 0 < self.interval_quantiles[0] <= self.interval_quantiles[1] <= MAX_SPEEDUP:
            raise InputError(f"interval_quantiles are {self.interval_quantiles}; expected ascending numbers above 0")

    def _save(self, folder: Path) -> None:
        FORMAT.save(cast(CoarseningHead, self), folder)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.devices)}: factors {', '.join(map(str, self.factors))})"

    def check_device(self, device: str | None) -> None:
        """Refuse a device that was not measured; None stands for any other device."""
        if device is not None and device not in self.devices:
            raise InputError(f"no device {device!r}; expected one of {', '.join(self.devices)}")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LineHead(_Head):
    """Log speedup for each device and factor as a straight line in the fraction of divergent statements."""

    offset: Floats  # (len(devices) + 1, len(factors)) float64, the last row for any other device
    slope: Floats  # the same

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (len(self.devices) + 1, len(self.factors))
        check_shapes(self, offset=shape, slope=shape)

    def speedups(self, share: float, device: str | None = None) -> Floats:
        """Expected speedup at each factor, (len(factors),) float64, on a device, or on any other one if None."""
        self.check_device(device)
        row = len(self.devices) if device is None else self.devices.index(device)
        with np.errstate(over="ignore"):
            return np.maximum(np.exp(self.offset[row] + self.slope[row] * share), MIN_SPEEDUP)


def divergent_share(module: Module, function: int | None = None) -> float:
    """Fraction of a kernel's statements in divergent regions, weighted by loops; default: a module's first kernel."""
    function = module.first_kernel if function is None else function
    divergent = divergent_blocks(module, function, thread_strides(module, function))
    depth = np.array([len(loops) for loops in loops_around(module, function).values()])
    block = module.basic_block[module.body(function)] - module.function_block[function]
    weight = LOOP_WEIGHT ** np.minimum(depth, MAX_LOOP_DEPTH)[block]
    return float(weight[divergent[block]].sum() / max(weight.sum(), 1.0))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LSTMHead(_Head):
    """An ensemble of networks from a kernel's statements to log speedups at all factors except the first."""

    ensemble: Annotated[Ensemble, Stored("f2")]
    embedding_id: str

    def __post_init__(self) -> None:
        super().__post_init__()
        expected = (len(self.factors) - 1, len(self.devices))
        for member in self.ensemble.members:
            sizes = (member.head.num_outputs, member.head.num_auxiliary)
            if sizes != expected:
                raise InputError(f"a network has {sizes} outputs and auxiliary inputs; expected {expected}")

    def speedups(self, sequence: Floats32, device: str | None = None) -> Floats:
        """Geometric mean of speedups, (factors,), over members, and over devices if None, from (time, dim) vectors."""
        self.check_device(device)
        auxiliary = one_hot([device] if device else self.devices, self.devices)
        with np.errstate(over="ignore", invalid="ignore"):
            logs = self.ensemble.outputs(self.ensemble.encode(sequence), auxiliary).astype(np.float64)
            speedups = np.exp(np.concatenate([[0.0], logs.mean(axis=(0, 1))]))
        return np.clip(np.nan_to_num(speedups, nan=MAX_SPEEDUP), MIN_SPEEDUP, MAX_SPEEDUP)


def one_hot(names: Sequence[str], devices: Sequence[str]) -> Floats32:
    """One-hot encoding of devices, (n, len(devices)) float32."""
    return (np.array(names)[:, None] == np.array(devices)).astype(np.float32)


CoarseningHead = LineHead | LSTMHead
FORMAT: ModelFormat[CoarseningHead] = ModelFormat("thread-coarsening head", 3, CoarseningHead, "ncc train coarsening")


def load_coarsening_head(folder: CoarseningHead | str | os.PathLike[str] | None = None) -> CoarseningHead:
    """Read a head that predicts thread-coarsening factors; a loaded one is returned unchanged.

    Args:
        folder: Folder written by ``save`` or ``ncc train coarsening``, "lstm" for the networks that
            ship, or name, such as "org/name@revision", of a repository on the Hugging Face hub; default: the line.

    Raises:
        AssetError: A file is missing, damaged, or of another format version.
    """
    return FORMAT.load(folder, "coarsening")
