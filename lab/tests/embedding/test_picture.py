"""Pictures: what is drawn, files, and a page that no statement can break out of."""

import json
import re
import sys

import numpy as np
import pytest

from lab.tests.rooms import FAMILIES, MARKS, Projection, project, write_html, write_png
from ncc.errors import InputError, OutputError
from tests.rooms import Embedding, Vocabulary, l2_normalize

ADDS = [f"<%ID> = add i{width} <%ID>, <INT>" for width in range(1, 31)]
LOADS = [f"<%ID> = load i{width}, ptr <%ID>, align 4" for width in range(1, 31)]
HOSTILE = "</script><script>alert(1)</script> & <!-- \u2028"


@pytest.fixture(scope="module")
def embedding() -> Embedding:
    """Two clusters of statements, and forms that are not to be drawn."""
    words = (*ADDS, *LOADS, "add …", "<unknown>")
    counts = np.array([*range(10, 70), 5, 0])
    centers = np.repeat(np.eye(2, 8), 30, axis=0)
    noise = np.random.default_rng(1).normal(scale=0.05, size=(62, 8))
    return Embedding(Vocabulary(words, counts), l2_normalize((np.r_[centers, np.eye(2, 8)] + noise).astype(np.float32)))


@pytest.fixture(scope="module")
def projection(embedding) -> Projection:
    return project(embedding, method="tsne")


@pytest.fixture
def hostile() -> Projection:
    texts = (HOSTILE, "ret void", "<%ID> = fadd float <%ID>, <%ID>")
    xy = np.array([[0, 0], [1, 1], [2, 0]], np.float32)
    return Projection(
        np.arange(3, dtype=np.int32), xy, ("other", "control flow", "floating-point arithmetic"), texts, "tsne"
    )


def test_the_most_frequent_statements_are_drawn_first(embedding, projection):
    assert projection.rows.tolist() == list(range(59, -1, -1))
    assert projection.texts[0] == LOADS[-1]
    assert projection.families[0] == "memory load"
    assert projection.xy.shape == (60, 2)
    assert projection.xy.dtype == np.float32
    assert projection.title == "The 60 most frequent statements, by t-SNE"
    assert project(embedding, method="tsne", max_words=7).rows.tolist() == list(range(59, 52, -1))


def _separated(projection: Projection) -> bool:
    """Whether each cluster's middle is farther from the other's than its points are from it, on average."""
    adds = np.array([family == "integer arithmetic" for family in projection.families])
    middles = projection.xy[adds].mean(axis=0), projection.xy[~adds].mean(axis=0)
    spread = np.linalg.norm(projection.xy[adds] - middles[0], axis=1).mean()
    return bool(np.linalg.norm(middles[0] - middles[1]) > spread)


def test_clusters_stay_apart_and_the_seed_decides(embedding, projection):
    assert _separated(projection)
    assert np.array_equal(project(embedding, method="tsne").xy, projection.xy)


def test_umap_keeps_clusters_apart_too(embedding):
    pytest.importorskip("umap", exc_type=ImportError)
    first = project(embedding, method="umap")
    assert _separated(first)
    assert np.array_equal(project(embedding).xy, first.xy)


def test_without_umap_the_error_says_what_to_do(embedding, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(InputError, match="pip install umap-learn', or use method 'tsne'"):
        project(embedding, method="umap")


def test_unknown_methods_and_too_few_words_are_refused(embedding):
    with pytest.raises(InputError, match="method 'pca' is not one of umap, tsne"):
        project(embedding, method="pca")
    with pytest.raises(InputError, match=r"4 statements to show \(max_words is 4, .* has 60\); expected 5 or more"):
        project(embedding, method="tsne", max_words=4)
    assert len(project(embedding, method="tsne", max_words=5).rows) == 5


def test_families_can_be_told_apart_by_colour_and_shape():
    assert list(MARKS) == list(FAMILIES)
    assert len({(mark.color, mark.shape) for mark in MARKS.values()}) == len(FAMILIES)


def test_the_png_is_a_picture_and_the_same_every_time(projection, tmp_path):
    write_png(projection, tmp_path / "new" / "a.png")
    write_png(projection, tmp_path / "b.png")
    data = (tmp_path / "new" / "a.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n")
    assert data == (tmp_path / "b.png").read_bytes()


def test_the_page_needs_nothing_else(projection, tmp_path):
    write_html(projection, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"\b(?:src|href)\s*=|@import|url\(|fetch\(|XMLHttpRequest|import\(", page)
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}  # a name, not fetched
    assert "default-src 'none'" in page
    assert "innerHTML" not in page


def _data(page: str) -> dict:
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.DOTALL)
    assert len(scripts) == 2
    return json.loads(scripts[0])


def test_the_page_holds_every_statement(projection, tmp_path):
    write_html(projection, tmp_path / "page.html")
    data = _data((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert data["texts"] == list(projection.texts)
    assert [family["name"] for family in data["families"]] == ["integer arithmetic", "memory load"]
    assert [family["count"] for family in data["families"]] == [30, 30]
    assert data["points"][0] == [*np.round(projection.xy[0].astype(float), 4).tolist(), 1]


def test_statements_can_t_break_out_of_the_page(hostile, tmp_path):
    write_html(hostile, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert page.count("</script>") == 2
    assert "<script>alert" not in page
    assert "<!--" not in page
    assert "\u2028" not in page
    assert _data(page)["texts"] == list(hostile.texts)


def test_a_statement_that_looks_like_a_template_s_mark_stays_text(tmp_path):
    texts = ("{{ data }}", "\\u003c", '"quoted"')
    rows = np.arange(3, dtype=np.int32)
    write_html(Projection(rows, np.zeros((3, 2), np.float32), ("other",) * 3, texts, "tsne"), tmp_path / "page.html")
    assert _data((tmp_path / "page.html").read_text(encoding="utf-8"))["texts"] == list(texts)


def test_files_that_can_t_be_written_are_named(hostile, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"page\.html: can't be written"):
        write_html(hostile, tmp_path / "file" / "page.html")
    with pytest.raises(OutputError, match=r"a\.png: can't be written"):
        write_png(hostile, tmp_path / "file" / "a.png")
