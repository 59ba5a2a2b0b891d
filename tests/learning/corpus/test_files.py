"""Files of a recipe: found below folders, or named by compilation databases; shares and levels of them."""

import json
import shlex
from pathlib import Path

import pytest

from ncc.errors import InputError
from tests.rooms import Attempt, CorpusFile, Recipe, Source, build_corpus, compile_source, find_files
from tests.support.refuses import refuses


@pytest.fixture
def find(tmp_path):
    """Finds the files of one source."""

    def find(**source) -> list[CorpusFile]:
        return find_files(Recipe(name="r", sources=(Source(**({"name": "a"} | source)),)))

    return find


def _names(files):
    return [Path(file.path).name for file in files]


def test_sources_stand_in_the_recipes_order_with_their_options(code, tmp_path):
    recipe = Recipe(
        name="r",
        sources=(
            Source(
                name="c",
                folder=str(code),
                patterns=("**/*.c",),
                exclude=("**/add.c",),
                optimization=("-O0", "-O2"),
                include_paths=("inc", "."),
                defines=("A=1",),
                attempts=(Attempt(language="c++", flags=("-w",), header="/usual.hpp"), Attempt(language="c")),
            ),
            Source(name="ir", folder=str(code), patterns=("*.ll",)),
        ),
    )
    files = find_files(recipe)
    assert [(file.source, Path(file.path).name) for file in files] == [
        ("c", "tree.c"), ("c", "tree.c"), ("ir", "legacy.ll"), ("ir", "saxpy.clang22.ll"), ("ir", "tree.clang14.ll")
    ]  # fmt: skip
    (first, header), (second, no_header) = files[0].attempts
    assert (header, no_header) == ("/usual.hpp", None)
    assert (first.language, first.flags, first.defines, first.optimization) == ("c++", ("-w",), ("A=1",), "-O0")
    assert first.include_paths == (str(code / "inc"), str(code / "."))
    assert (second.language, second.flags) == ("c", ())
    assert files[1].attempts[0][0].optimization == "-O2"
    assert files[2].attempts == ()


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
    for name in ("src", "include", "build/generated", "system"):
        (folder / name).mkdir(parents=True)
    (folder / "include" / "sum.h").write_text("#define SUM(a, b) ((a) + (b))\n")
    (folder / "build" / "generated" / "config.h").write_text("#define SCALE 3\n")
    (folder / "system" / "first.h").write_text("typedef long number;\n")
    (folder / "src" / "one.c").write_text(
        '#include "sum.h"\n#include <config.h>\nnumber one(number x) { return SUM(x, SCALE) * FACTOR; }\n'
    )
    (folder / "src" / "two.cpp").write_text(
        "#include <sum.h>\nauto two(auto x) { return SUM(x, LIMIT); }\nint three(int x) { return two(x); }\n"
    )
    (folder / "src" / "unused.c").write_text("int unused;\n")
    return folder


@pytest.fixture
def database(project):
    one = (
        "/usr/bin/cc -I../include -I generated -isystem ../system -include ../system/first.h -DFACTOR=5 "
        "'-DNAME=\"a b\"' -D SPLIT=1 -U NAME -std=gnu11 -O2 -Wall -Wno-everything -fplugin=x.so -funsigned-char "
        "-fmystery-of-gcc -march=x86-64-v2 -MD -MT one.o -MF one.d -o one.o -c ../src/one.c"
    )
    two = (
        "c++ -iquote ../include -I../include -DLIMIT=7 '-DTEXT=a b' -std=c++20 -g -fno-exceptions -fno-rtti "
        "-isystem../system -Werror -pedantic -c ../src/two.cpp"
    )
    rows: list[dict[str, object]] = [
        {"file": "../src/one.c", "command": one},
        {"file": str(project / "src" / "two.cpp"), "arguments": shlex.split(two)},
    ]
    path = project / "build" / "compile_commands.json"
    path.write_text(json.dumps([{"directory": str(path.parent), **row} for row in rows]))


def test_files_of_a_compilation_database_compile_by_its_flags(project, database, find, tmp_path):
    for file in find(folder=str(project), commands="build/compile_commands.json"):
        ir = compile_source(file.path, file.attempts[0][0]).ir
        assert b"define" in ir
    source = Source(name="p", folder=str(project), commands="build/compile_commands.json")
    report = build_corpus(Recipe(name="r", sources=(source,)), tmp_path / "out", jobs=1)
    assert (report.files, report.failures) == ({"p": 2}, {})


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


ROW = {"directory": "/", "file": "a.c"}


@pytest.mark.parametrize("content", ["[", ROW, [3], [{"file": "a.c", "command": "cc a.c"}]])
def test_a_damaged_database_is_refused_in_words(project, find, content):
    text = content if isinstance(content, str) else json.dumps(content)
    (project / "build" / "compile_commands.json").write_text(text)
    with refuses(InputError, "source a", "compile_commands.json", "not a compilation database"):
        find(folder=str(project), commands="build/compile_commands.json")


@pytest.mark.parametrize("damaged", [{}, {"arguments": [3]}, {"command": "cc 'open"}])
def test_a_damaged_command_fails_its_file_alone(project, database, tmp_path, damaged):
    path = project / "build" / "compile_commands.json"
    rows = json.loads(path.read_text())
    rows.append({"directory": str(path.parent), "file": "../src/unused.c", **damaged})
    path.write_text(json.dumps(rows))
    source = Source(name="p", folder=str(project), commands="build/compile_commands.json")
    report = build_corpus(Recipe(name="r", sources=(source,)), tmp_path / "out", jobs=1)
    assert report.files == {"p": 2}
    (reason,) = map(str, report.failures.values())
    assert "unused.c can't be used" in reason
