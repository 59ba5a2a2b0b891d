"""Real modules of many LLVM versions: read, compared with LLVM's own printing, and with each other."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fuzz.checks import assert_same_reading, check_module, renumbered, statements
from ncc.errors import IRError
from tests.rooms import find_compiler, is_bitcode, iter_members, print_canonically, read_module

IR = Path(__file__).parents[2] / "data" / "ir"
CASES = Path(__file__).parents[2] / "golden" / "text"


@pytest.mark.parametrize("version", [14, 22])
def test_debug_information_changes_no_statement(version: int) -> None:
    plain, debug = (read_module(IR / f"{stem}.clang{version}.ll") for stem in ("tree", "tree-g"))
    assert b"dbg.value" in debug.ir or b"#dbg_value" in debug.ir
    assert statements(plain) == statements(debug)
    assert renumbered(plain) == renumbered(debug)
    assert not plain.source_line.any()
    source = (IR / "sources" / "tree.c").read_text().splitlines()
    modulo = [i for i, text in enumerate(statements(debug)) if "= mul" in text or "= shl" in text]
    assert {source[debug.source_line[i] - 1].strip() for i in modulo} <= {
        "x = x % 2 ? 3 * x + 1 : x / 2;",
        "case 1: s = depth(n) * 3; break;",
    }
    assert (debug.source_line > 0).mean() > 0.6
    assert debug.source_line.max() <= len(source)


def test_legacy_statements() -> None:
    module = read_module(IR / "legacy.ll")
    assert statements(module) == (CASES / "legacy.txt").read_text().splitlines()
    assert module.function_names == ("length", "by_value", "atomics", "media")
    names = [module.node_name(int(node)) for node in module.basic_block_label]
    assert names == ["1", "3", "10", "2", "8", "9", "entry point", "odd\\name", "done", "start"]
    resume = statements(module).index("resume { ptr, i32 } <%ID>")
    assert module.source_line[resume] == 14
    assert module.source_line.sum() == 14


@pytest.mark.full
@pytest.mark.skipif("NCC_DATA" not in os.environ, reason="NCC_DATA does not name a folder with legacy_ir/*.tar.xz")
def test_published_kernels_of_llvm_5() -> None:
    archives = sorted(Path(os.environ["NCC_DATA"], "legacy_ir").glob("*.tar.xz"))
    files = [file for archive in archives for file in iter_members(archive, ".ll")]
    refused = []
    for name, data in files:
        module = read_module(data, name=name)
        assert module.read_via == "direct"
        assert not is_bitcode(data)
        try:
            printed = print_canonically(data, name)
        except IRError:
            refused.append(name)
            continue
        assert_same_reading(module, read_module(printed))
    assert len(files) == 669 + 17
    assert len(refused) == 1


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
