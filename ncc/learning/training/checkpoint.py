"""Checkpoints of a training: written by the first rank at the ends of epochs, and at intervals within them.

Reading one never runs what it says (``weights_only``); a stop while one is written leaves the one before.
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
from typing import Any

import numpy as np
import torch
from torch import distributed as dist
from torch import nn

from ncc.errors import AssetError
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.draws import Draws
from ncc.learning.training.exchange import from_first_rank
from ncc.learning.training.precision import Precision
from ncc.learning.training.ranks import found_by_first, rank_and_world
from ncc.learning.training.strategies import Strategy
from ncc.system.files.models import read_whole, write_atomically

logger = logging.getLogger(__name__)

FORMAT_VERSION = 2

_FREE_OPTIONS = {"checkpoint_every_s"}
"""Options in which a run may differ from the one that it goes on from."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Position:
    """How far a training has come.

    Attributes:
        precision: What matrices are multiplied in.
        losses: Mean loss of each epoch done.
        step: Steps done of the epoch after these.
        loss_sum: Of losses over those steps' samples: when written, over all ranks; when read, the first has it all.
        draws: `Draws.state_dict` of this rank inside that epoch; None at its beginning.
    """

    precision: Precision
    losses: list[float] = field(default_factory=list)
    step: int = 0
    loss_sum: float = 0.0
    draws: dict[str, Any] | None = None


