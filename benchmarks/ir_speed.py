"""How fast IR becomes statements and a graph: ncc beside LLVM's own parser and IR2Vec, in one run on the same texts.

Modules of about 1,000 to 1,500,000 lines are compiled from Eigen (from the C++ library where Eigen is not installed)
by clang 14, which has typed pointers, and by the bundled clang. To be run on a quiet machine:

    python benchmarks/ir_speed.py --cache FOLDER [--ir2vec-python PYTHON]

PYTHON belongs to another environment, one that has the ``ir2vec`` wheel.
"""

import argparse
import contextlib
import functools
import gc
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from ncc.ir.frontend.clang import find_compiler
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.reader import read_module
from ncc.system.files.writing import write_atomically

SOURCES = Path(__file__).with_name("sources")
RESULT = Path(__file__).with_name("results") / "ir_speed.json"
# name → (SIZE in the sources, optimization level)
SIZES = {"small": (1, "-O0"), "optimised": (3, "-O1"), "medium": (2, "-O0"), "large": (4, "-O0")}

READ = "from ncc.ir.graph.xfg import build_xfg\nfrom ncc.ir.reader.reader import read_module\n"
READ_FILE = READ + "import sys\ngraph = build_xfg(read_module(sys.argv[1]))\n"
PEAK = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
# A worker answers a path with the seconds that its vector took. Imports are not counted; what is loaded once is, in
# the first answer. ncc's cache of statements is emptied in between, since in earnest no file is read twice.
WORKER = """import sys, time
{prepare}
for path in sys.stdin:
    {reset}
    start = time.perf_counter()
    vector = {embed}
    print("seconds", time.perf_counter() - start, len(vector), flush=True)
"""
NCC_WORKER = WORKER.format(
    prepare="from ncc import embed\nfrom ncc.learning.embedding.backoff import generalize",
    reset="generalize.cache_clear()",
    embed="embed(path.strip(), pooling=sys.argv[1]).vector",
)
IR2VEC_WORKER = WORKER.format(
    prepare="import ir2vec", reset="", embed='ir2vec.initEmbedding(path.strip(), "fa", "p").getProgramVector()'
)


@dataclass(frozen=True, kw_only=True)
class Text:
    """A module on disk: its size's name, its dialect ("typed" or "current" pointers) and what compiled it."""

    name: str
    dialect: str
    compiler: str
    path: Path


def compiled(name: str, clang: str | None, eigen: Path, cache: Path) -> Text:
    """Compiles the module of a size, or finds what an earlier run left in the cache."""
    size, level = SIZES[name]
    source = SOURCES / ("eigen.cpp" if (eigen / "Eigen" / "Dense").is_file() else "library.cpp")
    argv = [*find_compiler(clang).argv, "--version"]
    printed = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    version = re.sub(r".*(clang) version (\S+).*", r"\1 \2", printed, flags=re.DOTALL)
    key = hashlib.sha256(f"{version} {level} {size} {source.read_text()}".encode()).hexdigest()[:12]
    path = cache / f"{name}-{key}.ll"
    if not path.exists():
        print(f"{version}: compiling {source.name}, {name}, {level} …", file=sys.stderr, flush=True)
        folders = (str(eigen),) if source.name == "eigen.cpp" else ()
        options = CompileOptions(
            clang=clang, optimization=level, include_paths=folders, defines=(f"SIZE={size}",), timeout_s=1800
        )
        write_atomically(path, compile_source(source, options).ir)
    return Text(name=name, dialect="typed" if clang else "current", compiler=version, path=path)


def seconds_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """Wall time of a call, garbage collected before, and what it returned."""
    gc.collect()
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure_speed(text: Text, pairs: int) -> dict[str, Any]:
    """Text in memory to statements and XFG, over LLVM's parse of the same text; in turns, the first pair uncounted."""
    data = text.path.read_bytes()
    for_llvm = data.decode()
    stripped = for_llvm.count(" inrange") if text.dialect == "typed" else 0
    if stripped:  # LLVM 19 took the word out of the language
        for_llvm = for_llvm.replace(" inrange", "")
    ours, theirs = [], []
    for _ in range(pairs + 1):
        spent, graph = seconds_of(lambda: build_xfg(read_module(data)))
        ours.append(spent)
        facts = {"statements": graph.module.num_statements, "edges": graph.num_edges, "route": graph.module.read_via}
        del graph
        # in a fresh context, for the types of earlier texts would add up in the global one
        spent, parsed = seconds_of(lambda: llvm.parse_assembly(for_llvm, llvm.create_context()))
        theirs.append(spent)
        del parsed
    ours, theirs = ours[1:], theirs[1:]
    ratios = [ncc / other for ncc, other in zip(ours, theirs, strict=True)]
    lines, seconds = data.count(b"\n"), statistics.median(ours)
    return facts | {
        "lines": lines,
        "bytes": len(data),
        "pairs": pairs,
        "inrange_stripped_for_llvm": stripped,
        "ncc_seconds": seconds,
        "llvm_seconds": statistics.median(theirs),
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "ncc_us_per_line": seconds / lines * 1e6,
        "target": 4.0 if text.dialect == "typed" else 2.0,
    }


