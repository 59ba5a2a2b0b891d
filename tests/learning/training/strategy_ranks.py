"""Small trainings by every strategy and compression: each rank writes what its models ended with.

Arguments under torchrun, instead of those of `run_rank`: the folder and the names of trainings, in each of which the
last rank is killed once.
"""

import io
import os
import signal
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from torch import nn

from ncc.errors import AssetError, InputError
from tests.rooms import (
    COMPRESSIONS,
    STRATEGIES,
    TrainingConfig,
    TrainingStatistics,
    broadcast_result,
    precision,
    process_group,
    rank_and_world,
    read_whole,
    share_files,
    train,
)
from tests.support.ranks import run_rank

EXACT: dict[str, dict] = {
    "mirrored": {},
    "local, always averaged": {"strategy": "local", "sync_every": 1},
}
"""Name → options. But for the last, which shows where the others differ, they give the model of one process."""

LOOSE: dict[str, dict] = {
    "local": {"strategy": "local", "sync_every": 3},
    "fp16": {"compression": "fp16"},
    "bf16": {"compression": "bf16"},
}
"""Name → options of trainings that come to about the same loss."""

STOPPED: dict[str, dict] = {
    **{name: {"strategy": name, "sync_every": 2} for name in STRATEGIES},
    **{name: {"compression": name} for name in COMPRESSIONS if name != "none"},  # other strategies refuse them
}
"""Name → options of trainings, with dropout and noise, that are stopped and go on."""

LONG: dict = {"epochs": 30, "learning_rate": 1e-2}
"""Options of the loose ones: enough steps to learn."""

WORDS = 3000
"""Rows of a table, of which a batch touches 40 at most."""

LAST = 3
"""Samples of the last batch: of four ranks one has none."""


class StoppedError(Exception):
    """Ends a training."""


class Samples:
    """Rows of numbers, and the sine of their sum."""

    kills = False

    def __init__(self, number: int = 5 * 8 + LAST, noise: float = 0.0, stop_at: int = 0) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(number, 4, generator=generator)
        self.y = self.x.sum(dim=1, keepdim=True).sin()
        self.noise = noise
        self.stop_at = stop_at

    def __len__(self) -> int:
        return len(self.x)

    def digest(self):
        return f"{float(self.y.sum())} {self.noise}"

    def batches(self, batch_size, rng):
        order = rng.permutation(len(self))
        return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]

    def batch(self, samples, rng):
        self.stop_at -= 1
        if self.stop_at == 0 and self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.stop_at == 0:
            raise StoppedError
        x, y = self.noisy(samples, rng)
        return (x,), y

    def noisy(self, samples, rng):
        noise = torch.from_numpy(rng.normal(0, self.noise, (len(samples), 4)).astype(np.float32))
        return self.x[samples] + noise, self.y[samples]


def network(width: int = 64, dropout: float = 0.0) -> nn.Module:
    """Three layers, the one in the middle of width * width weights; each rank begins with its own."""
    torch.manual_seed(int(os.environ.get("RANK", "0")))
    return nn.Sequential(
        nn.Linear(4, width), nn.Tanh(), nn.Dropout(dropout), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
    )


def result(model: nn.Module, data: Samples, checkpoint: Path | None = None, **options) -> dict:
    """Trains and returns weights, losses and statistics."""
    statistics = TrainingStatistics()
    config = TrainingConfig(**({"epochs": 3, "batch_size": 8, "global_batch": True} | options))
    losses = train(model, data, nn.functional.mse_loss, config, checkpoint=checkpoint, statistics=statistics)
    return {"model": model.state_dict(), "losses": losses, "statistics": vars(statistics)}


def noisy(kind: str, options: dict, checkpoint: Path, stop_at: int = 0) -> dict:
    """A few steps with dropout and noise, up to a batch; with what the last checkpoint holds."""
    # ranks have parts of every batch, to stop together
    data = KnownWords(noise=0.1, stop_at=stop_at) if kind == "rows" else Samples(6 * 8, noise=0.1, stop_at=stop_at)
    model = reader(dropout=0.3) if kind == "rows" else network(dropout=0.3)
    done = result(model, data, checkpoint, **options)
    content = broadcast_result(checkpoint.read_bytes)  # the first rank has written it, others may be ahead
    return done | {"checkpoint": torch.load(io.BytesIO(content), weights_only=True)}


def resumed(kind: str, options: dict, checkpoint: Path) -> dict:
    """The same, stopped in the second epoch after a step, and in the third after the end of the second."""
    for seconds in (1e-9, 0.0):
        try:
            noisy(kind, options | {"checkpoint_every_s": seconds}, checkpoint, stop_at=9)
        except StoppedError:
            continue
        raise AssertionError("it was to stop")
    return noisy(kind, options, checkpoint)


def stopped_cases(folder: Path) -> dict[str, dict]:
    """Each of `STOPPED` undisturbed and resumed, by kind of data and name."""
    return {
        f"{kind}, {name}": {
            "undisturbed": noisy(kind, options, folder / f"{kind}, {name}.whole"),
            "resumed": resumed(kind, options, folder / f"{kind}, {name}.stopped"),
        }
        for kind in ("dense", "rows")
        for name, options in STOPPED.items()
    }


