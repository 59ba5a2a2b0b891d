"""Pictures: what is drawn, files, and a page that no statement can break out of."""

import json
import re

import numpy as np
import pytest

from lab.tests.rooms import MARKS, Projection, family_of, project, write_html, write_png
from ncc.errors import InputError, OutputError
from tests.rooms import OPCODES, Embedding, Vocabulary, l2_normalize, load_embedding
from tests.support.refuses import refuses

ADDS = [f"<%ID> = add i{width} <%ID>, <INT>" for width in range(1, 31)]
LOADS = [f"<%ID> = load i{width}, ptr <%ID>, align 4" for width in range(1, 31)]
HOSTILE = "</script><script>alert(1)</script> & <!-- \u2028 {{ data }} \\u003c"


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("<%ID> = add nsw i32 <%ID>, <INT>", "integer arithmetic"),
        ("<%ID> = or disjoint i32 <%ID>, <INT>", "bitwise"),
        ("<%ID> = load atomic i32, ptr <%ID> seq_cst, align 4", "atomic"),
        ("store i32 <INT>, ptr <%ID>, align 4", "memory store"),
        ("<%ID> = tail call i64 @get_global_id(i32 <INT>)", "call"),
        ("define void <@ID>(ptr <%ID>)", "function header"),
        ("fcmp olt …", "comparison"),
        ("<unknown>", "other"),
        ("", "other"),
    ],
)
def test_a_statement_belongs_to_the_family_of_its_opcode(text, family):
    assert family_of(text) == family


def test_hardly_an_opcode_has_no_family_and_families_can_be_told_apart():
    assert {opcode for opcode in OPCODES if family_of(opcode) == "other"} <= {"freeze", "va_arg"}
    assert {family_of(word) for word in load_embedding().vocabulary.words} <= set(MARKS)
    assert len(set(MARKS.values())) == len(MARKS) == 16


@pytest.fixture(scope="module")
def projection() -> Projection:
    """Two clusters of statements, and forms that are not to be drawn."""
    words = (*ADDS, *LOADS, "add …", "<unknown>")
    counts = np.array([*range(10, 70), 5, 0])
    centers = np.repeat(np.eye(2, 8), 30, axis=0)
    noise = np.random.default_rng(1).normal(scale=0.05, size=(62, 8))
    vectors = l2_normalize((np.r_[centers, np.eye(2, 8)] + noise).astype(np.float32))
    embedding = Embedding(Vocabulary(words, counts), vectors)
    with refuses(InputError, "4 statements", "60"):
        project(embedding, method="tsne", max_words=4)
    first = project(embedding, method="tsne")
    assert np.array_equal(project(embedding, method="tsne").xy, first.xy)
    return first


def test_the_most_frequent_statements_are_drawn_first_and_clusters_stay_apart(projection):
    assert projection.rows.tolist() == list(range(59, -1, -1))
    assert (projection.texts[0], projection.families[0]) == (LOADS[-1], "memory load")
    assert projection.title == "The 60 most frequent statements, by t-SNE"
    adds = np.array([family == "integer arithmetic" for family in projection.families])
    middles = projection.xy[adds].mean(axis=0), projection.xy[~adds].mean(axis=0)
    spread = np.linalg.norm(projection.xy[adds] - middles[0], axis=1).mean()
    assert np.linalg.norm(middles[0] - middles[1]) > spread


def test_the_png_is_a_picture_and_the_same_every_time(projection, tmp_path):
    write_png(projection, tmp_path / "new" / "a.png")
    write_png(projection, tmp_path / "b.png")
    data = (tmp_path / "new" / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    assert data == (tmp_path / "b.png").read_bytes()


def _data(page: str) -> dict:
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.DOTALL)
    assert len(scripts) == 2
    return json.loads(scripts[0])


def test_the_page_needs_nothing_else_and_holds_every_statement(projection, tmp_path):
    write_html(projection, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"\b(?:src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest|import\(", page)
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not fetched
    assert "default-src 'none'" in page
    assert "innerHTML" not in page
    data = _data(page)
    assert data["texts"] == list(projection.texts)
    assert [(one["name"], one["count"]) for one in data["families"]] == [
        ("integer arithmetic", 30),
        ("memory load", 30),
    ]
    assert data["points"][0] == [*np.round(projection.xy[0].astype(float), 4).tolist(), 1]


def test_statements_can_t_break_out_of_the_page(tmp_path):
    texts = (HOSTILE, "ret void")
    hostile = Projection(
        np.arange(2, dtype=np.int32), np.eye(2, dtype=np.float32), ("other", "control flow"), texts, "tsne"
    )
    write_html(hostile, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert page.count("</script>") == 2
    assert "<script>alert" not in page
    assert "<!--" not in page
    assert "\u2028" not in page
    assert _data(page)["texts"] == list(texts)
    (tmp_path / "file").write_text("")
    with refuses(OutputError, "page.html"):
        write_html(hostile, tmp_path / "file" / "page.html")
