"""The head that ships: what it learns, what it answers, and its files."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.tests.rooms import fit_coarsening_head, train_coarsening
from ncc.errors import AssetError, InputError
from tests.rooms import COARSENING_FEATURE_NAMES as FEATURE_NAMES
from tests.rooms import (
    DEVICES,
    FACTORS,
    ChosenLine,
    CoarseningHead,
    CoarseningSamples,
    CompileOptions,
    coarsening_features,
    compile_source,
    load_coarsening_head,
    read_module,
    save_coarsening_head,
)


def head(**changes: object) -> CoarseningHead:
    parts: dict = {
        "feature_names": ("size", "divergence"),
        "feature": "divergence",
        "devices": ("old", "new"),
        "factors": (1, 2, 4),
        "scale": "plain",
        "offset": np.array([[1.0, 1.5, 1.2], [1.0, 1.4, 1.6], [1.0, 1.45, 1.4]]),
        "slope": np.array([[0.0, -0.6, -1.0], [0.0, -0.2, -0.8], [0.0, -0.5, -2.0]]),
        "spread": np.array([0.5, 1.25]),
        "about": {"data": "invented"},
    }
    return CoarseningHead(**(parts | changes))


def test_answers() -> None:
    answer = head().predict(np.array([9.0, 0.0]), "new")
    assert (answer.factor, answer.speedup) == (4, 1.6)
    np.testing.assert_allclose(answer.interval, (0.8, 2.0))
    assert answer.speedups == pytest.approx({1: 1, 2: 1.4, 4: 1.6})
    assert head().predict(np.array([9.0, 0.0])).factor == 2  # no device: all together
    alone = head().predict(np.array([9.0, 1.0]), "old")
    assert (alone.factor, alone.speedup, alone.interval) == (1, 1.0, (1.0, 1.0))
    assert head().predict(np.array([0.0, 1.0])).speedups[4] == pytest.approx(0.01)  # and never below


def test_logarithms() -> None:
    answer = head(scale="log", offset=np.log(head().offset)).predict(np.array([0.0, 0.0]), "new")
    assert answer.speedups == pytest.approx({1: 1, 2: 1.4, 4: 1.6})


def test_wrong_inputs_are_refused() -> None:
    with pytest.raises(InputError, match="no device 'newest'; expected one of old, new"):
        head().predict(np.zeros(2), "newest")
    with pytest.raises(InputError, match=r"expected 2 finite features, found shape \(3,\)"):
        head().predict(np.zeros(3))
    with pytest.raises(InputError, match="expected 2 finite features"):
        head().predict(np.array([np.nan, 0]))


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": np.ones((2, 3))},
        {"slope": np.full((3, 3), np.nan)},
        {"spread": np.array([2.0, 1.0])},
        {"feature": "colour"},
        {"scale": "cubic"},
        {"factors": (2, 4, 8)},
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict) -> None:
    with pytest.raises(InputError, match=r"lines|finite|spread|feature|factors"):
        head(**changes)


def test_files_keep_everything(tmp_path: Path) -> None:
    save_coarsening_head(head(), tmp_path)
    found = load_coarsening_head(tmp_path)
    for name, value in vars(head()).items():
        np.testing.assert_array_equal(getattr(found, name), value)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 10_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format_version": 2}, "format version 2; this ncc reads version 1"),
        ({"feature": "colour"}, "not a thread-coarsening head"),
        ({"devices": ["old"]}, "not a thread-coarsening head"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, change: dict, message: str) -> None:
    save_coarsening_head(head(), tmp_path)
    card = json.loads((tmp_path / "head.json").read_text())
    (tmp_path / "head.json").write_text(json.dumps(card | change))
    with pytest.raises(AssetError, match=message):
        load_coarsening_head(tmp_path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match=r"head\.json: can't be read"):
        load_coarsening_head(tmp_path)


def test_predicting_needs_numpy_alone() -> None:
    program = (
        "import sys, ncc.tasks.coarsening.head\n"
        "print([name for name in ('torch', 'sklearn', 'scipy', 'pandas', 'ncc_lab') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_head_says_what_the_method_says(toy: CoarseningSamples, toy_features: NDArray[np.float64]) -> None:
    features = np.zeros((len(toy), len(FEATURE_NAMES)))
    features[:, :3] = toy_features
    found = fit_coarsening_head(toy, features)
    method = ChosenLine(features)
    method.fit(toy, np.arange(len(toy)), np.random.default_rng(0))
    expected = method.predict(toy, np.arange(len(toy)))
    for row in range(0, len(toy), 5):
        answer = found.predict(features[row], str(toy.device[row]))
        assert list(answer.speedups.values()) == pytest.approx(expected[row].tolist())
        assert answer.factor == FACTORS[expected[row].argmax()]
    assert found.about["mean_speedup"] == pytest.approx(1.3)
    assert found.about["chosen"]["feature"] == FEATURE_NAMES[1]
    assert 0 < found.spread[0] <= found.spread[1]


def test_published_head(published: CoarseningSamples, published_ir: dict[str, bytes], tmp_path: Path) -> None:
    save_coarsening_head(train_coarsening(), tmp_path)
    found = load_coarsening_head(tmp_path)
    assert isinstance(found, CoarseningHead) and found.devices == DEVICES
    assert found.about["num_samples"] == len(published)
    for name, pays in (("sgemm", True), ("floydWarshall", True), ("spmv", False), ("mvCoal", False)):
        source = str(published.source[published.kernel == name][0])
        compiled = compile_source(source.encode(), CompileOptions(language="opencl")).ir
        # the IR that it was trained on is LLVM 5's for a CPU; what users have is that of their own source
        for ir in (published_ir[name], compiled):
            features = coarsening_features(read_module(ir))
            assert [found.predict(features, device).factor > 1 for device in (*DEVICES, None)] == [pays] * 5
