"""An index: what it holds, finds, groups and shows; bringing it up to date, stops in between, damage and forgery."""

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, CompileError, InputError, OutputError
from tests.rooms import IndexCard, Pool, Store, content_hash, search_store, similar_page, source_lines
from tests.rooms import search_build as build
from tests.support.refuses import refuses
from tests.tasks.search.conftest import FIND, SUM


def _names(index):
    return sorted(index.store.function(row).name for row in range(len(index)))


def test_every_function_is_there_with_its_place_and_vector(made):
    frame = made.to_dataframe()
    assert list(frame["name"]) == ["first_sum", "find", "second_sum"]
    assert list(zip(frame["first_line"], frame["last_line"], strict=True)) == [(2, 8), (11, 16), (4, 10)]
    assert [Path(path).name for path in frame["file"]] == ["a.c", "a.c", "b.c"]
    assert (frame["num_statements"] > 5).all()
    assert len(made) == 3
    assert made.vectors.shape == (3, 256)
    assert np.linalg.norm(made.vectors.astype(float), axis=1) == pytest.approx(1, abs=1e-3)
    assert (made.report.num_files, made.report.num_updated, made.report.failures) == (3, 3, {})
    code = ncc.embed(frame["file"][0])
    assert made.vectors[:2] == pytest.approx(code.functions, abs=1e-3)


def test_the_nearest_are_those_of_the_largest_inner_products(made, tmp_path):
    query = tmp_path / "query.c"
    query.write_text(SUM.format(name="mine", number=4) + FIND.format(name="seek", number=9))
    sums, finds = made.search(query, top=3)
    assert [found.function for found in sums][2:] == ["find"]
    assert {found.function for found in sums[:2] if found} == {"first_sum", "second_sum"}
    assert finds[0].function == "find"
    vector = ncc.embed(query).functions[0]
    products = np.sort(made.vectors.astype(np.float32) @ vector)[::-1]
    assert [found.similarity for found in sums] == pytest.approx(products, abs=2e-3)
    (one,) = made.search(query, function="seek", top=1)
    assert (one.query.function, len(one)) == ("seek", 1)
    (by_vector,) = made.search(vector, top=1)
    assert by_vector[0].similarity == pytest.approx(products[0], abs=2e-3)
    assert list(sums.to_dataframe()["function"]) == [found.function for found in sums]


def test_a_function_is_not_its_own_answer(made):
    path = made.to_dataframe()["file"][0]
    (answer,) = made.search(path, function="first_sum")
    assert [found.function for found in answer] == ["second_sum", "find"]


def test_a_query_that_can_not_be_answered_says_why(made, tmp_path):
    (tmp_path / "bad.c").write_text("int f( {\n")
    with refuses(CompileError, "bad.c:1"):
        made.search(tmp_path / "bad.c")
    with refuses(InputError, "none.c"):
        made.search(tmp_path / "none.c")
    path = made.to_dataframe()["file"][0]
    with refuses(InputError, "third", "first_sum", "find"):
        made.search(path, function="third")
    with refuses(InputError, "top", "0"):
        made.search(path, top=0)
    with refuses(InputError, "3", "256"):
        made.search(np.zeros(3))
    types = Path(path).with_name("types.c")
    with refuses(InputError, "function"):
        made.search(types)


def test_groups_hold_copies_and_leave_small_functions_out(made):
    groups = made.duplicates(0.9)
    ((group,), threshold) = groups, groups.threshold
    assert threshold == 0.9
    assert {found.function for found in group.functions} == {"first_sum", "second_sum"}
    assert group.similarity > 0.9
    assert group.num_statements == min(found.num_statements for found in group.functions)
    assert list(groups.to_dataframe()["group"]) == [0, 0]
    assert len(made.duplicates(0.9, min_statements=1000)) == 0
    assert len(made.duplicates(0.01)) == 1
    for values in ({"threshold": 0}, {"threshold": 2}, {"min_statements": 0}, {"max_groups": 0}):
        with refuses(InputError, *values):
            made.duplicates(**values)


