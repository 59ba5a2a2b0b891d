"""`ncc.CodeVectorizer` in scikit-learn's manners: pipelines, clones, pickles, names, and errors."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import ncc
from ncc.errors import InputError, NccError
from tests.support.refuses import refuses
from tests.tasks.search.conftest import FIND, SUM

TREE = Path(__file__).parent / "data" / "ir" / "tree.clang22.ll"
TEXTS = [SUM.format(name="f", number=n) for n in (2, 3)] + [FIND.format(name="f", number=n) for n in (3, 4)]


def test_rows_are_the_vectors_of_programs():
    made = ncc.CodeVectorizer("mean").fit_transform([TREE, str(TREE), TREE.read_text()])
    assert made == pytest.approx(np.stack([ncc.embed(TREE, pooling="mean").vector] * 3), abs=1e-6)
    assert ncc.CodeVectorizer().transform([]).shape == (0, 256)


def test_it_has_the_manners_of_an_estimator():
    vectorizer = ncc.CodeVectorizer("mean", language="c", on_error="zeros")
    again = clone(vectorizer)
    assert again.get_params() == vectorizer.get_params()
    assert set(again.get_params()) == {"pooling", "embedding", "encoder", "options", "language", "jobs", "on_error"}
    assert repr(vectorizer).startswith("CodeVectorizer(")
    assert again.fit(TEXTS) is again
    copy = pickle.loads(pickle.dumps(again))
    assert np.array_equal(copy.transform(TEXTS), again.transform(TEXTS))
    assert list(copy.get_feature_names_out())[:2] == ["mean0", "mean1"]
    assert len(copy.get_feature_names_out()) == 200


def test_it_stands_in_a_pipeline():
    model = make_pipeline(ncc.CodeVectorizer("mean", language="c"), LogisticRegression())
    model.fit(TEXTS, ["sum", "sum", "find", "find"])
    texts = [SUM.format(name="g", number=9), FIND.format(name="g", number=9)]
    assert list(pickle.loads(pickle.dumps(model)).predict(texts)) == ["sum", "find"]
    model.set_params(codevectorizer__pooling="mean")
    assert model[0].fit_transform(texts).shape == (2, 200)


def test_a_table_has_named_columns():
    pytest.importorskip("pandas")
    frame = ncc.CodeVectorizer().set_output(transform="pandas").fit_transform([TREE])
    assert list(frame.columns[:2]) == ["encoder0", "encoder1"]


def test_what_can_not_be_read_raises_or_is_a_row_of_zeros():
    bad = [TREE, "define no\n"]
    with pytest.raises(NccError):
        ncc.CodeVectorizer().fit_transform(bad)
    rows = ncc.CodeVectorizer(on_error="zeros").fit_transform(bad)
    assert rows[0].any()
    assert not rows[1].any()


@pytest.mark.parametrize(
    ("parameters", "sources", "message"),
    [
        ({}, "a.c", "sources is one path or text; expected a list of them"),
        ({"on_error": "skip"}, [], "on_error is 'skip'; expected 'raise' or 'zeros'"),
        ({"pooling": "sum"}, [], "pooling is 'sum'"),
        ({"jobs": 0}, [TREE], "jobs is 0"),
    ],
)
def test_wrong_parameters_are_told(parameters, sources, message):
    with pytest.raises(InputError, match=message):
        ncc.CodeVectorizer(**parameters).fit_transform(sources)


def test_another_embedding_than_the_fitted_one_is_refused():
    fitted = ncc.CodeVectorizer().fit([TREE])
    fitted.pooler_id_ = "mean-0123"
    with refuses(InputError, "was fitted with mean-0123", "this ncc has encoder-"):
        fitted.transform([TREE])
