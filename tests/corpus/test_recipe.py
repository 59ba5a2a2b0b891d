"""Recipes: TOML and folders to lists of files, and what is refused."""

import pytest

from ncc.corpus import Recipe, Source, find_files, load_recipe
from ncc.errors import InputError


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "recipe.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def _names(files):
    return [file.path.rsplit("/", 1)[-1] for file in files]


def test_every_key_is_read(write, code, monkeypatch):
    monkeypatch.setenv("CODE", str(code))
    path = write(
        """
        name = "all"
        width = 3
        keep_callees = false
        [[source]]
        name = "c"
        folder = "$CODE"
        patterns = ["**/*.c"]
        exclude = ["**/add.c"]
        optimization = ["-O0", "-O2"]
        one_level = false
        share = 1.0
        include_paths = ["inc", "."]
        defines = ["A=1"]
        attempts = [{ language = "c++", flags = ["-w"], header = "usual.hpp" }, { language = "c" }]
        [[source]]
        name = "ir"
        folder = "${CODE}"
        patterns = ["*.ll"]
        """
    )
    path.with_name("usual.hpp").write_text("#include <cmath>\n")
    recipe = load_recipe(path)
    assert (recipe.name, recipe.width, recipe.keep_callees) == ("all", 3, False)
    files = find_files(recipe)
    assert [(file.source, file.path.rsplit("/", 1)[-1]) for file in files] == [
        ("c", "tree.c"), ("c", "tree.c"), ("ir", "legacy.ll"), ("ir", "saxpy.clang22.ll"), ("ir", "tree.clang14.ll")
    ]  # fmt: skip
    (first, header), (second, no_header) = files[0].attempts
    assert header == str(path.with_name("usual.hpp"))
    assert no_header is None
    assert (first.language, first.flags, first.defines, first.optimization) == ("c++", ("-w",), ("A=1",), "-O0")
    assert first.include_paths == (str(code / "inc"), str(code / "."))
    assert (second.language, second.flags) == ("c", ())
    assert files[1].attempts[0][0].optimization == "-O2"
    assert files[2].attempts == ()


def test_defaults_and_the_name_of_the_file(write):
    recipe = load_recipe(write('[[source]]\nname = "a"\nfolder = "/"\n'))
    assert recipe == Recipe(name="recipe", sources=(Source(name="a", folder="/"),))
    assert (recipe.width, recipe.keep_callees) == (2, True)
    assert recipe.sources[0].optimization == ("-O1",)


def test_a_folder_is_a_recipe_of_everything_that_ncc_reads(code):
    recipe = load_recipe(code)
    assert recipe.name == "code"
    files = find_files(recipe)
    assert _names(files) == sorted(
        _names(files), key=lambda name: [file.path for file in files][_names(files).index(name)]
    )
    assert set(_names(files)) == {
        "legacy.ll",
        "tree.clang14.ll",
        "shapes.llvm20.bc",
        "saxpy.clang22.ll",
        "tree.c",
        "add.c",
    }


def test_a_relative_folder_has_a_name(code, monkeypatch):
    monkeypatch.chdir(code)
    assert load_recipe(".").name == "code"


def test_the_order_of_files_is_fixed(code):
    source = Source(name="a", folder=str(code), patterns=("**/*.c", "*.ll", "*.c", "deep/*.c"))
    paths = [file.path for file in find_files(Recipe(name="r", sources=(source,)))]
    assert paths == sorted(set(paths))
    assert len(paths) == 5


def _many(tmp_path, number=200):
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(number):
        (folder / f"{i}.c").write_text("")
    return folder


def test_a_share_is_a_part_that_grows_and_does_not_depend_on_the_folder(tmp_path):
    folder = _many(tmp_path)

    def take(where, share):
        return set(_names(find_files(Recipe(name="r", sources=(Source(name="a", folder=str(where), share=share),)))))

    tenth, half, all_files = (take(folder, share) for share in (0.1, 0.5, 1))
    assert tenth < half < all_files
    assert len(all_files) == 200
    assert 70 < len(half) < 130
    moved = folder.rename(tmp_path / "moved")
    assert take(moved, 0.5) == half


def test_one_level_gives_each_file_one_of_the_levels(tmp_path):
    folder = _many(tmp_path)
    source = Source(name="a", folder=str(folder), optimization=("-O0", "-O1", "-O2", "-O3"), one_level=True)
    files = find_files(Recipe(name="r", sources=(source,)))
    assert len(files) == 200
    levels = [file.attempts[0][0].optimization for file in files]
    assert {levels.count(level) > 25 for level in ("-O0", "-O1", "-O2", "-O3")} == {True}
    assert [file.attempts[0][0].optimization for file in find_files(Recipe(name="r", sources=(source,)))] == levels


