"""Prints which device is predicted to run each kernel faster, at three sizes of its data, on both platforms."""

from pathlib import Path

import ncc
from ncc.system.files.text import align_columns, parse_bytes

HERE = Path(__file__).parent
KERNELS = [HERE.parent / "samples" / "matmul.cl", *sorted(HERE.glob("*.cl"))]
SIZES = ("64KB", "16MB", "1GB")
WGSIZE = 256


def rows(platform: str) -> list[list[str]]:
    """A row a kernel: its name, then verdict, odds of the GPU and speedup at each size."""
    found = []
    for path in KERNELS:
        answers = [
            ncc.predict_device(path, transfer=parse_bytes(size), wgsize=WGSIZE, platform=platform)[0] for size in SIZES
        ]
        cells = [
            f"{one.verdict}, GPU {one.probabilities['GPU']:.0%}, {one.speedup_gpu_over_cpu:.2f}x" for one in answers
        ]
        found.append([path.stem, *cells])
    return found


def main() -> None:
    """Prints a table for each platform."""
    for platform in ("amd", "nvidia"):
        print("\n".join(align_columns([[platform, *SIZES], *rows(platform)], left=range(4))))


if __name__ == "__main__":
    main()
