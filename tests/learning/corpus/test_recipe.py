"""Recipes: TOML and folders to what a corpus is made of, the files that are found for them, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from ncc.errors import InputError
from tests.rooms import Abstraction, Attempt, CompileOptions, CorpusFile, Recipe, Source, find_files, load_recipe
from tests.support.refuses import refuses
from tests.support.text import rows

CORPORA = Path(__file__).parents[3] / "datasets" / "corpora"
RECIPES = sorted(CORPORA.rglob("*.toml"))
SOURCE = "[[source]]\nname='a'\nfolder='b'\n"


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "recipe.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_every_key_is_read_and_sources_stand_in_their_order_with_their_options(write, code, monkeypatch):
    monkeypatch.setenv("CODE", str(code))
    path = write(
        """
        name = "all"
        widths = [1, 3]
        max_degree = 500
        abstraction = { keep_callees = false, keep_immediates = true, max_struct_fields = 7 }
        [[source]]
        name = "c"
        folder = "$CODE"
        patterns = ["**/*.c"]
        exclude = ["**/add.c"]
        optimization = ["-O0", "-O2"]
        one_level = true
        include_paths = ["inc", "."]
        defines = ["A=1"]
        attempts = [{ language = "c++", flags = ["-w"], header = "usual.hpp" }, { language = "c" }]
        [[source]]
        name = "ir"
        folder = "${CODE}"
        patterns = ["*.ll"]
        share = 0.5
        [[source]]
        name = "made"
        folder = "$CODE/made"
        commands = "compile_commands.json"
        """
    )
    path.with_name("usual.hpp").write_text("#include <cmath>\n")
    recipe = load_recipe(path)
    assert (recipe.name, recipe.widths, recipe.max_degree) == ("all", (1, 3), 500)
    assert recipe.abstraction == Abstraction(keep_callees=False, keep_immediates=True, max_struct_fields=7)
    assert [(source.one_level, source.share, source.commands) for source in recipe.sources] == [
        (True, 1.0, None), (False, 0.5, None), (False, 1.0, "compile_commands.json")
    ]  # fmt: skip
    files = find_files(replace(recipe, sources=(replace(recipe.sources[0], one_level=False), recipe.sources[1])))
    assert [(file.source, Path(file.path).name) for file in files[:2]] == [("c", "tree.c")] * 2
    assert {file.path for file in files[2:]} < {str(path) for path in code.glob("*.ll")}
    (first, header), (second, no_header) = files[0].attempts
    assert (header, no_header) == (str(path.with_name("usual.hpp")), None)
    assert (first.language, first.flags, first.defines, first.optimization) == ("c++", ("-w",), ("A=1",), "-O0")
    assert first.include_paths == (str(code / "inc"), str(code / "."))
    assert (second.language, second.flags) == ("c", ())
    assert files[1].attempts[0][0].optimization == "-O2"
    assert files[-1].attempts == ()


def test_a_folder_is_a_recipe_of_everything_that_ncc_reads(code):
    recipe = load_recipe(code)
    assert recipe == Recipe(name="code", sources=(Source(name="code", folder=str(code)),))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_the_recipes_of_this_repository_can_be_read(path):
    recipe = load_recipe(path)
    assert recipe.name == path.stem
    assert recipe.widths == ((2,) if path.parent.name == "variants" else (1, 2, 3))
    assert len({source.name for source in recipe.sources}) == len(recipe.sources)
    for source in recipe.sources:
        for level in source.optimization:
            CompileOptions(optimization=level)
        for attempt in source.attempts:
            CompileOptions(language=attempt.language, flags=attempt.flags)


def test_a_variant_has_the_sources_of_the_recipes_that_it_includes():
    variant = load_recipe(CORPORA / "variants" / "heldout-paper.toml")
    plain = load_recipe(CORPORA / "heldout.toml")
    assert variant == Recipe(
        name="heldout-paper", sources=plain.sources, widths=(2,), abstraction=Abstraction.paper(), max_degree=None
    )


def test_sources_of_included_recipes_come_after_its_own(write, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "usual.h").write_text("#include <math.h>\n")
    (tmp_path / "deep" / "one.toml").write_text(
        "name = 'x'\nwidths = [8]\n[[source]]\nname = 'one'\nfolder = 'c'\nattempts = [{ header = '../usual.h' }]\n"
    )
    (tmp_path / "two.toml").write_text("include = ['deep/one.toml']\n[[source]]\nname = 'two'\nfolder = '/b'\n")
    recipe = load_recipe(write(f"widths = [3]\ninclude = ['two.toml', 'deep/../two.toml']\n{SOURCE}"))
    assert [source.name for source in recipe.sources] == ["a", "two", "one", "two", "one"]
    assert (recipe.name, recipe.widths, recipe.max_degree) == ("recipe", (3,), None)
    # kept IR is found by options, which hold the header's name
    assert {source.attempts[0].header for source in recipe.sources if source.name == "one"} == {
        str(tmp_path / "usual.h")
    }


def test_recipes_that_include_each_other_are_refused(write, tmp_path):
    (tmp_path / "one.toml").write_text("include = ['recipe.toml']")
    with refuses(InputError, "include"):
        load_recipe(write(f"include = ['one.toml']\n{SOURCE}"))


@pytest.mark.parametrize(("text", "nouns"), rows("recipes.txt"))
def test_what_is_refused_says_where_and_why(write, text, nouns):
    path = write(text.replace("[SOURCE]\n", SOURCE).replace("[SOURCE]", SOURCE))
    with refuses(InputError, path, *nouns.split(" | ")):
        load_recipe(path)


def test_an_included_recipe_that_is_wrong_is_named(write, tmp_path):
    path = write(f"include = ['one.toml']\n{SOURCE}")
    with refuses(InputError, "one.toml", "No such file"):
        load_recipe(path)
    (tmp_path / "one.toml").write_text("colour = 3\n" + SOURCE)
    with refuses(InputError, "one.toml", "colour"):
        load_recipe(path)
    (tmp_path / "one.toml").write_bytes(b"\xff\xfe")
    with refuses(InputError, "one.toml", "TOML"):
        load_recipe(path)


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
