"""``ncc evaluate``: what its commands print and keep, and what they can't."""

import json
import pickle
import shutil

import numpy as np
import pytest

import ncc
from tests.contract.cases import IR
from tests.support.refuses import check_message
from tests.support.tiny import Tiny
from tests.support.verbs import Finished, run_here

OLD = b"what was there before\n"


def evaluate(*words: object) -> Finished:
    return run_here("evaluate", *words)


# ---- embeddings and their coverage


def test_inst2vec_files_are_measured_and_words_drawn(tiny: Tiny, tmp_path):
    png = tmp_path / "words.png"
    assert evaluate("embedding", "--embedding", tiny.embedding, "--plot", png).code == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    words = {"<%ID> = add i32 <%ID>, <%ID>": 0, "<%ID> = load i32, i32* <%ID>, align 4": 1}
    files = [tmp_path / "dic_pickle", tmp_path / "emb.p"]
    for path, what in zip(files, (words, np.eye(2, 4, dtype=np.float32)), strict=True):
        path.write_bytes(pickle.dumps(what, protocol=4))
    row = evaluate("embedding", "--inst2vec", *files, "--json").row
    assert row["num_words"] == 2 + 1  # and the word of what is unknown


def test_coverage_of_a_corpus_is_that_of_its_files_of_one_abstraction(tiny: Tiny, tmp_path):
    of_files, of_corpus = (evaluate("coverage", one, "--json").row for one in (tiny.programs, tiny.corpus))
    for name in ("num_statements", "by_level", "misses"):
        assert of_files[name] == of_corpus[name], name
    recipe, source = tmp_path / "bare.toml", f"[[source]]\nname = 'a'\nfolder = '{tiny.programs}'\n"
    recipe.write_text(f"abstraction = 'paper'\n{source}patterns = ['**/*.ll']\n")
    ncc.build_corpus(recipe, tmp_path / "corpus", jobs=1)
    finished = evaluate("coverage", tmp_path / "corpus")
    assert finished.code == 2
    check_message(finished.err, f"{tmp_path / 'corpus'}: was counted with")


def test_what_can_not_be_read_is_named_and_the_rest_counted(tmp_path):
    (tmp_path / "broken.c").write_text("int f( {")
    shutil.copy(IR / "tree.clang22.ll", tmp_path)
    finished = evaluate("coverage", tmp_path, "--json")
    (figures,) = finished.rows
    assert (finished.code, figures["num_statements"] > 0) == (1, True)
    ((path, message),) = figures["failures"].items()
    assert path == str(tmp_path / "broken.c")
    check_message(message, path, ":1:")


# ---- tasks


def test_classifiers_are_measured_and_compared(tiny: Tiny, tmp_path):
    words = ["classify", tiny.programs, "--programs", tiny.cache]
    head = ["classifier", tiny.classifier, *words[1:], "--embedding", tiny.embedding]
    finished = evaluate(*head, "--levels", "1,3", "-o", tmp_path / "figures.json")
    assert finished.code == 0, finished.err
    variants = json.loads((tmp_path / "figures.json").read_text())["variants"]
    assert [one["level"] for one in variants] == ["usual", "-O1", "-O3"]
    methods = ["--method", "majority", "--method", "bag*", "--trees", "10"]
    figures = evaluate(*words, "--protocol", "all", *methods, "--cache", tmp_path / "runs", "--json").row
    assert set(figures["protocols"]) == {"grouped", "published"}
    bags = {"bag of statements + random forest", "bag of statements + linear model"}
    assert set(figures["protocols"]["grouped"]["methods"]) == {"majority", *bags}
    curve = evaluate(*words, "--method", "majority", "--per-class", "3", "--per-class", "2", "--json").row
    assert list(curve["protocols"]) == ["grouped/3", "grouped/2"]


# ---- what is missing, and what can't be written


@pytest.mark.parametrize(
    ("words", "nouns"),
    [
        ("embedding --embedding {nowhere}", ("{nowhere}",)),
        ("embedding --plot {nowhere}/x.png", ("{nowhere}",)),
        ("embedding -o {nowhere}/x.json", ("{nowhere}",)),
        ("coverage {nowhere}.ll", ("{nowhere}.ll",)),
        ("devmap -o {nowhere}/x.json", ("{nowhere}",)),
        ("devmap --data {nowhere}", ("cgo17-amd.csv",)),
        ("coarsening --data {nowhere}", ("pact-2014-",)),
        ("classify {programs} --method opcode* --trees 2 --cache {nowhere}", ("{nowhere}",)),
        ("classify {programs} --method opcode* --trees 2 --programs {nowhere}", ("{nowhere}",)),
        ("classify {programs} --method opcode* -o {nowhere}/x.json", ("{nowhere}",)),
    ],
)
def test_places_that_are_missing_or_can_not_be_written_are_named(words, nouns, tiny: Tiny, tmp_path, monkeypatch):
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    (tmp_path / "file").write_bytes(OLD)
    places = {"nowhere": tmp_path / "file" / "out", "programs": tiny.programs}
    finished = evaluate(*words.format(**places).split())
    assert finished.code == 1
    check_message(finished.err, *(noun.format(**places) for noun in nouns))
    assert [line[:5] for line in finished.err.splitlines()].count("ncc: ") == 1
    assert (tmp_path / "file").read_bytes() == OLD


def test_an_evaluation_on_a_full_disk(killer, tiny: Tiny, tmp_path):
    words = ["evaluate", "classify", tiny.programs, "--programs", tmp_path / "programs", "--method", "opcode*"]
    words += ["--trees", "5"]
    assert run_here(*words, "--no-cache").code == 0  # programs are kept, so that nothing else is written
    out = tmp_path / "out.json"
    out.write_bytes(OLD)
    for what, place in ((["--cache"], tmp_path / "runs"), (["--no-cache", "-o"], out)):
        code, said = killer.run_without_room(*words, *what, place, file_bytes=300)
        assert (code, said.count("can't be written"), said.count("File too large")) == (1, 1, 1)
        assert str(place) in said and "Traceback" not in said
    assert out.read_bytes() == OLD
