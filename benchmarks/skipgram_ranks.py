"""Cost of a skip-gram of many words per rank: memory, bytes sent, and whether ranks end as one process does.

    python benchmarks/skipgram_ranks.py [--world 1 2 4] [--num-words 100000] [--pairs 2000000] [-o FILE]

Of the vocabulary's words some are centers, each with as many contexts; tables and moments are as large as if all were.
Each number of ranks trains in separate processes, over gloo, in one thread each. Memory is what a rank needs at most,
with torch, the pairs and what is gathered at the end; bytes are those of rings, of steps alone. Seconds are of the
epochs, by the clock and of the rank's processor, of which a busy machine changes little.
"""

import argparse
import json
import os
import resource
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import distributed, multiprocessing

from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.skipgram import train_skipgram
from ncc.learning.training.ranks import process_group
from ncc.system.files.text import command_line
from ncc_lab.environment import environment


def pairs_of(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random counts, sorted by center."""
    rng = np.random.default_rng(0)
    centers = np.sort(rng.choice(options.num_words, options.centers, replace=False)).astype(np.int32)
    each = options.pairs // options.centers
    context = [np.sort(rng.choice(options.num_words, each, replace=False)).astype(np.int32) for _ in centers]
    return np.repeat(centers, each), np.concatenate(context), rng.integers(1, 100, each * len(centers))


def count_bytes() -> dict[str, int]:
    """Bytes that this process sends from now on, kept up to date."""
    sent, (gather, reduce) = {"bytes": 0}, (distributed.all_gather, distributed.all_reduce)

    def all_gather(parts: list[torch.Tensor], own: torch.Tensor) -> None:
        sent["bytes"] += (len(parts) - 1) * own.nbytes
        gather(parts, own)

    def all_reduce(tensor: torch.Tensor) -> None:
        world = distributed.get_world_size()
        sent["bytes"] += 2 * (world - 1) * tensor.nbytes // world
        reduce(tensor)

    for counted in (all_gather, all_reduce):
        setattr(distributed, counted.__name__, counted)
    return sent


def train(rank: int, world: int, port: int, options: argparse.Namespace, queue: Any) -> None:
    """A rank; it prints its measurements."""
    if world > 1:
        os.environ |= {
            "RANK": str(rank),
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
    torch.set_num_threads(1)
    words = [f"<%ID> = add i{i} <%ID>, <%ID>" for i in range(1, options.num_words + 1)]
    pairs = pairs_of(options)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    config = EmbeddingConfig(dim=options.dim, epochs=options.epochs, steps_per_epoch=options.steps)
    with process_group():
        sent, ends = count_bytes(), []
        began, processor = time.perf_counter(), time.process_time()
        result = train_skipgram(
            *pairs,
            words,
            config,
            progress=lambda *_: ends.append(
                (time.perf_counter() - began, time.process_time() - processor, sent["bytes"])
            ),
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    steps = options.epochs * options.steps
    figures = {
        "world": world,
        "rank": rank,
        "before_mib": before,
        "peak_mib": peak,
        "mb_a_step": ends[-1][2] / steps / 1e6,
    }
    queue.put(figures | {"epochs_s": ends[-1][0], "processor_s": ends[-1][1], "loss": result.loss})


def measure(world: int, options: argparse.Namespace) -> list[dict]:
    context = multiprocessing.get_context("spawn")
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    queue = context.SimpleQueue()
    ranks = [context.Process(target=train, args=(rank, world, port, options, queue)) for rank in range(world)]
    for process in ranks:
        process.start()
    found = [queue.get() for _ in ranks]
    for process in ranks:
        process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--num-words", type=int, default=100_000)
    parser.add_argument("--centers", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    found = []
    for world in options.world:
        found += measure(world, options)
        some = [one for one in found if one["world"] == world]
        peak, before = (max(one[name] for one in some) for name in ("peak_mib", "before_mib"))
        print(
            f"{world} ranks: {peak:,.0f} MiB at most, {before:,.0f} before training; {some[0]['mb_a_step']:.1f} MB "
            f"sent a step, {some[0]['epochs_s']:.1f} s ({max(one['processor_s'] for one in some):.1f} s of a "
            f"processor), loss {some[0]['loss']:.6f}",
            flush=True,
        )
    if options.output:
        settings = {key: value for key, value in vars(options).items() if key != "output"}
        about = {"command": command_line("python benchmarks/skipgram_ranks.py"), **environment()}
        options.output.write_text(json.dumps(about | settings | {"ranks": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
