"""Files of device mappers: what is written is read again, and what was damaged is refused."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from ncc.devices.files import load_head, save_head
from ncc.devices.predict import PLATFORMS, load_shipped_device_head
from ncc.devices.times_head import TimesHead
from ncc.errors import AssetError, OutputError


@pytest.fixture
def saved(mapper_head, tmp_path, forget_hash):
    save_head(mapper_head(), tmp_path)
    forget_hash(tmp_path / "head.json")
    return tmp_path


def test_a_head_is_read_as_it_was_written(mapper_head, saved):
    head, again = mapper_head(), load_head(saved)
    for name in ("embedding_id", "platform", "about"):
        assert getattr(again, name) == getattr(head, name)
    assert again.calibration.slope == head.calibration.slope
    for name in ("process_scale", "reference"):
        assert np.array_equal(getattr(again, name), getattr(head, name))
    for name in ("score", "log_ratio"):
        assert np.array_equal(getattr(again.calibration, name), getattr(head.calibration, name))
    for one, other in zip(again.processes, head.processes, strict=True):
        assert (one.terms, one.mean) == (other.terms, other.mean)
        assert np.array_equal(one.weights, other.weights)
    for kind in ("mean", "scale", "training"):
        before, after = getattr(head, kind), getattr(again, kind)
        assert set(before) == set(after)
        for name, columns in after.items():
            assert columns.dtype == np.float64
            rel = 1e-3 if (kind, name) == ("training", "embedding") else 1e-6
            assert columns == pytest.approx(before[name], rel=rel, abs=1e-6)


def test_a_head_that_was_read_says_the_same(mapper_head, saved, kernel_inputs):
    head, again = mapper_head(), load_head(saved)
    for seed in range(5):
        for given in ((None, None), (1e5, 64.0), (1e9, None)):
            before, after = (one.predict(kernel_inputs(seed=seed), *given) for one in (head, again))
            assert after.log_ratio == pytest.approx(before.log_ratio, abs=1e-3)
            assert after.interval == pytest.approx(before.interval, abs=1e-3)
            assert after.probability_gpu == pytest.approx(before.probability_gpu, abs=0.02)


def test_a_second_round_trip_changes_no_bit(saved, tmp_path):
    save_head(load_head(saved), tmp_path / "once")
    save_head(load_head(tmp_path / "once"), tmp_path / "twice")
    for name in ("head.json", "head.safetensors"):
        assert (tmp_path / "twice" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


def test_a_folder_that_can_not_be_written_is_named(mapper_head, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file: can't be written"):
        save_head(mapper_head(), tmp_path / "file")


@pytest.mark.parametrize("name", ["head.json", "head.safetensors"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(AssetError, match="can't be read") as refusal:
        load_head(saved)
    assert str(saved / name) in str(refusal.value)


def _edit_card(folder, edit):
    card = json.loads((folder / "head.json").read_text())
    edit(card)
    (folder / "head.json").write_text(json.dumps(card))


def _refused(folder, message):
    with pytest.raises(AssetError, match=message) as refusal:
        load_head(folder)
    assert str(folder) in str(refusal.value)


@pytest.mark.parametrize("version", [1, 3, "2", None])
def test_another_format_version_is_refused(saved, version):
    _edit_card(saved, lambda card: card.update(format_version=version))
    _refused(saved, rf"head\.json: format version {version!r}; this ncc reads version 2")


@pytest.mark.parametrize("text", ["", "{", "[]", "2"])
def test_a_card_that_is_no_object_is_refused(saved, text):
    (saved / "head.json").write_text(text)
    _refused(saved, r"head\.json: (is not JSON|format version None)")


@pytest.mark.parametrize("key", ["processes", "calibration_slope", "embedding_id", "about"])
def test_a_card_that_lacks_a_field_is_refused(saved, key):
    _edit_card(saved, lambda card: card.pop(key))
    _refused(saved, f"is not a device-mapping head .*{key}.* damaged")


@pytest.mark.parametrize(
    "change",
    [
        {"processes": []},
        {"processes": {}},
        {"processes": 3},
        {"calibration_slope": "steep"},
        {"calibration_slope": 0},
        {"calibration_slope": float("nan")},
        {"about": 1},
        {"platform": 1},
    ],
)
def test_a_card_with_wrong_values_is_refused(saved, change):
    _edit_card(saved, lambda card: card.update(change))
    _refused(saved, "is not a device-mapping head")


@pytest.mark.parametrize(
    "change",
    [
        {"length": 0},
        {"length": float("inf")},
        {"length": None},
        {"variance": -1},
        {"variance": float("nan")},
        {"weights": {"profile": -0.5}},
        {"weights": {"unheard of": 1}},
        {"weights": ["profile"]},
    ],
)
def test_a_card_with_a_wrong_covariance_is_refused(saved, change):
    _edit_card(saved, lambda card: card["processes"][1]["terms"][0].update(change))
    _refused(saved, "is not a device-mapping head")


@pytest.mark.parametrize("number", [1, 3])
def test_a_card_of_other_processes_than_the_arrays_is_refused(saved, number):
    _edit_card(saved, lambda card: card.update(processes=(2 * card["processes"])[:number]))
    _refused(saved, "is not a device-mapping head")


def _tamper(folder, edit):
    arrays = load_file(folder / "head.safetensors")
    edit(arrays)
    save_file(arrays, folder / "head.safetensors")


ARRAYS = [
    "training.data",
    "training.embedding",
    "training.growth",
    "mean.profile",
    "scale.opcodes",
    "process0.weights",
    "process_scale",
    "reference",
    "calibration.score",
    "calibration.log_ratio",
]


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_is_missing_is_refused(saved, name):
    _tamper(saved, lambda arrays: arrays.pop(name))
    _refused(saved, name.rpartition(".")[2])


# there may be any number of reference pairs
@pytest.mark.parametrize(
    ("name", "axis"), [(name, axis) for name in ARRAYS for axis in (0, -1) if (name, axis) != ("reference", 0)]
)
def test_an_array_of_another_shape_is_refused(saved, name, axis):
    _tamper(saved, lambda arrays: arrays.update({name: np.delete(arrays[name], 0, axis=axis)}))
    _refused(saved, "is not a device-mapping head")


def test_rows_that_are_missing_everywhere_are_refused(saved):
    def empty(arrays):
        for name in arrays:
            if name.startswith("training.") or name.endswith(".weights"):
                arrays[name] = arrays[name][:0].copy()

    _tamper(saved, empty)
    _refused(saved, "no rows")


@pytest.mark.parametrize("name", ["reference", "calibration.score"])
def test_an_array_of_nothing_is_refused(saved, name):
    names = ["calibration.score", "calibration.log_ratio"] if name == "calibration.score" else [name]
    _tamper(saved, lambda arrays: arrays.update({one: arrays[one][:0].copy() for one in names}))
    _refused(saved, "no rows")


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(saved, name, value):
    def spoil(arrays):
        arrays[name].flat[-1] = value

    _tamper(saved, spoil)
    _refused(saved, "not finite")


@pytest.mark.parametrize(("name", "value"), [("process_scale", 0), ("scale.data", -1), ("reference", -5)])
def test_numbers_out_of_range_are_refused(saved, name, value):
    def spoil(arrays):
        arrays[name].flat[0] = value

    _tamper(saved, spoil)
    _refused(saved, "out of range")


def test_scores_that_do_not_ascend_are_refused(saved):
    _tamper(saved, lambda arrays: arrays.update({"calibration.score": arrays["calibration.score"][::-1].copy()}))
    _refused(saved, "out of range")


@pytest.mark.parametrize("keep", [0, 9, -1])
def test_truncated_arrays_are_refused(saved, keep):
    path = saved / "head.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    _refused(saved, r"head\.safetensors: is not a safetensors file")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_heads_that_ship_say_how_good_they_are(platform):
    head = load_shipped_device_head(platform)
    assert isinstance(head, TimesHead)
    assert head.about["platform"] == platform
    assert head.about["command"].startswith("ncc train devmap")
    assert set(head.about["scores"]) == {"suites by kernel", "suites by application", "clgen by kernel"}
    for scores in head.about["scores"].values():
        assert 0.7 < scores["accuracy"] <= 1
        assert 0.75 < scores["coverage"] < 0.9
        assert scores["calibration_error"] < 0.15
