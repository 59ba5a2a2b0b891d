"""Two ways to the same module: read as it stands, and read from what LLVM prints of it.

Modules are made up at random, in the dialects of typed and of opaque pointers, or compiled by every clang at hand.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from fuzz.checks import assert_same_reading, check_module
from tests.rooms import find_compiler, print_canonically, read_module

SOURCES = Path(__file__).parents[2] / "data" / "ir" / "sources"


def _clang(version: int) -> list[str]:
    if version == 22:
        return [*find_compiler().argv, "--target=x86_64-linux-gnu"]
    found = shutil.which(f"clang-{version}")
    if not found:
        pytest.skip(f"no clang-{version} on PATH")
    return [found]


def _compiled(version: int, source: str, *flags: str) -> bytes:
    if source.endswith(".cl"):
        flags = (*flags, "--target=spir64", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header")
        if version == 22:
            pytest.skip("the bundled clang has no headers of OpenCL of its own")
    command = [*_clang(version), *flags, "-emit-llvm", "-o", "-", str(SOURCES / source)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3 -g"])
@pytest.mark.parametrize("source", ["tree.c", "shapes.cpp", "machine.c", "saxpy.cl"])
@pytest.mark.parametrize("version", [14, 19, 22])
def test_what_a_clang_compiles_reads_as_llvm_22_prints_it(version: int, source: str, level: str) -> None:
    """Text of that clang as it stands, its bitcode, and both as LLVM 22 prints them."""
    text = _compiled(version, source, *level.split(), "-S")
    direct = read_module(text)
    assert direct.read_via == "direct"
    check_module(direct)
    bitcode = read_module(_compiled(version, source, *level.split(), "-c"))
    assert bitcode.read_via == "bitcode"
    assert_same_reading(direct, bitcode)
    # today's text has another `inrange`, and no name for the calling convention of kernels in debug information
    if (version, source) != (14, "shapes.cpp") and (source, level) != ("saxpy.cl", "-O3 -g"):
        assert_same_reading(direct, read_module(print_canonically(text)))
