"""Sources that are nosy: which files they may read, and what the messages say."""

import os
import tempfile
from pathlib import Path

import pytest

from ncc.errors import CompileError, InputError
from tests.rooms import (
    CompileOptions,
    compile_program,
    compile_source,
    find_inputs,
    landlock_version,
    load_module,
    load_program,
    with_header,
)

with_landlock = pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")

C = CompileOptions(language="c")


@pytest.fixture
def project(tmp_path):
    """A project with a source folder, a header beside it, and a secret outside of both."""
    for name, text in {
        "outside/secret.h": "int secret;\n",
        "project/common.h": "#define COMMON 5\n",
        "project/src/own/deep.h": "int deep;\n",
        "project/src/f.c": '#include "own/deep.h"\nint f(void) { return deep; }\n',
        "project/src/up.c": '#include "../common.h"\nint f(void) { return COMMON; }\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "project"


def refused(source, *parts, options=C, **more):
    with pytest.raises(CompileError) as caught:
        compile_source(source, options, **more)
    for part in parts:
        assert part in str(caught.value)
    return str(caught.value)


# ---- reading


def test_a_source_reads_its_own_folder_and_all_below(project):
    assert b"@f(" in compile_source(project / "src" / "f.c").ir


@with_landlock
@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/zero", "/proc/self/environ", "/proc/self/status"])
@pytest.mark.parametrize("line", ['#include "{}"', '#if __has_include("{}")\n#endif', '#embed "{}"'])
def test_files_of_the_system_are_not_for_sources(tmp_path, path, line):
    source = tmp_path / "nosy.c"
    source.write_text(f"{line.format(path)}\nint x;\n")
    message = refused(source, path, "lies outside of what a source may read")
    assert "root:" not in message
    assert str(source) in message


@with_landlock
@pytest.mark.parametrize("clang", [None, "clang-14", "clang-16", "clang-19"])
def test_a_header_outside_is_refused_until_its_folder_is_named(project, monkeypatch, clang):
    if clang and not any(Path(folder, clang).exists() for folder in os.get_exec_path()):
        pytest.skip(f"{clang} is not installed")
    source, options = project / "src" / "up.c", CompileOptions(clang=clang)
    message = refused(source, "../common.h", f"if you trust it, name its folder: -I {project}\n", options=options)
    assert message.splitlines()[0] == f"{source}: does not compile"
    named = CompileOptions(clang=clang, include_paths=(str(project),))
    assert b"ret i32 5" in compile_source(source, named).ir
    assert b"ret i32 5" in compile_source(source, options, readable=[project]).ir
    monkeypatch.chdir(project)
    assert b"ret i32 5" in compile_source("src/up.c", options, readable=["."]).ir
    refused("src/up.c", f"-I {project}\n", options=options)


@with_landlock
@pytest.mark.parametrize(
    "flags",
    [("-I", "{}"), ("-I{}",), ("-isystem", "{}"), ("-iquote{}",), ("-Xclang", "-I{}"), ("-include", "{}/common.h")],
)
def test_paths_in_flags_are_named(project, flags):
    flags = tuple(flag.format(project) for flag in flags)
    assert b"ret i32 5" in compile_source(project / "src" / "up.c", CompileOptions(flags=flags)).ir


@with_landlock
@pytest.mark.parametrize("flags", [("-DFOLDER={}",), ("-D", "FOLDER={}"), ("-Wno-{}", "-w")])
def test_a_macro_names_no_folder(project, flags):
    options = CompileOptions(flags=tuple(flag.format(project) for flag in flags))
    refused(project / "src" / "up.c", "lies outside", options=options)


@with_landlock
def test_a_link_out_of_the_folder_leads_nowhere(project):
    (project / "src" / "link.h").symlink_to("../../outside/secret.h")
    (project / "src" / "folder").symlink_to("../../outside")
    for name in ("link.h", "folder/secret.h"):
        source = project / "src" / "g.c"
        source.write_text(f'#include "{name}"\n')
        refused(source, name, "lies outside", "outside")


@with_landlock
def test_a_source_that_is_a_link_is_read_where_its_user_named_it(project):
    link = project / "src" / "link.c"
    link.symlink_to("../../outside/secret.h")
    assert b"@secret" in compile_source(link).ir
    refused(link, "lies outside", readable=[project])


@with_landlock
def test_assembly_brings_no_file_in(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("0xdeadbeef\n")
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "asm.c"
    source.write_text(
        '__asm__(".incbin \\"../secret/key\\"");\nint f(void) { __asm__(".include \\"/etc/passwd\\""); }\n'
    )
    ir = compile_source(source).ir
    assert b"deadbeef" not in ir
    assert b"root:" not in ir


@with_landlock
def test_text_has_no_folder_of_its_own(project, monkeypatch):
    monkeypatch.chdir(project)
    refused(b'#include "common.h"\nint f(void) { return COMMON; }\n', "common.h", f"-I {project}\n")
    named = CompileOptions(language="c", include_paths=(".",))
    assert b"ret i32 5" in compile_source(b'#include "common.h"\nint f(void) { return COMMON; }\n', named).ir


@with_landlock
def test_a_home_is_more_than_the_folder_of_a_source(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_text("int key;\n")
    (tmp_path / "beside.h").write_text("int beside;\n")
    (tmp_path / "good.c").write_text('#include "beside.h"\nint *f(void) { return &beside; }\n')
    (tmp_path / "nosy.c").write_text('#include ".ssh/id"\n')
    assert b"@beside" in compile_source(tmp_path / "good.c").ir
    refused(tmp_path / "nosy.c", ".ssh/id", "lies outside")
    # which would compile with a macro for the name, were the folder all of its own
    (tmp_path / "nosy.c").write_text('#include ".ssh/id"\nint f(void) { return UNDECLARED + key; }\n')
    with pytest.raises(CompileError, match="lies outside"):
        compile_program(str(tmp_path / "nosy.c"), CompileOptions(), tmp_path / "cache")


@with_landlock
@pytest.mark.parametrize("named", ["stolen.h", "all.h/id"])
def test_links_and_folders_beside_a_source_in_a_home_are_not_its_own(tmp_path, monkeypatch, named):
    home = tmp_path / "home"
    secret = tmp_path / "outside"
    for folder in (home, secret):
        folder.mkdir()
    (secret / "id").write_text("int key;\n")
    monkeypatch.setenv("HOME", str(home))
    (home / "stolen.h").symlink_to(secret / "id")
    (home / "all.h").symlink_to(secret)
    (home / "nosy.c").write_text(f'#include "{named}"\nint f(void) {{ return key; }}\n')
    refused(home / "nosy.c", named)


@with_landlock
def test_a_home_that_is_given_whole_is_its_sources_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_text("1, 2")
    (tmp_path / "notes").write_text("3, 4")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "beside.h").write_text("int beside;\n")
    (tmp_path / "work" / "good.c").write_text('#include "beside.h"\nint *f(void) { return &beside; }\n')
    for number, named in enumerate((".ssh/id", "notes", "../.ssh/id", "../notes")):
        nosy = tmp_path / ("work" if named.startswith("..") else "") / f"nosy{number}.c"
        nosy.write_text(f'char key[] = {{\n#embed "{named}"\n}};\nchar *f(void) {{ return key; }}\n')
    monkeypatch.chdir(tmp_path)
    for given in (".", str(tmp_path)):
        for item in find_inputs([given]):
            if "good" in item.name:
                assert load_module(item.source).num_functions == 1
            else:
                with pytest.raises(CompileError, match=r"file not found|lies outside"):
                    load_module(item.source)


@with_landlock
@pytest.mark.parametrize("place", ["", "below"])
def test_what_is_hidden_is_for_no_source(project, place):
    (project / "src" / place / ".git").mkdir(parents=True)
    (project / "src" / place / ".git" / "config").write_text("int token;\n")
    (project / "src" / place / ".env").write_text("int secret;\n")
    (project / "src" / place / "plain.h").write_text("int plain;\n")
    for named in (".git/config", ".env"):
        (project / "src" / "nosy.c").write_text(f'#include "{place or "."}/{named}"\n')
        refused(project / "src" / "nosy.c", named, "lies outside")
        refused(project / "src" / "nosy.c", named, "lies outside", readable=[project])
    (project / "src" / "f.c").write_text(
        f'#include "{place or "."}/plain.h"\n#include "own/deep.h"\nint f(void) {{ return plain + deep; }}\n'
    )
    for readable in ([], [project]):
        assert b"@plain" in compile_source(project / "src" / "f.c", readable=readable).ir
        assert b"ret i32 5" in compile_source(project / "src" / "up.c", readable=[project]).ir
    (project / "src" / place / "later.h").write_text("int later;\n")
    (project / "src" / "f.c").write_text(f'#include "{place or "."}/later.h"\nint f(void) {{ return later; }}\n')
    assert b"@later" in compile_source(project / "src" / "f.c", readable=[project]).ir


@with_landlock
def test_a_source_of_a_hidden_folder_reads_the_code_in_it(project):
    (project / ".store").mkdir()
    (project / ".store" / "token").write_text("int token;\n")
    (project / ".store" / "own.h").write_text("int own;\n")
    (project / ".store" / "f.c").write_text('#include "own.h"\nint f(void) { return own; }\n')
    (project / ".store" / "nosy.c").write_text('#include "token"\n')
    by_name = {Path(item.name).name: item for item in find_inputs([str(project)])}
    assert load_module(by_name["f.c"].source).num_functions == 1
    with pytest.raises(CompileError, match="lies outside"):
        load_module(by_name["nosy.c"].source)


@with_landlock
@pytest.mark.parametrize("which", ["/tmp", "TMPDIR", "shared"])
def test_a_folder_of_temporary_files_is_its_sources_one_by_one(tmp_path, monkeypatch, which):
    folder = Path("/tmp") if which == "/tmp" else tmp_path / "shared"
    if which == "shared":
        folder.mkdir()
        folder.chmod(0o1777)
    else:  # where TMPDIR names another, /tmp holds files of others all the same
        (tmp_path / "shared").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "shared"))
    with tempfile.TemporaryDirectory(dir=folder) as other, tempfile.NamedTemporaryFile(dir=folder, suffix=".c") as nosy:
        Path(other, "secret").write_text("int key;\n")
        nosy.write(f'#include "{Path(other).name}/secret"\nint f(void) {{ return key; }}\n'.encode())
        nosy.flush()
        refused(nosy.name, "lies outside")
        refused(nosy.name, "lies outside", readable=[folder])


