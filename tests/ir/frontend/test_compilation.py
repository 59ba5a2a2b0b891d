"""C and C++ to IR: headers, options, determinism, and every way to fail."""

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import ncc
from ncc.errors import CompileError, InputError
from tests.rooms import CompileOptions, compile_source, language_of
from tests.support.clangs import CLANGS, installed
from tests.support.refuses import refuses


@pytest.mark.parametrize(
    ("name", "function"),
    [("dot.c", b"@dot("), ("platform.c", b"@descriptor("), ("words.cpp", b"@main("), ("contest.cpp", b"@main(")],
)
def test_compiles_without_warnings(sources, name, function):
    compiled = compile_source(sources / name)
    assert re.search(rb"define .*" + re.escape(function), compiled.ir)
    assert compiled.warnings == ""
    assert b"-unknown-linux-gnu" in compiled.ir


def test_date_and_time_do_not_change_the_ir():
    text = b"const char *when(void) { return __DATE__ __TIME__; }"
    assert b"Jan  1 197000:00:00" in compile_source(text, CompileOptions(language="c")).ir


@pytest.mark.parametrize("name", ["dot.c", "platform.c", "words.cpp", "contest.cpp"])
def test_standard_headers_are_the_bundled_ones(sources, name):
    listing = compile_source(sources / name, CompileOptions(flags=("-H",), optimization="-O0")).warnings
    headers = [line.lstrip(". ") for line in listing.splitlines() if line.startswith(".")]
    assert len(headers) > 10
    own = str(Path(ncc.__file__).parent / "ir" / "frontend")
    assert [path for path in headers if "ziglang" not in path and not path.startswith(own)] == []


def test_search_paths_of_the_environment_do_not_reach_the_bundled_clang(sources, tmp_path, monkeypatch):
    (tmp_path / "stdio.h").write_text("#error not this one\n")
    for variable in ("CPATH", "C_INCLUDE_PATH"):
        monkeypatch.setenv(variable, str(tmp_path))
    compile_source(sources / "dot.c")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("--target=aarch64-linux-gnu", b"aarch64"),
        ("--target=riscv64-unknown-linux-gnu", b"riscv64"),
        ("--target=i386-linux-gnu", b"i386"),
    ],
)
def test_a_target_in_the_flags_wins_and_brings_its_headers(sources, target, expected):
    assert b'target triple = "' + expected in compile_source(sources / "dot.c", CompileOptions(flags=(target,))).ir


def test_source_text_needs_a_language():
    text = b"int one(void) { return 1; }"
    assert b"define" in compile_source(text, CompileOptions(language="c")).ir
    with refuses(InputError, "source text", "language", "c++"):
        compile_source(text)
    with refuses(CompileError, "source text: ", "<stdin>:1:1: error"):
        compile_source(b"nonsense", CompileOptions(language="c"))


@pytest.mark.parametrize("name", ["-c.c", "-", "--"])
@pytest.mark.parametrize("clang", [None, *installed("clang-19")])
def test_a_name_is_never_read_as_an_argument(tmp_path, monkeypatch, name, clang):
    (tmp_path / name).write_text("int one(void) { return 1; }")
    monkeypatch.chdir(tmp_path)
    options = CompileOptions(language="c", clang=clang)
    for given in (name, Path(name), f"./{name}"):
        assert b"@one" in compile_source(given, options).ir


@pytest.mark.parametrize("clang", CLANGS)
def test_no_file_of_arguments_is_read(tmp_path, monkeypatch, clang):
    (tmp_path / "@p.c").write_text("int one(void) { return 1; }")
    (tmp_path / "p.c").write_text("-fplugin=evil.so")
    monkeypatch.chdir(tmp_path)
    for given in ("@p.c", tmp_path / "@p.c"):
        with refuses(InputError, "@p.c", "begins with @"):
            compile_source(given, CompileOptions(clang=clang))


def test_messages_name_a_file_as_it_was_given(tmp_path, monkeypatch):
    (tmp_path / "bad.c").write_text("int f(void) { return missing; }\n")
    (tmp_path / "odd.c").write_text("int f(void) { int x = 5u == -1; }\n")
    monkeypatch.chdir(tmp_path)
    with refuses(CompileError, "bad.c: ", "\n  bad.c:1:22: error"):
        compile_source("bad.c")
    assert compile_source("odd.c").warnings.startswith("odd.c:1:")


def test_default_standards():
    checks = b'static_assert(__cplusplus == 201703L, ""); using namespace std;'
    assert compile_source(b"#include <vector>\n" + checks, CompileOptions(language="c++")).ir
    text = b'_Static_assert(__STDC_VERSION__ == 201710L, "");'
    assert compile_source(text, CompileOptions(language="c")).ir


