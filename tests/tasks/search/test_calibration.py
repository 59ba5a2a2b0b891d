"""Calibration: the shares that follow from counts, files, and fitting to functions at several levels."""

import json

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, InputError
from tests.rooms import Calibration, fit_calibration, load_calibration, save_calibration, shipped_calibration
from tests.tasks.search.conftest import write_code


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((300, 16))
    ways = [base + 0.3 * rng.standard_normal(base.shape) for _ in range(2)]
    return [np.float32(way / np.linalg.norm(way, axis=1, keepdims=True)) for way in ways]


def test_shares_are_those_that_are_counted(noisy):
    made = fit_calibration("x-1", noisy)
    alike = noisy[0] @ noisy[1].T
    of_same, of_other = np.diag(alike), [way[0] @ way[1].T for way in ((noisy[0], noisy[0]), noisy, (noisy[1],) * 2)]
    hidden = ~np.eye(300, dtype=bool)
    for row in (100, 180, 200):
        at = made.similarity[row]
        assert made.same[row] == pytest.approx((of_same >= at).mean(), abs=1e-6)
        found = sum((way[hidden] >= at).sum() for way in of_other)
        assert made.other[row] == pytest.approx(found / (3 * 300 * 299), abs=1e-5)
    assert made.about["same_pairs"] == 300
    assert made.about["other_pairs"] == 3 * 300 * 299


def test_the_share_rises_with_similarity_and_falls_with_size(noisy):
    made = fit_calibration("x-1", noisy)
    grid = np.linspace(-1, 1, 101)
    for size in (10, 1000, 100_000):
        shares = [made.share(value, size) for value in grid]
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] <= 1
    assert made.share(0.9, 10) == made.share(0.9, 400) > made.share(0.9, 1000) > made.share(0.9, 100_000)
    threshold = made.threshold(0.9, 400)
    assert threshold is not None
    assert made.share(threshold, 400) >= 0.9 > made.share(threshold - 0.05, 400)
    assert made.threshold(1.1, 100) is None


def test_functions_of_the_same_text_are_no_different_ones(noisy):
    text = np.arange(600).reshape(2, 300)
    text[0, 1] = text[1, 7]
    assert fit_calibration("x-1", noisy, text).about["other_pairs"] == 3 * 300 * 299 - 1
    with pytest.raises(InputError, match="two functions or more"):
        fit_calibration("x-1", noisy[:1])


def test_a_calibration_is_written_and_read(noisy, tmp_path):
    made = fit_calibration("x-1", noisy, command="none")
    save_calibration(made, tmp_path / "x-1.json")
    assert load_calibration(tmp_path / "x-1.json") == made
    assert shipped_calibration("x-2") is None
    assert shipped_calibration("../search/mean") is None
    about = json.loads((tmp_path / "x-1.json").read_text())
    for number, change in enumerate(({"same": [1.0]}, {"other": "x"}, {"similarity": [0.0] * 256})):
        (tmp_path / f"y-{number}.json").write_text(json.dumps(about | change))
        with pytest.raises(AssetError, match="is damaged"):
            load_calibration(tmp_path / f"y-{number}.json")


def test_functions_at_several_levels_calibrate(tmp_path):
    code = write_code(tmp_path / "code")
    (code / "bad.c").write_text("int f( {\n")
    made = ncc.train_calibration(code, tmp_path / "out.json", pooling="mean", levels=("0", "1", "2"))
    assert made.about["same_pairs"] == 9
    assert made.about["num_files"] == 3
    index = ncc.index(code, tmp_path / "index", pooling="mean")
    assert index.calibration != made
    own = ncc.load_index(tmp_path / "index", calibration=tmp_path / "out.json")
    assert own.calibration == made
    assert own.duplicates().threshold == (made.threshold(0.9, len(own)) or 0.98)
    with pytest.raises(InputError, match="the calibration is of mean-"):
        other = ncc.index(code / "a.c", tmp_path / "other")
        ncc.load_index(other.store.folder, calibration=made)
    with pytest.raises(InputError, match="two or more different"):
        ncc.train_calibration(code, levels=("0", "0"))
    with pytest.raises(InputError, match="0 functions are there at all levels"):
        ncc.train_calibration(code, min_statements=1000)


def test_an_index_says_how_sure_it_is(made, noisy):
    sure = fit_calibration("x-1", noisy)
    index = ncc.Index(made.store)
    index.__dict__["calibration"] = Calibration(**vars(sure))
    assert made.calibration.pooler_id == made.pooler.id
    groups = index.duplicates(0.9)
    assert groups.share == sure.share(0.9, 3)
    assert groups[0].share == sure.share(groups[0].similarity, 3)
    assert index.duplicates().threshold == sure.threshold(0.9, 3)
