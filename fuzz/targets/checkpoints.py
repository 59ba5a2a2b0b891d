"""Checkpoints of training networks, files of torch."""

import io
import random
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import nn

from fuzz.folders import put, scratch_folder
from fuzz.mutation import mutate_bytes
from fuzz.targets import Target
from ncc.learning.training.checkpoint import Checkpoints, EpochRng, TrainProgress
from ncc.learning.training.config import TrainingConfig
from ncc.learning.training.precision import Precision
from ncc.learning.training.strategies import make_strategy

__all__ = ["TARGETS"]

_CPU = torch.device("cpu")
# opcodes of pickle, and names that a checkpoint has no need of
_WORDS = (
    b"c__builtin__\neval\n", b"ctorch\nload\n", b"cos\nsystem\n", b"R", b".", b"q\xff", b"r\xff\xff\xff\x0f", b"K\x00",
    b"X\xff\xff\xff\x7f", b"J\xff\xff\xff\xff", b"\x8a\x08", b"G\x7f\xf8\0\0\0\0\0\0", b"N", b"]", b"}", b"\x85", b"u",
)  # fmt: skip


def _checkpoints(path: Path) -> tuple[Checkpoints, EpochRng]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    config = TrainingConfig(epochs=3, batch_size=4)
    strategy = make_strategy(model, config, steps_per_epoch=5)
    return Checkpoints(path, model, strategy, config, 20), EpochRng(204, 1, 0, _CPU)


@cache
def _reader() -> Checkpoints:
    return _checkpoints(scratch_folder() / "checkpoint.pt")[0]


def _networks() -> list[bytes]:
    """Checkpoints at the end of an epoch and inside one."""
    found = []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.pt"
        checkpoints, rng = _checkpoints(path)
        for inside in (None, rng):
            checkpoints.save(TrainProgress(precision=Precision.FLOAT32, losses=[0.7], step=2, loss_sum=3.5), inside)
            found.append(path.read_bytes())
    return found


def _mutate_network(dice: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Bytes of the file, or of one member of it, with the archive made whole again."""
    data = dice.choice(seeds)
    if not dice.randrange(4):
        return mutate_bytes(dice, [data], _WORDS)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        pickled = next(name for name in names if name.endswith("data.pkl"))
        chosen = pickled if dice.randrange(4) else dice.choice(names)
        for name in names:
            content = old.read(name)
            if name == chosen:
                content = mutate_bytes(dice, [content], _WORDS)
            compression = zipfile.ZIP_STORED if dice.randrange(20) else zipfile.ZIP_DEFLATED
            new.writestr(zipfile.ZipInfo(name), content, compression)
    return out.getvalue()


def _load_network(data: bytes) -> None:
    reader = _reader()
    put({reader.path.name: data}, reader.path.parent)
    progress = reader.load(tuple(Precision))
    assert progress.step >= 0
    if progress.rng:
        EpochRng(204, len(progress.losses), 0, _CPU).load_state_dict(progress.rng)


TARGETS = (Target(name="checkpoint", seeds=_networks, mutate=_mutate_network, run=_load_network, weight=5),)