def peak_bytes(program: str, *arguments: str) -> int:
    """Largest resident set of a fresh Python; a small process starts it, as a child inherits its parent's peak."""
    command = [sys.executable, "-c", PEAK, sys.executable, "-c", program, *arguments]
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return peak if sys.platform == "darwin" else peak * 1024


def measure_memory(text: Text) -> dict[str, Any]:
    """Peak of a process that reads the module and builds its XFG, nothing subtracted, over the size of the text."""
    size = text.path.stat().st_size
    peak, imports = peak_bytes(READ_FILE, str(text.path)), peak_bytes(READ)
    ratios = {"ratio": peak / size, "ratio_beyond_imports": (peak - imports) / size}
    return {"bytes": size, "peak_bytes": peak, "imports_only_bytes": imports, **ratios, "target": 12.0}


def measure_starts(runs: int = 7) -> list[dict[str, Any]]:
    """Whole processes of the command line; one run before the others is not counted."""
    ncc = str(Path(sys.executable).with_name("ncc"))
    kernel = str(SOURCES / "kernel.cl")
    rows = []
    for command, target in (((ncc, "--help"), 0.3), ((ncc, "embed", kernel), 1.0)):
        times = [
            seconds_of(functools.partial(subprocess.run, command, capture_output=True, check=True))[0]
            for _ in range(runs + 1)
        ]
        name = " ".join(["ncc", *(Path(word).name for word in command[1:])])
        rows.append({"command": name, "seconds": statistics.median(times[1:]), "runs": times[1:], "target": target})
    return rows


class Worker:
    """A Python process that times one embedder on the files that it receives."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, path: Path) -> float | None:
        """Seconds, or None when the process is dead."""
        assert self.process.stdin
        assert self.process.stdout
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{path}\n")
            self.process.stdin.flush()
        answers = (line.split() for line in self.process.stdout)
        return next((float(words[1]) for words in answers if words[:1] == ["seconds"]), None)

    def stop(self) -> int:
        """The exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
        return self.process.wait()


def measure_ir2vec(text: Text, python: str, pooling: str, rounds: int = 5) -> dict[str, Any]:
    """Each round starts both again and asks each twice, in turns: the first answer is cold, the second warm."""
    times: dict[str, list[float]] = {}
    for _ in range(rounds):
        workers = {
            "ncc": Worker(sys.executable, "-c", NCC_WORKER, pooling),
            "ir2vec": Worker(python, "-c", IR2VEC_WORKER),
        }
        answers = {f"{name}_{state}": workers[name].ask(text.path) for state in ("cold", "warm") for name in workers}
        codes = {name: worker.stop() for name, worker in workers.items()}
        for key, seconds in answers.items():
            if seconds is None:
                return {"failed": f"{key.split('_')[0]} ended with exit code {codes[key.split('_')[0]]}"}
            times.setdefault(key, []).append(seconds)
    row: dict[str, Any] = {f"{key}_seconds": statistics.median(values) for key, values in times.items()}
    for state in ("cold", "warm"):
        pairs = zip(times[f"ir2vec_{state}"], times[f"ncc_{state}"], strict=True)
        row[f"speedup_{state}"] = statistics.median(other / ncc for other, ncc in pairs)
    return row | {"rounds": rounds, "target": 4.0}


def describe_run(ir2vec_python: str | None) -> dict[str, Any]:
    """Command (paths without their folders), hardware and versions."""
    cpu = platform.processor()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    versions = {"python": platform.python_version(), "llvm": ".".join(map(str, llvm.llvm_version_info))}
    versions |= {name: importlib.metadata.version(name) for name in ("ncc", "llvmlite", "numpy", "ziglang")}
    if ir2vec_python:
        query = "import importlib.metadata; print(importlib.metadata.version('ir2vec'))"
        run = subprocess.run([ir2vec_python, "-c", query], capture_output=True, text=True, check=True)
        versions["ir2vec"] = run.stdout.strip()
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    command = shlex.join(["python", "benchmarks/ir_speed.py", *words])
    return {"command": command, "hardware": {"cpu": cpu, "cores": os.cpu_count()}, "versions": versions}


