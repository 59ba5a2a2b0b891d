"""Sources that are nosy: which files they may read, and what the messages say."""

import tempfile
from pathlib import Path

import pytest

import ncc
from ncc import CompileOptions
from ncc.errors import CompileError, InputError
from tests.rooms import compile_program, compile_source, find_inputs, landlock_version, load_program, with_header
from tests.support.clangs import CLANGS
from tests.support.refuses import refuses

with_landlock = pytest.mark.skipif(not landlock_version(), reason="this system has no Landlock")

C = CompileOptions(language="c")
OUTSIDE = "access denied"
UP = "int f(void) { return COMMON; }\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    """Files below a folder, by their paths."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def project(tmp_path):
    """A project with a source folder, a header beside it, and a secret outside of both."""
    files = {
        "outside/secret.h": "int secret;\n",
        "project/common.h": "#define COMMON 5\n",
        "project/src/own/deep.h": "int deep;\n",
        "project/src/f.c": '#include "own/deep.h"\nint f(void) { return deep; }\n',
        "project/src/up.c": f'#include "../common.h"\n{UP}',
    }
    return write(tmp_path, files) / "project"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's home, with something hidden in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return write(tmp_path / "home", {".ssh/id": "int key;\n", "beside.h": "int beside;\n"})


def refused(source, *nouns, options=C, **more):
    with refuses(CompileError, *map(str, nouns)) as caught:
        compile_source(source, options, **more)
    return str(caught.value)


# ---- reading


def test_a_source_reads_its_own_folder_and_all_below(project):
    assert b"@f(" in compile_source(project / "src" / "f.c").ir


@with_landlock
@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/zero", "/proc/self/environ", "/proc/self/status"])
@pytest.mark.parametrize("line", ['#include "{}"', '#if __has_include("{}")\n#endif', '#embed "{}"'])
def test_files_of_the_system_are_not_for_sources(tmp_path, path, line):
    source = write(tmp_path, {"nosy.c": f"{line.format(path)}\nint x;\n"}) / "nosy.c"
    assert "root:" not in refused(source, source, path, "access denied; sources may read their own folder")


@with_landlock
@pytest.mark.parametrize("clang", CLANGS)
def test_a_header_outside_is_refused_until_its_folder_is_named(project, monkeypatch, clang):
    source, options = project / "src" / "up.c", CompileOptions(clang=clang)
    message = refused(source, "../common.h", f"If you trust it: -I {project}\n", options=options)
    assert message.splitlines()[0] == f"{source}: does not compile"
    named = CompileOptions(clang=clang, include_paths=(str(project),))
    assert b"ret i32 5" in compile_source(source, named).ir
    assert b"ret i32 5" in compile_source(source, options, readable=[project]).ir
    monkeypatch.chdir(project)
    assert b"ret i32 5" in compile_source("src/up.c", options, readable=["."]).ir
    refused("src/up.c", f"-I {project}\n", options=options)


@with_landlock
@pytest.mark.parametrize(
    ("flags", "names_it"),
    {
        **dict.fromkeys(("-I {}", "-I{}", "-isystem {}", "-iquote{}", "-Xclang -I{}", "-include {}/common.h"), True),
        **dict.fromkeys(("-DFOLDER={}", "-D FOLDER={}", "-Wno-{} -w"), False),
    }.items(),
)
def test_a_flag_names_a_folder_and_a_macro_names_none(project, flags, names_it):
    source, options = project / "src" / "up.c", CompileOptions(flags=tuple(flags.format(project).split()))
    if names_it:
        assert b"ret i32 5" in compile_source(source, options).ir
    else:
        refused(source, OUTSIDE, options=options)


@with_landlock
def test_a_link_out_of_the_folder_leads_nowhere_but_as_the_source_that_its_user_named(project):
    source, link = project / "src" / "g.c", project / "src" / "link.c"
    (project / "src" / "link.h").symlink_to("../../outside/secret.h")
    (project / "src" / "folder").symlink_to("../../outside")
    for name in ("link.h", "folder/secret.h"):
        source.write_text(f'#include "{name}"\n')
        refused(source, name, OUTSIDE, "outside")
    link.symlink_to("../../outside/secret.h")
    assert b"@secret" in compile_source(link).ir
    refused(link, OUTSIDE, readable=[project])