def is_same(a: object, b: object) -> bool:
    """Whether two results, or parts of them, are equal to the byte."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return (a.dtype, a.shape, a.numpy().tobytes()) == (b.dtype, b.shape, b.numpy().tobytes())
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(is_same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


def leave(checkpoint: Path) -> None:
    """Training that is stopped in the second epoch; another number of ranks is refused."""
    try:
        result(network(), Samples(stop_at=9), checkpoint, checkpoint_every_s=1e-9)
    except StoppedError:
        return
    raise AssertionError("it was to stop")


def mixed(rank: int) -> dict:
    """A few steps where the first rank's device has bfloat16, and the second's has not."""
    own = frozenset(precision.Precision) if rank == 0 else {precision.Precision.FLOAT32}
    with mock.patch.object(precision, "_precisions", lambda _: own):
        return result(network(), Samples(), mixed_precision=True)


class Words(Samples):
    """A few words of a large vocabulary, and a number that they stand for."""

    def __init__(self, noise: float = 0.0, stop_at: int = 0) -> None:
        super().__init__(noise=noise, stop_at=stop_at)
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randint(0, WORDS, (48, 5), generator=generator)
        self.y = torch.randn(48, 1, generator=generator)

    def noisy(self, samples, rng):
        return self.x[samples], self.y[samples] + float(rng.normal(0, self.noise))


class KnownWords(Words):
    """The same, and which rows of the table they are."""

    def sparse_rows(self, samples):
        return {"0.weight": self.x[samples].unique().numpy()}


def reader(dropout: float = 0.0) -> nn.Module:
    """A table of words, and layers behind it."""
    torch.manual_seed(0)
    layers = nn.Flatten(), nn.Linear(80, 8), nn.BatchNorm1d(8) if dropout else nn.Tanh(), nn.Dropout(dropout)
    return nn.Sequential(nn.Embedding(WORDS, 16), *layers, nn.Linear(8, 1))


def refused(rank: int) -> dict[str, str]:
    """What trainings say whose ranks were not given the same, by what they were not."""
    unlike = {
        "options": lambda: result(network(), Samples(), learning_rate=1e-3 * (1 + rank)),
        "number": lambda: result(network(), Samples(40 + rank)),
        "samples": lambda: result(network(), Samples(noise=0.5 * rank)),
        "model": lambda: result(network(64 + rank), Samples()),
    }
    said = {}
    for name, begin in unlike.items():
        try:
            begin()
        except InputError as error:
            said[name] = str(error)
    return said


def files(rank: int, folder: Path) -> dict:
    """What a rank has and is told where each has a folder of its own."""
    own = folder / f"files of {rank}"
    own.mkdir()
    paths = [own / name for name in ("both", "zero", "one", "none")]
    for path in (paths[0], paths[1 + rank]):
        path.write_text(f"{path.name} from {rank}")
    share_files(paths)
    (own / "checkpoint").write_text(f"of {rank}")
    said = ""
    try:
        broadcast_result(lambda: read_whole(own / "missing"))
    except AssetError as error:
        said = str(error)
    return {
        "files": {path.name: path.read_text() for path in paths if path.exists()},
        "found": broadcast_result((own / "checkpoint").read_text),
        "missing": said,
    }


def all_cases(rank: int, world: int, folder: Path) -> dict[str, dict]:
    """Everything, by kind and name; of more than two ranks, what might depend on their number."""
    cases: dict[str, dict] = {
        "exact": {name: result(network(), Samples(), **options) for name, options in EXACT.items()},
        **stopped_cases(folder),
    }
    if world == 2:
        leave(folder / "stopped.pt")
        cases["loose"] = {name: result(network(), Samples(), **LONG, **options) for name, options in LOOSE.items()}
        cases["mixed"] = {"float32": mixed(rank)}
        cases["each"] = {"none": result(network(), Samples(), batch_size=4, global_batch=False, lr_scaling="none")}
        cases["tables"] = {"sparse": result(reader(), KnownWords()), "dense": result(reader(), Words())}
        cases["tables"]["bf16"] = result(reader(), KnownWords(), compression="bf16")
    return cases


KILLED_AT = 9
"""Batch, from 1, before which the last rank dies: the third of the second epoch."""


def killed_once(folder: Path, names: list[str]) -> None:
    """Trains under torchrun with a checkpoint after each step, then undisturbed; the first rank writes both results.

    The ranks that come back after a kill go on with the training that it ended, and then with the next one.
    """
    restarts = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    with process_group():
        rank, world = rank_and_world()
        for number, name in enumerate(names):
            if number < restarts - 1:
                continue  # it was done before the last kill
            data = Samples(6 * 8, noise=0.1, stop_at=KILLED_AT * (number == restarts and rank == world - 1))
            data.kills = True
            options = STOPPED[name] | {"checkpoint_every_s": 1e-9}
            resumed = result(network(dropout=0.3), data, folder / f"{name}.checkpoint", **options)
            undisturbed = result(network(dropout=0.3), data, **options)
            if rank == 0:
                torch.save({"resumed": resumed, "undisturbed": undisturbed}, folder / f"{name}.pt")


def work(rank: int, world: int, folder: Path) -> dict[str, dict]:
    """What a rank comes to, and, of two, what it is told."""
    cases = all_cases(rank, world, folder)
    told = {"refused": refused(rank), "files": files(rank, folder)} if world == 2 else {}
    torch.save(told, folder / f"told{rank}.pt")
    return cases


if __name__ == "__main__":
    torch.set_num_threads(1)
    if "TORCHELASTIC_RESTART_COUNT" in os.environ:
        killed_once(Path(sys.argv[1]), sys.argv[2:])
        sys.exit()
    run_rank(work)
