"""Device heads of other models are to be trained again; those that ship say how good they are."""

import json

import pytest

from fuzz.samples import times_head
from ncc.errors import AssetError
from tests.rooms import PLATFORMS, TimesHead, load_device_head, save_device_head


@pytest.fixture
def saved(tmp_path):
    save_device_head(times_head(), tmp_path)
    return tmp_path


def _edited(folder, **changes):
    card = json.loads((folder / "head.json").read_text()) | changes
    card = {name: value for name, value in card.items() if value is not None}
    (folder / "head.json").write_text(json.dumps(card))
    return folder


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