@with_landlock
def test_a_precompiled_header_reads_its_folder_and_writes_the_cache(project, tmp_path):
    header = project / "usual.h"
    header.write_text('#include "common.h"\n#define SIX (COMMON + 1)\n')
    options = with_header(header, C, tmp_path / "cache")
    assert b"ret i32 6" in compile_source(b"int f(void) { return SIX; }\n", options, readable=[project]).ir
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".pch"]
    header.write_text('#include "../outside/secret.h"\n')
    with pytest.raises(CompileError, match="lies outside"):
        with_header(header, C, tmp_path / "cache")
    assert with_header(header, C, tmp_path / "cache", readable=[tmp_path / "outside"]).flags


def test_a_system_header_that_is_missing_is_missed_without_a_hint(tmp_path):
    (tmp_path / "beside.h").write_text("int x;\n")
    source = tmp_path / "f.c"
    source.write_text("#include <beside.h>\n")
    assert "lies outside" not in refused(source, "'beside.h' file not found")


# ---- folders that a user names


@with_landlock
def test_a_folder_that_is_given_is_for_its_files_to_include(project):
    by_name = {Path(item.name).name: item for item in find_inputs([str(project)])}
    assert sorted(by_name) == ["f.c", "up.c"]
    assert load_module(by_name["up.c"].source).num_functions == 1
    with pytest.raises(CompileError, match="lies outside"):
        load_module(Path(by_name["up.c"].name))  # the file alone
    (alone,) = (item for item in find_inputs([str(project / "src")]) if item.name.endswith("up.c"))
    with pytest.raises(CompileError, match="lies outside"):
        load_module(alone.source)


