"""Precompiled headers: the same IR as with the header included, made once, and errors in the header."""

import os
import re

import pytest

from ncc.errors import CompileError
from tests.rooms import CompileOptions, compile_source, with_header
from tests.support.refuses import refuses

SOURCES = {
    "c": "double f(double x) { return TWICE(sqrt(x)); }\n",
    "c++": "double g(vector<double> &v) { return TWICE(v[0]); }\n",
}
HEADERS = {
    "c": "#include <math.h>\n#define TWICE(x) ((x) + (x))\n",
    "c++": "#include <vector>\n#define TWICE(x) ((x) + (x))\nusing namespace std;\n",
}


@pytest.fixture(params=["c", "c++"])
def language(request):
    return request.param


@pytest.fixture
def header(tmp_path, language):
    path = tmp_path / "usual.h"
    path.write_text(HEADERS[language])
    return path


def _functions(ir: bytes) -> list[str]:
    return re.findall(r"^define .*?^}", ir.decode(), re.MULTILINE | re.DOTALL)


def test_the_ir_is_that_of_the_included_header(header, language, tmp_path):
    source = tmp_path / "source"
    source.write_text(SOURCES[language])
    options = CompileOptions(language=language)
    plain = compile_source(source, CompileOptions(language=language, flags=("-include", str(header))))
    precompiled = compile_source(source, with_header(header, options, tmp_path / "cache"))
    assert _functions(precompiled.ir) == _functions(plain.ir)
    assert len(_functions(plain.ir)) >= 1


def test_it_is_made_once_for_each_text_and_set_of_options(header, language, tmp_path):
    cache = tmp_path / "cache"
    first = with_header(header, CompileOptions(language=language), cache)
    (made,) = cache.iterdir()
    stamp = made.stat().st_mtime_ns
    assert with_header(header, CompileOptions(language=language), cache) == first
    assert made.stat().st_mtime_ns == stamp
    other = with_header(header, CompileOptions(language=language, optimization="-O0"), cache)
    assert other.flags != first.flags
    header.write_text(header.read_text() + "#define THRICE 3\n")
    assert with_header(header, CompileOptions(language=language), cache).flags != first.flags
    assert len(list(cache.iterdir())) == 3


def test_a_header_that_does_not_compile_is_refused_with_its_place(tmp_path, language):
    path = tmp_path / "bad.h"
    path.write_text("int f( {\n")
    with refuses(CompileError, "bad.h:1:"):
        with_header(path, CompileOptions(language=language), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_header_that_was_installed_again(tmp_path):
    header, options = tmp_path / "h.h", CompileOptions(language="c")
    header.write_text("int q;\n")
    with_header(header, options, tmp_path / "cache")
    os.utime(header, (1e9, 1e9))
    assert compile_source(b"int f(void) { return q; }", with_header(header, options, tmp_path / "cache")).ir
