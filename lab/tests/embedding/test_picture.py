"""The picture: what is drawn, and its file."""

import numpy as np
import pytest

from lab.tests.rooms import MARKS, Projection, family_of, project, write_png
from ncc.errors import InputError, OutputError
from tests.rooms import OPCODES, Embedding, Vocabulary, l2_normalize, load_embedding
from tests.support.refuses import refuses

ADDS = [f"<%ID> = add i{width} <%ID>, <INT>" for width in range(1, 31)]
LOADS = [f"<%ID> = load i{width}, ptr <%ID>, align 4" for width in range(1, 31)]


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
        project(embedding, max_words=4)
    first = project(embedding)
    assert np.array_equal(project(embedding).xy, first.xy)
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
    (tmp_path / "file").write_text("")
    with refuses(OutputError, "c.png"):
        write_png(projection, tmp_path / "file" / "c.png")
