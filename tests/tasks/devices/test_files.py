"""Files of device heads: what is written is read again, and what is of no use is refused."""

import json

import pytest

from fuzz.samples import times_head
from ncc.errors import AssetError, OutputError
from tests.rooms import PLATFORMS, TimesHead, load_device_head, save_device_head


@pytest.fixture
def saved(tmp_path):
    save_device_head(times_head(), tmp_path)
    return tmp_path


def test_a_second_round_trip_changes_no_bit(saved, tmp_path):
    save_device_head(load_device_head(saved), tmp_path / "once")
    save_device_head(load_device_head(tmp_path / "once"), tmp_path / "twice")
    for name in ("head.json", "head.safetensors"):
        assert (tmp_path / "twice" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


def test_a_folder_that_can_not_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file: can't be written"):
        save_device_head(times_head(), tmp_path / "file")


@pytest.mark.parametrize("name", ["head.json", "head.safetensors"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(AssetError, match="can't be read") as refusal:
        load_device_head(saved)
    assert str(saved / name) in str(refusal.value)


def _edited(folder, **changes):
    card = json.loads((folder / "head.json").read_text()) | changes
    card = {name: value for name, value in card.items() if value is not None}
    (folder / "head.json").write_text(json.dumps(card))
    return folder


@pytest.mark.parametrize("version", [1, 3, "2", None])
def test_another_format_version_is_refused(saved, version):
    with pytest.raises(AssetError, match=rf"head\.json: format version {version!r}; this ncc reads version 2"):
        load_device_head(_edited(saved, format_version=version))


@pytest.mark.parametrize("model", [None, "gp", "forest"])
def test_a_head_of_another_model_is_to_be_trained_again(saved, model):
    """Files of the Gaussian processes that earlier versions wrote name no model, or "gp"."""
    with pytest.raises(AssetError) as refusal:
        load_device_head(_edited(saved, model=model))
    expected = "expected times: name the folder of one, or train it again"
    start = f"{saved}: not a device-mapping head of this version: its model is {model or 'gp'!r}"
    assert str(refusal.value) == f"{start}; {expected}"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_heads_that_ship_say_how_good_they_are(platform):
    head = load_device_head(platform=platform)
    assert isinstance(head, TimesHead)
    assert head.about["platform"] == platform
    assert head.about["command"].startswith("ncc train devmap")
    assert set(head.about["scores"]) == {"suites by kernel", "suites by application", "clgen by kernel"}
    for scores in head.about["scores"].values():
        assert 0.7 < scores["accuracy"] <= 1
        assert 0.75 < scores["coverage"] < 0.9
        assert scores["calibration_error"] < 0.15