def test_programs_of_a_folder_read_it_too(project, tmp_path):
    (item,) = (item for item in find_inputs([str(project)]) if item.name.endswith("up.c"))
    modules, way = load_program(item.source, ["-O1"], cache=tmp_path / "cache")
    assert (len(modules), way) == (1, "unchanged")
    program = compile_program(str(project / "src" / "up.c"), CompileOptions(), tmp_path / "cache", readable=[project])
    assert program.compiled_as == "unchanged"


@pytest.mark.parametrize("name", ["link.ll", "link.c"])
def test_a_link_out_of_a_folder_that_is_given_is_refused(project, name):
    secret = project.parent / "outside" / "secret"
    secret.write_text("root:x:0\n")
    (project / name).symlink_to(secret)
    (item,) = (item for item in find_inputs([str(project)]) if item.name.endswith(name))
    with pytest.raises(InputError, match=rf"{name}: is a link out of .*project, to .*secret; name that file itself"):
        load_module(item.source)
    with pytest.raises(InputError, match="is a link out of"):
        load_program(item.source, ["-O1"], cache=project.parent / "cache")


def test_a_pipe_in_a_folder_is_not_waited_for(project):
    os.mkfifo(project / "pipe.ll")
    (item,) = (item for item in find_inputs([str(project)]) if item.name.endswith("pipe.ll"))
    assert item.error == f"{project}/pipe.ll: is a pipe or a device, not a file"
