"""One of two ranks that train the classifier by each compression, at one go and with a stop, and the embedding.

Arguments: the rank, the folder of the tiny world, ports of this machine with a comma between them, one for each
training, and the folder that gets ``NAME/whole`` and ``NAME/stopped``.
"""

import os
import sys
from pathlib import Path
from typing import Any

import torch

from tests.support.tiny import Tiny

COMPRESSIONS = ("none", "fp16", "bf16", "int8", "int4", "topk")
NUM_TRAININGS = 3 * len(COMPRESSIONS) + 1


class StoppedError(Exception):
    """Ends a training."""


def stop(line: str) -> None:
    """Progress that ends a training in its second epoch; the first rank alone is told, the other loses it."""
    if line.startswith("epoch 2"):
        raise StoppedError


def main(rank: int, tiny: Tiny, ports: list[str], folder: Path) -> None:
    """Trains everything."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}

    def train(name: str, output: str, **options: Any) -> None:
        os.environ["MASTER_PORT"] = ports.pop()
        tiny.train(name, folder / output, **options)

    train("embedding", "embedding")
    for name in COMPRESSIONS:
        options = {"compression": name, "epochs": 4, "global_batch": True}
        train("classifier", f"{name}/whole", **options)
        try:
            train("classifier", f"{name}/stopped", progress=stop, **options)
            raise AssertionError("it was to stop")
        except (StoppedError, RuntimeError):  # of the other rank's end
            pass
        train("classifier", f"{name}/stopped", **options)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), Tiny(Path(sys.argv[2])), sys.argv[3].split(","), Path(sys.argv[4]))
