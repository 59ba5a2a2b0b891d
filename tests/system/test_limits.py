"""Sources that exhaust memory, time or the disk cost themselves alone, and the message says what they exhausted."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ncc.errors import AssetError, CompileError, InputError, OutputError
from tests.rooms import (
    GIGABYTE,
    CachingCompiler,
    CompileOptions,
    CorpusFile,
    FinishedProcess,
    compile_error,
    compile_program,
    compile_source,
    input_limit,
    limits,
    load_embedding,
    memory_limit,
    output_limit,
    read_module,
)

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


@pytest.fixture(params=[None, "clang-14", "clang-16", "clang-19"])
def clang(request):
    if request.param and not Path("/usr/bin", request.param).exists():
        pytest.skip(f"{request.param} is not installed")
    return request.param


@on_linux
@pytest.mark.parametrize("text", [TEMPLATES, EXPLODING], ids=["templates", "macros"])
def test_memory(tmp_path, monkeypatch, text, clang):
    monkeypatch.setenv("NCC_MEMORY_GB", "0.4")
    options = CompileOptions(clang=clang)
    fails(tmp_path, text, options, "the compiler needs more than 0.4 GB of memory; NCC_MEMORY_GB allows it more")
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
def test_output(tmp_path, monkeypatch, clang):
    options = CompileOptions(optimization="-O0", clang=clang)
    monkeypatch.setenv("NCC_OUTPUT_GB", "0.001")
    fails(
        tmp_path, LONG, options, "the compiler wrote more than 0.001 GB and was stopped; NCC_OUTPUT_GB allows it more"
    )
    monkeypatch.delenv("NCC_OUTPUT_GB")
    assert len(compile_source(tmp_path / "killer.cpp", options).ir) > 2**20


@on_linux
def test_messages_without_end_are_output_too(tmp_path, monkeypatch):
    monkeypatch.setenv("NCC_OUTPUT_GB", "0.002")
    text = "".join(f"int f{i}() {{ return missing{i}; }}\n" for i in range(50_000))
    fails(tmp_path, text, CompileOptions(flags=("-ferror-limit=0",)), "wrote more than 0.002 GB")


def test_of_long_messages_beginning_and_end_are_kept(tmp_path):
    source = tmp_path / "many.c"
    source.write_text("".join(f"int f{i}(void) {{ return missing{i}; }}\n" for i in range(20_000)))
    with pytest.raises(CompileError) as caught:
        compile_source(source, CompileOptions(flags=("-ferror-limit=0",)))
    errors = caught.value.errors
    assert "missing0" in errors[0]
    assert "missing19999" in errors[-1]
    assert 1000 < len(errors) < 20_000
    assert sum(map(len, errors)) < 1.2e6


def test_a_line_without_end_is_cut(tmp_path):
    source = tmp_path / "long.c"
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

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(
        OutputError, match="no temporary file can be written: No space left on device; is the disk full"
    ):
        compile_source(GOOD.encode(), CompileOptions(language="c"))


@pytest.mark.parametrize("full", [False, True])
def test_a_disk_that_fills_up_while_the_compiler_writes(monkeypatch, full):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0 if full else 2**40))
    text = b"#error IO failure on output stream: No space left on device\n"
    with pytest.raises(OutputError if full else CompileError, match="disk is full" if full else "does not compile"):
        compile_source(text, CompileOptions(language="c"))


@pytest.mark.parametrize(
    ("returncode", "stderr", "hit_output_limit", "words"),
    [
        (-9, b"", False, "was ended by signal SIGKILL, maybe for want of memory"),
        (-25, b"", False, "wrote more than 2 GB and was stopped"),
        (153, b"", False, "wrote more than 2 GB and was stopped"),
        (
            1,
            b"fatal error: error in backend: IO failure on output stream: Bad file descriptor\n",
            True,
            "wrote more than",
        ),
        (
            -6,
            b"terminate called after throwing an instance of 'std::bad_alloc'\n",
            False,
            "needs more than 4 GB of memory",
        ),
        (134, b"LLVM ERROR: out of memory\nAllocation failed\n", False, "needs more than 4 GB of memory"),
        (1, b"/usr/bin/clang: error while loading: Cannot allocate memory\n", False, "needs more than 4 GB of memory"),
        (-11, b"", False, "was ended by signal SIGSEGV"),
        (1, b"a.c:1:1: error: no\n", False, "does not compile"),
        (1, b'a.c:1:1: error: no\n  1 | p("Cannot allocate memory");\n', False, "does not compile"),
        (3, b"", False, "failed with exit code 3"),
    ],
)
def test_ends_in_words(monkeypatch, returncode, stderr, hit_output_limit, words):
    monkeypatch.setattr(limits, "_physical_memory", lambda: 16 * GIGABYTE)
    finished = FinishedProcess(returncode=returncode, stdout=b"", stderr=stderr, hit_output_limit=hit_output_limit)
    assert words in str(compile_error("a.c", ("clang", "a.c"), finished)).splitlines()[0]


# ---- the limits themselves


def test_limits_by_wish(monkeypatch):
    monkeypatch.setenv("NCC_MEMORY_GB", "1.5")
    monkeypatch.setenv("NCC_OUTPUT_GB", "0.25")
    assert (memory_limit(), output_limit()) == (3 * GIGABYTE // 2, GIGABYTE // 4)
    assert memory_limit(60 * GIGABYTE) == 3 * GIGABYTE // 2


@pytest.mark.parametrize("value", ["much", "0", "-1", "nan", "inf", "1e30"])
@pytest.mark.parametrize(
    ("name", "ask"), [("NCC_MEMORY_GB", memory_limit), ("NCC_OUTPUT_GB", output_limit), ("NCC_INPUT_GB", input_limit)]
)
def test_wishes_that_are_none(monkeypatch, name, ask, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=re.escape(f"{name} is {value!r}; expected a number of gigabytes above 0")):
        ask()


# ---- files too large to be read whole, which here have no content on disk


@pytest.fixture
def unread(monkeypatch):
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))


def sparse(path, size=5 * GIGABYTE):
    path.touch()
    os.truncate(path, size)
    return path


@pytest.mark.parametrize("name", ["large.ll", "large.bc", "large.c"])
def test_size_comes_before_reading(tmp_path, unread, name):
    path = sparse(tmp_path / name)
    file = CorpusFile(str(path), "files", ((CompileOptions(), None),))
    ways: list[Callable[[Path], object]] = (
        [read_module]
        if path.suffix != ".c"
        else [
            compile_source,
            lambda path: compile_program(path, CompileOptions(), tmp_path),
            lambda _: CachingCompiler(tmp_path, cache=tmp_path).ir_of(file),
        ]
    )
    for read in ways:
        with pytest.raises(
            InputError, match=r"large\.\w+: has 5,368,709,120 bytes, more than 2 GB; NCC_INPUT_GB allows more"
        ):
            read(path)


def test_size_of_a_card(tmp_path, unread):
    sparse(tmp_path / "embedding.json", 6 * GIGABYTE)
    with pytest.raises(AssetError, match=r"embedding\.json: has 6,442,450,944 bytes"):
        load_embedding(tmp_path)


def test_a_larger_file_by_wish(tmp_path, monkeypatch):
    path = tmp_path / "one.c"
    path.write_text(GOOD)
    monkeypatch.setenv("NCC_INPUT_GB", "0.00000001")
    with pytest.raises(InputError, match="has 28 bytes"):
        compile_source(path)
    monkeypatch.setenv("NCC_INPUT_GB", "1")
    assert b"@one" in compile_source(path).ir
