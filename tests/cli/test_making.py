"""``ncc corpus build`` and ``ncc train embedding``: a corpus of a folder, and vectors from it."""

import json

import pytest

from ncc.embedding import load_counts, load_embedding


@pytest.fixture
def corpus(ncc, code, tmp_path):
    finished = ncc("corpus", "build", code, "-o", tmp_path / "corpus", "--jobs", "1")
    assert finished.code == 0, finished.err
    return tmp_path / "corpus"


def test_a_corpus_is_built_and_summed_up(ncc, code, corpus, tmp_path):
    counts = load_counts(corpus)
    assert counts.num_files == 6
    again = ncc("corpus", "build", code, "-o", corpus, "--jobs", "1")
    assert again.code == 0
    assert f"{counts.statements.sum()} statements" in again.out
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.c").write_text("int f(void) { return 1; }\n")
    refused = ncc("corpus", "build", tmp_path / "other", "-o", corpus)
    assert refused.code == 1
    assert "holds the corpus of another recipe" in refused.err


def test_vectors_are_trained_on_a_corpus_and_used(ncc, code, corpus, tmp_path):
    out = tmp_path / "embedding"
    arguments = ["--dim", "8", "--steps", "10", "--min-count", "3", "--subsample", "0"]
    finished = ncc("train", "embedding", corpus, "-o", out, *arguments)
    assert finished.code == 0, finished.err
    assert "step 10 of 10" in finished.err
    embedding = load_embedding(out)
    assert json.loads(finished.out) == embedding.about
    assert embedding.dim == 8
    (row,) = [json.loads(line) for line in ncc("embed", code / "dot.c", "--embedding", out, "--json").out.splitlines()]
    assert row["dim"] == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["corpus", "build", "nowhere.toml", "-o", "out"], "nowhere.toml: can't be read"),
        (["train", "embedding", "nowhere", "-o", "out"], "nowhere/counts.json: can't be read"),
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


@pytest.mark.parametrize("wrong", [["--dim", "0"], ["--steps", "0"], ["--learning-rate", "-1"], ["--min-count", "0"]])
def test_values_out_of_range_are_refused(ncc, corpus, tmp_path, wrong):
    finished = ncc("train", "embedding", corpus, "-o", tmp_path / "out", *wrong)
    assert finished.code in (1, 2)
    assert finished.err.startswith("ncc: ")
    assert not (tmp_path / "out").exists()
