"""``ncc train classify``, ``ncc classify`` and ``ncc evaluate classify`` on a small folder of classes."""

import json

import pytest

from datasets.generators import generate
from tests.rooms import load_classifier

WHAT = ("--epochs", "2", "--batch-size", "16", "--hidden", "8", "--min-steps", "4")
LEVELS = ("--levels", "1,0")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """12 matrix products and 12 stencils, in folders."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("gemm", "stencil"):
        (folder / name).mkdir()
        for file, text in generate(name, 12):
            (folder / name / file).write_text(text)
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def head(ncc, programs, kept):
    """A classifier of the two, trained for a moment once."""
    folder = kept / "head"
    if not folder.exists():
        finished = ncc("train", "classify", programs, "-o", folder, *LEVELS, "--cache", kept / "programs", *WHAT)
        assert finished.code == 0, finished.err
        assert "24 programs of 2 classes; 0 left out" in finished.err
        assert "epoch 2: " in finished.err
        about = json.loads(finished.out)
        assert (about["programs"], about["levels"]) == (24, ["-O1", "-O0"])
        assert set(about["test_accuracy"]) == {"all levels together", "-O1", "-O0"}
        assert about["command"].startswith("ncc ")
        assert not (folder / "checkpoint.pt").exists()
    return folder


def test_a_classifier_is_trained_and_asked(ncc, programs, head):
    assert load_classifier(head).classes == ("gemm", "stencil")
    finished = ncc("classify", programs / "gemm", "--head", head, "--json", "--top", "1")
    assert finished.code == 0, finished.err
    answers = [json.loads(line) for line in finished.out.splitlines()]
    assert len(answers) == 12
    for answer in answers:
        assert answer["ok"]
        (best,) = answer["classes"]
        assert best["label"] in ("gemm", "stencil")
        assert 0.5 <= best["probability"] <= 1
        assert answer["num_statements"] > 0
        assert answer["levels"] == ["-O1", "-O0"]


def test_levels_may_be_chosen(ncc, programs, head):
    program = programs / "gemm" / "gemm-00001.c"
    answers = [
        json.loads(ncc("classify", program, "--head", head, "--json", *levels).out)
        for levels in ((), ("--levels", "1"), ("--levels", "0"), ("--levels", "1, 0, 1"))
    ]
    assert [answer["levels"] for answer in answers] == [["-O1", "-O0"], ["-O1"], ["-O0"], ["-O1", "-O0"]]
    sizes = [answer["num_statements"] for answer in answers]
    assert sizes[0] == sizes[1] + sizes[2] == sizes[3]
    assert sizes[1] < sizes[2]


@pytest.mark.parametrize("levels", ["7", "1,", ""])
def test_levels_that_there_are_not_are_wrong_usage(ncc, programs, head, levels):
    finished = ncc("classify", programs / "gemm", "--head", head, "--levels", levels)
    assert (finished.code, finished.out) == (2, "")
    assert "unknown optimization level" in finished.err


def test_source_from_stdin_is_read_once_for_all_levels(ncc, programs, head):
    path = programs / "gemm" / sorted(file.name for file in (programs / "gemm").iterdir())[0]
    language = {".c": "c", ".cpp": "c++"}[path.suffix]
    piped = ncc("classify", "-", "--language", language, "--head", head, "--json", stdin=path.read_bytes())
    named = ncc("classify", path, "--head", head, "--json")
    assert piped.code == 0, piped.err
    one, other = (json.loads(finished.out) for finished in (piped, named))
    assert one["levels"] == list(load_classifier(head).levels) == ["-O1", "-O0"]
    assert one["classes"] == other["classes"]


def test_an_answer_for_people(ncc, programs, head):
    finished = ncc("classify", programs / "stencil" / "stencil-00000.c", "--head", head)
    assert finished.code == 0, finished.err
    name, answer = finished.out.strip().split(": ", 1)
    assert name.endswith("stencil-00000.c")
    assert "gemm (" in answer
    assert "stencil (" in answer


def test_one_bad_program_does_not_stop_the_others(ncc, programs, head, tmp_path):
    bad = tmp_path / "bad.cpp"
    bad.write_text("int f( {\n")
    finished = ncc("classify", bad, programs / "gemm", "--head", head, "--json")
    assert finished.code == 1
    answers = [json.loads(line) for line in finished.out.splitlines()]
    assert [answer["ok"] for answer in answers] == [False] + [True] * 12
    assert answers[0]["classes"] is answers[0]["levels"] is None
    assert "does not compile" in finished.err


def test_a_head_is_measured_at_another_level(ncc, programs, head, kept, tmp_path):
    finished = ncc(
        "evaluate",
        "classify",
        programs,
        *("--head", head, "--levels", "1,3", "--programs", kept / "programs"),
        *("-o", tmp_path / "figures.json"),
    )
    assert finished.code == 0, finished.err
    assert [line.split()[:2] for line in finished.out.splitlines()[2:-1] if line] == [
        ["usual,", "bundled"],
        ["-O1,", "bundled"],
        ["-O3,", "bundled"],
    ]
    assert finished.out.splitlines()[-1].startswith("most frequent mistakes in the first row: ")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [variant["level"] for variant in figures["variants"]] == ["usual", "-O1", "-O3"]
    assert figures["variants"][0]["accuracy"] == figures["variants"][0]["baseline_accuracy"]


def test_a_classifier_is_trained_further_on_all_programs(ncc, programs, head, kept, tmp_path):
    further = ("train", "classify", programs, "--cache", kept / "programs", *WHAT, "--refit")
    finished = ncc(*further, head, *LEVELS, "-o", tmp_path / "all")
    assert finished.code == 0, finished.err
    about, before = json.loads(finished.out), load_classifier(head)
    assert (about["training"], about["measured_when_trained_on"]) == (24, before.card["training"])
    assert about["test_accuracy"] == before.card["test_accuracy"]
    refitted = load_classifier(tmp_path / "all")
    assert refitted.card == about
    assert (refitted.temperature, refitted.threshold) == (before.temperature, before.threshold)
    measured = ncc("evaluate", "classify", programs, "--head", tmp_path / "all", "--programs", kept / "programs")
    assert measured.code == 1
    assert "trained on all programs" in measured.err
    finished = ncc(*further, head, "--levels", "1", "-o", tmp_path / "other")
    assert finished.code == 1
    assert "other classes or levels" in finished.err
    finished = ncc(*further, tmp_path / "nowhere", *LEVELS, "-o", tmp_path / "other")
    assert finished.code == 1
    assert "head.json: can't be read" in finished.err
    assert not (tmp_path / "other").exists()


def test_methods_are_compared_and_reported(ncc, programs, kept, tmp_path):
    arguments = ("--method", "majority", "--method", "bag*", "--method", "n-grams of st*", "--trees", "10")
    places = ("--programs", kept / "programs", "--cache", kept / "runs")
    report = ("--report", tmp_path / "report.html", "--json")
    finished = ncc("evaluate", "classify", programs, "--protocol", "all", *arguments, *places, *report)
    assert finished.code == 0, finished.err
    figures = json.loads(finished.out)
    assert set(figures["protocols"]) == {"grouped", "published"}
    assert set(figures["protocols"]["grouped"]["methods"]) == {
        "majority",
        "bag of statements + random forest",
        "bag of statements + linear model",
        "n-grams of statements and literals + linear model",
    }
    assert "Algorithm classification" in (tmp_path / "report.html").read_text()
    curve = ("--method", "majority", "--per-class", "3", "--per-class", "2", "--json")
    finished = ncc("evaluate", "classify", programs, *curve, *places)
    assert finished.code == 0, finished.err
    protocols = json.loads(finished.out)["protocols"]
    assert list(protocols) == ["grouped/3", "grouped/2"]
    assert all(protocol["methods"]["majority"]["num_samples"] for protocol in protocols.values())


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("--method", "nothing"), "no method 'nothing'", 2),
        (("--clang", "clang"), "--clang goes with --head", 2),
        (("--levels", "7"), "unknown optimization level '7'", 2),
        (("--protocol", "random"), "protocol is 'random'", 2),
    ],
)
def test_wrong_usage_is_refused(ncc, programs, kept, arguments, message, code):
    finished = ncc("evaluate", "classify", programs, "--programs", kept / "programs", "--no-cache", *arguments)
    assert finished.code == code
    assert message in finished.err


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("--strategy", "gossip"), "strategy is 'gossip'", 2),
        (("--strategy", "local", "--compression", "topk"), "mirrored", 2),
        (("--micro-batches", "0"), "micro_batches is 0", 2),
    ],
)
def test_training_that_can_not_be_is_refused(ncc, programs, kept, tmp_path, arguments, message, code):
    finished = ncc("train", "classify", programs, "-o", tmp_path, "--cache", kept / "programs", *arguments)
    assert finished.code == code
    assert message in finished.err


def test_a_folder_without_classes_is_refused(ncc, tmp_path):
    finished = ncc("train", "classify", tmp_path, "-o", tmp_path / "out")
    assert finished.code == 2
    assert "two classes or more" in finished.err
