"""Checkpoints of a training: written by rank 0 at the ends of epochs, and at intervals within them.

A file is read with ``weights_only`` and replaced atomically.
"""

import io
import json
import logging
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from msgspec import Meta, convert
from torch import distributed as dist
from torch import nn

from ncc.errors import AssetError
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.precision import Precision
from ncc.learning.training.ranks import broadcast_result, rank_and_world
from ncc.learning.training.strategies import Strategy
from ncc.system.files.models import read_whole
from ncc.system.files.writing import write_atomically

logger = logging.getLogger(__name__)

FORMAT_VERSION = 4


class EpochRng:
    """A rank's generators in an epoch: NumPy's, equal on all ranks, and torch's for dropout, seeded with the rank."""

    def __init__(self, seed: int, epoch: int, rank: int, device: torch.device) -> None:
        self.rng = np.random.default_rng([seed, epoch])
        self._device = device
        torch.manual_seed(int(self.rng.integers(2**31)) + rank)

    def state_dict(self) -> dict[str, Any]:
        """State of the generators: JSON, and uint8 tensors on the host."""
        state = {"numpy": json.dumps(self.rng.bit_generator.state), "host": torch.get_rng_state()}
        if self._device.type == "cuda":
            state["device"] = torch.cuda.get_rng_state(self._device)
        return state

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore an earlier state."""
        self.rng.bit_generator.state = json.loads(state["numpy"])
        torch.set_rng_state(state["host"])
        if "device" in state and self._device.type == "cuda":
            torch.cuda.set_rng_state(state["device"], self._device)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainProgress:
    """Mean losses of the finished epochs, and the finished steps of the next."""

    precision: Precision
    losses: list[float] = field(default_factory=list)
    step: int = 0
    loss_sum: float = 0.0  # over this rank's samples of those steps
    rng: dict[str, Any] | None = None  # `EpochRng.state_dict` of this rank inside the epoch; None at its beginning


class Checkpoints:
    """The checkpoint file of a training; all ranks call the same methods at the same steps."""

    def __init__(
        self, path: Path, model: nn.Module, strategy: Strategy, config: TrainingConfig, num_samples: int
    ) -> None:
        self.path = path
        self._model = model
        self._strategy = strategy
        self._rank, world_size = rank_and_world()
        self._training = asdict(config) | {"samples": num_samples, "ranks": world_size}
        self._every_s: float = self._training.pop("checkpoint_every_s")  # may change
        self._restart_clock()

    def _restart_clock(self) -> None:
        self._start, self._steps, self._ask_at = time.monotonic(), 0, 1

    def save(self, progress: TrainProgress, rng: EpochRng | None = None) -> None:
        """Write the state of model, strategy and generators; raise OutputError if the file can't be written."""
        own = {"rng": rng and rng.state_dict(), "loss_sum": progress.loss_sum, "strategy": self._strategy.rank_state()}
        ranks: list[Any] = [own] * self._training["ranks"]
        if len(ranks) > 1:
            dist.gather_object(own, None if self._rank else ranks)
        if self._rank == 0:
            state = {
                "format_version": FORMAT_VERSION,
                "training": self._training,
                "precision": progress.precision.value,
                "model": self._model.state_dict(),
                "strategy": self._strategy.state_dict(),
                "losses": progress.losses,
                "step": progress.step,
                "ranks": ranks,
            }
            buffer = io.BytesIO()
            torch.save(state, buffer)
            write_atomically(self.path, buffer.getvalue())
        self._restart_clock()

    def load(self, precisions: Sequence[Precision]) -> TrainProgress:
        """Restore model and strategy from the file, if there is one; new trainings get the first precision.

        Raises AssetError if it is damaged, or of another model, configuration, data, number of ranks or precision.
        """
        content = broadcast_result(lambda: read_whole(self.path) if os.path.lexists(self.path) else None)
        if content is None:
            return TrainProgress(precision=precisions[0])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about pickles that torch has not written; their content is checked
                state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            if state.get("format_version") != FORMAT_VERSION:
                raise AssetError(f"{self.path}: not of format version {FORMAT_VERSION}; remove it to start over")
            ours, theirs = self._training, state["training"]
            names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
            if names:
                differences = ", ".join(f"{name} {theirs.get(name)!r}, not {ours.get(name)!r}" for name in names)
                raise AssetError(
                    f"{self.path}: is the checkpoint of a training with {differences}; pass the same to resume, "
                    "or remove it to start over"
                )
            own = state["ranks"][self._rank]
            progress = TrainProgress(
                precision=Precision(state["precision"]),
                losses=convert(state["losses"], Annotated[list[float], Meta(max_length=self._training["epochs"])]),
                step=convert(state["step"], Annotated[int, Meta(ge=0)]),
                loss_sum=float(own["loss_sum"]),
                rng=own["rng"],
            )
            if progress.rng is not None:  # generators refuse a state now, not in the middle of an epoch
                np.random.default_rng().bit_generator.state = json.loads(progress.rng["numpy"])
                torch.Generator().set_state(progress.rng["host"])
            if progress.precision not in precisions:
                raise AssetError(
                    f"{self.path}: is the checkpoint of a training in {progress.precision}, which LSTMs don't run in "
                    f"here; resume on a machine like that one, or remove it to start over in {precisions[0]}"
                )
            self._model.load_state_dict(state["model"])
            self._strategy.load_state_dict(state["strategy"], own["strategy"])
        except (AssetError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # torch raises errors of any class about a damaged file
            raise AssetError(
                f"{self.path}: not a checkpoint of this model ({type(error).__name__}: {error}); "
                "remove it to start over"
            ) from error
        if self._rank == 0:
            logger.info("resumed %s after %d epochs and %d steps", self.path, len(progress.losses), progress.step)
        return progress

    def due(self) -> bool:
        """True, on all ranks, if a checkpoint inside an epoch is due; called after each step.

        Rank 0 broadcasts the decision, and after how many steps it will do so again, so that few steps wait for it.
        """
        self._steps += 1
        if not self._every_s or self._strategy.steps_apart or self._steps < self._ask_at:
            return False
        is_due, pause = broadcast_result(self._decide)
        self._ask_at = self._steps + pause
        return is_due

    def _decide(self) -> tuple[bool, int]:
        elapsed = time.monotonic() - self._start
        left = self._every_s - elapsed
        # at most as many steps again, since later ones may take longer
        return left <= 0, min(max(1, int(left * self._steps / max(elapsed, 1e-6))), self._steps)
