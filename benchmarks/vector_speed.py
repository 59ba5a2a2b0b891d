"""How many functions a second become vectors, from the text of IR, beside LLVM's own parse of the same texts.

    python benchmarks/vector_speed.py RECIPE|FOLDER... --ir FOLDER [--functions N]

Compiles projects (of `python -m datasets.projects`) at -O2 by the bundled clang, or takes what an earlier run left in
the folder, until there are enough functions, and reads them in one thread. Seconds are the processor's, so that what
else runs matters less.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from ncc.errors import NccError
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.recipe import find_files, load_recipe
from ncc.learning.embedding.backoff import generalize
from ncc.learning.embedding.embedding import load_embedding
from ncc.learning.encoder.pooling import POOLINGS, load_pooler
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc.system.files.text import command_line
from ncc.system.files.writing import write_atomically
from ncc_lab.environment import environment
from ncc_lab.retrieval.pools import Build, compile_file

RESULT = Path(__file__).with_name("results") / "vector_speed.json"


def compiled_texts(projects: list[str], kept: Path, wanted: int) -> tuple[list[bytes], int]:
    """Texts of modules until they have at least `wanted` functions, and how many they have."""
    compiler = CachingCompiler(kept / "headers", kept)
    texts, functions = [], 0
    files = {file.path: file for project in projects for file in find_files(load_recipe(project)) if file.attempts}
    for file in files.values():
        try:
            ir = compile_file(file, Build(), compiler)
        except NccError:
            continue
        texts.append(ir)
        functions += ir.count(b"\ndefine ")
        if functions >= wanted:
            break
    return texts, functions


def seconds_of(texts: list[bytes], work: Any, rounds: int) -> float:
    """Median over rounds of the processor's time for all texts; a round before these is not counted."""
    times = []
    for _ in range(rounds + 1):
        generalize.cache_clear()
        begin = time.process_time()
        for text in texts:
            work(text)
        times.append(time.process_time() - begin)
    return statistics.median(times[1:])


def main() -> None:
    """Runs the measurement."""
    parser = argparse.ArgumentParser(description="Functions a second from IR to vectors, beside LLVM's parse.")
    parser.add_argument("projects", nargs="+", help="Recipes or folders of sources.")
    parser.add_argument("--ir", type=Path, required=True, help="Folder that keeps compiled IR.")
    parser.add_argument("--functions", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    texts, functions = compiled_texts(arguments.projects, arguments.ir, arguments.functions)
    decoded = {text: text.decode() for text in texts}
    parse = seconds_of(texts, lambda text: llvm.parse_assembly(decoded[text], llvm.create_context()), arguments.rounds)
    rows: list[dict[str, Any]] = [{"what": "LLVM's parse", "seconds": parse, "functions_per_s": functions / parse}]
    for name in POOLINGS:
        pooler = load_pooler(name, load_embedding())

        def embed(text: bytes, pooler: Any = pooler) -> None:
            module = read_module(text, abstraction=pooler.abstraction)
            pooler.vectors(module, range(module.num_functions))

        seconds = seconds_of(texts, embed, arguments.rounds)
        rows.append({"what": f"vectors, --pooling {name}", "seconds": seconds, "functions_per_s": functions / seconds})
    for row in rows:
        row["of_llvm"] = row["seconds"] / parse
        print("{what:<28}{functions_per_s:>10,.0f} functions/s  {of_llvm:.2f} of LLVM's time".format(**row))
    about = {"command": command_line("python benchmarks/vector_speed.py"), **environment()}
    counts = {"functions": functions, "modules": len(texts), "bytes": sum(map(len, texts)), "rounds": arguments.rounds}
    write_atomically(RESULT, (json.dumps({**about, **counts, "rows": rows}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
