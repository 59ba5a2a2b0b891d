"""Source side by side: what is read, what is refused, and that a page holds it escaped and loads nothing."""

from dataclasses import replace

import pytest

from tests.rooms import similar_page, source_lines


@pytest.fixture
def pair(made):
    (answer,) = made.search(made.to_dataframe()["file"][0], function="first_sum", top=1)
    return answer.query, answer[0], answer


def test_the_lines_of_a_function_are_read(pair):
    side = source_lines(pair[1])
    assert [number for number, _ in side.lines] == list(range(4, 11))
    assert side.lines[0][1] == "int second_sum(const int *a, int n) {"
    assert side.note == ""
    long = source_lines(replace(pair[1], first_line=1, last_line=500))
    assert len(long.lines) == 11
    assert "not known" in source_lines(replace(pair[1], first_line=0)).note
    assert "no such file" in source_lines(replace(pair[1], file="/none.c", source="", folder=None)).note


def test_debug_information_can_not_have_other_files_read(pair, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("password\n" * 20)
    for folder in (pair[1].folder, None):
        side = source_lines(replace(pair[1], source=str(secret), folder=folder))
        assert side.lines == ()
        assert "not in the index" in side.note


def test_a_page_is_whole_and_escaped(made, pair):
    evil = replace(pair[1], function="<script>alert(1)</script>", file="<b>.c\x1b[31m", source="")
    page = similar_page([replace(pair[2], matches=(pair[1], evil))], title="a <title>", about="&")
    assert "int second_sum(const int *a, int n) {" in page
    assert "<script" not in page and "<b>.c" not in page and "\x1b" not in page
    assert "a &lt;title&gt;" in page
    assert "http://" not in page and "https://" not in page
    assert "2 functions, " in similar_page([made.duplicates(0.9)], title="t", about="")
