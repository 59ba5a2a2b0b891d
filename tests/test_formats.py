"""Files that were written once are read for ever, and answer as they did; what ships is of a known version."""

import hashlib
import json
import runpy
from pathlib import Path

import pytest

import ncc
from ncc.errors import AssetError
from tests.rooms import CLASSIFIER_FILES as CLASSIFIERS
from tests.rooms import COARSENING_FILES as COARSENING_HEADS
from tests.rooms import DEVICE_FILES as DEVICE_HEADS
from tests.rooms import shipped_calibration

FOLDER = Path(__file__).parent / "data" / "formats"
ASSETS = Path(ncc.__file__).parent / "assets"
WRITTEN = runpy.run_path(str(FOLDER / "write.py"))
EXPECTED = json.loads((FOLDER / "expected.json").read_bytes())


def _assert_close(found: object, expected: object, where: str) -> None:
    """Numbers to 1e-5, everything else as it is."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), where
        assert found.keys() == expected.keys(), where
        for name, value in expected.items():
            _assert_close(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert isinstance(found, list), where
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            _assert_close(one, other, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", EXPECTED)
def test_what_was_written_once_is_read_and_answers_as_it_did(name: str) -> None:
    _, ask = WRITTEN["FORMATS"][name.rpartition("-v")[0]]
    if isinstance(EXPECTED[name], str):
        with pytest.raises(AssetError, match=EXPECTED[name]):
            ask(FOLDER / name)
        return
    _assert_close(json.loads(json.dumps(ask(FOLDER / name))), EXPECTED[name], name)


def test_what_ships_knows_the_hash_of_its_tensors() -> None:
    tensors = sorted(ASSETS.rglob("*.safetensors"))
    assert len(tensors) == 7
    for path in tensors:
        card = json.loads(path.with_suffix(".json").read_bytes())
        assert card["tensors_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest(), path


def test_every_format_is_there_in_its_present_version_and_small() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == EXPECTED.keys() | REFUSED.keys()
    assert folders >= {f"{name}-v{version}" for name, version in WRITTEN["VERSIONS"].items()}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 300_000


REFUSED = {
    "classifier-v2": (ncc.load_classifier, "ncc train classify"),
    "coarsening-v2": (ncc.load_coarsening_head, "ncc train coarsening"),
    "encoder-v1": (ncc.load_encoder, "ncc train encoder"),
    "encoder-v2": (ncc.load_encoder, "ncc train encoder"),
}
"""Folder of an earlier version → what refuses it, and the command that its message names."""


@pytest.mark.parametrize("name", REFUSED)
def test_an_earlier_version_is_refused_with_the_command_that_makes_it_again(name: str) -> None:
    load, command = REFUSED[name]
    with pytest.raises(AssetError, match=rf"{name}.*format version.*{command}"):
        load(FOLDER / name)


SHIPPED = {
    "embedding/embedding.json": {1},
    "encoder/encoder.json": {3},
    "devmap/amd/head.json": {3},
    "devmap/nvidia/head.json": {3},
    "coarsening/head.json": {3},
    "gpu/head.json": {1},
    "classify/head.json": {3},
}
"""The versions that an asset of each name has had, and that ncc must read."""


def test_everything_that_ships_is_of_a_known_version() -> None:
    found = {path.relative_to(ASSETS).as_posix(): path for path in ASSETS.glob("[!s]*/**/*.json")}
    assert found.keys() == SHIPPED.keys()
    assert {path.with_suffix(".safetensors") for path in found.values()} == set(ASSETS.rglob("*.safetensors"))
    for name, versions in SHIPPED.items():
        assert json.loads(found[name].read_bytes())["format_version"] in versions, name


def test_everything_that_ships_is_read() -> None:
    for platform in ("amd", "nvidia"):
        assert DEVICE_HEADS.load(ASSETS / "devmap" / platform).platform == platform
    assert ncc.load_embedding().version(CLASSIFIERS.load(ASSETS / "classify").embedding_id)
    assert COARSENING_HEADS.load(ASSETS / "coarsening").factors[0] == 1
    calibrated = [path.stem for path in (ASSETS / "search").iterdir()]
    assert calibrated
    for name in calibrated:
        calibration = shipped_calibration(name)
        assert calibration is not None
        assert calibration.pooler_id == name
    assert ncc.embed("define void @f() {\n  ret void\n}\n").pooler.id in calibrated
