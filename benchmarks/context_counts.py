"""How fast contexts are counted: IR lines a second on one core, from text to counts, on modules small and large.

    python benchmarks/context_counts.py FILE... [-o benchmarks/results/context_counts.json]

FILE are modules of IR (``.ll``, or ``.ll.gz`` as ``ncc corpus build --ir`` keeps them); if a folder is given, its
largest modules are used. Each is read, turned into a graph and counted, with the identifiers of highest degree (hubs)
connecting their statements as in the paper, and without.
"""

import argparse
import functools
import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import XFG, build_xfg
from ncc.ir.reader.reader import read_module
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

WIDTHS = (1, 2, 3)
MAX_DEGREE = 64


def find_modules(paths: list[Path], per_folder: int) -> list[Path]:
    """Files as given; of a folder, modules of all sizes up to its largest."""
    found = []
    for path in paths:
        if path.is_dir():
            files = sorted((f for f in path.rglob("*.ll*") if f.is_file()), key=lambda file: file.stat().st_size)
            picked = np.unique(np.geomspace(1, len(files), per_folder).round().astype(int))
            found += [files[-rank] for rank in picked[::-1]]
        else:
            found.append(path)
    return found


def best_of(repeats: int, count) -> tuple[float, Any]:
    """The least seconds of some runs, and the last result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = count()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def largest_degree(graph: XFG) -> int:
    """Most edges at an identifier."""
    ends = np.concatenate([graph.source, graph.target])
    return int(np.bincount(ends).max(initial=0))


def read_graph(text: bytes, name: str) -> XFG:
    """Text to graph, with what all widths share."""
    graph = build_xfg(read_module(text, name=name))
    _ = graph.incidence  # found when it is first asked for
    return graph


def measure(path: Path, repeats: int) -> dict:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    reading, graph = best_of(repeats, lambda: read_graph(text, path.name))
    module = graph.module
    row: dict[str, Any] = {
        "lines": module.num_lines,
        "statements": module.num_statements,
        "largest_degree": largest_degree(graph),
        "read_seconds": reading,
        "counts": [],
    }
    for max_degree in (None, MAX_DEGREE):
        for width in WIDTHS:
            seconds, counts = best_of(
                repeats, functools.partial(count_contexts, graph, module.text_id, width, max_degree=max_degree)
            )
            speed = module.num_lines / (seconds + reading)
            row["counts"].append(
                {
                    "width": width,
                    "max_degree": max_degree,
                    "seconds": seconds,
                    "pairs": int(counts.count.sum()),
                    "distinct_pairs": len(counts.count),
                    "lines_per_second": speed,
                }
            )
    speeds = "  ".join(f"{count['lines_per_second']:>9,.0f}" for count in row["counts"])
    print(f"{row['lines']:>9,} {row['largest_degree']:>8,}  {speeds}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--per-folder", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    headings = [f"width {width}{'' if hubs else ' ≤64'}" for hubs in (True, False) for width in WIDTHS]
    print("IR lines/s from text to counts, one core")
    print(f"{'lines':>9} {'degree':>8}  " + "  ".join(f"{heading:>9}" for heading in headings))
    rows = [measure(path, options.repeats) for path in find_modules(options.files, options.per_folder)]
    if options.output:
        command = command_line("python benchmarks/context_counts.py")
        options.output.write_text(json.dumps({"command": command, **environment(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