@with_landlock
def test_assembly_brings_no_file_in(tmp_path):
    text = '__asm__(".incbin \\"../secret/key\\"");\nint f(void) { __asm__(".include \\"/etc/passwd\\""); }\n'
    write(tmp_path, {"secret/key": "0xdeadbeef\n", "src/asm.c": text})
    ir = compile_source(tmp_path / "src" / "asm.c").ir
    assert b"deadbeef" not in ir
    assert b"root:" not in ir


@with_landlock
def test_text_has_no_folder_of_its_own(project, monkeypatch):
    monkeypatch.chdir(project)
    text = f'#include "common.h"\n{UP}'.encode()
    refused(text, "common.h", f"-I {project}\n")
    assert b"ret i32 5" in compile_source(text, CompileOptions(language="c", include_paths=(".",))).ir


@with_landlock
def test_a_source_in_a_home_reads_only_code_beside_it(home, tmp_path):
    write(tmp_path, {"outside/id": "int key;\n"})
    (home / "stolen.h").symlink_to(tmp_path / "outside" / "id")
    (home / "all.h").symlink_to(tmp_path / "outside")
    (home / "good.c").write_text('#include "beside.h"\nint *f(void) { return &beside; }\n')
    assert b"@beside" in compile_source(home / "good.c").ir
    for name in (".ssh/id", "stolen.h", "all.h/id"):
        # a macro for the name would be made up, and it would compile, were the folder all of its own
        for value in ("key", "UNDECLARED + key"):
            (home / "nosy.c").write_text(f'#include "{name}"\nint f(void) {{ return {value}; }}\n')
            with refuses(CompileError, name):
                compile_program(str(home / "nosy.c"), CompileOptions(), tmp_path / "cache")


@with_landlock
def test_a_home_that_is_given_whole_is_its_sources_one_by_one(home, monkeypatch):
    good = '#include "beside.h"\nint *f(void) { return &beside; }\n'
    write(home, {"notes": "3, 4", "work/beside.h": "int beside;\n", "work/good.c": good})
    for number, named in enumerate((".ssh/id", "notes", "../.ssh/id", "../notes")):
        nosy = f'char key[] = {{\n#embed "{named}"\n}};\nchar *f(void) {{ return key; }}\n'
        write(home, {("work/" if named.startswith("..") else "") + f"nosy{number}.c": nosy})
    monkeypatch.chdir(home)
    for given in (".", str(home)):
        for item in find_inputs([given]):
            if "good" in item.name:
                assert ncc.load_module(item.source).num_functions == 1
            elif "nosy" in item.name:
                with pytest.raises(CompileError, match=rf"file not found|{OUTSIDE}"):
                    ncc.load_module(item.source)


@with_landlock
@pytest.mark.parametrize("place", [".", "below"])
def test_what_is_hidden_is_for_no_source(project, place):
    hidden = {f"{place}/.git/config": "int token;\n", f"{place}/.env": "int secret;\n"}
    source = write(project / "src", {**hidden, f"{place}/plain.h": "int plain;\n"}) / "nosy.c"
    for named in hidden:
        source.write_text(f'#include "{named}"\n')
        for readable in ([], [project]):
            refused(source, named, OUTSIDE, readable=readable)
    source.write_text(f'#include "{place}/plain.h"\n#include "own/deep.h"\nint f(void) {{ return plain + deep; }}\n')
    for readable in ([], [project]):
        assert b"@plain" in compile_source(source, readable=readable).ir
    assert b"ret i32 5" in compile_source(project / "src" / "up.c", readable=[project]).ir
    write(project / "src", {f"{place}/later.h": "int later;\n"})
    source.write_text(f'#include "{place}/later.h"\nint f(void) {{ return later; }}\n')
    assert b"@later" in compile_source(source, readable=[project]).ir


