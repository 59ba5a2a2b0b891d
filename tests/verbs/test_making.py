"""``ncc corpus build`` and ``ncc train``: a corpus of a folder, vectors from it, and heads."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.rooms import (
    Abstraction,
    folder_lock,
    load_abstraction,
    load_counts,
    load_device_head,
    load_embedding,
    train_head,
)

FORMATS = Path(__file__).parents[1] / "data" / "formats"


@pytest.fixture
def corpus(ncc, code, tmp_path):
    finished = ncc("corpus", "build", code, "-o", tmp_path / "corpus", "--jobs", "1")
    assert finished.code == 0, finished.err
    return tmp_path / "corpus"


def test_a_corpus_is_built_and_summed_up(ncc, code, corpus, tmp_path):
    counts = load_counts(corpus / "width-2")
    assert counts.num_files == 6
    again = ncc("corpus", "build", code, "-o", corpus, "--jobs", "1")
    assert again.code == 0
    assert again.err == ""  # nothing was left to do
    head, row, distinct, pairs, *_, failures = again.out.splitlines()
    assert head.split() == ["source", "files", "IR", "lines", "statements"]
    assert row.split() == ["code", "6", str(counts.num_lines), str(counts.statements.sum())]
    assert distinct == f"{len(counts.texts)} distinct statements"
    assert pairs == f"{counts.count.sum()} pairs within 2 hop(s)"
    assert failures == "0 files failed: see report.json"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.c").write_text("int f(void) { return 1; }\n")
    refused = ncc("corpus", "build", tmp_path / "other", "-o", corpus)
    assert refused.code == 2
    assert "holds the corpus of another recipe" in refused.err


def test_a_recipe_is_counted_again_from_the_ir_that_was_kept(ncc, sources, tmp_path, monkeypatch):
    recipe, text = tmp_path / "r.toml", f"[[source]]\nname = 's'\nfolder = '{sources}'\npatterns = ['dot.c']\n"
    recipe.write_text(f"widths = [1, 2]\n{text}")
    arguments = ["--jobs", "1", "--ir", tmp_path / "ir"]
    first = ncc("corpus", "build", recipe, "-o", tmp_path / "usual", *arguments)
    assert first.code == 0, first.err
    assert first.err == "1 of 1 batches\n"
    assert "pairs within 1 hop(s)" in first.out
    assert "pairs within 2 hop(s)" in first.out
    recipe.write_text(f"abstraction = 'paper'\nwidths = [3]\nmax_degree = 50\n{text}")
    monkeypatch.setenv("NCC_CLANG", "/bin/false")
    second = ncc("corpus", "build", recipe, "-o", tmp_path / "paper", *arguments)
    assert second.out.endswith("0 files failed: see report.json\n")
    assert load_abstraction([tmp_path / "paper"]) == Abstraction.paper()
    assert load_abstraction([tmp_path / "usual"]) == Abstraction()
    assert [path.name for path in sorted((tmp_path / "usual").glob("width-*"))] == ["width-1", "width-2"]
    assert load_counts(tmp_path / "paper" / "width-3").num_files == 1


def test_files_that_fail_are_named_in_the_report(ncc, tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "good.ll").write_text("define void @f() {\n  ret void\n}\n")
    (tmp_path / "code" / "bad.ll").write_text("define void @f() {\n  ret void %\n}\n")
    finished = ncc("corpus", "build", tmp_path / "code", "-o", tmp_path / "out", "--jobs", "1")
    assert finished.code == 0
    assert finished.out.endswith("1 files failed: see report.json\n")
    failures = json.loads((tmp_path / "out" / "report.json").read_text())["failures"]
    assert list(failures) == [str(tmp_path / "code" / "bad.ll")]


def test_a_scheduler_needs_dask(ncc, code, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    finished = ncc("corpus", "build", code, "-o", tmp_path / "out", "--scheduler", "tcp://127.0.0.1:8786")
    assert (finished.code, finished.out) == (1, "")
    assert (
        finished.err
        == "ncc: --scheduler needs dask.distributed: in ncc's checkout, pip install -c constraints.txt '.[cluster]'\n"
    )
    assert not (tmp_path / "out").exists()


def test_vectors_are_trained_on_a_corpus_and_used(ncc, code, corpus, tmp_path):
    out = tmp_path / "embedding"
    arguments = ["--dim", "8", "--epochs", "2", "--steps-per-epoch", "2", "--min-count", "3", "--subsample", "0"]
    finished = ncc("train", "embedding", corpus, "-o", out, *arguments)
    assert finished.code == 0, finished.err
    assert "epoch 2: " in finished.err
    embedding = load_embedding(out)
    assert json.loads(finished.out) == embedding.card
    assert embedding.dim == 8
    (row,) = [json.loads(line) for line in ncc("embed", code / "dot.c", "--embedding", out, "--json").out.splitlines()]
    assert row["dim"] == 8


def test_vectors_are_trained_by_gensim(ncc, corpus, tmp_path):
    arguments = ["--engine", "gensim", "--dim", "8", "--epochs", "1", "--num-pairs", "2000", "--min-count", "3"]
    finished = ncc("train", "embedding", corpus, "-o", tmp_path / "out", *arguments)
    assert finished.code == 0, finished.err
    assert load_embedding(tmp_path / "out").card["config"]["engine"] == "gensim"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["corpus", "build", "nowhere.toml", "-o", "out"], "nowhere.toml: can't be read"),
        (["train", "embedding", "nowhere", "-o", "out"], "nowhere/width-2/counts.json: can't be read"),
        (
            ["train", "embedding", "nowhere", "-o", "out", "--context-width", "3"],
            "nowhere/width-3/counts.json: can't be read",
        ),
        (
            ["train", "embedding", "nowhere", "-o", "out", "--engine", "magic"],
            "'magic' is not one of 'exact', 'gensim'",
        ),
        (["data", "verify", "unheard-of"], "unheard-of"),
        (["evaluate", "devmap", "--protocol", "unheard-of"], "unheard-of"),
        (["train", "devmap", "-o", "out", "--platform", "intel"], "intel"),
    ],
)
def test_what_fails_says_why_without_a_traceback(ncc, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    finished = ncc(*arguments)
    assert finished.code in (1, 2)
    assert message in finished.err
    assert finished.err.startswith("ncc: ") or "Usage" in finished.err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--dim", "0"],
        ["--epochs", "0"],
        ["--steps-per-epoch", "0"],
        ["--learning-rate", "-1"],
        ["--min-count", "0"],
        ["--context-width", "1"],
    ],
)
def test_values_out_of_range_are_refused(ncc, corpus, tmp_path, wrong):
    finished = ncc("train", "embedding", corpus, "-o", tmp_path / "out", *wrong)
    assert finished.code in (1, 2)
    assert finished.err.startswith("ncc: ")
    assert not (tmp_path / "out").exists()


def test_a_device_head_is_fitted_and_written(ncc, tmp_path, monkeypatch):
    head = load_device_head(FORMATS / "times-lstm-v4")
    asked: dict[str, object] = {}

    def fit(platform, model, embedding, seed, data, _tell):
        asked.update(platform=platform, model=model, embedding=embedding.fingerprint, seed=seed, data=data)
        return head

    monkeypatch.setattr(train_head, "_from_published", fit)
    arguments = ["--platform", "amd", "--model", "lstm", "--seed", "7", "--data", tmp_path]
    finished = ncc("train", "devmap", "-o", tmp_path / "head", *arguments)
    assert (finished.code, finished.err) == (0, "")
    known = {"embedding": load_embedding().fingerprint, "data": str(tmp_path)}
    assert asked == {"platform": "amd", "model": "lstm", "seed": 7} | known
    again = load_device_head(tmp_path / "head")
    assert json.loads(finished.out) == again.card
    assert "command" in again.card
    assert again.embedding_id == head.embedding_id


def test_a_device_head_needs_the_tables(ncc, tmp_path):
    finished = ncc("train", "devmap", "-o", tmp_path / "head", "--data", tmp_path)
    assert (finished.code, finished.out) == (1, "")
    assert "cgo17-nvidia.csv" in finished.err
    assert not (tmp_path / "head").exists()


def test_gensim_trains_on_the_same_counts(ncc, corpus, tmp_path):
    arguments = ["--engine", "gensim", "--num-pairs", "2000", "--dim", "4", "--epochs", "2", "--min-count", "3"]
    finished = ncc("train", "embedding", corpus, "-o", tmp_path / "out", *arguments)
    assert finished.code == 0, finished.err
    about = json.loads(finished.out)
    assert about["config"]["engine"] == "gensim"
    assert about["loss"] > about["entropy"]
    refused = ncc("train", "embedding", corpus, "-o", tmp_path / "out", "--engine", "glove")
    assert refused.code == 2
    assert "'glove' is not one of 'exact', 'gensim'" in refused.err


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of folders")
@pytest.mark.parametrize("work", ["train embedding {corpus}", "corpus build {corpus}"])
def test_a_folder_that_another_run_writes_to_is_refused(ncc, corpus, tmp_path, work):
    with folder_lock(tmp_path / "out"), ThreadPoolExecutor(1) as pool:
        (corpus / "a.c").write_text("int f(void) { return 1; }\n")
        arguments = [*work.format(corpus=corpus).split(), "-o", tmp_path / "out"]
        finished = pool.submit(lambda: ncc(*arguments)).result()
    assert finished.code == 1
    assert f"{tmp_path / 'out'}: can't be written: another run of ncc is writing to this folder" in finished.err
    assert list((tmp_path / "out").iterdir()) == []
