"""When two ranks pay for one network: seconds a step of one process, of model parallelism, and of a pipeline.

    python -m benchmarks.pipeline [--hidden 32 96 192] [--micro-batches 1 2 4] [-o FILE]

Trains the classifier's network of two LSTM layers, on random programs, in one process of one thread, and in two stages
on two ranks of one thread each, which it starts itself. One micro-batch is plain model parallelism: the ranks take
turns. For each, the best of some repeats; of each rank the share of the step in which it waits for the other, and the
megabytes that both send. Then, at the middle size, the two ways to stages of fixed shapes: torch's stages rebuilt for
each step's own lengths, which is what `benchmarks.pipeline.schedule` does, and programs padded to few lengths.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, multiprocessing, nn

from benchmarks.pipeline.program_stages import split_network
from benchmarks.pipeline.schedule import train_in_stages
from benchmarks.pipeline.stage import PipelineStatistics
from ncc.learning.encoder.config import program_encoder, program_head
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.training.config import TrainingConfig, TrainingStatistics
from ncc.learning.training.loop import train
from ncc.learning.training.ranks import process_group
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

DIM, WORDS, BUCKETS, CLASSES = 200, 2000, 2000, 104
FEW = 4
"""Lengths that programs are padded to, where they are."""


class Programs:
    """Random programs of an eighth of the longest's length or more, those of similar length in one batch.

    Each statement has one literal.
    """

    def __init__(self, number: int, longest: int, padded: bool = False) -> None:
        rng = np.random.default_rng(0)
        self.lengths = np.sort(rng.integers(longest // 8, longest + 1, number))
        self.words = rng.integers(0, WORDS, (number, longest + FEW))
        self.label = torch.from_numpy(rng.integers(0, CLASSES, number))
        self.unit = -(-longest // FEW) if padded else 1

    def __len__(self) -> int:
        return len(self.lengths)

    def digest(self) -> str:
        """None: one process trains on them."""
        return ""

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """All programs once."""
        cut = np.split(np.arange(len(self)), range(batch_size, len(self), batch_size))
        return [cut[i] for i in rng.permutation(len(cut))]

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:  # noqa: ARG002
        """Inputs of the network, and classes."""
        time = -(-int(self.lengths[samples].max()) // self.unit) * self.unit
        words = torch.from_numpy(self.words[samples, :time])
        literals = words.flatten() % BUCKETS
        inputs = (words, torch.from_numpy(self.lengths[samples]), literals, torch.arange(len(literals)))
        return inputs, self.label[torch.from_numpy(samples)]


def network(hidden: int) -> EncoderNetwork:
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).normal(size=(WORDS, DIM)).astype(np.float32)
    return EncoderNetwork(vectors, CLASSES, program_encoder(hidden, layers=2, buckets=BUCKETS), program_head())


def run_alone(options: argparse.Namespace, hidden: int) -> dict:
    """Seconds a step of one process."""
    statistics = TrainingStatistics()
    data = Programs(options.steps * options.batch_size, options.longest)
    config = TrainingConfig(epochs=1, batch_size=options.batch_size)
    train(network(hidden), data, nn.functional.cross_entropy, config, statistics=statistics)
    return {"seconds_a_step": statistics.seconds_in_steps / statistics.steps}


def run_staged(options: argparse.Namespace, hidden: int, micro_batches: int, padded: bool = False) -> dict:
    """Seconds a step of two stages, what this rank sends in it, and the share that it waits."""
    statistics = PipelineStatistics()
    data = Programs(options.steps * options.batch_size, options.longest, padded)
    config = TrainingConfig(epochs=1, batch_size=options.batch_size)
    stages = split_network(network(hidden))
    train_in_stages(
        stages,
        data,
        nn.functional.cross_entropy,
        config,
        micro_batches=micro_batches,
        statistics=statistics,
    )
    return {
        "seconds_a_step": statistics.seconds_in_steps / statistics.steps,
        "bytes_a_step": statistics.bytes_sent / statistics.steps,
        "bubble": statistics.bubble,
    }


def middle(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]


def run_rank(rank: int, options: argparse.Namespace, folder: Path) -> None:
    """All runs of a rank, in files of the folder."""
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    runs = []
    for repeat in range(options.repeats):
        for hidden in options.hidden:
            about = {"hidden": hidden, "padded": False}
            if rank == 0:  # the other one sleeps where they meet
                runs.append({**about, "micro_batches": 0, **run_alone(options, hidden)})
            meeting = f"file://{folder}/meeting{repeat}of{hidden}?rank={rank}&world_size=2"
            with process_group(init_method=meeting):
                for number in options.micro_batches:
                    runs.append({**about, "micro_batches": number, **run_staged(options, hidden, number)})
                if hidden == middle(options.hidden):
                    number = middle(options.micro_batches)
                    padded = run_staged(options, hidden, number, padded=True)
                    runs.append({**about, "padded": True, "micro_batches": number, **padded})
    (folder / f"rank{rank}.json").write_text(json.dumps(runs))


def best(runs: Iterable[dict]) -> dict[tuple, dict]:
    """The fastest run of each kind."""
    found: dict[tuple, dict] = {}
    for run in runs:
        kind = (run["hidden"], run["micro_batches"], run["padded"])
        if kind not in found or run["seconds_a_step"] < found[kind]["seconds_a_step"]:
            found[kind] = run
    return found


def merge(first: dict[tuple, dict], other: dict[tuple, dict]) -> list[dict]:
    """Rows of the table from those of both ranks."""
    rows = []
    for kind, run in first.items():
        row = dict(run)
        if kind in other:
            row["bytes_a_step"] += other[kind]["bytes_a_step"]
            row["bubble"] = [row["bubble"], other[kind]["bubble"]]
        row["speedup"] = first[run["hidden"], 0, False]["seconds_a_step"] / run["seconds_a_step"]
        rows.append(row)
    return sorted(rows, key=lambda row: (row["padded"], row["hidden"], row["micro_batches"]))


def name(row: dict) -> str:
    if row["padded"]:
        return f"{row['micro_batches']} micro-batches, padded to {FEW} lengths"
    return {0: "one process", 1: "model parallel"}.get(row["micro_batches"], f"{row['micro_batches']} micro-batches")


def show(rows: list[dict]) -> None:
    print(f"{'hidden':>6}  {'':<40} {'s a step':>9} {'speed-up':>8} {'waiting, ranks 0 and 1':>22} {'MB sent':>8}")
    for row in rows:
        line = f"{row['hidden']:>6}  {name(row):<40} {row['seconds_a_step']:>9.3f} {row['speedup']:>8.2f}"
        if row["micro_batches"]:
            waiting = " and ".join(f"{share:.0%}" for share in row["bubble"])
            line += f" {waiting:>22} {row['bytes_a_step'] / 1e6:>8.2f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", nargs="+", type=int, default=[32, 96, 192])
    parser.add_argument("--micro-batches", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--longest", type=int, default=96, help="statements of a program")
    parser.add_argument("--steps", type=int, default=8, help="of a run")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(run_rank, (options, Path(folder)), nprocs=2)  # type: ignore[attr-defined]
        ranks = [json.loads((Path(folder) / f"rank{rank}.json").read_text()) for rank in range(2)]
    rows = merge(*map(best, ranks))
    show(rows)
    if options.output:
        figures = {"command": command_line("python -m benchmarks.pipeline"), **environment()}
        settings = {key: getattr(options, key) for key in ("batch_size", "longest", "steps", "repeats")}
        options.output.write_text(json.dumps(figures | settings | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
