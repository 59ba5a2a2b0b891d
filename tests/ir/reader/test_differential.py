"""Two ways to the same module: read as it stands, and read from what LLVM prints of it.

Modules are made up at random, in the dialects of typed and of opaque pointers, or compiled by every clang at hand.
"""

import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.checks import assert_same_reading, check_module, renumbered, statements
from fuzz.grammar import random_module
from tests.rooms import Module, build_xfg, count_contexts, find_compiler, print_canonically, read_module

SOURCES = Path(__file__).parents[2] / "data" / "ir" / "sources"


def _contexts(module: Module) -> dict[tuple[str, str], int]:
    """Pairs of statements in context, by their texts."""
    found = count_contexts(build_xfg(module), module.text_id)
    texts = np.array(module.texts, object)
    pairs = zip(texts[found.center], texts[found.context], found.count.tolist(), strict=True)
    return {(center, context): count for center, context, count in pairs}


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_modules_made_up_read_as_llvm_prints_them(dice: random.Random) -> None:
    typed, opaque = (read_module(text.encode()) for text in random_module(dice))
    for module in (typed, opaque):
        assert module.read_via == "direct"
        check_module(module)
        assert_same_reading(module, read_module(print_canonically(module.ir)))
    assert statements(typed) == statements(opaque)
    assert renumbered(typed) == renumbered(opaque)
    assert _contexts(typed) == _contexts(opaque)


def test_modules_made_up_have_all_that_there_is() -> None:
    modules = [read_module(random_module(random.Random(seed))[0].encode()) for seed in range(60)]
    texts = {text.removeprefix("<%ID> = ").split()[0] for module in modules for text in module.texts}
    assert len(texts) > 50
    assert {"phi", "switch", "cmpxchg", "getelementptr", "notail", "unreachable"} <= texts
    assert sum(module.num_functions > 1 for module in modules) > 20
    assert sum(module.num_statements for module in modules) > 1_500
    assert sum(bool(module.function_is_kernel.any()) for module in modules) > 5


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


@pytest.mark.parametrize("source", ["tree.c", "shapes.cpp", "machine.c", "saxpy.cl"])
def test_typed_and_opaque_pointers_of_one_clang(source: str) -> None:
    """clang 14 writes typed pointers, and opaque ones on request; unoptimised code is the same."""
    typed = read_module(_compiled(14, source, "-O0", "-S"))
    opaque = read_module(_compiled(14, source, "-O0", "-S", "-mllvm", "-opaque-pointers"))
    assert typed.function_names == opaque.function_names
    assert sum(b"*" in line for line in typed.ir.splitlines() if b" = load " in line) > 10
    assert not any(b"*" in line for line in opaque.ir.splitlines() if b" = load " in line)
    kept = statements(typed)
    rest = Counter(statements(opaque)) - Counter(kept)
    assert len(kept) > 40
    assert sum(rest.values()) < 0.1 * len(kept), rest
