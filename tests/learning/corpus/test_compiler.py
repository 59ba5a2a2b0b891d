"""The compiler of a corpus: attempts in their order, and IR that is kept for a later build."""

import gzip
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ncc.errors import CompileError, InputError
from tests.rooms import CachingCompiler, CompileOptions, CorpusFile, Recipe, Source, build_corpus, compile_source
from tests.support.refuses import refuses

TEXT = "int add(int a, int b) { return a + b; }\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "add.c"
    path.write_text(TEXT)
    return path


@pytest.fixture
def compiler(tmp_path):
    return CachingCompiler(headers=tmp_path / "headers", cache=tmp_path / "kept")


def _file(path, *options: CompileOptions, header: str | None = None) -> CorpusFile:
    return CorpusFile(str(path), "a", tuple((one, header) for one in options or (CompileOptions(),)))


def _kept(compiler: CachingCompiler) -> list[Path]:
    assert compiler.cache
    return sorted(path for path in compiler.cache.rglob("*") if path.is_file()) if compiler.cache.exists() else []


@pytest.fixture
def no_compiler(monkeypatch):
    """From where it is called on, compiling fails."""
    return lambda: monkeypatch.setenv("NCC_CLANG", "/bin/false")


def test_ir_is_kept_and_used_the_second_time(source, compiler, no_compiler):
    first = compiler.ir_of(_file(source))
    assert first == compile_source(source).ir
    (kept,) = _kept(compiler)
    assert gzip.decompress(kept.read_bytes()) == first
    stamp = kept.stat().st_mtime_ns
    no_compiler()
    assert compiler.ir_of(_file(source)) == first
    assert kept.stat().st_mtime_ns == stamp
    with pytest.raises(CompileError):
        replace(compiler, cache=None).ir_of(_file(source))


def test_ir_that_is_a_link_out_of_its_folder_is_refused(compiler, tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    (tmp_path / "secret").write_text("root:x:0\n")
    (folder / "x.ll").symlink_to(tmp_path / "secret")
    with refuses(InputError, folder / "x.ll", "link"):
        compiler.ir_of(CorpusFile(str(folder / "x.ll"), "a", (), str(folder)))


CHANGES = {
    "optimization": "-O0", "defines": ("A=1",), "include_paths": ("/usr/include",), "flags": ("-w",), "language": "c++"
}  # fmt: skip


@pytest.mark.parametrize("changed", [{name: value} for name, value in CHANGES.items()])
def test_other_options_are_compiled(source, compiler, no_compiler, changed):
    options = CompileOptions()
    compiler.ir_of(_file(source, options))
    other = compiler.ir_of(_file(source, replace(options, **changed)))
    assert other == compile_source(source, replace(options, **changed)).ir
    assert len(_kept(compiler)) == 2
    no_compiler()
    assert compiler.ir_of(_file(source, replace(options, **changed))) == other


def test_the_same_text_beside_other_headers_is_another_file(compiler, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "name.h").write_text(f"#define NAME {name}\n")
        (tmp_path / name / "f.c").write_text('#include "name.h"\nint NAME(void) { return 1; }\n')
    assert b"@one(" in compiler.ir_of(_file(tmp_path / "one" / "f.c"))
    assert b"@two(" in compiler.ir_of(_file(tmp_path / "two" / "f.c"))


DAMAGES = {
    "cut": lambda data: data[: len(data) // 2],
    "wrong in the middle": lambda data: data[:40] + bytes(40) + data[80:],
    "followed by rubbish": lambda data: data + b"rubbish",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_kept_ir_is_compiled_anew(source, compiler, damage):
    first = compiler.ir_of(_file(source))
    (kept,) = _kept(compiler)
    whole = kept.read_bytes()
    kept.write_bytes(DAMAGES[damage](whole))
    assert compiler.ir_of(_file(source)) == first
    assert kept.read_bytes() == whole


def test_what_fails_is_not_kept_and_the_last_attempts_reason_is_given(source, compiler):
    source.write_text("int class(int new) { return new; }\n")  # C, but not C++
    wrong = CompileOptions(language="c++")
    with refuses(CompileError, "add.c:1:"):
        compiler.ir_of(_file(source, CompileOptions(flags=("-fno-such-flag",)), wrong))
    assert _kept(compiler) == []
    assert b"@class(" in compiler.ir_of(_file(source, wrong, CompileOptions(language="c")))
    assert len(_kept(compiler)) == 1


def test_a_header_before_a_file_is_kept_with_it(source, compiler, tmp_path, no_compiler):
    (tmp_path / "usual.h").write_text("#define PLUS +\n")
    source.write_text("int add(int a, int b) { return a PLUS b; }\n")
    file = _file(source, CompileOptions(language="c"), header=str(tmp_path / "usual.h"))
    first = compiler.ir_of(file)
    assert b"add" in first
    shutil.rmtree(compiler.headers)
    no_compiler()
    assert compiler.ir_of(file) == first
    with pytest.raises(CompileError):
        compiler.ir_of(_file(source, CompileOptions(language="c")))


# ---- builds


def test_a_build_from_kept_ir_is_that_from_compiled_ir(code, tmp_path, corpus_files, no_compiler):
    (code / "broken.c").write_text("int f( {\n")
    recipe = Recipe(name="r", sources=(Source(name="s", folder=str(code), optimization=("-O0", "-O2")),))
    without = build_corpus(recipe, tmp_path / "without", jobs=1)
    first = build_corpus(recipe, tmp_path / "first", jobs=1, ir=tmp_path / "ir")
    no_compiler()
    second = build_corpus(recipe, tmp_path / "second", jobs=1, ir=tmp_path / "ir")
    assert corpus_files(tmp_path / "without") == corpus_files(tmp_path / "first") == corpus_files(tmp_path / "second")
    for report in (first, second):
        assert (report.files, report.lines) == (without.files, without.lines)
        assert set(report.failures) == set(without.failures)
    assert len(list((tmp_path / "ir").rglob("*.ll.gz"))) == 4  # two files at two levels
