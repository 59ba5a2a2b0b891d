"""``ncc evaluate``: figures of the shipped embedding and of one trained here, and of device mapping."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import DataError, InputError
from tests.rooms import FileState, load_embedding, verify

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
    card = load_embedding().card["scores"]
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
    finished = ncc("evaluate", "embedding", "--embedding", folder, "--plot", png, "--html", page)
    assert finished.code == 0, finished.err
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<html" in page.read_text()


def test_inst2vec_files_are_measured(ncc, tmp_path):
    words = {"<%ID> = add i32 <%ID>, <%ID>": 0, "<%ID> = load i32, i32* <%ID>, align 4": 1}
    (tmp_path / "dic_pickle").write_bytes(pickle.dumps(words))
    (tmp_path / "emb.p").write_bytes(pickle.dumps(np.eye(2, 4, dtype=np.float32), protocol=4))
    files = [tmp_path / "dic_pickle", tmp_path / "emb.p"]
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


def test_coverage_of_each_compilers_code_is_told(ncc, tmp_path):
    for version, address in (("14.0.6", "inbounds { ptr, i32 }"), ("19.1.7 (3~deb12u1)", "inbounds nuw { ptr, i32 }")):
        ident = f'!llvm.ident = !{{!0}}\n!0 = !{{!"Debian clang version {version}"}}\n'
        lines = f"%a = getelementptr {address}, ptr %p, i32 0, i32 1\n ret ptr %a"
        (tmp_path / f"{version[:2]}.ll").write_text(f"define ptr @f(ptr %p) {{\n {lines}\n}}\n{ident}")
    (tmp_path / "nameless.ll").write_text("define void @f() {\n ret void\n}\n")
    finished = ncc("evaluate", "coverage", tmp_path)
    assert "clang 14  3  100.0%" in finished.out
    figures = json.loads(ncc("evaluate", "coverage", tmp_path, "--json").out)
    assert figures["num_statements"] == 3 + 3 + 2
    assert figures["by_compiler"] == {"clang 14": [3, 1.0], "clang 19": [3, 1.0]}


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
    assert finished.code == 2
    assert "was counted with" in finished.err


class Scores:
    """What a verb was asked for, in the place of what it answers."""

    def __init__(self, *, progress, **options):
        for number in range(1000):
            progress(f"{number} of 1000")
        self.asked = options

    def to_dict(self):
        return {"asked": {name: str(value) if isinstance(value, Path) else value for name, value in self.asked.items()}}

    def parts(self):
        return ["a table"]

    def to_card(self):
        return {"accuracy": 0.5}


@pytest.fixture
def asked(ncc, monkeypatch):
    """Runs `ncc evaluate` up to the verb, and returns what that was asked for."""

    def ask(task, *arguments):
        monkeypatch.setattr(f"ncc_lab.evaluate_{task}", Scores, raising=False)
        finished = ncc("evaluate", task, "--json", *arguments)
        assert finished.code == 0, finished.err
        assert "0 of 1000" in finished.err
        return json.loads(finished.out)["asked"]

    return ask


def test_everything_is_run_unless_told_otherwise(asked):
    for task, own in (
        ("devmap", {"platform": "all", "network_seeds": 1}),
        ("coarsening", {"networks": False}),
    ):
        assert asked(task) == own | {
            "protocol": "all",
            "method": None,
            "seeds": 5,
            "seed": 204,
            "trees": 300,
            "jobs": 1,
            "cache": None,
            "no_cache": False,
            "data": None,
        }


def test_options_are_passed_on(asked, tmp_path):
    options = ["--method", "opcode*", "--method", "lstm", "--seeds", "2", "--seed", "7", "--trees", "9", "--jobs", "3"]
    options += ["--cache", tmp_path / "here", "--data", "there"]
    expected = {
        "method": ["opcode*", "lstm"],
        "seeds": 2,
        "seed": 7,
        "trees": 9,
        "jobs": 3,
        "cache": str(tmp_path / "here"),
        "no_cache": False,
        "data": "there",
    }
    own = ["--protocol", "suite", "--platform", "amd", "--network-seeds", "3"]
    found = {"protocol": "suite", "platform": "amd", "network_seeds": 3}
    assert asked("devmap", *options, *own) == expected | found
    found = {"protocol": "pair", "networks": True}
    assert asked("coarsening", *options, "--protocol", "pair", "--networks") == expected | found
    assert asked("devmap", "--no-cache")["no_cache"]


def test_scores_are_added_to_the_card_of_a_model(ncc, monkeypatch, tmp_path):
    shipped = Path(__file__).parents[2] / "ncc" / "assets"
    for task, name in (("devmap", "devmap/amd"), ("embedding", "embedding"), ("retrieval", "encoder")):
        monkeypatch.setattr(f"ncc_lab.evaluate_{task}", Scores, raising=False)
        if task == "embedding":
            monkeypatch.setattr("ncc_lab.evaluate_embedding", lambda *_, **options: Scores(progress=str, **options))
        folder = tmp_path / name
        shutil.copytree(shipped / name, folder)
        (card,) = folder.glob("*.json")
        before = json.loads(card.read_bytes())
        monkeypatch.setattr(sys, "argv", ["ncc", "evaluate", task, "--into", str(folder)])
        finished = ncc("evaluate", task, "--into", folder, "--json")
        assert finished.code == 0, finished.err
        after = json.loads(card.read_bytes())
        key = "about" if task == "embedding" else "card"
        assert after[key].pop("scores") == {"accuracy": 0.5}
        assert after[key].pop("scores_command") == f"ncc evaluate {task} --into {folder.name}"
        before[key].pop("scores", None)
        assert after == before
    ncc_card = load_embedding(tmp_path / "embedding").card["scores"]
    assert ncc_card == {"accuracy": 0.5}  # and the tensors are still those of the card


def test_scores_are_added_to_models_alone(ncc, monkeypatch, tmp_path):
    monkeypatch.setattr("ncc_lab.evaluate_devmap", Scores, raising=False)
    finished = ncc("evaluate", "devmap", "--into", tmp_path)
    assert finished.code == 2
    assert "holds no model" in finished.err
    (tmp_path / "head.json").write_text("[]")
    finished = ncc("evaluate", "devmap", "--into", tmp_path)
    assert finished.code == 1
    assert "head.json: not the card of a model" in finished.err


def test_without_the_lab_its_verbs_say_how_to_get_it(tmp_path):
    hide = tmp_path / "sitecustomize.py"
    hide.write_text(
        "import importlib.metadata as metadata\n"
        "entry_points = metadata.entry_points\n"
        "metadata.entry_points = lambda **options: entry_points(**options | {'group': 'nobody'})\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for verb in ("evaluate", "bench"):
        command = [sys.executable, "-m", "ncc", verb, "devmap"]
        finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
        assert finished.returncode == 2
        assert finished.stderr == f"ncc: ncc {verb} is part of ncc-lab; in a checkout of ncc: pip install -e lab\n"
    command[-2:] = ["--help"]
    listed = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=60).stdout
    assert "evaluate" not in listed


def test_progress_comes_at_most_once_a_second(monkeypatch):
    from tests.rooms import throttle

    now, told = [100.0], list[str]()
    monkeypatch.setattr("ncc.cli.printing.time.monotonic", lambda: now[0])
    pass_on = throttle(told.append)
    for seconds, message in ((0, "a"), (0.5, "b"), (0.6, "c"), (0.9, "d"), (0.2, "e")):
        now[0] += seconds
        pass_on(message)
    assert told == ["a", "c", "e"]


@pytest.mark.parametrize(("error", "code"), [(InputError, 2), (DataError, 1)])
def test_device_mapping_says_what_fails(ncc, monkeypatch, error, code):
    def fail(*_, **__):
        raise error("the reason")

    monkeypatch.setattr("ncc_lab.evaluate_devmap", fail, raising=False)
    finished = ncc("evaluate", "devmap")
    assert (finished.code, finished.err) == (code, "ncc: the reason\n")


def test_device_mapping_is_measured_and_kept(ncc, tmp_path):
    if any(file.state is FileState.MISSING for name in ("devmap", "legacy_ir") for file in verify(name).files):
        pytest.skip("no local copy of the datasets devmap and legacy_ir (set NCC_DATA)")
    options = [
        "--platform",
        "amd",
        "--protocol",
        "suite",
        "--method",
        "majority",
        "--method",
        "always*",
        "--seeds",
        "2",
    ]
    options += ["--cache", tmp_path / "runs"]
    first = ncc("evaluate", "devmap", *options, "--json", "-o", tmp_path / "figures.json")
    assert first.code == 0, first.err
    assert "amd, 1 of 42: suite, majority, seed 204, fold 1" in first.err
    assert len(list((tmp_path / "runs").iterdir())) == 42
    figures = json.loads(first.out)
    assert json.loads((tmp_path / "figures.json").read_text()) == figures
    assert {"command", "hardware", "versions", "protocols"} <= set(figures)
    suite = figures["protocols"]["suite/amd"]
    assert suite["leakage"]["shared_suite"] == 0
    assert round(suite["methods"]["always GPU"]["mean_speedup"], 2) == 3.26
    again = json.loads(ncc("evaluate", "devmap", *options, "--json", "--report", tmp_path / "page.html").out)
    assert "always GPU" in (tmp_path / "page.html").read_text()
    assert again["protocols"] == figures["protocols"]  # the seconds of the runs, too
    text = ncc("evaluate", "devmap", *options).out
    assert f"{suite['methods']['majority']['accuracy']:.1%}" in text


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["embedding", "--embedding", "nowhere"], 1, "nowhere"),
        (["embedding", "--method", "pca", "--plot", "x.png"], 2, "'pca' is not one of 'umap', 'tsne'"),
        (["embedding", "--plot", "nowhere/x.png"], 1, "there is no folder"),
        (["embedding", "-k", "0"], 2, "k is 0"),
        (["coverage", "nowhere.ll"], 1, "nowhere.ll"),
        (["devmap", "--protocol", "random"], 2, "protocol is 'random'"),
        (["devmap", "--cache", "x", "--no-cache"], 2, "exclude each other"),
        (["devmap", "-o", "nowhere/x.json"], 1, "there is no folder"),
        (["devmap", "--report", "nowhere/x.html"], 1, "there is no folder"),
        (["devmap", "--seeds", "0"], 2, "--seeds"),
        (["devmap", "--jobs", "0"], 2, "--jobs"),
        (["devmap", "--data", "nowhere"], 1, "cgo17-amd.csv: missing"),
        (["coarsening", "--protocol", "random"], 2, "protocol is 'random'"),
        (["coarsening", "--cache", "x", "--no-cache"], 2, "exclude each other"),
        (["coarsening", "--data", "nowhere"], 1, "pact-2014-"),
    ],
)
def test_what_fails_says_why(ncc, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    finished = ncc("evaluate", *arguments)
    assert finished.code == code
    assert message in finished.err


def test_figures_of_times_are_added_to_those_of_other_runs(ncc, tmp_path, monkeypatch):
    def measured(protocol, _platform, *, model, **_options):
        return {protocol: {f"ncc times, {model}": {"accuracy": 0.5}, "median": {"accuracy": 0.4}}}

    monkeypatch.setattr("ncc_lab.devices.times.evaluate_times", measured)
    path = tmp_path / "t.json"
    runs = ["amd --protocol kernel --model gp", "amd --protocol kernel --model lstm", "nvidia --protocol suite"]
    for words in runs * 2:
        arguments = ["evaluate", "times", "--platform", *words.split(), "-o", str(path)]
        monkeypatch.setattr(sys, "argv", ["ncc", *arguments])
        assert ncc(*arguments).code == 0
    written = json.loads(path.read_text())
    assert written["command"] == [f"ncc evaluate times --platform {words}" for words in runs]
    assert list(written["platforms"]["amd"]["kernel"]) == ["ncc times, gp", "median", "ncc times, lstm"]
    assert list(written["platforms"]["nvidia"]) == ["suite"]
    path.write_text("{}")
    refused = ncc("evaluate", "times", "-o", path)
    assert refused.code == 2
    assert "not a file of 'ncc evaluate times' to add figures to" in refused.err
