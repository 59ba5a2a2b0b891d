"""A project's compilation database, wherever sources are read."""

import itertools
import json
import os
import random
import re
from pathlib import Path

import pytest

import ncc
from ncc.errors import CompileError, InputError
from tests.rooms import (
    Attempt,
    CachingCompiler,
    CompileOptions,
    CorpusFile,
    InputFile,
    Recipe,
    Source,
    compile_program,
    file_key,
    find_files,
    load_recipe,
    own_flags,
)
from tests.support.refuses import refuses
from tests.support.text import rows


@pytest.fixture
def project(tmp_path):
    """Two files of the same text, which their build gives other macros, and one that it does not know."""
    folder = tmp_path / "project"
    for name in ("one", "two", "three"):
        (folder / name).mkdir(parents=True)
        (folder / name / "f.c").write_text('#include "types.h"\nnumber f(number x) { return x OPERATION x; }\n')
    (folder / "include").mkdir()
    (folder / "include" / "types.h").write_text("typedef double number;\n")
    entries = [
        {
            "directory": "..",
            "file": f"project/{name}/f.c",
            "command": f"cc -Iproject/include '-DOPERATION={sign}'",
        }
        for name, sign in (("one", "+"), ("two", "*"))
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
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


def find(project, **more) -> list[CorpusFile]:
    """The files of a source that is the project."""
    source = Source(name="a", folder=str(project), commands="compile_commands.json", **more)
    return find_files(Recipe(name="r", sources=(source,)))


def test_flags_of_a_recipe_come_after_those_of_the_database(project):
    attempts = (Attempt(flags=("-w", "-I{folder}/more")), Attempt(language="c"))
    (first, _), (second, _) = find(project, attempts=attempts, defines=("A=1",))[0].attempts
    assert first.flags == (*second.flags, "-w", f"-I{project}/more")
    assert "-DOPERATION=+" in second.flags
    assert (first.language, second.language, first.defines) == (None, "c", ("A=1",))


def test_a_recipe_takes_what_is_in_the_database_and_in_its_patterns(project):
    for more, names in (
        ({"patterns": ("*/f.c",)}, ["one", "two"]),
        ({"patterns": ("two/*", "include/*")}, ["two"]),
        ({"exclude": ("one*/*",)}, ["two"]),
        ({"patterns": ("three/**/*",)}, []),
        ({"optimization": ("-O0", "-O3")}, ["one", "one", "two", "two"]),
    ):
        assert [Path(file.path).parent.name for file in find(project, **more)] == names


def test_a_damaged_database_is_refused(project, options):
    (project / "compile_commands.json").write_text("{}}")
    with refuses(InputError, "source a", "compile_commands.json", "not a compilation database"):
        find(project)
    with refuses(InputError, "compile_commands.json", "not a compilation database"):
        ncc.embed(project / "one" / "f.c", options=options)
    with refuses(InputError, "none.json", "can't be read", "No such file"):
        ncc.embed(project / "one" / "f.c", options=CompileOptions(commands="none.json"))


FLAGS = rows("flags.txt")


@pytest.mark.parametrize(("command", "kept"), FLAGS)
def test_a_command_gives_only_flags_that_cannot_do_harm(project, options, command, kept):
    (project / ".ssh").mkdir()
    (project / "link").symlink_to(".ssh")
    (project / "out").symlink_to("/")
    command, kept = (text.replace("{}", str(project)) for text in (command, kept))
    for entry in ({"command": command}, {"arguments": command.split()}):
        if "'" in command and "arguments" in entry:
            continue
        write(project, entry)
        assert own_flags(project / "f.c", options) == tuple(kept.split())


def write(project, *entries):
    named = [{"directory": ".", "file": "f.c"} | entry for entry in entries]
    (project / "compile_commands.json").write_text(json.dumps(named))


def test_no_order_of_words_gets_another_option_through(project, options):
    """Every word is whole, whatever surrounds it: it has its value in it, or takes none."""
    with_value = re.compile(r"-D.+|-U.+|-(?:I|isystem|iquote|include)/.+", re.DOTALL)
    alone = {"-mavx", *FLAGS[2][1].split(), *FLAGS[3][1].split()}
    words = sorted({word for command, _ in FLAGS for word in command.split()} | {*alone, "", "-", "-\n", "-D\n@x"})
    dice = random.Random(5)
    lists = [*itertools.combinations(words, 2), *(dice.choices(words, k=5) for _ in range(2000))]
    write(project, *({"file": f"{index}.c", "arguments": row} for index, row in enumerate(lists)))
    for index, row in enumerate(lists):
        for word in own_flags(project / f"{index}.c", options):
            assert word in alone or with_value.fullmatch(word), row


def test_hostile_words_leave_the_source_in_its_place(project, options):
    harmless = [command for command, kept in FLAGS[5:] if not re.search("'|-D[@-]", command + kept)]
    words = [word for word in " ".join(harmless).replace("{}", "x").split() if word != "--"]
    (project / "f.c").write_text("int f(int x) { return x OPERATION 7; }\n")
    for last in ("-mllvm", "-Xclang", "-D", "-I", "-include", "-x", "-Wp,"):
        write(project, {"arguments": ["cc", "-DOPERATION=*", *words, last]})
        module = ncc.embed(project / "f.c", options=options).module
        assert "mul" in module.statement_text(1)


COMMANDS: tuple[dict[str, object], ...] = (
    {"arguments": ["cc", 3]},
    {"arguments": ["cc", None]},
    {"arguments": ["cc", ["-DA"]]},
    {"arguments": ["cc", "-DA\0B"]},
    {"arguments": ["cc", "-DA=\ud800"]},
    {"arguments": 3},
    {"arguments": ["cc", *["-DA"] * 400_000]},
    {"command": "cc '-DA"},
    {"command": 3},
    {"command": "cc -D" + "A" * 2**20},
    {"command": "cc -DA\0"},
    {},
)


@pytest.mark.parametrize("entry", COMMANDS, ids=range(len(COMMANDS)))
def test_a_command_that_is_none_fails_its_file_alone(project, options, tmp_path, entry):
    for name in ("f.c", "g.c"):
        (project / name).write_text("int f(void) { return 1; }\n")
    write(project, entry, {"file": "g.c", "command": "cc"})
    with refuses(InputError, "compile_commands.json", "f.c", "list of strings"):
        ncc.embed(project / "f.c", options=options)
    assert ncc.embed(project / "g.c", options=options).module.num_functions == 1
    bad, good = find_files(load_recipe(project).compiled_with(options))
    with refuses(InputError, "f.c", "list of strings"):
        CachingCompiler(project).ir_of(bad)
    assert b"define" in CachingCompiler(project).ir_of(good)
    assert file_key(InputFile(str(project / "f.c")), options) != file_key(
        InputFile(str(project / "f.c")), CompileOptions()
    )


def test_what_is_no_file_of_a_usual_size_is_refused_unread(project, options, monkeypatch):
    path = project / "compile_commands.json"
    os.truncate(path, 8 << 30)
    with refuses(InputError, "compile_commands.json", "8,589,934,592 bytes"):
        ncc.embed(project / "one" / "f.c", options=options)
    path.unlink()
    os.mkfifo(path)
    for name in (path, "/dev/zero"):
        with refuses(InputError, name, "pipe or a device"):
            ncc.embed(project / "one" / "f.c", options=CompileOptions(commands=str(name)))


@pytest.mark.parametrize(
    "text", ["[" * 10**6, "3", "[3]", "[[]]", '["a"]', "[{}]", '[{"file": 3, "directory": "."}]', "[1e999]"]
)
def test_other_json_is_refused(project, options, text):
    (project / "compile_commands.json").write_text(text)
    with refuses(InputError, "compile_commands.json", "not a compilation database"):
        ncc.embed(project / "one" / "f.c", options=options)
