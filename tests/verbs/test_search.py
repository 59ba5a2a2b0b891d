"""``ncc index`` and ``ncc search``: what they print, their pages, and wrong use."""

import json

import pytest

from tests.tasks.search.conftest import SUM, write_code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_code(tmp_path / "code")
    (tmp_path / "query.c").write_text(SUM.format(name="mine", number=4))
    return tmp_path


def test_an_index_is_made_and_searched(ncc, folder):
    made = ncc("index", "code", "-o", "index", "--pooling", "mean")
    assert (made.code, made.out) == (
        0,
        "index: 3 functions in 3 files (3 updated, 0 removed, 0 failed), mean vectors\n",
    )
    found = ncc("search", "index", "query.c", "--top", "2")
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert lines[0] == "mine (query.c:2-8)"
    assert {line.split("  ")[2] for line in lines[1:]} == {"first_sum", "second_sum"}
    assert {line.split("  ")[3] for line in lines[1:]} == {"code/a.c:2-8", "code/b.c:4-10"}
    (row,) = map(json.loads, ncc("search", "index", "query.c", "--function", "mine", "--json").out.splitlines())
    assert (row["query"]["function"], row["pooling"], len(row["matches"])) == ("mine", "mean", 3)
    assert {"file", "function", "demangled", "first_line", "last_line", "similarity", "copy_rate"} <= set(
        row["matches"][0]
    )


def test_groups_are_printed_and_written(ncc, folder):
    ncc("index", "code", "-o", "index")
    found = ncc("search", "index", "--duplicates", "--threshold", "0.9", "-o", "similar.html", "--source")
    lines = found.out.splitlines()
    assert lines[0].startswith("1 group with similarity ≥ 0.9 (")
    assert lines[1].startswith("2 functions, ")
    assert "first_sum(const int" in found.out
    page = (folder / "similar.html").read_text()
    assert "int second_sum(const int *a, int n) {" in page
    (row,) = map(json.loads, ncc("search", "index", "--duplicates", "--threshold", "0.9", "--json").out.splitlines())
    assert {one["function"] for one in row["functions"]} == {"first_sum", "second_sum"}
    assert (row["pooling"], row["threshold"]) == ("encoder", 0.9)


def test_a_file_that_fails_is_told(ncc, folder):
    (folder / "code" / "bad.c").write_text("int f( {\n")
    made = ncc("index", "code", "-o", "index", "--json")
    assert made.code == 1
    assert "bad.c: does not compile" in made.err
    row = json.loads(made.out)
    assert (row["num_functions"], len(row["failures"]), row["pooling"]) == (3, 1, "encoder")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "index"], "give a file to search for, or --duplicates"),
        (["search", "index", "query.c", "--duplicates"], "give a file to search for or --duplicates, not both"),
        (["search", "index", "query.c", "-o", "page.txt"], "page.txt: extension '.txt' is not .html"),
        (["index", "code", "-o", "index", "--pooling", "sum"], "pooling is 'sum'; expected one of mean, encoder"),
    ],
)
def test_wrong_use_is_told(ncc, folder, arguments, message):
    finished = ncc(*arguments)
    assert finished.code == 2
    assert message in finished.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "none", "query.c"], "none: there is no index here; ncc index FOLDER... -o none makes one"),
        (["index", "none", "-o", "index"], "none: no such file or folder"),
    ],
)
def test_what_is_missing_fails_but_is_no_wrong_use(ncc, folder, arguments, message):
    finished = ncc(*arguments)
    assert finished.code == 1
    assert message in finished.err
