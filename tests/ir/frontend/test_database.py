"""A project's compilation database, wherever sources are read."""

import json

import pytest

import ncc
from ncc.errors import CompileError, InputError
from tests.rooms import (
    CachingCompiler,
    CompileOptions,
    InputFile,
    compile_program,
    file_key,
    find_files,
    load_recipe,
)
from tests.support.refuses import refuses


@pytest.fixture
def project(tmp_path):
    """Two files of the same text, which their build gives other macros, and one that it does not know."""
    folder = tmp_path / "project"
    for name in ("one", "two", "three"):
        (folder / name).mkdir(parents=True)
        (folder / name / "f.c").write_text('#include "types.h"\nnumber f(number x) { return x OPERATION x; }\n')
    (folder / "include").mkdir()
    (folder / "include" / "types.h").write_text("typedef double number;\n")
    rows = [
        {
            "directory": "..",
            "file": f"project/{name}/f.c",
            "command": f"cc -Iproject/include '-DOPERATION={sign}'",
        }
        for name, sign in (("one", "+"), ("two", "*"))
    ]
    (folder / "compile_commands.json").write_text(json.dumps(rows))
    return folder


@pytest.fixture
def options(project):
    return CompileOptions(commands=str(project / "compile_commands.json"))


def test_each_file_is_compiled_with_its_own_flags(project, options, monkeypatch):
    monkeypatch.chdir(project)
    for path, opcode in (("one/f.c", "fadd"), (project / "two" / "f.c", "fmul")):
        assert opcode in ncc.embed(path, options=options).module.statement_text(1)
        assert opcode.encode() in compile_program(path, options, project / "cache").ir
    with refuses(CompileError, "types.h"):
        ncc.embed("three/f.c", options=options)
    given = CompileOptions(commands=options.commands, include_paths=("include",), defines=("OPERATION=-",))
    assert "fsub" in ncc.embed("three/f.c", options=given).module.statement_text(1)


def test_programs_of_one_text_and_other_flags_are_kept_apart(project, options, tmp_path):
    compiler = CachingCompiler.below(tmp_path)
    irs = [
        compiler.program_ir(InputFile(str(project / name / "f.c"), str(project)), options)[0] for name in ("one", "two")
    ]
    assert [b"fadd" in irs[0], b"fmul" in irs[1]] == [True, True]
    keys = {file_key(InputFile(str(project / name / "f.c")), options) for name in ("one", "two", "three")}
    assert len(keys) == 3


def test_a_corpus_of_a_folder_takes_what_its_database_names(project, options):
    files = find_files(load_recipe(project).compiled_with(options))
    irs = [CachingCompiler(project).ir_of(file) for file in files]
    assert [b"fadd" in ir for ir in irs] == [True, False]
    given = CompileOptions(include_paths=(str(project / "include"),), defines=("OPERATION=*",), flags=("-ffast-math",))
    files = find_files(load_recipe(project).compiled_with(given))
    assert len(files) == 3
    assert all(b"fmul fast" in CachingCompiler(project).ir_of(file) for file in files)


def test_a_damaged_database_is_refused(project, options):
    (project / "compile_commands.json").write_text("{}}")
    with refuses(InputError, "compile_commands.json", "not a compilation database"):
        ncc.embed(project / "one" / "f.c", options=options)
    with refuses(InputError, "none.json", "can't be read", "No such file"):
        ncc.embed(project / "one" / "f.c", options=CompileOptions(commands="none.json"))
