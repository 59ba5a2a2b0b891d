"""Building a corpus: the same counts however it is run, stopped or resumed, and files that can't be read."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncc.corpus.build as building
from ncc.corpus import Recipe, Source, build_corpus, load_recipe
from ncc.embedding import load_counts
from ncc.errors import InputError
from ncc.ir import read_module


@pytest.fixture
def two_a_batch(monkeypatch):
    monkeypatch.setattr(building, "BATCH_FILES", 2)


def _same(a, b):
    assert a.texts == b.texts
    for name in ("statements", "center", "context", "count"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert (a.num_files, a.num_lines) == (b.num_files, b.num_lines)


def _in_threads(recipe, folder, **options):
    with ThreadPoolExecutor(2) as pool:
        return build_corpus(recipe, folder, executor=pool, **options)


def test_threads_and_any_number_of_processes_give_the_same(code, tmp_path, two_a_batch):
    recipe = load_recipe(code)
    reports = [
        build_corpus(recipe, tmp_path / "one", jobs=1),
        build_corpus(recipe, tmp_path / "two", jobs=2),
        _in_threads(recipe, tmp_path / "threads"),
    ]
    for report, name in zip(reports, ("one", "two", "threads"), strict=True):
        _same(report.counts, reports[0].counts)
        _same(load_counts(tmp_path / name), report.counts)
    assert reports[0].failures == {}
    assert reports[0].files == {"code": 6}


def test_counts_are_those_of_the_files(code, tmp_path):
    report = _in_threads(
        Recipe(name="r", sources=(Source(name="ir", folder=str(code), patterns=("*.ll", "*.bc")),)), tmp_path
    )
    modules = [read_module(path) for path in code.iterdir() if path.suffix in (".ll", ".bc")]
    assert report.counts.statements.sum() == sum(module.num_statements for module in modules)
    assert set(report.counts.texts) == {text for module in modules for text in module.texts}
    assert report.counts.num_files == len(modules) == 4
    assert report.lines == {"ir": sum(module.num_lines for module in modules)}
    summary = json.loads((tmp_path / "report.json").read_text())
    assert (summary["files"], summary["lines"], summary["failures"]) == (report.files, report.lines, {})


def test_an_executor_of_the_callers_stays_open(code, tmp_path):
    with ThreadPoolExecutor(1) as pool:
        build_corpus(load_recipe(code / "deep"), tmp_path / "out", executor=pool)
        assert pool.submit(lambda: 3).result() == 3


def test_width_and_callees_of_the_recipe_are_used(code, tmp_path):
    source = Source(name="ir", folder=str(code), patterns=("saxpy*.ll",))
    two, one, bare = (
        _in_threads(Recipe(name="r", sources=(source,), **values), tmp_path / name).counts
        for name, values in (("two", {}), ("one", {"width": 1}), ("bare", {"keep_callees": False}))
    )
    assert (two.width, one.width) == (2, 1)
    assert one.count.sum() < two.count.sum()
    assert any("@get_global_id" in text for text in two.texts)
    assert not any("@get_global_id" in text for text in bare.texts)


def test_progress_counts_batches(code, tmp_path, two_a_batch):
    seen = []
    _in_threads(load_recipe(code), tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_only_missing_shards_are_made_again(code, tmp_path, two_a_batch):
    recipe, seen = load_recipe(code), []
    whole = _in_threads(recipe, tmp_path)
    kept = [(path, path.stat().st_mtime_ns) for path in sorted((tmp_path / "shards" / "000001").iterdir())]
    shutil.rmtree(tmp_path / "shards" / "000000")
    (tmp_path / "shards" / "000002" / "report.json").unlink()
    (tmp_path / "counts.json").unlink()
    again = _in_threads(recipe, tmp_path, progress=lambda done, total: seen.append((done, total)))
    _same(again.counts, whole.counts)
    _same(load_counts(tmp_path), whole.counts)
    assert (again.files, again.lines) == (whole.files, whole.lines)
    assert seen == [(2, 3), (3, 3)]
    assert [(path, path.stat().st_mtime_ns) for path, _ in kept] == kept


def test_a_finished_corpus_is_read_without_work(code, tmp_path):
    recipe = load_recipe(code / "deep")
    first = _in_threads(recipe, tmp_path)

    class Idle(ThreadPoolExecutor):
        def submit(self, *_: object, **__: object) -> Future:
            raise AssertionError("there is nothing to do")

    with Idle(1) as pool:
        _same(build_corpus(recipe, tmp_path, executor=pool).counts, first.counts)


def test_bad_files_are_reported_and_the_rest_is_counted(code, tmp_path):
    good = _in_threads(load_recipe(code), tmp_path / "good")
    (code / "empty.ll").write_text("")
    (code / "broken.c").write_text("int f( {\n")
    (code / "rubbish.bc").write_bytes(os.urandom(100))
    (code / "wrong.ll").write_text("define i32 @f() {\n  ret i32 %x\n")
    report = _in_threads(load_recipe(code), tmp_path / "bad")
    _same(report.counts, good.counts)
    assert {Path(path).name for path in report.failures} == {"empty.ll", "broken.c", "rubbish.bc", "wrong.ll"}
    assert "broken.c:1:" in report.failures[str(code / "broken.c")]
    assert "empty" in report.failures[str(code / "empty.ll")]
    assert json.loads((tmp_path / "bad" / "report.json").read_text())["failures"] == report.failures


def test_a_second_attempt_is_made_where_the_first_fails(code, tmp_path):
    (code / "old.c").write_text("int class(int new) { return new; }\n")  # C, but not C++
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        f'[[source]]\nname = "c"\nfolder = "{code}"\npatterns = ["old.c"]\n'
        'attempts = [{ language = "c++" }, { language = "c", flags = ["-w"] }]\n'
    )
    report = _in_threads(load_recipe(recipe), tmp_path / "out")
    assert report.failures == {}
    assert report.counts.num_files == 1
    recipe.write_text(recipe.read_text().replace(', { language = "c", flags = ["-w"] }', ""))
    assert len(_in_threads(load_recipe(recipe), tmp_path / "once").failures) == 1


def test_levels_are_files_of_their_own(code, tmp_path):
    source = Source(name="c", folder=str(code), patterns=("deep/add.c",), optimization=("-O0", "-O1"))
    report = _in_threads(Recipe(name="r", sources=(source,)), tmp_path)
    assert report.counts.num_files == 2
    assert any("alloca" in text for text in report.counts.texts)


def test_a_header_is_put_before_every_file(code, tmp_path):
    (tmp_path / "usual.h").write_text("#include <math.h>\n#define TWICE(x) (2 * (x))\n")
    (code / "no_include.c").write_text("double f(double x) { return TWICE(sqrt(x)); }\n")
    (tmp_path / "r.toml").write_text(
        f'[[source]]\nname = "c"\nfolder = "{code}"\npatterns = ["no_include.c"]\n'
        'attempts = [{ language = "c", header = "usual.h" }]\n'
    )
    report = _in_threads(load_recipe(tmp_path / "r.toml"), tmp_path / "out")
    assert report.failures == {}
    assert len(list((tmp_path / "out" / "headers").glob("usual-*.pch"))) == 1


@pytest.mark.parametrize("change", ["width", "callees", "source", "a new file"])
def test_another_recipe_does_not_go_into_the_same_folder(code, tmp_path, change):
    recipe = load_recipe(code)
    _in_threads(recipe, tmp_path / "out")
    if change == "a new file":
        (code / "new.c").write_text("int f(void) { return 1; }\n")
    other = {
        "width": replace(recipe, width=1),
        "callees": replace(recipe, keep_callees=False),
        "source": replace(recipe, sources=(replace(recipe.sources[0], optimization=("-O2",)),)),
        "a new file": recipe,
    }[change]
    with pytest.raises(InputError, match="holds the corpus of another recipe or of other files; give an empty folder"):
        _in_threads(other, tmp_path / "out")


@pytest.mark.parametrize("content", ["", "{}", "[1]"])
def test_a_damaged_plan_is_refused_in_words(code, tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    with pytest.raises(InputError, match=r"plan\.json|holds the corpus of another"):
        _in_threads(load_recipe(code), tmp_path)


def test_no_file_is_refused(tmp_path):
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="recipe nothing: no file matches"):
        build_corpus(load_recipe(tmp_path / "nothing"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


BUILD = """
import sys
import ncc.corpus.build as building
from ncc.corpus import load_recipe
building.BATCH_FILES = 1
if __name__ == "__main__":
    building.build_corpus(load_recipe(sys.argv[1]), sys.argv[2], jobs=1)
