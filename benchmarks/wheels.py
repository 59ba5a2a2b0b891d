"""Builds the wheels of every platform on this one, checks them, and installs this platform's to see what it takes.

python benchmarks/wheels.py OUT

A wheel passes if its binaries are of its platform, have the functions that ncc calls, and ask for no newer glibc than
its tag promises, or for no library that Windows 10 lacks, and if it is not larger than 40 MB. The one that fits this
machine is then installed with what it needs into an empty environment; the table ends with the megabytes of that
environment (``du -sm``, without pip), those of the compiler and of LLVM among them, and the seconds of its first and
second ``ncc embed``.
"""

import argparse
import platform
import re
import runpy
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEGABYTE = 1e6
MAX_BYTES = 40 * MEGABYTE
MAGIC = {"manylinux": b"\x7fELF", "macosx": b"\xcf\xfa\xed\xfe", "win": b"MZ"}
"""How a binary of a platform begins."""
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
MAX_GLIBC = (2, 17)
WINDOWS_LIBRARY = rb"(?i)kernel32|ntdll|api-ms-win-crt-[\w-]+"
"""What every Windows 10 has."""


def run(*command: object, cwd: Path = ROOT, **environment: str) -> str:
    """The output of a command; the end of its messages, if it fails."""
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{finished.stdout[-2000:]}{finished.stderr[-2000:]}")
    return finished.stdout


def build(out: Path) -> list[Path]:
    """The source distribution of what is committed, and the wheels that are built from it alone."""
    for old in out.glob("ncc_ir-*"):
        old.unlink()
    tags = runpy.run_path(str(ROOT / "setup.py"), run_name="wheels")["TARGETS"]
    with tempfile.TemporaryDirectory() as scratch:
        archive, tree = Path(scratch, "tree.tar"), Path(scratch, "tree")
        run("git", "archive", "HEAD", "-o", archive)
        tree.mkdir()
        run("tar", "-xf", archive, "-C", tree)
        hook = f"from setuptools.build_meta import build_sdist; build_sdist({str(out)!r})"
        run(sys.executable, "-c", hook, cwd=tree)
        [source] = out.glob("*.tar.gz")
        for tag in tags:
            run(
                *(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", source, "-w", out),
                cwd=Path(scratch),
                NCC_WHEEL=tag,
            )
    return [source, *sorted(out.glob("*.whl"))]


def check(wheel: Path) -> str:
    """The newest glibc that a wheel asks for; ends the program if it is not what its name says."""
    tag = wheel.stem.rpartition("-")[2]
    glibc = (0, 0)
    if wheel.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{wheel.name} is larger than {MAX_BYTES / MEGABYTE:.0f} MB")
    with zipfile.ZipFile(wheel) as file:
        binaries = [name for name in file.namelist() if name.endswith((".so", ".dll", ".pyd", "_confine"))]
        if len(binaries) != 1 + ("linux" in tag):
            raise SystemExit(f"{wheel.name} has the binaries {binaries}")
        for name in binaries:
            content = file.read(name)
            [magic] = [magic for system, magic in MAGIC.items() if tag.startswith(system)]
            machine = next((code for processor, code in ELF_MACHINES.items() if tag.endswith(processor)), 0)
            is_other = "linux" in tag and int.from_bytes(content[18:20], "little") != machine
            if not content.startswith(magic) or is_other:
                raise SystemExit(f"{wheel.name}: {name} is not of its platform")
            if name.endswith("_kernels.dll"):
                check_library(wheel.name, content)
            glibc = max(glibc, *((int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)), (0, 0))
    if glibc > MAX_GLIBC:
        raise SystemExit(f"{wheel.name} asks for glibc {glibc}")
    return ".".join(map(str, glibc)) if any(glibc) else "-"


def check_library(wheel: str, content: bytes) -> None:
    """End the program if the library for Windows lacks a function, or asks for a library that Windows may lack."""
    called = set(re.findall(r'"(ncc_\w+)"', (ROOT / "ncc" / "ir" / "reader" / "native.py").read_text()))
    missing = sorted(name for name in called if name.encode() + b"\0" not in content)
    others = set(re.findall(rb"(?i)([\w-]+)\.dll\0", content)) - {b"_kernels"}
    unknown = sorted(name.decode() for name in others if not re.fullmatch(WINDOWS_LIBRARY, name))
    if missing or unknown:
        raise SystemExit(f"{wheel}: lacks the functions {missing}, or asks for the libraries {unknown}")


def install(wheel: Path) -> dict[str, str]:
    """Megabytes and seconds of an environment with this wheel alone, which has no pip."""
    with tempfile.TemporaryDirectory() as scratch:
        run(sys.executable, "-m", "venv", "--without-pip", f"{scratch}/empty")
        python = Path(scratch, "empty", "bin", "python")
        pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q", "-c", ROOT / "constraints.txt")
        began = time.monotonic()
        run(*pip, wheel, cwd=Path(scratch))
        seconds = {"install": time.monotonic() - began}
        for name in ("first embed", "second embed"):
            began = time.monotonic()
            sample = ROOT / "tests" / "data" / "ir" / "tree.clang22.ll"
            run(python.with_name("ncc"), "embed", sample, NCC_CACHE=f"{scratch}/cache")
            seconds[name] = time.monotonic() - began
        [packages] = Path(scratch, "empty", "lib").glob("python*/site-packages")
        parts = {"environment": Path(scratch, "empty"), "compiler": packages / "ziglang", "LLVM": packages / "llvmlite"}
        sizes = {name: f"{run('du', '-sm', folder).split()[0]} MB" for name, folder in parts.items()}
    return sizes | {name: f"{value:.2f} s" for name, value in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder of the wheels")
    out = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for path in build(out):
        glibc = check(path) if path.suffix == ".whl" else "-"
        rows.append((path.name, f"{path.stat().st_size / MEGABYTE:.1f} MB", f"glibc {glibc}"))
    for row in rows:
        print(f"{row[0]:56} {row[1]:>8}  {row[2]}")
    own = [out / name for name, *_ in rows if f"linux_2_17_{platform.machine()}" in name]
    for name, value in install(own[0]).items() if own and sys.platform == "linux" else ():
        print(f"{name:56} {value:>8}")


if __name__ == "__main__":
    main()
