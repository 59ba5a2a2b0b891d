"""A code base of very many files, indexed in one run that is interrupted and goes on.

    python benchmarks/many_files.py FOLDER [--files 100000] [--jobs 2]

FOLDER holds LLVM IR, `.ll` or `.ll.gz`. Its files are copied under numbers, each with a different comment, so that no
two are equal, until there are enough. `ncc index` reads them, is interrupted after some seconds, and started again; a
third run finds nothing to do. The exit code is 1 if a file is missing from the index.
"""

import argparse
import gzip
import itertools
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ncc
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

RESULT = Path(__file__).with_name("results") / "many_files.json"


def copy_files(folder: Path, to: Path, wanted: int) -> int:
    """Fills a folder; returns how many different files there were."""
    originals = sorted(path for path in folder.rglob("*") if path.name.endswith((".ll", ".ll.gz")))
    for number, path in zip(range(wanted), itertools.cycle(originals), strict=False):
        data = path.read_bytes()
        text = gzip.decompress(data) if path.suffix == ".gz" else data
        inner = to / f"{number // 1000:03d}"
        inner.mkdir(exist_ok=True)
        (inner / f"{number:06d}.ll").write_bytes(text + b"; %d\n" % number)
    return len(originals)


def run_index(folder: Path, index: Path, jobs: int, interrupt_after_s: float | None = None) -> dict[str, object]:
    """Runs `ncc index`; its exit code, seconds, and the files that it has, read again or could not read."""
    command = [sys.executable, "-m", "ncc", "index", str(folder), "-o", str(index), "--jobs", str(jobs), "--json"]
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        said, _ = process.communicate(timeout=interrupt_after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate()
    figures = {"exit_code": process.returncode, "seconds": round(time.perf_counter() - begin, 1)}
    if said.strip():
        report = json.loads(said)
        figures |= {name: report[name] for name in ("num_files", "num_updated")}
        figures["num_failed"] = len(report["failures"])
    return figures


def main() -> None:
    """Measures, and writes `benchmarks/results/many_files.json`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--interrupt-after", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files, index = Path(scratch, "files"), Path(scratch, "index")
        files.mkdir()
        different = copy_files(options.folder, files, options.files)
        runs = [run_index(files, index, options.jobs, seconds) for seconds in (options.interrupt_after, None, None)]
        kept = ncc.load_index(index)
        size = sum(path.stat().st_size for path in index.iterdir())
        result = {
            "files": options.files,
            "different_files": different,
            "functions": len(kept),
            "runs": runs,
            "bytes_per_function": round(size / len(kept), 1),
            "largest_process_gb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20, 2),
        }
        complete = runs[1]["exit_code"] == 0 and (runs[2]["num_files"], runs[2]["num_updated"]) == (options.files, 0)
    print(json.dumps(result, indent=1))
    about = {"command": command_line("python benchmarks/many_files.py"), **environment()}
    options.output.write_text(json.dumps(about | result, indent=1) + "\n")
    sys.exit(not complete)


if __name__ == "__main__":
    main()
