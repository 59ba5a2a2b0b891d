"""Files of a recipe: found below folders, or named by compilation databases; shares and levels of them."""

import json
from pathlib import Path

import pytest

from ncc.errors import InputError
from tests.rooms import Attempt, CorpusFile, Recipe, Source, find_files
from tests.support.refuses import refuses


@pytest.fixture
def find(tmp_path):
    """Finds the files of one source."""

    def find(**source) -> list[CorpusFile]:
        return find_files(Recipe(name="r", sources=(Source(**({"name": "a"} | source)),)))

    return find


def _names(files):
    return [Path(file.path).name for file in files]


def test_without_patterns_only_what_ncc_reads_is_found(code, find):
    (code / "deep" / "list.py").write_text("")
    (code / "folder.c").mkdir()
    assert set(_names(find(folder=str(code)))) == {
        "add.c", "tree.c", "legacy.ll", "saxpy.clang22.ll", "shapes.llvm20.bc", "tree.clang14.ll"
    }  # fmt: skip
    assert _names(find(folder=str(code), patterns=("**/*.py", "*.txt"))) == ["list.py", "notes.txt"]


# ---- parts of a source


@pytest.fixture
def many(tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(200):
        (folder / f"{i}.c").write_text("")
    return folder


def test_a_share_is_the_same_on_every_machine(many, find):
    names = _names(find(folder=str(many), share=0.04))
    assert sorted(int(name.removesuffix(".c")) for name in names) == [8, 18, 23, 51, 80, 111, 125, 149, 153]


def test_other_files_do_not_change_a_files_level_or_its_place_in_the_share(many, find):
    options = {"folder": str(many), "share": 0.5, "one_level": True, "optimization": ("-O0", "-O3")}
    before = find(**options)
    (many / "00.c").write_text("")
    (many / "zz.c").write_text("")
    after = [file for file in find(**options) if Path(file.path).name not in ("00.c", "zz.c")]
    assert after == before


# ---- folders and options


@pytest.mark.parametrize("folder", ["code", "./code/../code", "{tmp_path}/code/deep/.."])
def test_a_folder_is_named_from_the_root(code, find, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    found = find(folder=folder.format(tmp_path=tmp_path), include_paths=("inc",))
    assert found == find(folder=str(code), include_paths=("inc",))
    assert all(file.path.startswith(str(code)) for file in found)


def test_variables_in_folders_and_include_paths_are_expanded(code, find, monkeypatch):
    monkeypatch.setenv("CODE", str(code))
    monkeypatch.setenv("BELOW", "deep")
    monkeypatch.setenv("ELSEWHERE", "/opt/include")
    (file,) = find(
        folder="${CODE}/$BELOW", patterns=("add.c",), include_paths=("$ELSEWHERE", "$BELOW/x", "${CODE}", "y")
    )
    assert file.path == str(code / "deep" / "add.c")
    assert file.attempts[0][0].include_paths == (
        "/opt/include", str(code / "deep" / "deep" / "x"), str(code), str(code / "deep" / "y")
    )  # fmt: skip


def test_flags_name_the_folder(code, find):
    attempts = (Attempt(flags=("-w", "-include", "{folder}/first.h", "-I{folder}/a:{folder}")), Attempt())
    (file,) = find(folder=str(code), patterns=("deep/add.c",), attempts=attempts)
    assert file.attempts[0][0].flags == ("-w", "-include", f"{code}/first.h", f"-I{code}/a:{code}")
    assert file.attempts[1][0].flags == ()


@pytest.mark.parametrize(
    ("source", "nouns"),
    [
        ({"folder": "$NOT_SET_ANYWHERE/x"}, ["$NOT_SET_ANYWHERE/x", "environment"]),
        ({"folder": "/nowhere"}, ["nowhere is not a folder"]),
        ({"patterns": ("",)}, ["''"]),
        ({"patterns": ("/etc/*",)}, ["'/etc/*'"]),
    ],
)
def test_a_source_that_can_not_be_searched_is_named(code, find, source, nouns):
    with refuses(InputError, "source a", *nouns):
        find(**({"folder": str(code)} | source))


# ---- compilation databases


@pytest.fixture
def project(tmp_path):
    """Sources that compile only with the flags of their database, which CMake would write into a build folder."""
    folder = tmp_path / "project"
    for name, text in {
        "include/sum.h": "#define SUM(a, b) ((a) + (b))\n",
        "src/one.c": '#include "sum.h"\nint one(int x) { return SUM(x, 1) * FACTOR; }\n',
        "src/two.cpp": "#include <sum.h>\nauto two(auto x) { return SUM(x, 2); }\nint f(int x) { return two(x); }\n",
        "src/unused.c": "int unused;\n",
        "build/compile_commands.json": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def database(project):
    path = project / "build" / "compile_commands.json"
    two = "c++ -I../include -std=c++20 -c ../src/two.cpp"
    entries: list[dict[str, object]] = [
        {"file": "../src/one.c", "command": "/usr/bin/cc -I../include -DFACTOR=5 -O2 -o one.o -c ../src/one.c"},
        {"file": str(project / "src" / "two.cpp"), "arguments": two.split()},
    ]
    path.write_text(json.dumps([{"directory": str(path.parent), **entry} for entry in entries]))


def test_flags_of_the_recipe_come_after_those_of_the_database(project, database, find):
    attempts = (Attempt(flags=("-w", "-I{folder}/more")), Attempt(language="c"))
    files = find(folder=str(project), commands="build/compile_commands.json", attempts=attempts, defines=("A=1",))
    (first, _), (second, _) = files[0].attempts
    assert first.flags == (*second.flags, "-w", f"-I{project}/more")
    assert second.flags[0] == f"-I{project}/build/../include"
    assert (first.language, second.language, first.defines) == (None, "c", ("A=1",))


def test_files_outside_the_patterns_or_excluded_are_left_out(project, database, find):
    options = {"folder": str(project), "commands": "build/compile_commands.json"}
    assert _names(find(**options, patterns=("src/*",))) == ["one.c", "two.cpp"]
    assert _names(find(**options, patterns=("src/*.cpp", "include/*"))) == ["two.cpp"]
    assert _names(find(**options, exclude=("src/one*",))) == ["two.cpp"]
    assert _names(find(**options, patterns=("build/**/*",))) == []
    assert len(find(**options, optimization=("-O0", "-O3"))) == 4


def test_a_damaged_database_is_refused_by_the_name_of_its_source(project, find):
    (project / "build" / "compile_commands.json").write_text('[{"file": "a.c", "command": "cc a.c"}]')
    with refuses(InputError, "source a", "compile_commands.json", "not a compilation database"):
        find(folder=str(project), commands="build/compile_commands.json")
