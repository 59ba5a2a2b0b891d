"""How near training comes to what the device can do: statements a second, floating-point operations a second.

    python benchmarks/throughput.py [--device cpu cuda] [--batch-size 64 256 1024] [--num-words 16384] [-o FILE]

The classifier's network is trained by ncc's loop on random programs of one length, at several batch sizes, in bfloat16
where the device's LSTMs run in it; beside it stands the floor: one bare bidirectional LSTM of its size (cuDNN's on a
GPU), forward and backward, without loss, optimizer, or data. The skip-gram is trained on random counts; beside it stand
the rates that the device's matrix products reach, in bfloat16 and float32, on large squares. With two devices, the
first's rates are what the others' are divided by. Every figure is the best of some repeats.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ncc.learning.embedding.config import EmbeddingConfig
from ncc.learning.embedding.skipgram import train_skipgram
from ncc.learning.encoder.config import program_encoder, program_head
from ncc.learning.encoder.network import EncoderNetwork
from ncc.learning.training.config import TrainingConfig, TrainingStatistics
from ncc.learning.training.loop import train
from ncc.learning.training.precision import shared_precisions
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

DIM, ROWS, CLASSES = 200, 5000, 104
PRODUCTS = 3
"""Matrix products of words × words × dim of a pass over the counts: logits, and the gradients of both sides."""


class Programs:
    """Random programs of one length, a literal a statement."""

    def __init__(self, number: int, length: int) -> None:
        rng = np.random.default_rng(0)
        self.words = torch.from_numpy(rng.integers(0, ROWS, (number, length)))
        self.label = torch.from_numpy(rng.integers(0, CLASSES, number))

    def __len__(self) -> int:
        return len(self.words)

    def digest(self) -> str:
        """None: one process trains on them."""
        return ""

    def batches(self, batch_size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """All programs once."""
        return np.array_split(rng.permutation(len(self)), len(self) // batch_size)

    def batch(self, samples: NDArray[np.int64], rng: np.random.Generator) -> tuple[tuple[Tensor, ...], Tensor]:  # noqa: ARG002
        """Inputs of the network, and classes."""
        words = self.words[samples]
        lengths = torch.full((len(samples),), words.shape[1])
        return (words, lengths, words.flatten(), torch.arange(words.numel())), self.label[samples]


def wait_for(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def seconds(action: Callable[[], object], device: str, repeats: int) -> float:
    """The best time of some, after one that is not counted."""
    found = []
    for _ in range(1 + repeats):
        wait_for(device)
        began = time.perf_counter()
        action()
        wait_for(device)
        found.append(time.perf_counter() - began)
    return min(found[1:])


def head_rate(device: str, batch_size: int, options: argparse.Namespace) -> float:
    """Statements a second of the network in ncc's loop."""
    torch.manual_seed(0)
    vectors = np.random.default_rng(0).normal(0, DIM**-0.5, (ROWS, DIM)).astype(np.float32)
    network = EncoderNetwork(vectors, CLASSES, program_encoder(), program_head()).to(device)
    data = Programs(options.steps * batch_size, options.length)
    config = TrainingConfig(epochs=2, batch_size=batch_size, mixed_precision=True)
    rates = []
    for _ in range(1 + options.repeats):
        statistics = TrainingStatistics()
        train(network, data, nn.functional.cross_entropy, config, statistics=statistics)
        second = statistics.seconds_of_steps[options.steps :]
        rates.append(batch_size * options.length * len(second) / sum(second))
    return max(rates[1:])


def floor_rate(device: str, batch_size: int, options: argparse.Namespace) -> float:
    """Statements a second of a bare LSTM of the network's size, in the precision that ncc's loop chooses."""
    layer = nn.LSTM(DIM, program_encoder().hidden, batch_first=True, bidirectional=True).to(device)
    features = torch.randn(batch_size, options.length, DIM, device=device, requires_grad=True)
    precision = shared_precisions(features.device, mixed=True)[0]

    def step() -> None:
        with precision.products():
            with precision.autocast(features.device):
                out, _ = layer(features)
            out.sum().backward()

    return batch_size * options.length / seconds(step, device, options.repeats * options.steps)


