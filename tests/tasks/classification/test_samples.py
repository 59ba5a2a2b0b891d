"""Labelled folders: found, compiled at several levels, kept, and joined to tables."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import CompileError, InputError
from tests.rooms import (
    LabelledFiles,
    describe_program,
    find_labelled_files,
    load_embedding,
    load_program,
    load_programs,
)
from tests.rooms import samples as under_test
from tests.support.refuses import refuses

DEADLY = Path(__file__).parents[2] / "samples" / "deadly"


def test_files_are_found_class_by_class(classes):
    files = find_labelled_files(classes)
    assert files.classes == ("gemm", "stencil")
    assert len(files.paths) == 40
    assert np.bincount(files.label).tolist() == [20, 20]


def test_numbers_are_in_the_order_of_numbers(tmp_path):
    for name in ("10", "9", "b", "a"):
        (tmp_path / name).mkdir()
        for file in ("11.c", "2.c"):
            (tmp_path / name / file).write_text("int f(void) { return 1; }\n")
    files = find_labelled_files(tmp_path)
    assert files.classes == ("9", "10", "a", "b")
    assert [path.rsplit("/", 1)[1] for path in files.paths[:2]] == ["2.c", "11.c"]


def test_no_folder_and_one_class_are_refused(tmp_path):
    with refuses(InputError, tmp_path / "nowhere"):
        find_labelled_files(tmp_path / "nowhere")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.c").write_text("int f(void) { return 1; }\n")
    with refuses(InputError, tmp_path, "classes", "1"):
        find_labelled_files(tmp_path)


@pytest.mark.parametrize("place", ["a/link.ll", "c"])
def test_links_out_of_the_folder_are_refused(tmp_path, place):
    code = tmp_path / "code"
    outside = tmp_path / "outside"
    for folder in (code / "a", code / "b", outside):
        folder.mkdir(parents=True)
        (folder / "x.ll").write_text("define void @f() {\n  ret void\n}\n")
    assert len(find_labelled_files(code).paths) == 2
    (code / place).symlink_to(outside / "x.ll" if place.endswith(".ll") else outside)
    with refuses(InputError, code / place, "link", outside):
        find_labelled_files(code)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_are_not_waited_for(classes, tmp_path):
    shutil.copytree(classes, tmp_path / "code")
    os.mkfifo(tmp_path / "code" / "gemm" / "pipe.c")
    with refuses(InputError, "pipe.c", "pipe"):
        find_labelled_files(tmp_path / "code")


def test_a_program_that_kills_who_reads_it_costs_itself(tmp_path, fresh, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(DEADLY))
    for name in ("a/f0", "a/f1_killed", "b/f2", "b/f3_exits"):
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / f"{name}.ll").write_text("define void @f() {\n  ret void\n}\n")
    steps: list[str] = []
    files = find_labelled_files(tmp_path / "code")
    found = load_programs(files, cache=fresh, progress=steps.append)
    assert found.row.tolist() == [0, 2]
    assert found.failures == {
        files.paths[1]: f"{files.paths[1]}: worker killed (SIGKILL), probably out of memory; try fewer --jobs",
        files.paths[3]: f"{files.paths[3]}: worker ended with exit code 3",
    }
    assert steps == ["1 of 1 batches of programs compiled and read", "2 programs of 2 classes; 2 left out"]
    assert load_programs(files, cache=fresh).failures == found.failures  # and nobody dies once more


def test_a_table_holds_what_each_file_says(classes, samples, fresh):
    files = find_labelled_files(classes)
    assert len(samples) == 40
    assert samples.failures == {}
    assert list(samples.variants) == ["-O1", "-O0"]
    abstraction = load_embedding().abstraction
    for level, table in samples.variants.items():
        for row in (0, 7, 39):
            (module,), way = load_program(files.paths[row], [level], abstraction=abstraction, cache=fresh)
            program = describe_program(module)
            part = table.rows(np.array([row]))
            assert way in samples.ways
            assert [part.texts[i] for i in part.text_id] == [program.texts[i] for i in program.text_id]
            assert part.opcode.tolist() == program.opcode.tolist()
            assert part.literal.tolist() == program.literal.tolist()
            assert part.literal_start.tolist() == program.literal_start.tolist()
    assert samples.variants["-O0"].start[-1] > samples.variants["-O1"].start[-1]


def test_what_was_read_is_not_read_again(classes, samples, cache, monkeypatch):
    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(under_test._Batch, "run", refuse)
    again = load_programs(
        find_labelled_files(classes), ("-O1", "-O0"), abstraction=load_embedding().abstraction, cache=cache
    )
    assert again.variants["-O1"].text_id.tolist() == samples.variants["-O1"].text_id.tolist()


def test_a_compiler_that_does_not_work_is_no_fault_of_programs(classes, fresh, monkeypatch):
    files = find_labelled_files(classes)
    few = LabelledFiles(files.paths[18:22], files.label[18:22], files.classes)
    monkeypatch.setenv("NCC_CLANG", "/bin/false")
    with refuses(CompileError, "/bin/false"):
        load_programs(few, cache=fresh)
    monkeypatch.delenv("NCC_CLANG")
    assert len(load_programs(few, cache=fresh)) == 4
    monkeypatch.setenv("NCC_CLANG", "/bin/false")  # what another compiler made is not taken for this one's
    with refuses(CompileError, "/bin/false"):
        load_programs(few, cache=fresh)


def test_files_that_fail_are_left_out_and_named(classes, tmp_path, fresh):
    files = find_labelled_files(classes)
    broken, empty = tmp_path / "broken.c", tmp_path / "empty.c"
    broken.write_text("int f( { }\n")
    empty.write_text("int x;\n")
    some = LabelledFiles((files.paths[0], str(broken), str(empty)), np.array([0, 1, 1]), files.classes)
    found = load_programs(some, cache=fresh)
    assert found.row.tolist() == [0]
    assert "expected" in found.failures[str(broken)]
    assert "no function with code" in found.failures[str(empty)]
    with refuses(InputError, "1 files"):
        load_programs(replace(some, paths=(str(broken),), label=np.array([0])), cache=fresh)