def report(row: dict[str, Any]) -> dict[str, Any]:
    """Prints a row of the table and returns it."""
    name = row.get("command") or f"{row['module']:<10}{row['dialect']:<8} {row['compiler']}"
    figure = {
        "reading": "{lines:>9,} lines  ncc {ncc_seconds:.4f} s  LLVM {llvm_seconds:.4f} s  {ratio:.2f} of LLVM's time"
        " ({ratio_range[0]:.2f} to {ratio_range[1]:.2f}, {pairs} pairs)  target <= {target}",
        "linearity": "{us_per_line} us a line from the smallest to the largest",
        "memory": "{bytes:>11,} bytes  peak {peak_bytes:,}  {ratio:.1f} of the text  target < {target};  "
        "{imports_only_bytes:,} after imports, beyond them {ratio_beyond_imports:.1f} of the text",
        "start": "{seconds:.3f} s  target < {target} s",
        "ir2vec": "{failed}"
        if "failed" in row
        else "{pooling}, cold: ncc {ncc_cold_seconds:.4f} s, ir2vec {ir2vec_cold_seconds:.4f} s, {speedup_cold:.1f}x;  "
        "warm: {ncc_warm_seconds:.4f} s, {ir2vec_warm_seconds:.4f} s, {speedup_warm:.1f}x  target >= {target}x",
    }[row["measure"]]
    print(f"{row['measure']:<10}{name:<34}{figure.format(**row)}", flush=True)
    if row.get("inrange_stripped_for_llvm"):
        print(f"{'':<10}LLVM got a copy without {row['inrange_stripped_for_llvm']} ' inrange', which it refuses")
    return row


def measure_all(arguments: argparse.Namespace, cache: Path) -> list[dict[str, Any]]:
    clangs: list[str | None] = [None]
    if shutil.which(arguments.clang14):
        clangs.append(arguments.clang14)
    else:
        print(f"no {arguments.clang14}: typed pointers are not measured (see --clang14)", file=sys.stderr)
    rows = []
    for clang in clangs:
        texts = [compiled(name, clang, arguments.eigen, cache) for name in SIZES]
        about = [{"module": text.name, "dialect": text.dialect, "compiler": text.compiler} for text in texts]
        for text, names in zip(texts, about, strict=True):
            pairs = min(arguments.pairs, 5) if text.name == "large" else arguments.pairs
            rows.append(report({"measure": "reading", **names, **measure_speed(text, pairs)}))
        per_line = [round(row["ncc_us_per_line"], 3) for row in rows[-len(texts) :]]
        rows.append(report({"measure": "linearity", **about[0], "module": "all", "us_per_line": per_line}))
        for text, names in zip(texts, about, strict=True):
            rows.append(report({"measure": "memory", **names, **measure_memory(text)}))
        for text, names in zip(texts[:3] if arguments.ir2vec_python else [], about, strict=False):
            for pooling in ("mean", "encoder"):
                measured = measure_ir2vec(text, arguments.ir2vec_python, pooling)
                rows.append(report({"measure": "ir2vec", **names, "pooling": pooling, **measured}))
    return rows + [report({"measure": "start", **row}) for row in measure_starts()]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time ncc's reader beside LLVM's parser and IR2Vec.")
    parser.add_argument("--eigen", type=Path, default=Path("/usr/include/eigen3"), help="folder that has Eigen/Dense")
    parser.add_argument("--clang14", default="clang-14", help="a clang that prints typed pointers")
    parser.add_argument("--cache", type=Path, help="folder for compiled modules; default a temporary one")
    parser.add_argument("--ir2vec-python", help="python of an environment that has ir2vec")
    parser.add_argument("--pairs", type=int, default=21, help="measurements of each module (the largest: at most 5)")
    arguments = parser.parse_args()
    start, load = time.perf_counter(), os.getloadavg()
    print("load average before: {:.2f} {:.2f} {:.2f}".format(*load))
    with tempfile.TemporaryDirectory() as temporary:
        rows = measure_all(arguments, arguments.cache or Path(temporary))
    result = describe_run(arguments.ir2vec_python) | {
        "load_average": {"before": load, "after": os.getloadavg()},
        "seconds": time.perf_counter() - start,
        "rows": rows,
    }
    write_atomically(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