def test_a_function_of_a_header_is_there_once_in_groups(tmp_path):
    code = tmp_path / "code"
    code.mkdir()
    (code / "shared.h").write_text(SUM.format(name="shared", number=3).replace("int shared", "static int shared"))
    for name in ("a", "b", "c"):
        (code / f"{name}.c").write_text(f'#include "shared.h"\nint {name}(int *a) {{ return shared(a, 9); }}\n')
    options = ncc.CompileOptions(optimization="0")
    made = ncc.index(code, tmp_path / "index", options=options)
    assert _names(made).count("shared") == 3
    assert len(made.duplicates(0.9)) == 0
    frame = made.to_dataframe()
    assert {Path(path).name for path in frame["source"][frame["name"] == "shared"]} == {"shared.h"}


def test_only_what_changed_is_read_again(code, tmp_path, monkeypatch):
    folder = tmp_path / "index"
    ncc.index(code, folder)
    (code / "b.c").write_text(SUM.format(name="changed", number=6))
    (code / "c.c").write_text(FIND.format(name="added", number=2))
    (code / "types.c").unlink()
    seen: list[str] = []

    def run_here(_, batches, progress):
        for batch in batches:
            seen.extend(Path(file).name for file in batch.items)
            list(batch.run({}))

    monkeypatch.setattr(Pool, "run", run_here)
    again = ncc.index(code, folder)
    assert seen == ["b.c", "c.c"]
    assert _names(again) == ["added", "changed", "find", "first_sum"]
    assert (again.report.num_updated, again.report.num_removed, again.report.num_files) == (2, 1, 3)
    assert sorted(path.name for path in folder.iterdir()) == [
        "files-2.json", "functions-2.rows", "index.json", "text-2.utf8", "vectors-2.f16",
    ]  # fmt: skip
    (answer,) = again.search(code / "c.c", top=4)
    assert {found.function for found in answer} == {"changed", "find", "first_sum"}
    assert {found.function for found in answer if found.similarity > 0.6} == {"find"}
    same = ncc.index(code, folder)
    assert (same.report.num_updated, same.store.card.generation) == (0, 2)


def test_files_of_other_folders_stay(code, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "d.c").write_text(SUM.format(name="other", number=8))
    folder = tmp_path / "index"
    ncc.index(code, folder)
    assert _names(ncc.index([other], folder)) == ["find", "first_sum", "other", "second_sum"]
    shutil.rmtree(other)
    with refuses(InputError, "other"):
        ncc.index(other, folder)
    assert len(ncc.load_index(folder)) == 4


def test_an_index_keeps_the_encoder_that_it_was_given(code, tmp_path):
    shipped = ncc.load_encoder()
    turned = replace(shipped, center=-shipped.center)
    turned.save(tmp_path / "encoder")
    given, named = (
        ncc.index(code, tmp_path / name, encoder=one, jobs=jobs)
        for name, one, jobs in (("given", turned, 2), ("named", tmp_path / "encoder", 1))
    )
    assert np.array_equal(given.vectors, named.vectors)
    (tmp_path / "given").rename(tmp_path / "moved")
    moved = ncc.load_index(tmp_path / "moved")
    assert moved.pooler.id == ncc.embed(code / "a.c", encoder=turned).pooler.id
    assert moved.search(code / "b.c")[0][0].function == "first_sum"
    with refuses(InputError, "encoder-", "moved"):
        ncc.index(code, tmp_path / "moved")


def test_a_build_that_was_stopped_goes_on(code, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "SHARD_FILES", 1)
    told = []

    def stop(line):
        told.append(line)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ncc.index(code, tmp_path / "index", progress=stop)
    assert not (tmp_path / "index" / "index.json").exists()
    told.clear()
    made = ncc.index(code, tmp_path / "index", progress=told.append)
    assert told == ["3 of 3 batches"]
    assert _names(made) == ["find", "first_sum", "second_sum"]
    assert not (tmp_path / "index" / "parts").exists()


def test_a_bad_file_costs_itself_and_is_tried_again(code, tmp_path):
    (code / "bad.c").write_text("int f( {\n")
    (code / "empty.ll").write_text("")
    made = ncc.index(code, tmp_path / "index")
    assert sorted(Path(path).name for path in made.report.failures) == ["bad.c", "empty.ll"]
    assert len(made) == 3
    (code / "empty.ll").unlink()
    (code / "bad.c").write_text(SUM.format(name="good", number=1))
    again = ncc.index(code, tmp_path / "index")
    assert (again.report.failures, len(again)) == ({}, 4)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_link_to_itself_and_a_name_that_is_not_utf8_cost_themselves(code, tmp_path):
    (code / "loop.c").symlink_to("loop.c")
    (code / "name\udcff.c").write_text(SUM.format(name="named", number=1))
    made = ncc.index(code, tmp_path / "index")
    assert sorted(Path(path).name for path in made.report.failures) == ["loop.c", "name\udcff.c"]
    assert _names(ncc.load_index(tmp_path / "index")) == ["find", "first_sum", "second_sum"]