class Checkpoints:
    """The checkpoint file of a training; all ranks call the same methods at the same steps."""

    def __init__(
        self, path: Path, model: nn.Module, strategy: Strategy, config: TrainingConfig, num_samples: int
    ) -> None:
        """Nothing is read or written yet.

        Args:
            path: The file, which only the first rank reads and writes.
            model: Whose weights and buffers are kept.
            strategy: Whose state is kept.
            config: Of the training, which a run that goes on must share, as it must the number of ranks.
            num_samples: Of the data, which it must share as well.
        """
        self.path = path
        self._model = model
        self._strategy = strategy
        self._about = {name: value for name, value in asdict(config).items() if name not in _FREE_OPTIONS}
        self._rank, world = rank_and_world()
        self._about |= {"samples": num_samples, "ranks": world}

    def save(self, position: Position, draws: Draws | None = None) -> None:
        """Writes where a training is.

        Raises:
            OutputError: The file can't be written.
        """
        ranks = _gather({"draws": draws.state_dict(), "strategy": self._strategy.rank_state()}) if draws else []
        if self._rank:
            return
        state = {
            "format_version": FORMAT_VERSION,
            "about": self._about,
            "precision": position.precision.value,
            "model": self._model.state_dict(),
            "strategy": self._strategy.state_dict(),
            "losses": position.losses,
            "step": position.step,
            "loss_sum": position.loss_sum,
            "ranks": ranks,
        }
        buffer = io.BytesIO()
        torch.save(state, buffer)
        write_atomically(self.path, buffer.getvalue())

    def load(self, precisions: Sequence[Precision]) -> Position:
        """Puts model and strategy where the checkpoint is, if there is one.

        Args:
            precisions: What all ranks can compute in; the checkpoint's is one of them, and a new training's the first.

        Raises:
            AssetError: It is damaged, or of another model, configuration, data or precision.
        """
        content = self._read()
        if content is None:
            return Position(precision=precisions[0])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of pickles that torch has not written; what they hold is checked
                state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            self._check(state)
            position = self._position(state)
            self._check_precision(position.precision, precisions)
            self._model.load_state_dict(state["model"])
            self._strategy.load_state_dict(state["strategy"], [rank["strategy"] for rank in state["ranks"]])
        except (AssetError, MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # torch raises whatever it stumbles over in a damaged file
            raise AssetError(
                f"{self.path}: not a checkpoint of this model ({type(error).__name__}: {error}); "
                "remove it to start again"
            ) from error
        if self._rank == 0:
            logger.info("resumed %s after %d epochs and %d steps", self.path, len(position.losses), position.step)
        return position

    def _position(self, state: dict[str, Any]) -> Position:
        """Where the training was."""
        position = Position(
            precision=Precision(state["precision"]),
            losses=[float(loss) for loss in state["losses"]],
            step=state["step"],
            loss_sum=0.0 if self._rank else float(state["loss_sum"]),
            draws=state["ranks"][self._rank]["draws"] if state["ranks"] else None,
        )
        if type(position.step) is not int or position.step < 0 or len(position.losses) > self._about["epochs"]:
            raise ValueError(f"step {position.step!r:.40} after {len(position.losses)} epochs")
        if position.draws is not None:
            _check_draws(position.draws)
        return position

    def _check_precision(self, found: Precision, precisions: Sequence[Precision]) -> None:
        if found not in precisions:
            raise AssetError(
                f"{self.path}: is the checkpoint of a training in {found}, which LSTMs don't run in here; go on on a "
                f"machine like that one, or remove it to start again in {precisions[0]}"
            )

    def _read(self) -> bytes | None:
        """The file as the first rank reads it, so that all ranks see the same one; None where there is none."""
        return found_by_first(lambda: read_whole(self.path) if os.path.lexists(self.path) else None)

    def _check(self, state: dict[str, Any]) -> None:
        version = state.get("format_version")
        if version != FORMAT_VERSION:
            raise AssetError(
                f"{self.path}: is a checkpoint of format version {version!r}; this ncc goes on from version "
                f"{FORMAT_VERSION}; remove it to start again"
            )
        there = state["about"]
        names = sorted(name for name in self._about.keys() | there.keys() if self._about.get(name) != there.get(name))
        if names:
            differences = ", ".join(f"{name} {there.get(name)!r}, not {self._about.get(name)!r}" for name in names)
            raise AssetError(
                f"{self.path}: is the checkpoint of a training with {differences}; give the same to go on, "
                "or remove it to start again"
            )


class CheckpointClock:
    """Says after which steps a checkpoint inside an epoch is due, on all ranks alike.

    Ranks can't each ask a clock of their own. The first tells the others what its clock says, and with it after how
    many steps it will tell again, so that hardly any step waits for that.
    """

    def __init__(self, every_s: float) -> None:
        """Starts the clock.

        Args:
            every_s: Seconds between checkpoints; 0 for none.
        """
        self._every_s = every_s
        self._world = rank_and_world()[1]
        self.restart()

    def restart(self) -> None:
        """Begins to count seconds, from a checkpoint on."""
        self._began = time.monotonic()
        self._steps = 0
        self._ask_at = 1

    def due(self, *, at_rest: bool) -> bool:
        """Called after each step: whether a checkpoint is to be made now."""
        self._steps += 1
        if not self._every_s or not at_rest or self._steps < self._ask_at:
            return False
        elapsed = time.monotonic() - self._began
        left = self._every_s - elapsed
        if self._world == 1:
            return left <= 0
        # never more than as many steps again: later ones may take longer
        pause = min(max(1, int(left * self._steps / max(elapsed, 1e-6))), self._steps)
        # on the host, where no rank waits for what its GPU still has to do
        answer = torch.tensor([float(left <= 0), float(pause)], dtype=torch.float64)
        from_first_rank([answer])
        due, pause_of_first = answer.tolist()
        self._ask_at = self._steps + int(pause_of_first)
        return bool(due)


def _check_draws(draws: dict[str, Any]) -> None:
    """Raises where generators refuse a state: now, and not in the middle of an epoch."""
    np.random.default_rng().bit_generator.state = json.loads(draws["numpy"])
    torch.Generator().set_state(draws["host"])


def _gather(own: dict[str, Any]) -> list[dict[str, Any]]:
    """What all ranks gave, in their order, at the first."""
    rank, world = rank_and_world()
    if world == 1:
        return [own]
    every: list[Any] = [None] * world
    dist.gather_object(own, every if rank == 0 else None)
    return every
