"""`ncc.classify` with the classifier that ships."""

from dataclasses import replace

import numpy as np
import pytest

import ncc
from ncc.data import FileState, extracted, verify
from ncc.embedding import load_embedding
from ncc.errors import AssetError, CompileError, InputError
from ncc.frontend import CompileOptions, compile_source
from ncc.predictions import classify, load_shipped_classifier
from ncc.tasks.classification.evaluation import load_split
from ncc.tasks.classification.samples import LabelledFiles, find_labelled_files, load_programs

GREATEST_DIVISOR = """
int main()
{
    int a, b;
    cin >> a >> b;
    while (b) { int t = a % b; a = b; b = t; }
    cout << a << endl;
    return 0;
}
"""


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NCC_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def test_the_head_knows_104_problems():
    head = load_shipped_classifier()
    assert head.classes == tuple(str(number) for number in range(1, 105))
    assert head.about["programs"] > 46_000
    assert head.about["command"].startswith("ncc train classify")


def test_an_answer_is_whole():
    answer = classify(GREATEST_DIVISOR, options=CompileOptions(language="c++"), top=104)
    assert answer.compiled == "with headers"
    assert sum(share.probability for share in answer.classes) == pytest.approx(1)
    probabilities = [share.probability for share in answer.classes]
    assert probabilities == sorted(probabilities, reverse=True)
    assert answer.num_statements > 10
    assert 0 <= answer.unknown_rate < 0.2
    found = answer.to_dict()
    assert found["classes"][0] == {"label": answer.classes[0].label, "probability": answer.classes[0].probability}
    assert len(ncc.classify(GREATEST_DIVISOR, options=CompileOptions(language="c++")).classes) == 5


def test_source_and_its_ir_get_the_same_answer(tmp_path):
    text = f"#include <iostream>\nusing namespace std;\n{GREATEST_DIVISOR}"
    (tmp_path / "a.cpp").write_text(text)
    (tmp_path / "a.ll").write_bytes(compile_source(tmp_path / "a.cpp").ir)
    source, ir = classify(tmp_path / "a.cpp"), classify(tmp_path / "a.ll")
    assert source.classes == ir.classes
    assert (source.compiled, ir.compiled) == ("as it is", "IR")


def test_what_can_not_be_classified_is_refused(tmp_path):
    with pytest.raises(InputError, match="top is 0"):
        classify(GREATEST_DIVISOR, top=0)
    with pytest.raises(InputError, match="no function has a body"):
        classify("int x;\n", options=CompileOptions(language="c"))
    with pytest.raises(InputError, match="no such file"):
        classify(tmp_path / "none.cpp")
    with pytest.raises(InputError, match="is empty"):
        classify(b" \n", options=CompileOptions(language="c"))
    with pytest.raises(CompileError, match="does not compile"):
        classify("int main( {\n", options=CompileOptions(language="c++"))
    with pytest.raises(AssetError, match="train the head again"):
        classify(GREATEST_DIVISOR, head=replace(load_shipped_classifier(), embedding_id="another"))


def test_real_programs_are_recognised():
    if any(file.state is FileState.MISSING for file in verify("poj104").files):
        pytest.skip("no local copy of the dataset poj104 (set NCC_DATA)")
    files = find_labelled_files(extracted("poj104", "poj104.tar.xz") / "poj104")
    rows = np.arange(0, len(files.paths), 950)
    few = LabelledFiles(tuple(files.paths[row] for row in rows.tolist()), files.label[rows], files.classes)
    right = [
        classify(path).classes[0].label == files.classes[label]
        for path, label in zip(few.paths, few.label.tolist(), strict=True)
    ]
    assert len(right) == 50
    assert np.mean(right) >= 0.94


@pytest.mark.slow
def test_the_card_says_what_the_head_does_on_its_test_programs(tmp_path):
    """Compiles all of POJ-104: half an hour."""
    if any(file.state is FileState.MISSING for file in verify("poj104").files):
        pytest.skip("no local copy of the dataset poj104 (set NCC_DATA)")
    head, embedding = load_shipped_classifier(), load_embedding()
    files = find_labelled_files(extracted("poj104", "poj104.tar.xz") / "poj104")
    samples = load_programs(files, head.about["levels"], abstraction=embedding.abstraction, cache=tmp_path, jobs=2)
    split, _ = load_split(samples)
    right = [
        classify(files.paths[samples.row[row]]).classes[0].label == samples.classes[samples.label[row]]
        for row in split.test.tolist()
    ]
    assert np.mean(right) == pytest.approx(head.about["test_accuracy"][head.about["levels"][0]], abs=2e-3)
