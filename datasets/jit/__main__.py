"""The command: ``python -m datasets.jit triton|numba|numba_cuda -o FOLDER``."""

import argparse
import importlib
from pathlib import Path


def main() -> None:
    """Compiles the kernels and writes their IR; what is there already is written again."""
    parser = argparse.ArgumentParser(prog="python -m datasets.jit", description="Compiles Python's kernels to LLVM IR.")
    parser.add_argument("name", choices=("numba", "numba_cuda", "triton"))
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write the IR")
    options = parser.parse_args()
    try:
        kernels = importlib.import_module(f"datasets.jit.{options.name}_kernels")
    except ModuleNotFoundError as error:
        package = options.name.replace("_", "-")
        parser.exit(1, f"{package} is not installed ({error}): pip install {package}\n")
    options.output.mkdir(parents=True, exist_ok=True)
    for file, text in kernels.compiled():
        (options.output / file).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