def test_a_home_folder_is_expanded(code, monkeypatch):
    monkeypatch.setenv("HOME", str(code))
    assert find_files(Recipe(name="r", sources=(Source(name="a", folder="~/deep"),)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not a recipe in TOML"),
        ("", r"has no \[\[source\]\]"),
        ("colour = 3\n[[source]]\nname='a'\nfolder='b'", r"unknown keys \['colour'\]"),
        ("[[source]]\nname='a'", "lacks 'name' or 'folder'"),
        ("[[source]]\nname='a'\nfolder='b'\npattern=['*']", r"unknown keys \['pattern'\]"),
        ("[[source]]\nname='a'\nfolder='b'\nattempts=[{std='c99'}]", r"attempt has unknown keys \['std'\]"),
        ("[[source]]\nname='a'\nfolder='b'\nshare=0", "share is 0; expected more than 0 and at most 1"),
        ("[[source]]\nname='a'\nfolder='b'\nshare=1.5", "share is 1.5"),
        ("[[source]]\nname='a'\nfolder='b'\noptimization=[]", "no optimization level"),
        ("[[source]]\nname='a'\nfolder='b'\npatterns='*.c'", r"patterns is '\*\.c'; expected a list of strings"),
        ("[[source]]\nname='a'\nfolder='b'\noptimization='-O1'", "optimization is '-O1'; expected a list of strings"),
        ("[[source]]\nname='a'\nfolder='b'\ndefines=[1]", r"defines is \[1\]; expected a list of strings"),
        ("[[source]]\nname='a'\nfolder='b'\nshare='half'", "share is 'half'; expected a number"),
        ("[[source]]\nname='a'\nfolder='b'\none_level=1", "one_level is 1; expected true or false"),
        ("[[source]]\nname=1\nfolder='b'", "name is 1; expected a string"),
        ("[[source]]\nname='a'\nfolder='b'\nattempts=[]", "attempts is empty"),
        ("[[source]]\nname='a'\nfolder='b'\nattempts=['-w']", "attempt is '-w'; expected a table"),
        ("[[source]]\nname='a'\nfolder='b'\nattempts=[{flags='-w'}]", "flags is '-w'; expected a list of strings"),
        ("[[source]]\nname='a'\nfolder='b'\nattempts=[{header='none.h'}]", "none.h: no such header"),
        ("[source]\nname='a'\nfolder='b'", r"source is .*; expected tables, \[\[source\]\]"),
        ("source = 3", r"source is 3; expected tables, \[\[source\]\]"),
        ("width=0\n[[source]]\nname='a'\nfolder='b'", "width is 0; expected 1 to 8"),
        ("width='2'\n[[source]]\nname='a'\nfolder='b'", "width is '2'; expected a whole number"),
        ("keep_callees='no'\n[[source]]\nname='a'\nfolder='b'", "keep_callees is 'no'; expected true or false"),
    ],
)
def test_what_is_refused_says_where_and_why(write, text, message):
    path = write(text)
    with pytest.raises(InputError, match=message) as refusal:
        load_recipe(path)
    assert (
        "recipe.toml" in str(refusal.value) or "source a" in str(refusal.value) or "recipe recipe" in str(refusal.value)
    )


def test_a_recipe_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.toml: can't be read: No such file"):
        load_recipe(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"bad\.toml: is not a recipe in TOML"):
        load_recipe(tmp_path / "bad.toml")


def _files_of(**source):
    return find_files(Recipe(name="r", sources=(Source(name="a", **source),)))


def test_an_unset_variable_is_named(monkeypatch):
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    with pytest.raises(InputError, match=r"\$NOT_SET_ANYWHERE/x names an environment variable that is not set"):
        _files_of(folder="$NOT_SET_ANYWHERE/x")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"source a: .*nowhere is not a folder"):
        _files_of(folder=str(tmp_path / "nowhere"))


@pytest.mark.parametrize("pattern", ["", "/etc/*"])
def test_a_pattern_that_can_not_be_searched_is_named(code, pattern):
    with pytest.raises(InputError, match=f"source a: pattern '{pattern}'".replace("*", r"\*")):
        _files_of(folder=str(code), patterns=(pattern,))
