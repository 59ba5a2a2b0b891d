"""The command: ``python -m datasets.generators gemm --number 400 -o FOLDER``."""

import argparse
from pathlib import Path

from datasets.generators import GENERATORS, SEED, generate


def main() -> None:
    """Parses arguments and writes the programs; those that are there already are written again."""
    parser = argparse.ArgumentParser(prog="python -m datasets.generators", description="Writes random programs.")
    parser.add_argument("name", choices=sorted(GENERATORS))
    parser.add_argument("--number", type=int, default=100, help="how many programs (default %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed gives others (default %(default)s)")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="where to write them")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for file, text in generate(options.name, options.number, seed=options.seed):
        (options.output / file).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
