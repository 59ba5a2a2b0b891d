"""A small world for all tests, made once a run by the public functions: programs and kernels, and models of them."""

import csv
import fcntl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

import ncc
from tests.support.flat import call

CLASSES = {"bits": ("xor", "and", "or", "shl"), "sums": ("add", "sub", "mul", "sdiv")}
PROGRAMS_PER_CLASS = 15
SOURCES = {"bits": "^&|", "sums": "+-*"}
SOURCE = "int f(const int *a, int n) {{ int x = 1; for (int i = 0; i < n; i++) x {0}= a[i] {0} {1}; return x; }}\n"
SOURCES_PER_CLASS = 4
FUNCTION = "int f{0}(int *a, int n) {{ int s = {0}; while (n--) s {1}= a[n] + {2}; return s; }}\n"
NUM_FUNCTIONS = 16
STRAIGHT = "__kernel void k{0}(__global float *a) {{ int i = get_global_id(0); a[i] = a[i] * {0}.0f + {0}; }}\n"
BRANCHING = (
    "__kernel void k{0}(__global float *a) {{ int i = get_global_id(0);"
    " if (a[i] > 0) {{ for (int k = 0; k < i % {0}; k++) a[i] = sqrt(a[i]) + {0}; }} }}\n"
)
NUM_KERNELS = 8
DEVICES = ("one", "other")
CUDA = """
__global__ void work(int n, const float *x, float *y) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < {0}; k++) sum = sum * x[i] + k;
  if (i < n) y[i] = sum;
}}
"""
CUDA_TIMES = (8, 64, 512, 4096)


PLACES = {
    "programs": "programs",  # two classes of 15 programs as IR, so that no compiler is needed
    "sources": "sources",  # the same classes with a few programs in C, for what must compile
    "functions": "functions.toml",  # a recipe of a file of C at three levels
    "corpus": "corpus",  # counts of the programs
    "embedding": "embedding",  # vectors of 8 numbers
    "encoder": "encoder",  # a linear encoder of 8 numbers
    "lstm_encoder": "lstm-encoder",  # an LSTM encoder of 8 numbers
    "classifier": "classifier",  # tells the two classes apart
    "cache": "cache",  # IR and programs, as read
    "kernels": "kernels",  # eight kernels, k0.cl to k7.cl; the odd ones branch
    "times": "kernels/times.csv",  # their times on two devices
    "launches": "cuda/launches.csv",  # times of launches of four CUDA programs beside it
    "device_head": "device-head",  # of the two devices
    "gpu_head": "gpu-head",  # of an A100, as the table calls it
    "index": "index",  # of the functions of the programs
}
"""What the world has → where it lies below its folder."""


