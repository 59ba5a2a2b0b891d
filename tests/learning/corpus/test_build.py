"""Building a corpus: the same counts however it is run, stopped or resumed, and files that can't be read."""

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ncc
from ncc.errors import AssetError, InputError, OutputError
from tests.oracles.counts import as_counters, slow_counts
from tests.rooms import Abstraction, CorpusCounts, Recipe, Source, load_abstraction, load_recipe
from tests.rooms import corpus_build as building
from tests.support.refuses import refuses


@pytest.fixture
def two_a_batch(monkeypatch):
    monkeypatch.setattr(building, "BATCH_FILES", 2)


def _build(recipe, folder, **options):
    return ncc.build_corpus(recipe, folder, jobs=1, **options)


def test_the_abstraction_of_the_recipe_is_used(code, tmp_path):
    def build(name: str, **abstraction: Any) -> CorpusCounts:
        source = Source(name="ir", folder=str(code), patterns=("saxpy*.ll", "tree*.ll"))
        recipe = Recipe(name="r", sources=(source,), abstraction=Abstraction(**abstraction))
        _build(recipe, tmp_path / name)
        assert load_abstraction([tmp_path / name]) == recipe.abstraction
        return ncc.load_counts(tmp_path / name)

    usual, bare, buckets = build("a"), build("b", keep_callees=False), build("c", keep_immediates=True)
    assert any("@get_global_id" in text for text in usual.texts)
    assert not any("@get_global_id" in text for text in bare.texts)
    assert any("<INT:1>" in text for text in buckets.texts)
    assert usual.statements.sum() == bare.statements.sum() == buckets.statements.sum()
    assert len(bare.texts) < len(usual.texts) < len(buckets.texts)