def test_an_index_of_failures_alone_is_tried_again(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.c").write_text('#include "sum.h"\nint f(int x) { return g(x); }\n')
    (tmp_path / "code" / "b.c").write_text("int\n")
    with refuses(InputError, "sum.h", "-I FOLDER", "b.c:1:4"):
        ncc.index(tmp_path / "code", tmp_path / "index")
    (tmp_path / "code" / "b.c").unlink()
    (tmp_path / "code" / "sum.h").write_text("static int g(int x) { return x + 1; }\n")
    assert _names(ncc.index(tmp_path / "code", tmp_path / "index"))[0] == "f"


def test_what_can_not_be_indexed_says_why(code, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with refuses(InputError, "empty"):
        ncc.index(empty, tmp_path / "index")
    (empty / "types.c").write_text("struct point { int x; };\n")
    with refuses(InputError, "function", "0 failed"):
        ncc.index(empty, tmp_path / "index")
    for name in ("-", ""):
        with refuses(InputError, "files and folders", repr(name)):
            ncc.index(name, tmp_path / "index")
    with refuses(InputError, "index"):
        ncc.load_index(tmp_path / "index")
    with refuses(OutputError, "a.c"):
        ncc.index(code, code / "a.c")
    ncc.index(code, tmp_path / "index")
    with refuses(InputError, "encoder-", "mean-"):
        ncc.index(code, tmp_path / "index", pooling="mean")


@pytest.mark.parametrize(("tile", "max_products"), [(1, 1), (7, 500), (100, 1 << 26), (1 << 10, 1 << 26)])
def test_nearest_are_those_of_the_full_matrix_in_any_tiles(tmp_path, tile, max_products, monkeypatch):
    monkeypatch.setattr(search_store, "_TILE", tile)
    monkeypatch.setattr(search_store, "_MAX_PRODUCTS", max_products)
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((200, 16)).astype(np.float16)
    vectors[150:] = vectors[50:100]  # equal ones come in order
    vectors[:3] = [[0.0], [-0.0], [2.0**-24]]  # zeros, and the least of the denormal numbers
    vectors[3:9] *= np.float16(2.0**-16)
    store = Store(tmp_path, IndexCard(pooler_id="x-1", pooling="x", embedding=None, dim=16, num_functions=200))
    vectors.tofile(tmp_path / "vectors-0.f16")
    queries = (rng.integers(-8, 8, (7, 16)) / 8).astype(np.float32)  # so that products are exact
    full = np.round(queries @ vectors.astype(np.float32).T, 4)
    order = np.argsort(-full, axis=1, kind="stable")[:, :9]
    products, rows = store.nearest(queries, 9)
    assert np.array_equal(rows, order)
    assert products == pytest.approx(np.take_along_axis(full, order, axis=1), abs=1e-3)
    assert store.nearest(queries, 300)[1].shape == (7, 200)


def test_an_index_of_other_vectors_than_this_nccs_is_refused_when_it_is_asked(code, tmp_path):
    ncc.index(code, tmp_path)
    card = json.loads((tmp_path / "index.json").read_text())
    (tmp_path / "index.json").write_text(json.dumps(card | {"pooler_id": "mean-0123"}))
    with refuses(InputError, "mean-0123", "encoder-"):
        ncc.load_index(tmp_path).search(code / "a.c")


def _forge(folder, name, change):
    """Changes a file of an index, whose card then agrees with it."""
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    card = json.loads((folder / "index.json").read_text())
    card["files"][name] = [path.stat().st_size, content_hash(path.read_bytes() * 2)]  # small: its ends are all
    (folder / "index.json").write_text(json.dumps(card))


def _with(offset, number, dtype):
    def change(data):
        return data[:offset] + np.array([number], dtype).tobytes() + data[offset + np.dtype(dtype).itemsize :]

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("functions-1.rows", _with(0, 2_000_000_000, "<i4")),
        ("functions-1.rows", _with(0, -1, "<i4")),
        ("functions-1.rows", _with(16, 2_000_000_000, "<i8")),
        ("functions-1.rows", _with(16, -5, "<i8")),
        ("functions-1.rows", _with(24, 1, "<i8")),
        ("functions-1.rows", lambda data: data[:-8]),
        ("text-1.utf8", lambda data: data + b"x"),
        ("vectors-1.f16", _with(0, np.nan, "<f2")),
        ("vectors-1.f16", _with(100, np.inf, "<f2")),
        ("vectors-1.f16", lambda data: data[:-2]),
        ("files-1.json", lambda data: data[:-1]),
        ("files-1.json", lambda data: data.replace(b", 2, null", b", 3, null")),
        ("files-1.json", lambda data: data.replace(b", 2, null", b", -2, null")),
        ("files-1.json", lambda data: data.replace(b", 2, null", b', "2", null')),
    ],
)
def test_a_forged_index_is_refused(code, tmp_path, name, change):
    ncc.index(code, tmp_path / "index")
    _forge(tmp_path / "index", name, change)
    with refuses(AssetError, "damaged", tmp_path / "index"):
        ncc.load_index(tmp_path / "index").search(code / "a.c")


