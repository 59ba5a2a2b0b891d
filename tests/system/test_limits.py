"""Sources that exhaust memory, time or the disk cost themselves alone, and the message says what they exhausted."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import ncc
from ncc import CompileOptions
from ncc.errors import CompileError, InputError, OutputError
from tests.rooms import (
    GIGABYTE,
    CachingCompiler,
    CorpusFile,
    FinishedProcess,
    compile_error,
    compile_program,
    compile_source,
    input_limit,
    limits,
    memory_limit,
    output_limit,
)
from tests.support.clangs import CLANGS
from tests.support.refuses import refuses

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the launcher, which sets limits, is for Linux")

# A tree of types that are all there at once.
TEMPLATES = """
template <int Depth, long Path> struct Tree { Tree<Depth - 1, 2 * Path> left; Tree<Depth - 1, 2 * Path + 1> right; };
template <long Path> struct Tree<0, Path> { char leaf; };
Tree<30, 1> tree;
"""
MACROS = "".join(f"#define A{i} {' '.join([f'A{i - 1}'] * 20)}\n" for i in range(1, 10))
EXPLODING = f"#define A0 +1\n{MACROS}int x = 0 A9;\n"
CONSTEXPR = "constexpr int f() { for (int i = 0; ; i = (i + 1) % 7) {} return 0; }\nconstexpr int x = f();\n"
LONG = "int f(int a) {\n" + "  a = a * 3 + (a >> 5);\n" * 20_000 + "  return a;\n}\n"
DEEP = "int x = " + "(" * 100_000 + "1" + ")" * 100_000 + ";\n"

LIMITS = {"NCC_MEMORY_GB": memory_limit, "NCC_OUTPUT_GB": output_limit, "NCC_INPUT_GB": input_limit}
GOOD = "int one(void) { return 1; }\n"


def fails(tmp_path, text, options, *parts):
    source = tmp_path / "killer.cpp"
    source.write_text(text)
    with pytest.raises(CompileError) as caught:
        compile_source(source, options)
    first = str(caught.value).splitlines()[0]
    assert first.startswith(f"{source}: ")
    for part in parts:
        assert part in first
    assert len(str(caught.value)) < 20_000
    (tmp_path / "good.c").write_text(GOOD)
    return first


@on_linux
@pytest.mark.parametrize("clang", CLANGS)
@pytest.mark.parametrize("text", [TEMPLATES, EXPLODING], ids=["templates", "macros"])
def test_memory(tmp_path, monkeypatch, text, clang):
    monkeypatch.setenv("NCC_MEMORY_GB", "0.4")
    options = CompileOptions(clang=clang)
    fails(tmp_path, text, options, "the compiler needs more than 0.4 GB of memory; raise NCC_MEMORY_GB")
    monkeypatch.delenv("NCC_MEMORY_GB")
    assert b"@one" in compile_source(tmp_path / "good.c", options).ir


@pytest.mark.parametrize("text", [TEMPLATES, CONSTEXPR], ids=["templates", "constexpr"])
def test_time(tmp_path, text):
    options = CompileOptions(flags=("-fconstexpr-steps=2000000000",), timeout_s=1)
    fails(tmp_path, text, options, "did not finish within 1 seconds")


def test_a_header_that_is_a_pipe_without_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe.h")
    fails(tmp_path, '#include "pipe.h"\n', CompileOptions(timeout_s=1), "did not finish within 1 seconds")


@on_linux
@pytest.mark.parametrize("clang", CLANGS)
def test_output(tmp_path, monkeypatch, clang):
    options = CompileOptions(optimization="-O0", clang=clang)
    monkeypatch.setenv("NCC_OUTPUT_GB", "0.001")
    fails(tmp_path, LONG, options, "the compiler wrote more than 0.001 GB and was stopped; raise NCC_OUTPUT_GB")
    monkeypatch.delenv("NCC_OUTPUT_GB")
    assert len(compile_source(tmp_path / "killer.cpp", options).ir) > 2**20


@on_linux
def test_messages_without_end_are_output_too(tmp_path, monkeypatch):
    monkeypatch.setenv("NCC_OUTPUT_GB", "0.002")
    text = "".join(f"int f{i}() {{ return missing{i}; }}\n" for i in range(50_000))
    fails(tmp_path, text, CompileOptions(flags=("-ferror-limit=0",)), "wrote more than 0.002 GB")


def test_of_long_messages_beginning_and_end_are_kept_and_a_long_line_is_cut(tmp_path):
    source = tmp_path / "many.c"
    source.write_text("".join(f"int f{i}(void) {{ return missing{i}; }}\n" for i in range(20_000)))
    with pytest.raises(CompileError) as caught:
        compile_source(source, CompileOptions(flags=("-ferror-limit=0",)))
    errors = caught.value.errors
    assert "missing0" in errors[0] and "missing19999" in errors[-1]
    assert 1000 < len(errors) < 20_000 and sum(map(len, errors)) < 1.2e6
    source.write_text(f"#error {'x' * 100_000}\n")
    with pytest.raises(CompileError) as caught:
        compile_source(source)
    assert len(str(caught.value)) < 5000


def test_nesting_is_refused_or_crashes_the_compiler_alone(tmp_path):
    fails(tmp_path, DEEP, CompileOptions())
    assert b"@one" in compile_source(tmp_path / "good.c").ir


def test_a_full_disk_is_no_fault_of_the_source(monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, refuses(OutputError, "temporary file", "No space left on device"):
        patch.setattr(tempfile, "TemporaryFile", refuse)
        compile_source(GOOD.encode(), CompileOptions(language="c"))
    text = b"#error IO failure on output stream: No space left on device\n"
    for free, error, words in ((0, OutputError, "disk is full"), (2**40, CompileError, "does not compile")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        with refuses(error, words):
            compile_source(text, CompileOptions(language="c"))


MEMORY, OUTPUT = "needs more than 4 GB of memory", "wrote more than 2 GB and was stopped"
DISK = b"fatal error: error in backend: IO failure on output stream: Bad file descriptor\n"


@pytest.mark.parametrize(
    ("returncode", "stderr", "words"),
    [
        (-9, b"", "was ended by signal SIGKILL, maybe for want of memory"),
        (-11, b"", "was ended by signal SIGSEGV"),
        (-25, b"", OUTPUT),
        (153, b"", OUTPUT),
        (1, DISK, OUTPUT),
        (-6, b"terminate called after throwing an instance of 'std::bad_alloc'\n", MEMORY),
        (134, b"LLVM ERROR: out of memory\nAllocation failed\n", MEMORY),
        (1, b"/usr/bin/clang: error while loading: Cannot allocate memory\n", MEMORY),
        (1, b'a.c:1:1: error: no\n  1 | p("Cannot allocate memory");\n', "does not compile"),
        (3, b"", "failed with exit code 3"),
    ],
)
def test_ends_in_words(monkeypatch, returncode, stderr, words):
    monkeypatch.setattr(limits, "physical_memory", lambda: 16 * GIGABYTE)
    finished = FinishedProcess(returncode=returncode, stdout=b"", stderr=stderr, hit_output_limit=stderr == DISK)
    assert words in str(compile_error("a.c", ("clang", "a.c"), finished)).splitlines()[0]


@pytest.mark.parametrize("value", ["much", "0", "-1", "nan", "inf", "1e30", "1.5"])
def test_a_limit_is_a_number_of_gigabytes_above_0(monkeypatch, value):
    for name, ask in LIMITS.items():
        monkeypatch.setenv(name, value)
        if value == "1.5":
            assert ask() == 3 * GIGABYTE // 2
            continue
        with refuses(InputError, name, repr(value), "gigabytes above 0"):
            ask()


# ---- files too large to be read whole, which here have no content on disk


@pytest.mark.parametrize("name", ["large.ll", "large.bc", "large.c", "embedding.json"])
def test_size_comes_before_reading(tmp_path, monkeypatch, name):
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    path = tmp_path / name
    path.touch()
    os.truncate(path, 5 * GIGABYTE)
    file = CorpusFile(str(path), "files", ((CompileOptions(), None),))
    ways: dict[str, list[Callable[[Path], object]]] = {
        ".json": [lambda path: ncc.load_embedding(path.parent)],
        ".c": [
            compile_source,
            lambda path: compile_program(path, CompileOptions(), tmp_path),
            lambda _: CachingCompiler(tmp_path, cache=tmp_path).ir_of(file),
        ],
    }
    for read in ways.get(path.suffix, [ncc.read_module]):
        with refuses(ncc.NccError, name, "has 5,368,709,120 bytes", "more than 2 GB", "raise NCC_INPUT_GB"):
            read(path)


def test_a_larger_file_by_wish(tmp_path, monkeypatch):
    path = tmp_path / "one.c"
    path.write_text(GOOD)
    monkeypatch.setenv("NCC_INPUT_GB", "0.00000001")
    with refuses(InputError, "has 28 bytes"):
        compile_source(path)
