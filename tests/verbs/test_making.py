"""``ncc corpus build`` and ``ncc train``: summaries, and folders that others write to."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import ncc
from tests.rooms import folder_lock
from tests.support.refuses import check_message
from tests.support.verbs import run_here


def test_a_corpus_is_summed_up_and_not_built_twice(code, tmp_path):
    words = ["corpus", "build", code, "-o", tmp_path / "corpus", "--jobs", "1"]
    assert run_here(*words).code == 0
    again = run_here(*words)
    assert (again.code, again.err) == (0, "")  # nothing was left to do
    counts = ncc.load_counts(tmp_path / "corpus")
    summary, head, row, distinct, pairs = (line.split() for line in again.out.splitlines())
    sizes = f"{counts.num_lines:,}", f"{counts.statements.sum():,}"
    assert summary == ["6", "files", sizes[1], "statements", "0", "failed"]
    assert head == ["sources", "source", "files", "IR", "lines", "statements"]
    assert row == ["code", "6", *sizes]
    assert distinct == ["counts", f"{len(counts.texts):,}", "distinct", "statements"]
    assert pairs[:2] == [f"{counts.matrix.sum():,}", "pairs"]


def test_an_index_says_of_each_file_why_it_failed(tmp_path):
    for name, text in (("a", "int f(int x) { return x; }"), ("b", '#include "far.h"'), ("c", "int g() { return ; + }")):
        (tmp_path / f"{name}.c").write_text(f"{text}\n")
    made = run_here("index", tmp_path, "-o", tmp_path / "index")
    assert (made.code, "2 failed" in made.out, "command:" in made.err) == (1, True, False)
    check_message(made.err, "b.c", "far.h", "-I FOLDER", "--compile-commands FILE", "c.c:1:22", "expected expression")


@pytest.mark.parametrize("work", ["train embedding {corpus}", "corpus build {programs}"])
def test_a_folder_that_another_run_writes_to_is_refused(tiny, tmp_path, work):
    words = [*work.format(corpus=tiny.corpus, programs=tiny.programs).split(), "-o", tmp_path / "out"]
    with folder_lock(tmp_path / "out"), ThreadPoolExecutor(1) as pool:
        finished = pool.submit(lambda: run_here(*words)).result()
    assert (finished.code, list((tmp_path / "out").iterdir())) == (1, [])
    check_message(finished.err, str(tmp_path / "out"), "another run")