@pytest.mark.parametrize(("num_functions", "dim"), [(0, 8), (0, 2**62), (1, 2**20)])
def test_an_index_of_nothing_or_of_huge_vectors_is_refused(tmp_path, num_functions, dim):
    with search_store.writing(tmp_path, IndexCard(pooler_id="x-1", pooling="x", embedding=None, dim=dim)) as writer:
        functions = [search_store.Function("f", "", 1, 3, 4)] * num_functions
        file = search_store.FileRow("a.c", None, "0", num_functions, None, {})
        writer.add(file, functions, np.zeros(num_functions * dim, np.float16))
    with refuses(AssetError, "damaged", "index.json"):
        ncc.load_index(tmp_path)


@pytest.mark.parametrize("folder", [None, "/"])
@pytest.mark.parametrize("path", ["/etc/passwd", "/dev/zero", "/proc/self/environ", "pipe", "loop"])
def test_an_index_has_no_other_files_shown(code, tmp_path, path, folder):
    made = ncc.index(code, tmp_path / "index")
    named = str(tmp_path / path)
    if path == "pipe":
        os.mkfifo(named)
    if path == "loop":
        Path(named).symlink_to(named)
    original = str(code / "a.c")

    def change(data):
        files = json.loads(data)
        for file in files:
            if file[0] == original:
                file[:2] = named, folder
        return json.dumps(files).encode()

    _forge(tmp_path / "index", "files-1.json", change)
    rows = range(len(made))
    [forged] = [one for one in map(ncc.load_index(tmp_path / "index").function_at, rows) if one.function == "find"]
    assert forged.file == named
    for root in (None, str(tmp_path / "code")):
        assert source_lines(replace(forged, source=""), root).lines == ()
        assert source_lines(replace(forged, source=named), root).lines == ()


def test_a_changed_source_is_shown_below_a_root_alone(code, tmp_path):
    found = next(iter(ncc.index(code, tmp_path / "index").search(code / "b.c", top=1)[0]))
    assert source_lines(found).lines
    with Path(found.file).open("a") as file:
        file.write("// changed\n")
    changed = replace(found, last_line=found.last_line + 1)  # what was read is remembered
    shown = [source_lines(one, root) for one, root in ((changed, str(tmp_path)), (changed, str(code)))]
    assert [len(one.lines) for one in shown if one.lines] == [len(shown[0].lines)] * 2
    excerpt = source_lines(replace(changed, hash="0" * 32))
    assert (excerpt.lines, "--root" in excerpt.note) == ((), True)
    elsewhere = source_lines(replace(changed, hash="0" * 32), str(tmp_path / "index"))
    assert elsewhere.lines == ()


def test_names_are_text_whatever_bytes_they_have(tmp_path):
    name = "evil\x1b[2J\udcff"
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "evil.ll").write_bytes(b'define void @"evil\x1b[2J\xff"() {\n  ret void\n}\n')
    made = ncc.index(tmp_path / "code", tmp_path / "index")
    [function] = made.search(tmp_path / "code" / "evil.ll", top=1)
    assert "\x1b" not in str(function)
    assert made.function_at(0).function.startswith(name[:4])
    assert "\x1b" not in str(made.function_at(0).demangled)


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
