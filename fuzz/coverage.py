"""The reader of IR under libFuzzer, AddressSanitizer and UBSan, guided by what of its C has run.

    python -m fuzz.coverage [--seconds 3600] [--jobs 1] [--work runs/coverage]

Needs a clang that has libFuzzer's and the sanitizers' libraries (Debian: clang-19 and libclang-rt-19-dev; the bundled
one has none), the first of NCC_FUZZ_CLANG and those on the PATH. Inputs that reach something new are kept in the work
folder, where the next run begins; one that was found lies there too. The exit code is 1 if there is one.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from fuzz.targets.ir import texts
from ncc.errors import NccError

__all__ = ["build", "fuzz"]

_ROOT = Path(__file__).parents[1]
_CLANGS = ("clang", *(f"clang-{version}" for version in range(22, 13, -1)))
_SANITIZERS = ("-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
_LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=20000")
_WORD = re.compile(rb'"([A-Za-z_@%!<\[{][\w .@%!<]*)"')


def build(program: Path) -> None:
    """Compiles the reader with libFuzzer.

    Raises:
        NccError: No compiler that was found can.
    """
    sources = [str(_ROOT / "fuzz" / "reader.c"), *map(str, sorted((_ROOT / "ncc" / "native").glob("*.c")))]
    said = "none was found"
    for clang in filter(shutil.which, filter(None, (os.environ.get("NCC_FUZZ_CLANG"), *_CLANGS))):
        command = [clang, "-g", "-O1", *_SANITIZERS, *sources, "-o", str(program)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode == 0:
            return
        said = finished.stderr.strip()[-500:]
    raise NccError(f"needs a clang with libFuzzer, as NCC_FUZZ_CLANG or on the PATH: {said}")


def fuzz(work: Path, seconds: int, jobs: int) -> int:
    """Runs libFuzzer and returns its exit code.

    Args:
        work: Folder for the program, inputs, findings, and what each process says.
        seconds: Time limit of every process.
        jobs: Processes.
    """
    work = work.absolute()
    seeds, kept = work / "seeds", work / "kept"
    for folder in (seeds, kept):
        folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts()):
        (seeds / f"{number:04d}.ll").write_bytes(text)
    words = {word for path in (_ROOT / "ncc" / "native").glob("*.c") for word in _WORD.findall(path.read_bytes())}
    (work / "words").write_bytes(b"".join(b'"%s"\n' % word for word in sorted(words)))
    build(work / "reader")
    command = [str(work / "reader"), str(kept), str(seeds), f"-dict={work / 'words'}", f"-max_total_time={seconds}"]
    command += [*_LIMITS, "-print_final_stats=1", f"-artifact_prefix={work}/"]
    if jobs > 1:
        command += [f"-jobs={jobs}", f"-workers={jobs}"]
    return subprocess.run(command, cwd=work, check=False).returncode


def main() -> int:
    """Parses arguments and runs."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.coverage", description="The reader of IR under libFuzzer.")
    parser.add_argument("--seconds", type=int, default=3600, help="of every process (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
    parser.add_argument("--work", type=Path, default=Path("runs/coverage"), help="folder (default %(default)s)")
    options = parser.parse_args()
    return 1 if fuzz(options.work, options.seconds, options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
