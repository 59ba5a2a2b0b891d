"""How fast the explorer's page answers in a browser, by the functions that it has.

    python -m benchmarks.explore INDEX [--functions N]

Serves the page of an index, whose functions are repeated until there are so many (their vectors with a little noise, so
that the map has as many places), and measures in Chromium how long it takes until the page has drawn the answer to:
opening, a search of each letter of a word, a sort, a selection, a pan of the map, the largest function and its pan.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ncc.learning.embedding.embedding import l2_normalize
from ncc.system.files.text import command_line
from ncc.system.files.writing import write_atomically
from ncc.tasks.search.store import Store, writing
from ncc_lab.environment import environment
from tests.support.browser import chromium, until

RESULT = Path(__file__).with_name("results") / "explore.json"
NOISE = 0.02
"""Length of what is added to a vector of length 1."""
DRAWN = """const done = arguments[arguments.length - 1], begin = performance.now();
{act};
const wait = () => ({ready}) ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)))
  : setTimeout(wait, 1);
wait();"""


def repeat(source: Path, folder: Path, functions: int) -> None:
    """Write an index of a number of functions: those of a source, again and again."""
    store, rng = Store.open(source), np.random.default_rng(0)
    starts = np.cumsum([0, *(file.num_functions for file in store.files)])
    with writing(folder, store.card) as writer:
        while writer.num_functions < functions:
            for start, file in zip(starts.tolist(), store.files, strict=False):
                count = min(file.num_functions, functions - writer.num_functions)
                rows = range(start, start + count)
                vectors = store.vectors[start : start + count].astype(np.float32)
                noise = rng.standard_normal(vectors.shape, np.float32) * NOISE / np.sqrt(vectors.shape[1])
                writer.add(file, map(store.function, rows), l2_normalize(vectors + noise).astype(np.float16))
                if writer.num_functions == functions:
                    break


def _number(pattern: str, path: Path) -> int:
    match = re.search(pattern, path.read_text())
    return int(match[1]) if match else 0


def memory_mb(profile: str) -> float:
    """Memory of the browser with a profile and of all that it started, in MB; what they share is counted once."""
    parents, own = {}, []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parents[int(path.name)] = _number(r"(?m)^PPid:\t(\d+)", path / "status")
            if profile in (path / "cmdline").read_text():
                own.append(int(path.name))
    while children := [number for number, parent in parents.items() if parent in own and number not in own]:
        own += children
    total = 0
    for number in own:
        with suppress(OSError):
            total += _number(r"(?m)^Pss: +(\d+) kB", Path(f"/proc/{number}/smaps_rollup"))
    return total / 1e3


def measure(browser: Any, act: str, ready: str = "true", times: int = 1) -> list[float]:
    """Milliseconds from an act until the page has drawn the answer."""
    script = DRAWN.replace("{act}", act).replace("{ready}", ready)
    return [browser.execute_async_script(script, number) for number in range(times)]


def interactions(browser: Any) -> dict[str, list[float]]:
    """Times of each interaction in ms."""
    word = "client"
    found = {
        "search": [
            measure(
                browser, f"byId('search').value = '{word[:end]}'; byId('search').dispatchEvent(new Event('input'))"
            )[0]
            for end in range(1, len(word) + 1)
        ]
    }
    measure(browser, "go({ search: '' })")
    for sort in ("name", "place", "statements"):
        found.setdefault("sort", []).append(measure(browser, f"go({{ sort: '{sort}' }})")[0])
    found["select (row of the table)"] = measure(browser, "functions.show(arguments[0] * 401)", times=10)
    found["scroll the table"] = measure(browser, "functions.box.scrollTop += 100000", times=10)
    found["pan the map"] = measure(browser, "map.left += 7; map.redraw()", times=20)
    found["point at the map"] = measure(browser, "map.hover(200 + arguments[0], 150)", times=10)
    number = "[...columns.statements.keys()].reduce((a, b) => columns.statements[b] > columns.statements[a] ? b : a)"
    largest = browser.execute_script(f"return {number}")
    shown = f"current?.number === {largest} && current.data"
    found["open the largest function"] = measure(browser, f"go({{ function: {largest}, row: -1 }})", shown)
    found["pan its graph"] = measure(browser, "graph.top -= 40; graph.redraw()", times=20)
    found["fit its graph"] = measure(browser, "graph.fit(true)")
    found["choose a statement"] = measure(browser, "go({ row: 100 + 97 * arguments[0] })", times=10)
    found["find statements"] = measure(browser, "byId('statements').value = 'load'; findStatements()")
    return found


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", type=Path, help="Index, made by ncc index.")
    parser.add_argument("--functions", type=int, default=50_000, help="Functions of the page.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, chromium() as browser:
        folder = Path(scratch) / "code.index"
        repeat(arguments.index, folder, arguments.functions)
        command = [sys.executable, "-m", "ncc", "explore", str(folder), "--no-open"]
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "2"}) as server:
            assert server.stdout
            address = server.stdout.readline().decode().split()[-1]
            serving = time.perf_counter() - begin
            browser.get(address)
            until(browser, "table !== null && document.querySelector('#functions .row')")
            opening = time.perf_counter() - begin
            times = interactions(browser)
            memory = memory_mb(browser.capabilities["chrome"]["userDataDir"])
            server.terminate()
        statements = browser.execute_script("return Math.max(...columns.statements)")
    rows = {name: {"median": float(np.median(values)), "max": max(values)} for name, values in times.items()}
    for name, row in rows.items():
        print(f"{name:28}{row['median']:8.0f} ms   at most {row['max']:.0f} ms")
    print(f"{arguments.functions:,} functions, the largest of {statements:,} statements: served after {serving:.1f} s, "
          f"open after {opening:.1f} s, {memory:.0f} MB in all processes of the browser")  # fmt: skip
    result = {
        "command": command_line("python -m benchmarks.explore"),
        "functions": arguments.functions,
        "largest_statements": statements,
        "serving_s": serving,
        "opening_s": opening,
        "browser_mb": memory,
        "times_ms": rows,
        "environment": environment(),
    }
    write_atomically(RESULT, (json.dumps(result, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
