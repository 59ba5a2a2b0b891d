"""``ncc evaluate embedding`` and ``coverage``: figures of the shipped embedding and of one trained here."""

import json
from pathlib import Path

import numpy as np
import pytest

from ncc.embedding import load_embedding

SAMPLES = Path(__file__).parents[2] / "datasets" / "samples"


def test_the_shipped_embedding_is_asked_every_group(ncc, tmp_path):
    finished = ncc("evaluate", "embedding", "--json", "-o", tmp_path / "scores.json")
    assert finished.code == 0, finished.err
    figures = json.loads(finished.out)
    assert json.loads((tmp_path / "scores.json").read_text()) == figures
    assert {group["group"] for group in figures["groups"]} == {"types", "options", "conversions", "data structures"}
    assert all(group["num_questions"] > 0 for group in figures["groups"])
    assert figures["num_words"] == len(load_embedding().vocabulary)
    assert {"command", "hardware", "versions"} <= set(figures)
    assert len(figures["distance"]["categories"]) == 11


def test_the_card_of_the_shipped_embedding_holds_what_the_command_prints(ncc):
    figures = json.loads(ncc("evaluate", "embedding", "--json").out)
    found = {group["group"]: group["percent"] for group in figures["groups"]}
    found["semantic distance"] = figures["distance"]["percent"]
    card = load_embedding().about["scores"]
    # the card is of the vectors before they were rounded to 16 bits
    assert card.keys() == found.keys()
    assert all(card[name] == pytest.approx(found[name], abs=1.0) for name in card)


def test_the_shipped_embedding_does_better_than_the_published_ones(ncc):
    figures = json.loads(ncc("evaluate", "embedding", "--json").out)
    assert all(group["percent"] > group["published_percent"] for group in figures["groups"])
    assert figures["distance"]["percent"] > figures["distance"]["published_percent"]


def test_neighbours_of_a_statement_are_shown(ncc):
    statement = "<%ID> = fadd double <%ID>, <%ID>"
    finished = ncc("evaluate", "embedding", "--nearest", statement)
    assert f"Nearest to {statement}" in finished.out
    assert "fsub double" in finished.out.split("Nearest to")[1]


def test_words_are_drawn_as_a_picture_and_as_a_page(ncc, tmp_path, code):
    arguments = ["--dim", "4", "--epochs", "2", "--min-count", "2"]
    assert ncc("corpus", "build", code, "-o", tmp_path / "corpus", "--jobs", "1").code == 0
    assert ncc("train", "embedding", tmp_path / "corpus", "-o", tmp_path / "embedding", *arguments).code == 0
    png, page = tmp_path / "words.png", tmp_path / "words.html"
    folder = tmp_path / "embedding"
    finished = ncc("evaluate", "embedding", "--embedding", folder, "--picture", png, "--page", page)
    assert finished.code == 0, finished.err
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<html" in page.read_text()


def test_inst2vec_files_are_measured(ncc, tmp_path):
    words = {"<%ID> = add i32 <%ID>, <%ID>": 0, "<%ID> = load i32, i32* <%ID>, align 4": 1}
    (tmp_path / "dictionary.json").write_text(json.dumps(words))
    np.save(tmp_path / "matrix.npy", np.eye(2, 4, dtype=np.float32))
    files = [tmp_path / "dictionary.json", tmp_path / "matrix.npy"]
    finished = ncc("evaluate", "embedding", "--inst2vec", *files, "--json")
    assert finished.code == 0, finished.err
    assert json.loads(finished.out)["num_words"] == 2 + 1  # and the word of what is unknown


def test_coverage_of_samples_adds_up(ncc, tmp_path):
    finished = ncc("evaluate", "coverage", SAMPLES, "--json")
    assert finished.code == 0, finished.err
    figures = json.loads(finished.out)
    assert sum(figures["by_level"].values()) == figures["num_statements"] > 100
    assert figures["exact_rate"] > 0.9
    assert figures["backoff_rate"] == 1
    assert figures["failures"] == {}


def test_coverage_of_a_corpus_is_that_of_its_files(ncc, code, tmp_path):
    (code / "notes.txt").unlink()
    corpus = tmp_path / "corpus"
    assert ncc("corpus", "build", code, "-o", corpus, "--jobs", "1").code == 0
    of_files, of_corpus = (json.loads(ncc("evaluate", "coverage", x, "--json").out) for x in (code, corpus))
    for name in ("num_statements", "by_level", "misses"):
        assert of_files[name] == of_corpus[name], name


def test_what_can_not_be_read_is_named_and_the_rest_counted(ncc, tmp_path, ir):
    broken = tmp_path / "broken.c"
    broken.write_text("int f( {")
    finished = ncc("evaluate", "coverage", broken, ir / "tree.clang22.ll", "--json")
    assert finished.code == 1
    assert "broken.c" in finished.err
    figures = json.loads(finished.out)
    assert list(figures["failures"]) == [str(broken)]
    assert figures["num_statements"] > 0


def test_a_corpus_of_another_abstraction_is_refused(ncc, code, tmp_path):
    recipe = tmp_path / "bare.toml"
    recipe.write_text(f"abstraction = 'paper'\n[[source]]\nname = 'a'\nfolder = '{code}'\npatterns = ['*.ll']\n")
    assert ncc("corpus", "build", recipe, "-o", tmp_path / "corpus", "--jobs", "1").code == 0
    finished = ncc("evaluate", "coverage", tmp_path / "corpus")
    assert finished.code == 1
    assert "was counted with" in finished.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["embedding", "--embedding", "nowhere"], 1, "nowhere"),
        (["embedding", "--method", "pca", "--picture", "x.png"], 2, "expected umap or tsne"),
        (["embedding", "--picture", "nowhere/x.png"], 1, "there is no folder"),
        (["embedding", "-k", "0"], 1, "k is 0"),
        (["embedding", "--ir2vec", "nowhere.json"], 1, "nowhere.json"),
        (["coverage", "nowhere.ll"], 1, "nowhere.ll"),
    ],
)
def test_what_fails_says_why(ncc, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    finished = ncc("evaluate", *arguments)
    assert finished.code == code
    assert message in finished.err