def skipgram_rate(device: str, options: argparse.Namespace) -> float:
    """Floating-point operations a second of a pass over the counts, those of the matrix products alone counted."""
    rng = np.random.default_rng(0)
    number, per_word = options.num_words, 64
    center = np.repeat(np.arange(number, dtype=np.int32), per_word)
    context = np.sort(rng.integers(0, number, (number, per_word)), axis=1).astype(np.int32).ravel()
    count = rng.integers(1, 100, number * per_word)
    words = [f"<%ID> = add i{i} <%ID>, <%ID>" for i in range(1, number + 1)]
    ends: list[float] = []
    train_skipgram(
        center,
        context,
        count,
        words,
        EmbeddingConfig(dim=DIM, epochs=1 + options.repeats),
        device=device,
        progress=lambda *_: ends.append(time.perf_counter()),
    )
    return PRODUCTS * 2 * number * number * DIM / min(np.diff(ends))


def product_rate(device: str, dtype: torch.dtype, options: argparse.Namespace) -> float:
    """Floating-point operations a second of the product of two squares."""
    side = 8192 if device.startswith("cuda") else 1024
    left, right = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
    return 2 * side**3 / seconds(lambda: left @ right, device, options.repeats)


def measure(device: str, options: argparse.Namespace) -> dict:
    heads = []
    precision = shared_precisions(torch.device(device), mixed=True)[0]
    for size in options.batch_size:
        ours, floor = head_rate(device, size, options), floor_rate(device, size, options)
        heads.append({"batch_size": size, "statements_s": ours, "bare_lstm_s": floor, "share": ours / floor})
        print(f"{device}: batch {size}: {ours:,.0f} statements/s, {ours / floor:.0%} of a bare LSTM's", flush=True)
    bf16, fp32 = (product_rate(device, dtype, options) for dtype in (torch.bfloat16, torch.float32))
    ours = skipgram_rate(device, options)
    skipgram = {"flops": ours, "bf16_product_flops": bf16, "fp32_product_flops": fp32, "share_of_bf16": ours / bf16}
    shares = f"{ours / bf16:.0%} of a bfloat16 product's, {ours / fp32:.0%} of a float32 product's"
    print(f"{device}: skip-gram {ours / 1e9:,.1f} Gflop/s, {shares}", flush=True)
    about = {"device": device, "name": device_name(device), "precision": precision}
    return about | {"heads": heads, "skipgram": skipgram}


def device_name(device: str) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else f"{torch.get_num_threads()} threads"


def show_ratios(rows: Sequence[dict]) -> None:
    first, *others = rows
    for row in others:
        best = [max(head["statements_s"] for head in one["heads"]) for one in (row, first)]
        ratio = row["skipgram"]["flops"] / first["skipgram"]["flops"]
        print(f"{row['device']} against {first['device']}: head {best[0] / best[1]:.1f}, skip-gram {ratio:.1f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", nargs="+", default=["cpu"])
    parser.add_argument("--batch-size", nargs="+", type=int, default=[64, 256, 1024])
    parser.add_argument("--length", type=int, default=128, help="statements of a program")
    parser.add_argument("--num-words", type=int, default=16384, help="of the skip-gram")
    parser.add_argument("--steps", type=int, default=8, help="of a run of the head")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of the processor")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = [measure(device, options) for device in options.device]
    show_ratios(rows)
    if options.output:
        figures = {"command": command_line("python benchmarks/throughput.py"), **environment()}
        settings = {key: getattr(options, key) for key in ("length", "num_words", "steps", "repeats", "threads")}
        options.output.write_text(json.dumps(figures | settings | {"devices": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
