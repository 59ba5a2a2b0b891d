"""Headers that no search path names are found in the folder that was given, which gives no right to read more."""

import re
from pathlib import Path

import pytest

from ncc.errors import CompileError
from tests.rooms import CompileOptions, compile_source, find_inputs, header_folders, landlock_version, load_module
from tests.support.refuses import refuses

_FILES = {
    "src/main.c": '#include "lib.h"\n#include <string.h>\nint f(char *s) { return LIB + (int)strlen(s); }\n',
    "include/lib.h": '#include <deep/more.h>\n#include "../version.h"\n#define LIB (MORE + VERSION)\n',
    "version.h": "#define VERSION 1\n",
    "third/party/deep/more.h": '#include "same.h"\n#define MORE SAME\n',
    "third/party/config/same.h": "#define SAME 40\n",
    "other/same.h": "#error the one that is further away\n",
    "compat/string.h": "#error no header of the system\n",
    ".hidden/gone.h": "int gone;\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def _compile(path, folder, **options):
    return compile_source(path, CompileOptions(**options), readable=[folder])


def test_headers_of_a_project_are_found_by_name(project):
    source = project / "src" / "main.c"
    with refuses(CompileError, "'lib.h' file not found"):
        compile_source(source)
    compiled = _compile(source, project)
    searched = [word.removeprefix("-idirafter") for word in compiled.command if word.startswith(f"-idirafter{project}")]
    assert searched == [str(project / name) for name in ("include", "compat", "third/party", "third/party/config")]
    assert re.search(rb"add[a-z ]* i32 %[^,]+, 41", compiled.ir)


def test_headers_below_a_sources_own_folder_are_found_by_name(project):
    source = project / "main.c"
    source.write_text('#include "same.h"\nint f(void) { return SAME; }\n')
    (project / "other" / "same.h").unlink()
    assert b"ret i32 40" in compile_source(source).ir


def test_a_folder_of_sources_is_read_as_a_project(project):
    [found] = find_inputs([str(project)])
    assert load_module(found.source).num_statements > 1


def test_host_code_in_a_projects_header_costs_no_kernel(tmp_path):
    """The header is found by name, as a compiler finds those of a system, and names what nobody has."""
    (tmp_path / "include" / "lib").mkdir(parents=True)
    (tmp_path / "include" / "lib" / "host.h").write_text(
        "#include <made_by_cmake.h>\n#define TWO 2\ninline int ask() { return nowhere::call(); }\n"
    )
    (tmp_path / "a.cu").write_text('#include "lib/host.h"\n__global__ void k(float *p) { p[0] = TWO; }\n')
    [found] = find_inputs([str(tmp_path)])
    module = load_module(found.source)
    assert any(module.function_is_kernel)


def test_of_a_folders_c_those_with_kernels_are_taken_where_kernels_are_asked_for(tmp_path):
    for name, text in {
        "host.c": "int f(void) { return 1; }\n",
        "host.cpp": "int g() { return 1; }\n",
        "kernel.cpp": "#include <hip/hip_runtime.h>\n__global__ void k(float *p) { p[0] = 1; }\n",
        "kernel.cl": "kernel void k(global float *p) { p[0] = 1; }\n",
        "module.ll": "define void @f() {\n  ret void\n}\n",
        "any.cu": "int host() { return 1; }\n",
    }.items():
        (tmp_path / name).write_text(text)
    names = [Path(item.name).name for item in find_inputs([str(tmp_path)], kernels=True)]
    assert names == ["any.cu", "kernel.cl", "kernel.cpp", "module.ll"]
    assert [item.name for item in find_inputs([str(tmp_path / "host.c")], kernels=True)] == [str(tmp_path / "host.c")]
    assert len(find_inputs([str(tmp_path)])) == 6


def test_a_folder_without_kernels_is_told(tmp_path):
    (tmp_path / "host.c").write_text("int f(void) { return 1; }\n")
    [item] = find_inputs([str(tmp_path)], kernels=True)
    assert item.error == f"{tmp_path}: no file in this folder holds kernels"


def test_what_is_given_wins(project, tmp_path_factory):
    own = tmp_path_factory.mktemp("own")
    (own / "lib.h").write_text("#define LIB 7\n")
    compiled = _compile(project / "src" / "main.c", project, include_paths=(str(own),))
    assert not [word for word in compiled.command if word.startswith("-idirafter/") and "include" in Path(word).name]


def test_a_header_that_is_added_is_found(project):
    source = project / "src" / "late.c"
    source.write_text('#include "late.h"\nint late(void) { return LATE; }\n')
    with refuses(CompileError, "'late.h' file not found"):
        _compile(source, project)
    (project / "compat" / "late.h").write_text("#define LATE 3\n")
    assert b"ret i32 3" in _compile(source, project).ir


@pytest.mark.parametrize("name", ["gone.h", "nowhere.h", "../../outside.h"])
def test_what_is_hidden_or_nowhere_stays_so(project, name):
    (project.parent / "outside.h").write_text("int outside;\n")
    source = project / "src" / "bad.c"
    source.write_text(f'#include "{name}"\n')
    with pytest.raises(CompileError):
        _compile(source, project)


@pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")
def test_a_folder_that_is_searched_gives_no_right_to_what_is_hidden_in_it(project):
    (project / ".secret").write_text("int secret = 42;\n")
    (project / "top.h").write_text('#include ".secret"\n')
    source = project / "src" / "curious.c"
    source.write_text('#include "top.h"\nint f(void) { return secret; }\n')
    with refuses(CompileError, "secret"):
        _compile(source, project)


def test_no_home_is_searched(project, monkeypatch):
    monkeypatch.setenv("HOME", str(project))
    assert header_folders(str(project / "src" / "main.c"), [project]) == ()