@with_landlock
@pytest.mark.parametrize("which", ["/tmp", "TMPDIR", "shared"])
def test_a_folder_of_temporary_files_is_its_sources_one_by_one(tmp_path, monkeypatch, which):
    folder = Path("/tmp") if which == "/tmp" else tmp_path / "shared"
    (tmp_path / "shared").mkdir()
    if which == "shared":
        folder.chmod(0o1777)
    else:  # where TMPDIR names another, /tmp holds files of others all the same
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "shared"))
    with tempfile.TemporaryDirectory(dir=folder) as other, tempfile.NamedTemporaryFile(dir=folder, suffix=".c") as nosy:
        Path(other, "secret").write_text("int key;\n")
        nosy.write(f'#include "{Path(other).name}/secret"\nint f(void) {{ return key; }}\n'.encode())
        nosy.flush()
        refused(nosy.name, OUTSIDE)
        refused(nosy.name, OUTSIDE, readable=[folder])


@with_landlock
def test_a_precompiled_header_reads_its_folder_and_writes_the_cache(project, tmp_path):
    header = project / "usual.h"
    header.write_text('#include "common.h"\n#define SIX (COMMON + 1)\n')
    options = with_header(header, C, tmp_path / "cache")
    assert b"ret i32 6" in compile_source(b"int f(void) { return SIX; }\n", options, readable=[project]).ir
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".pch"]
    header.write_text('#include "../outside/secret.h"\n')
    with refuses(CompileError, OUTSIDE):
        with_header(header, C, tmp_path / "cache")
    assert with_header(header, C, tmp_path / "cache", readable=[tmp_path / "outside"]).flags


def test_a_system_header_that_is_missing_is_missed_without_a_hint(tmp_path):
    write(tmp_path, {"beside.h": "int x;\n", "f.c": "#include <beside.h>\n"})
    assert OUTSIDE not in refused(tmp_path / "f.c", "'beside.h' file not found")


# ---- folders that a user names


def found(folder, name):
    """The input of a name that is found in a folder."""
    (item,) = (item for item in find_inputs([str(folder)]) if Path(item.name).name == name)
    return item


@with_landlock
def test_a_folder_that_is_given_is_for_its_files_to_include(project, tmp_path):
    given = found(project, "up.c")
    assert ncc.load_module(given.source).num_functions == 1
    modules, way = load_program(given.source, ["-O1"], cache=tmp_path / "cache")
    assert (len(modules), way) == (1, "unchanged")
    program = compile_program(given.name, CompileOptions(), tmp_path / "cache", readable=[project])
    assert program.compiled_as == "unchanged"
    for alone in (Path(given.name), found(project / "src", "up.c").source):
        with refuses(CompileError, OUTSIDE):
            ncc.load_module(alone)


@with_landlock
def test_a_source_of_a_hidden_folder_reads_the_code_in_it(project):
    good, nosy = '#include "own.h"\nint f(void) { return own; }\n', '#include "token"\n'
    hidden = {"token": "int token;\n", "own.h": "int own;\n", "good.c": good, "nosy.c": nosy}
    write(project / ".store", hidden)
    assert ncc.load_module(found(project, "good.c").source).num_functions == 1
    with refuses(CompileError, OUTSIDE):
        ncc.load_module(found(project, "nosy.c").source)


@pytest.mark.parametrize("name", ["link.ll", "link.c"])
def test_a_link_out_of_a_folder_that_is_given_is_refused(project, name):
    secret = write(project.parent, {"outside/secret": "root:x:0\n"}) / "outside" / "secret"
    (project / name).symlink_to(secret)
    source = found(project, name).source
    with refuses(InputError, f"{name}: is a link out of", project, secret, "pass that file itself"):
        ncc.load_module(source)
    with refuses(InputError, "is a link out of"):
        load_program(source, ["-O1"], cache=project.parent / "cache")
