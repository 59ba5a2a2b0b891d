"""`ncc.classify`: levels and their answers with a head of random weights, the rest with the classifier that ships."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ncc.errors import AssetError
from tests.rooms import (
    ClassifierHead,
    CompileOptions,
    EncoderNetwork,
    LabelledFiles,
    NgramModel,
    NumpyNetwork,
    ProgramNetwork,
    classify,
    compile_source,
    extracted,
    find_labelled_files,
    load_embedding,
    program_encoder,
    program_head,
)
from tests.support.datasets import needs
from tests.support.refuses import refuses

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


@pytest.fixture(scope="module")
def untrained() -> ClassifierHead:
    """A head of two classes whose answers hang on every statement, at two levels."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    embedding = load_embedding()
    sizes = program_encoder(hidden=4, buckets=16)
    model = EncoderNetwork(embedding.vectors[:50], 2, sizes, program_head(8))
    row = (np.arange(len(embedding.vectors)) % 50).astype(np.int32)
    return ClassifierHead(
        network=ProgramNetwork(NumpyNetwork.from_arrays(model.to_arrays(), sizes), embedding.vectors[:50], row, 100),
        ngrams=NgramModel.rounded(rng.normal(size=(2, 256)), rng.normal(size=2), np.ones(256, np.float32)),
        ngram_weight=1.0,
        classes=("one", "other"),
        temperature=1.0,
        threshold=0.0,
        embedding_id=embedding.fingerprint,
        levels=("-O1", "-O0"),
    )


def _odds(answer):
    """Logarithm of how much more probable the first class is."""
    share = {share.label: share.probability for share in answer.classes}
    return np.log(share["one"] / share["other"])


def test_a_program_is_read_at_all_levels_of_the_head_or_those_that_were_asked_for(untrained):
    def ask(optimization="-O2", **more):
        options = CompileOptions(language="c++", optimization=optimization)
        return classify(GREATEST_DIVISOR, head=untrained, options=options, **more)

    one, other, both = ask(levels=("-O1",)), ask(levels=["-O0"]), ask()
    assert [answer.levels for answer in (one, other, both)] == [("-O1",), ("-O0",), ("-O1", "-O0")]
    assert _odds(one) != pytest.approx(_odds(other), abs=1e-3)
    assert _odds(both) == pytest.approx((_odds(one) + _odds(other)) / 2)
    assert min(one.num_statements, other.num_statements) > 10
    assert both.num_statements == one.num_statements + other.num_statements
    assert ask("-O0", levels=("-O0",)) == ask("-O3", levels=("-O0",)) == other
    assert ask(levels=("-O0", "-O1")).classes == tuple(
        replace(share, probability=pytest.approx(share.probability)) for share in both.classes
    )


def test_the_threshold_decides_what_fits(untrained):
    def ask(threshold):
        head = replace(untrained, threshold=threshold)
        return classify(GREATEST_DIVISOR, head=head, options=CompileOptions(language="c++"))

    best = ask(0.0).classes[0].probability
    assert [ask(value).is_known for value in (0.0, best - 1e-6, best + 1e-6, 1.0)] == [True, True, False, False]


def test_ir_is_read_once_as_it_is(untrained, tmp_path):
    text = f"#include <iostream>\nusing namespace std;\n{GREATEST_DIVISOR}"
    (tmp_path / "a.cpp").write_text(text)
    (tmp_path / "a.ll").write_bytes(compile_source(tmp_path / "a.cpp", CompileOptions(optimization="-O0")).ir)
    source = classify(tmp_path / "a.cpp", levels=("-O0",), head=untrained)
    ir = classify(tmp_path / "a.ll", head=untrained)
    assert (source.compiled_as, ir.compiled_as) == ("unchanged", "IR")
    assert (source.levels, ir.levels) == (("-O0",), ())
    assert (source.classes, source.num_statements, source.unknown_rate) == (
        ir.classes,
        ir.num_statements,
        ir.unknown_rate,
    )


def test_a_head_of_another_embedding_is_refused(untrained):
    with refuses(AssetError, "embedding"):
        head = replace(untrained, embedding_id="another")
        classify(GREATEST_DIVISOR, head=head, options=CompileOptions(language="c++"))


@pytest.mark.full
def test_real_programs_are_recognised():
    needs("poj104")
    files = find_labelled_files(extracted("poj104", "poj104.tar.xz") / "poj104")
    rows = np.arange(0, len(files.paths), 950)
    few = LabelledFiles(tuple(files.paths[row] for row in rows.tolist()), files.label[rows], files.classes)
    right = [
        classify(path).classes[0].label == files.classes[label]
        for path, label in zip(few.paths, few.label.tolist(), strict=True)
    ]
    assert len(right) == 50
    assert np.mean(right) >= 0.94
