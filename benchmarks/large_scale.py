"""A module of ten million lines and more: time and memory by its size, from text to counted contexts.

    python benchmarks/large_scale.py FILE [--lines 1e5 1e6 1e7] [-o benchmarks/results/large_scale.json]

FILE is a module of IR (``.ll``) or a C source. Its functions are repeated under new names, each with the calls, types
and metadata that it has, until the module has as many lines as asked. Every size is read, turned into a graph and
counted within two hops in a separate process, whose peak resident memory is printed.
"""

import argparse
import itertools
import json
import multiprocessing
import re
import resource
import tempfile
import time
from pathlib import Path

from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.reader import read_module
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

FUNCTION = re.compile(rb"^define [^\n]*?@([-\w.$]+)\(.*?^}\n", re.MULTILINE | re.DOTALL)
MAX_DEGREE = 64


def enlarge(text: bytes, lines: int, out: Path) -> None:
    """Writes a module of at least `lines` lines: the text, and its functions again under other names."""
    bodies = [(body[0], body.end(1) - body.start()) for body in FUNCTION.finditer(text)]
    written = text.count(b"\n")
    with out.open("wb") as file:
        file.write(text)
        copy = 0
        while written < lines:
            copy += 1
            for body, end in bodies:
                file.write(body[:end] + b".%d" % copy + body[end:])
                written += body.count(b"\n")
                if written >= lines:
                    break


def measure(path: Path) -> dict:
    """One module from text to counts."""
    times = [time.perf_counter()]
    module = read_module(path)
    times.append(time.perf_counter())
    graph = build_xfg(module)
    times.append(time.perf_counter())
    counts = count_contexts(graph, module.text_id, 2, max_degree=MAX_DEGREE)
    times.append(time.perf_counter())
    read, built, counted = (end - start for start, end in itertools.pairwise(times))
    return {
        "lines": module.num_lines,
        "bytes": path.stat().st_size,
        "functions": len(module.function_names),
        "statements": module.num_statements,
        "edges": graph.num_edges,
        "pairs": int(counts.count.sum()),
        "read_seconds": read,
        "graph_seconds": built,
        "count_seconds": counted,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def measure_alone(path: Path) -> dict:
    """Measure in a separate process, to see its memory alone."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (path,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    source = options.file
    text = source.read_bytes() if source.suffix == ".ll" else compile_source(source, CompileOptions()).ir
    print(f"{'lines':>11} {'megabytes':>10} {'read s':>8} {'graph s':>8} {'count s':>8} {'lines/s':>9} {'peak GB':>8}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for lines in options.lines:
            path = Path(folder) / "module.ll"
            enlarge(text, int(lines), path)
            row = measure_alone(path)
            rows.append(row)
            seconds = [row[f"{step}_seconds"] for step in ("read", "graph", "count")]
            print(
                f"{row['lines']:>11,} {row['bytes'] / 1e6:>10.1f} {'  '.join(f'{s:>7.2f}' for s in seconds)} "
                f"{row['lines'] / sum(seconds):>9,.0f} {row['peak_bytes'] / 1e9:>8.2f}",
                flush=True,
            )
    if options.output:
        command = command_line("python benchmarks/large_scale.py")
        options.output.write_text(json.dumps({"command": command, **environment(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