"""


def test_a_build_that_is_killed_goes_on_to_the_identical_counts(code, tmp_path, monkeypatch):
    for number in range(12):
        (code / f"more{number}.c").write_text(f"int more{number}(int *a) {{ return a[{number}] + {number} * a[0]; }}\n")
    script, out = tmp_path / "build.py", tmp_path / "out"
    script.write_text(BUILD)
    process = subprocess.Popen([sys.executable, script, code, out], start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while len(list(out.glob("shards/*/report.json"))) < 3:
            assert process.poll() is None, "the build ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    done = len(list(out.glob("shards/*/report.json")))
    assert 3 <= done < 18
    assert not (out / "counts.json").exists()
    monkeypatch.setattr(building, "BATCH_FILES", 1)
    resumed = _in_threads(load_recipe(code), out)
    _same(resumed.counts, _in_threads(load_recipe(code), tmp_path / "other").counts)
    assert resumed.files == {"code": 18}


def test_workers_end_when_their_parent_is_killed(code, tmp_path):
    script, out = tmp_path / "build.py", tmp_path / "out"
    script.write_text(BUILD)
    process = subprocess.Popen([sys.executable, script, code, out], start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not list(out.glob("shards/*/report.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.kill()
        process.wait()
        while time.monotonic() < deadline:
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)
        pytest.fail("a worker outlived the build by a minute")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