def test_only_missing_shards_are_made_again_also_after_a_stop(code, tmp_path, two_a_batch, corpus_files):
    recipe, seen = replace(load_recipe(code), widths=(1, 2)), list[str]()

    def stop(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _build(recipe, tmp_path / "stopped", progress=stop)
    stopped = _build(recipe, tmp_path / "stopped", progress=seen.append)
    assert seen == ["2 of 3 batches", "3 of 3 batches"]
    seen.clear()
    whole = _build(recipe, tmp_path)
    files = corpus_files(tmp_path)
    kept = [path for path in sorted((tmp_path / "shards" / "000001").rglob("*")) if path.is_file()]
    stamps = [path.stat().st_mtime_ns for path in kept]
    assert len(kept) == 5
    shutil.rmtree(tmp_path / "shards" / "000000")
    (tmp_path / "shards" / "000002" / "report.json").unlink()
    (tmp_path / "width-2" / "counts.json").unlink()
    shutil.rmtree(tmp_path / "width-1")
    again = _build(recipe, tmp_path, progress=seen.append)
    assert corpus_files(tmp_path) == corpus_files(tmp_path / "stopped") == files
    assert again == stopped == whole
    assert seen == ["2 of 3 batches", "3 of 3 batches"]
    assert [path.stat().st_mtime_ns for path in kept] == stamps


def test_bad_files_are_reported_and_the_rest_is_counted(code, tmp_path, corpus_files):
    _build(load_recipe(code), tmp_path / "good")
    (code / "empty.ll").write_text("")
    (code / "broken.c").write_text("int f( {\n")
    (code / "rubbish.bc").write_bytes(os.urandom(100))
    (code / "wrong.ll").write_text("define i32 @f() {\n  ret i32 %x\n")
    report = _build(load_recipe(code), tmp_path / "bad")
    assert corpus_files(tmp_path / "bad") == corpus_files(tmp_path / "good")
    assert {Path(path).name for path in report.failures} == {"empty.ll", "broken.c", "rubbish.bc", "wrong.ll"}
    assert "broken.c:1:" in report.failures[str(code / "broken.c")]
    assert "empty" in report.failures[str(code / "empty.ll")]
    assert report.files == {"code": 6}
    assert report.summary().confidence == "4 failed"
    assert json.loads((tmp_path / "bad" / "report.json").read_text())["failures"] == report.failures


def test_a_disk_that_can_not_be_written_stops_the_build_rather_than_fail_every_file(code, tmp_path, monkeypatch):
    monkeypatch.setattr("ncc.verbs.train.check_folder", lambda *_: None)  # it breaks after the check
    (tmp_path / "ir").write_text("a file where a folder should be\n")
    with refuses(OutputError, tmp_path / "ir"):
        _build(load_recipe(code), tmp_path / "out", ir=tmp_path / "ir")
    assert not (tmp_path / "out" / "report.json").exists()
    (tmp_path / "ir").unlink()
    assert _build(load_recipe(code), tmp_path / "out", ir=tmp_path / "ir").failures == {}


@pytest.mark.parametrize("change", ["widths", "degree", "callees", "source", "a new file"])
def test_another_recipe_does_not_go_into_the_same_folder(code, tmp_path, change):
    recipe = load_recipe(code)
    _build(recipe, tmp_path / "out")
    if change == "a new file":
        (code / "new.c").write_text("int f(void) { return 1; }\n")
    other = {
        "widths": replace(recipe, widths=(1, 2)),
        "degree": replace(recipe, max_degree=50),
        "callees": replace(recipe, abstraction=Abstraction(keep_callees=False)),
        "source": replace(recipe, sources=(replace(recipe.sources[0], optimization=("-O2",)),)),
        "a new file": recipe,
    }[change]
    with refuses(InputError, tmp_path / "out", "recipe"):
        _build(other, tmp_path / "out")


@pytest.mark.parametrize("content", ["", "[1]"])
def test_a_damaged_plan_is_refused_in_words(code, tmp_path, content):
    (tmp_path / "plan.json").write_text(content)
    with refuses(InputError, tmp_path, "recipe"):
        _build(load_recipe(code), tmp_path)


def test_a_damaged_shard_is_refused_by_name_and_can_be_made_again(code, tmp_path):
    recipe = load_recipe(code)
    first = _build(recipe, tmp_path)
    shard = tmp_path / "shards" / "000000"
    reports = [("report.json", content) for content in (b"", b'{"files": 3}', b"[" * 100_000)]
    for name, content in [*reports, ("width-2/counts.safetensors", b"\xff" * 100)]:
        (shard / name).write_bytes(content)
        with refuses(AssetError, shard):
            _build(recipe, tmp_path)
        shutil.rmtree(shard)
        assert _build(recipe, tmp_path) == first, content


def test_no_file_is_refused(tmp_path):
    (tmp_path / "nothing").mkdir()
    with refuses(InputError, "nothing", "file"):
        ncc.build_corpus(load_recipe(tmp_path / "nothing"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_kill_while_the_shards_are_added_up_is_made_good(code, tmp_path, two_a_batch, monkeypatch, corpus_files):
    recipe = load_recipe(code)
    _build(recipe, tmp_path / "whole")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "sum_counts", killed)
        with pytest.raises(KeyboardInterrupt):
            _build(recipe, tmp_path / "out")
    seen: list[str] = []
    _build(recipe, tmp_path / "out", progress=seen.append)
    assert not seen  # no batch is done again
    assert corpus_files(tmp_path / "out") == corpus_files(tmp_path / "whole")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_utf8_is_built_too(tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in (b"a.c", b"b\xff.c"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text("int one(void) { return 1; }\n")
    for content in ("define void @f() {\n  ret void\n}\n", "damaged"):
        Path(os.fsdecode(os.fsencode(folder) + b"/c\xff.ll")).write_text(content)
        recipe = Recipe(name="r", sources=(Source(name="s", folder=str(folder)),))
        report = ncc.build_corpus(recipe, tmp_path / content[:7], jobs=1)
        assert report.files == {"s": 3 - len(report.failures)}
        assert len(report.failures) == (content == "damaged")


IR = Path(__file__).parents[2] / "data" / "ir"
FILES = sorted(IR.glob("tree*.ll")) + sorted(IR.glob("saxpy*.ll"))


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several versions, counted for three widths."""
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    source = f"name = 'ir'\nfolder = '{IR}'\npatterns = ['tree*.ll', 'saxpy*.ll']\n"
    path.write_text(f"widths = [1, 2, 3]\n[[source]]\n{source}")
    return path


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_corpus_has_every_statement_and_pair(recipe: Path, tmp_path: Path, jobs: int) -> None:
    report = ncc.build_corpus(recipe, tmp_path / "corpus", jobs=jobs)
    assert report.failures == {}
    for width in (1, 2, 3):
        counts = ncc.load_counts(tmp_path / "corpus", context_width=width)
        assert as_counters(counts) == slow_counts(FILES, width), f"width {width}"
        assert counts.num_files == len(FILES)