@dataclass(frozen=True)
class Tiny:
    """Where everything lies; `make` makes it.

    Attributes:
        folder: Holds all of it.
    """

    folder: Path

    def __getattr__(self, name: str) -> Path:
        if name not in PLACES:
            raise AttributeError(name)
        return self.folder / PLACES[name]

    def use(self, patch: pytest.MonkeyPatch) -> None:
        """Has ncc cache in the world, and compile by the clang that it bundles."""
        patch.setenv("NCC_CACHE", str(self.cache))
        patch.delenv("NCC_CLANG", raising=False)

    def make(self) -> None:
        """Writes all inputs, then trains all models."""
        self._write_programs()
        self._write_kernels()
        write_launches(self.launches)
        for name in TRAINED:
            self.train(name, self.folder / name)
        ncc.index(self.programs, self.index, embedding=self.embedding, pooling="mean")

    def train(self, name: str, output: Path, **options: Any) -> Any:
        """Trains a model like that of the world, which is in a folder of its name.

        Args:
            name: One of `TRAINED`.
            output: Where to.
            options: Other ones than those of the world.
        """
        verb, usual = self.training_of(name)
        return call(verb, output=output, **(usual | options))

    def training_of(self, name: str) -> tuple[str, dict[str, Any]]:
        """The function that trains a model of the world, and its arguments but for the folder."""
        sources = {"programs": self.sources, "functions": self.functions, "cache": self.cache}
        made: dict[str, tuple[str, dict[str, Any]]] = {
            "corpus": ("build_corpus", {"recipe": self.programs, "jobs": 1}),
            "embedding": ("train_embedding", {"corpora": [self.corpus], **EMBEDDING}),
            "encoder": ("train_encoder", sources | ENCODER),
            "lstm-encoder": ("train_encoder", sources | {"embedding": self.embedding} | LSTM_ENCODER),
            "classifier": (
                "train_classifier",
                {"folder": self.programs, "embedding": self.embedding, "cache": self.cache} | CLASSIFIER,
            ),
            "device-head": ("train_devmap", {"tables": [self.times]}),
            "gpu-head": ("train_gpu", {"table": self.launches, "gpu": "A100"}),
        }
        return made[name]

    def _write_programs(self) -> None:
        for name, opcodes in CLASSES.items():
            (self.programs / name).mkdir(parents=True)
            for number in range(PROGRAMS_PER_CLASS):
                chosen = [opcodes[(number >> shift) % 4] for shift in range(3)]
                lines = [f"  %x{i + 1} = {opcode} i32 %x{i}, {number + i}" for i, opcode in enumerate(chosen)]
                text = "\n".join(["define i32 @f(i32 %x0) {", *lines, "  ret i32 %x3", "}", ""])
                (self.programs / name / f"{number}.ll").write_text(text)
        for name, operators in SOURCES.items():
            (self.sources / name).mkdir(parents=True)
            for number in range(SOURCES_PER_CLASS):
                text = SOURCE.format(operators[number % len(operators)], number + 2)
                (self.sources / name / f"{number}.c").write_text(text)
        folder = self.folder / "functions"
        folder.mkdir()
        text = "".join(FUNCTION.format(number, "+-*&|^/%"[number % 8], number // 4) for number in range(NUM_FUNCTIONS))
        (folder / "functions.c").write_text(text)
        source = f'name = "functions"\nfolder = "{folder}"\noptimization = ["-O0", "-O1", "-Os"]\n'
        self.functions.write_text(f"[[source]]\n{source}")

    def _write_kernels(self) -> None:
        self.kernels.mkdir()
        for number in range(NUM_KERNELS):
            (self.kernels / f"k{number}.cl").write_text((STRAIGHT, BRANCHING)[number % 2].format(number))
        write_table(self.times, list(device_times()))


TRAINED = (
    "corpus",
    "embedding",
    "encoder",
    "lstm-encoder",
    "classifier",
    "device-head",
    "gpu-head",
)
EMBEDDING: dict[str, Any] = {"dim": 8, "epochs": 2, "steps_per_epoch": 2, "min_count": 3, "subsample": 0.0}
ENCODER: dict[str, Any] = {"classes": "bits,sums", "min_df": 2, "dim": 8}
LSTM_ENCODER: dict[str, Any] = {
    "model": "lstm", "classes": "bits,sums", "epochs": 2, "steps_per_epoch": 2, "batch_size": 4, "hidden": 4, "dim": 8
}  # fmt: skip
CLASSIFIER: dict[str, Any] = {"levels": ("1",), "epochs": 2, "hidden": 4, "min_steps": 4, "batch_size": 8}


def device_times() -> Iterator[dict[str, object]]:
    """The other device takes 1 ms to start, and is ten times as fast."""
    for number in range(NUM_KERNELS):
        for size in (1 << 10, 1 << 14, 1 << 18, 1 << 22):
            work = size / 1e5 * (1 + number / 10)
            for device, time in zip(DEVICES, (work, 1 + work / 10), strict=True):
                launch = {"device": device, "global_size": size, "local_size": 64, "time_ms": time}
                yield {"kernel_file": f"k{number}.cl", "kernel": f"k{number}", **launch}


def write_table(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Writes rows as CSV."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def write_launches(path: Path, **more: object) -> Path:
    """Writes four CUDA programs, and beside them a table of invented times of their launches, with more columns."""
    path.parent.mkdir(parents=True)
    rows = []
    for number, times in enumerate(CUDA_TIMES):
        path.with_name(f"p{number}.cu").write_text(CUDA.format(times))
        for grid in (1024, 8192, 65536):
            launch = {"kernel": "work", "grid": grid, "block": 256, "time_ms": 1e-6 * times * grid}
            rows.append({**launch, "source": f"p{number}.cu", "arguments": f"n={256 * grid}", **more})
    write_table(path, rows)
    return path


def tiny_world(shared: Path) -> Tiny:
    """The world in a folder of this run of the tests; the first process to ask makes it, others wait."""
    shared.mkdir(parents=True, exist_ok=True)
    with (shared / "tiny.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tiny, done = Tiny(shared / "tiny"), shared / "tiny.done"
        if not done.exists():
            tiny.folder.mkdir()
            # more threads would only wait for each other over so little
            with threadpool_limits(1), pytest.MonkeyPatch.context() as patch:
                tiny.use(patch)
                tiny.make()
            done.touch()
    return tiny
