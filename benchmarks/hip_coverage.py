"""How much HIP is read: of sources with kernels in folders of HIP programs, those whose kernels compile here.

    python benchmarks/hip_coverage.py FOLDER... -o benchmarks/results/hip_coverage.json

Each folder is one package as its authors publish it, such as Debian's source package of rocRAND; what it needs of ROCm
is not there. Its own folders named include, src and test are searched, and those of the others. A source that defines
kernels counts as read if one of these is in the IR that it gives, and as whole if no device function was skipped.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ncc.errors import NccError
from ncc.ir.frontend.compile import compile_source
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.reader.reader import read_module
from ncc.kernels.reading import kernel_indices, split_kernel_name
from ncc.system.files.text import command_line
from ncc_lab.environment import environment

_FOLDERS = ("include", "src", "test")
_SUFFIXES = frozenset((".hip", ".cpp", ".cc", ".cu"))
_KERNEL = re.compile(r"__global__[^;{}]*?\b(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?\{", re.DOTALL)
_UNSEEN = re.compile(r"//[^\n]*|/\*.*?\*/|__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)", re.DOTALL)
_HIP = re.compile(r"\bhip(?:\w+|/)|\bhip[A-Z_]")


def sources_of(package: Path) -> dict[Path, set[str]]:
    """Sources of a package that define kernels, with these kernels' names."""
    found = {}
    for file in sorted(package.rglob("*")):
        if file.suffix in _SUFFIXES and file.is_file():
            text = _UNSEEN.sub("", file.read_text(errors="replace"))
            if (names := set(_KERNEL.findall(text))) and (file.suffix == ".hip" or _HIP.search(text)):
                found[file] = names
    return found


def read(file: Path, names: set[str], package: Path, options: CompileOptions) -> tuple[bool, bool, str]:
    """Whether a kernel of a source is read, whether it is whole, and why it is not read."""
    try:
        compiled = compile_source(file, options, readable=options.include_paths)
        module = read_module(compiled.ir, name=file.name)
        there = {split_kernel_name(module.function_names[one])[0] for one in kernel_indices(module)}
    except NccError as error:
        return False, False, str(error).split("\ncommand:")[0].replace(f"{package.parent}/", "")[:300]
    if not names & there:
        return False, False, f"none of {', '.join(sorted(names))} is instantiated or left in"
    return True, not compiled.skipped_functions, ""


def measure(packages: Sequence[Path], jobs: int) -> dict[str, Any]:
    """Shares of sources that are read, by package, and why others are not."""
    folders = [folder for one in packages for name in _FOLDERS for folder in (one, *one.rglob(name)) if folder.is_dir()]
    options = CompileOptions(language="cuda", include_paths=tuple(dict.fromkeys(map(str, folders))), timeout_s=900)
    totals: dict[str, Counter[str]] = {}
    reasons: dict[str, str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for package in packages:
            sources = sources_of(package)
            said = pool.map(lambda item, package=package: read(item[0], item[1], package, options), sources.items())
            total = totals.setdefault(package.name, Counter(sources=0, read=0, whole=0))
            for file, (is_read, is_whole, reason) in zip(sources, said, strict=True):
                shown = str(file.relative_to(package.parent))
                total.update(sources=1, read=is_read, whole=is_whole)
                if reason:
                    reasons[shown] = reason
                print(f"{shown}: {reason or 'read'}", flush=True)
    every: Counter[str] = sum(totals.values(), Counter())
    return {"all": dict(every), "packages": {name: dict(one) for name, one in totals.items()}, "not_read": reasons}


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1, help="sources that are compiled at the same time")
    arguments = parser.parse_args()
    figures = measure([package.resolve() for package in arguments.packages], arguments.jobs)
    about = {"command": command_line("python benchmarks/hip_coverage.py"), **environment()}
    arguments.output.write_text(json.dumps({**about, **figures}, indent=1) + "\n")
    print(json.dumps({name: figures[name] for name in ("all", "packages")}))


if __name__ == "__main__":
    main()
