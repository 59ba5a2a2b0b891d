"""How long a search of an index takes, and how large an index is, for each function.

    python benchmarks/search_speed.py [--functions N] [--queries N]

Writes an index of that many functions, opens it and asks for the ten nearest of vectors, one by one. The vectors are
random ones of the encoder's length, as an exact search takes as long for any.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ncc.learning.embedding.embedding import l2_normalize
from ncc.learning.encoder.pooling import load_pooler
from ncc.system.files.text import command_line
from ncc.system.files.writing import write_atomically
from ncc.tasks.search.index import Index
from ncc.tasks.search.store import FileRow, Function, IndexCard, Store, writing
from ncc_lab.environment import environment

RESULT = Path(__file__).with_name("results") / "search_speed.json"
FUNCTIONS_A_FILE = 50


def write_index(folder: Path, functions: int, rng: np.random.Generator) -> None:
    """Files of functions as `ncc.index` writes them."""
    pooler = load_pooler("encoder")
    card = IndexCard(pooler_id=pooler.id, pooling=pooler.name, embedding=None, dim=pooler.dim)
    with writing(folder, card) as writer:
        for number in range(0, functions, FUNCTIONS_A_FILE):
            path = f"/home/someone/project/source/part{number % 97}/file{number}.c"
            count = min(FUNCTIONS_A_FILE, functions - number)
            rows = [
                Function(f"function_of_the_project_{number + one}", path, 20 * one, 20 * one + 18, 20 * one)
                for one in range(1, count + 1)
            ]
            vectors = l2_normalize(rng.standard_normal((count, pooler.dim), np.float32)).astype(np.float16)
            digest = f"{number:032x}"
            writer.add(FileRow(path, None, digest, count, None, {"": digest, path: digest}), rows, vectors)


def milliseconds(index: Index, queries: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """(num_queries, 2): how long a caller waits for each, and what the processor works for it."""
    times = []
    for query in queries:
        begin = time.perf_counter(), time.process_time()
        found = index.search(query, top=10)
        times.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        assert len(found[0]) == 10
    return 1000 * np.array(times)


def main() -> None:
    """Runs the measurement."""
    parser = argparse.ArgumentParser(description="Milliseconds of a search, bytes of an index.")
    parser.add_argument("--functions", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=100)
    arguments = parser.parse_args()
    rng = np.random.default_rng(204)
    with tempfile.TemporaryDirectory() as folder:
        write_index(Path(folder) / "index", arguments.functions, rng)
        begin = time.perf_counter()
        index = Index(Store.open(Path(folder) / "index"))
        queries = rng.standard_normal((arguments.queries + 1, index.store.card.dim), np.float32)
        milliseconds(index, queries[:1])
        opening_ms = 1000 * (time.perf_counter() - begin)
        times = milliseconds(index, queries[1:])
        size = index.num_bytes / len(index)
    found = {
        "functions": arguments.functions,
        "queries": arguments.queries,
        "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)),
        "bytes_per_function": round(size, 1),
        "opening_and_first_ms": round(opening_ms, 1),
        "median_ms": round(float(np.median(times[:, 0])), 1),
        "p10_ms": round(float(np.quantile(times[:, 0], 0.1)), 1),
        "p90_ms": round(float(np.quantile(times[:, 0], 0.9)), 1),
        "median_processor_ms": round(float(np.median(times[:, 1])), 1),
    }
    print("\n".join(f"{name:<22}{value:>12,}" for name, value in found.items()))
    about = {"command": command_line("python benchmarks/search_speed.py"), **environment()}
    write_atomically(RESULT, (json.dumps({**about, **found}, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
