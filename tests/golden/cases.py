"""What the goldens ask: commands and their inputs, relative to the repository, and what is below the public interface.

A case is the arguments of a command that prints JSON; its answer is ``data/NAME.json``.
"""

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
IR = "tests/data/ir"
SOURCES = "tests/ir/frontend/sources"
DATASETS = "datasets"


def _there(folder: str, pattern: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob(pattern))


MODULES = [
    f"{IR}/{name}"
    for name in (
        "tree.clang22.ll", "tree-g.clang22.ll", "legacy.ll", "tree.llvm11.bc", "machine.clang14.ll",
        "shapes.clang14.ll", "shapes.clang16.ll", "saxpy.clang16-typed.ll",
    )
]  # fmt: skip
CODE = [
    *(f"{SOURCES}/{name}" for name in ("dot.c", "words.cpp", "language.cl", "vector_add.cu", "scale.hip")),
    f"{DATASETS}/samples/sort.c",
]
PROGRAMS = [f"{DATASETS}/samples/sort.c", f"{SOURCES}/contest.cpp", f"{SOURCES}/dot.c", f"{IR}/tree.clang22.ll"]
SHIPPED = _there("ncc/kernels/measure/kernels", "*.cl")
KERNELS = [
    *_there(f"{DATASETS}/kernels", "*.cl"),
    f"{DATASETS}/samples/matmul.cl",
    f"{DATASETS}/samples/saxpy.cl",
    "tests/samples/two_kernels.cl",
    *SHIPPED[::3],
    f"{IR}/saxpy.clang14.ll",
    f"{IR}/saxpy.clang22.ll",
]
FEW_KERNELS = KERNELS[:12]
LAUNCHES = [
    *_there(f"{DATASETS}/gpu", "*.cu"),
    f"{SOURCES}/reduction.cu",
    *FEW_KERNELS[:4],
    *_there("tests/golden/inputs", "*.cu"),
]

TYPED = [f"{IR}/saxpy.clang16-typed.ll", f"{IR}/saxpy.clang14.ll", f"{IR}/saxpy.clang16.ll"]

CASES: Mapping[str, list[object]] = {
    "info": ["info"],
    "embed": ["embed", *MODULES],
    "embed-sources": ["embed", *CODE],
    "embed-functions": ["embed", *MODULES[:3], CODE[0], "--level", "function"],
    "embed-statements": ["embed", *MODULES[:4], "--level", "statement"],
    "embed-mean": ["embed", *MODULES[:4], "--pooling", "mean"],
    "embed-own": ["embed", *MODULES[:2], "--level", "function", "--embedding", "tests/data/formats/embedding-v1"],
    "graph": ["graph", *MODULES],
    "graph-sources": ["graph", CODE[0], *CODE[2:]],
    "graph-typed": ["graph", *TYPED],
    "classify": ["classify", *PROGRAMS[2:]],
    "classify-levels": ["classify", *PROGRAMS[:2], "--levels", "1", "--top", "2"],
    "device": ["predict-device", *KERNELS],
    "device-amd": ["predict-device", *KERNELS[::2], "--platform", "amd", "--transfer", "16MB"],
    "device-transfer": ["predict-device", *FEW_KERNELS, "--transfer", "64KiB", "--wgsize", "64"],
    "device-global": ["predict-device", *FEW_KERNELS, "--global-size", "65536", "--wgsize", "64"],
    "device-single": ["predict-device", *FEW_KERNELS[:4], "--global-size", "4096", "--wgsize", "1"],
    "device-explain": ["predict-device", *FEW_KERNELS[:3], "--transfer", "16MB", "--explain"],
    "coarsening": ["predict-coarsening", *KERNELS],
    "coarsening-device": ["predict-coarsening", *FEW_KERNELS, "--device", "AMD Tahiti 7970"],
    "profile": ["profile", *KERNELS, "--grid", "64", "--block", "128"],
    "profile-flat": ["profile", *LAUNCHES[:3], *FEW_KERNELS[:6], "--grid", "8,4,2", "--block", "16,8"],
    "profile-single": ["profile", *KERNELS[:10], *TYPED, "--grid", "4096", "--block", "1"],
    "profile-typed": ["profile", *TYPED, "--grid", "64", "--block", "96"],
    "profile-arguments": [
        "profile", *_there("tests/golden/inputs", "*.cu")[-4:], "--grid", "32", "--block", "64", "--arg", "n=1000",
    ],
    "gpu": ["predict-gpu", *LAUNCHES, "--grid", "256", "--block", "128"],
    "gpu-other": ["predict-gpu", *LAUNCHES[:3], "--grid", "64,4", "--block", "32,4", "--gpu", "A100"],
    "gpu-told": [
        "predict-gpu", *_there("tests/golden/inputs", "[adm]*.cu"), "--grid", "1024", "--block", "256",
        "--program-args", "2048 512", "--explain",
    ],
    "gpu-argument": ["predict-gpu", LAUNCHES[0], "--grid", "256", "--block", "256", "--arg", "0=777"],
    "refused": [
        "embed", f"{IR}/missing.ll", "tests/data/formats/README.md", f"{IR}/saxpy.clang22.ll",
    ],
}  # fmt: skip
"""Name → arguments; ``--json`` is added."""

PAGES: Mapping[str, list[object]] = {
    "embed": ["embed", CODE[0], MODULES[0]],
    "graph": ["graph", CODE[0]],
    "classify": ["classify", PROGRAMS[0]],
    "predict-device": ["predict-device", FEW_KERNELS[3], "--transfer", "16MB", "--explain"],
    "predict-coarsening": ["predict-coarsening", FEW_KERNELS[3]],
    "predict-gpu": ["predict-gpu", LAUNCHES[0], "--grid", "256,256", "--block", "16,16", "--explain"],
    "profile": ["profile", LAUNCHES[0], "--grid", "256,256", "--block", "16,16"],
    "help": ["--help"],
    "help-embed": ["embed", "--help"],
    "help-predict-device": ["predict-device", "--help"],
    "help-train-classify": ["train", "classify", "--help"],
    "refused": ["embed", f"{IR}/missing.ll", "tests/data/formats/README.md"],
    "usage": ["predict-device", CODE[0], "--transfer", "many"],
}
"""Page → arguments of a command whose plain output is kept, word for word."""