def test_errors_name_the_file_the_places_and_the_command(tmp_path):
    path = tmp_path / "five errors.c"
    path.write_text("".join(f"int f{i}(void) {{ return missing{i}; }}\n" for i in range(8)))
    with pytest.raises(CompileError) as caught:
        compile_source(path)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{path}: does not compile"
    assert lines[1] == f"  {path}:1:23: error: use of undeclared identifier 'missing0'"
    assert lines[6] == f"  {path}:6:23: error: use of undeclared identifier 'missing5'"
    assert lines[7] == "  and more, 8 errors in all"
    assert len(lines) == 9
    command = shlex.split(lines[8].removeprefix("command: "))
    again = subprocess.run(command, capture_output=True, check=False)
    assert again.returncode == 1
    assert b"missing0" in again.stderr


@pytest.mark.parametrize(
    "text",
    [
        "main() { return 1; }",
        "int f(void) { return g(1); }",
        "int f(char *s) { int i = s; return i; }",
        "int *f(char *s) { return s; }",
        "void f(void) { return 1; }",
        "void g(void (*)(int)); void k(char *s) {} void f(void) { g(k); }",
    ],
)
def test_old_c_that_compilers_refuse_by_now(text):
    options = CompileOptions(language="c")
    assert b"define" in compile_source(text.encode(), options).ir
    with refuses(CompileError, "does not compile"):
        compile_source(text.encode(), replace(options, is_strict=True))


def test_a_header_that_is_nowhere_is_asked_for(tmp_path):
    path = tmp_path / "a.c"
    path.write_text('#include "sub/far.h"\n')
    with refuses(CompileError, "sub/far.h", "-I FOLDER"):
        compile_source(path)


@pytest.mark.parametrize(
    ("flag", "nouns"), [("--no-such-flag", ["error: ", "--no-such-flag"]), ("-fsyntax-only", ["no IR", "flags"])]
)
def test_flags_that_are_unknown_or_ask_for_another_output(sources, flag, nouns):
    with refuses(CompileError, *nouns):
        compile_source(sources / "dot.c", CompileOptions(flags=(flag,)))


def test_source_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin1.c"
    path.write_bytes(b'// caf\xe9\nconst char *s = "\xff\xfe";\nint f(void) { return \xe9t\xe9; }\n')
    with refuses(CompileError, "latin1.c:3:"):
        compile_source(path)
    path.write_bytes(b'// caf\xe9\nconst char *s = "caf\xe9";\n')
    assert b"caf\\E9" in compile_source(path).ir


def test_a_macro_is_asked_for_where_one_may_be_missing():
    source = b"kernel void k(global %s *a) { for (int i = 0; i < %s; i++) a[i] += 1; }"
    for words, asked in (((b"float", b"ROUNDS"), "-D ROUNDS=VALUE"), ((b"TYPE", b"8"), "-D TYPE=VALUE")):
        with refuses(CompileError, "is a macro", asked):
            compile_source(source % words, CompileOptions(language="opencl"))
    with pytest.raises(CompileError) as caught:
        compile_source(source % (b"float", b"rounds"), CompileOptions(language="opencl"))
    assert "is a macro" not in str(caught.value)


def test_a_later_standard_is_hinted_at_where_it_may_be_what_lacks():
    source = b"#include <coroutine>\nstd::suspend_always f();\n"
    with refuses(CompileError, "--flag -std=c++20"):
        compile_source(source, CompileOptions(language="c++"))
    compile_source(source + b"int g() { return 1; }\n", CompileOptions(language="c++", flags=("-std=c++20",)))
    with pytest.raises(CompileError) as caught:
        compile_source(b"int g() { return lost; }\n", CompileOptions(language="c++"))
    assert "-std=c++20" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "nouns"),
    [
        *(
            ({"optimization": level}, ["unknown optimization level", "-O0", "-O1"])
            for level in ("", "-O", "4", "-Os -g")
        ),
        ({"language": "cpp"}, ["unknown language 'cpp'", "c++", "opencl", "cuda"]),
        *(
            ({"timeout_s": seconds}, ["the time limit (timeout_s) is", "above 0"])
            for seconds in (0, -1.0, float("nan"))
        ),
        ({"defines": "N=4"}, ["defines is the string 'N=4'", "('N=4',)"]),
    ],
)
def test_options_that_are_none_are_refused(options, nouns):
    with refuses(InputError, *nouns):
        CompileOptions(**options)


LANGUAGES = {
    "c": ("a.c",),
    "c++": ("a.cc", "a.cpp", "a.cxx", "a.c++", "a.C", "a.CPP"),
    "opencl": ("dir.c/a.cl", "a.ocl", "a.opencl"),
    "cuda": ("a.cu", "a.hip"),
    None: ("a.h", "a.hpp", "a.ll", "Makefile", ".c"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_extension_decides(language):
    assert {language_of(name) for name in LANGUAGES[language]} == {language}
