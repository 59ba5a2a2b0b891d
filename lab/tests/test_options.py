"""Where figures go: the card of a model, and a file."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import ncc
from lab.tests.rooms import Figures, evaluation
from ncc.errors import AssetError, InputError
from tests.support.refuses import refuses


class Scores:
    """Scores of a verb that takes no time."""

    def to_dict(self) -> dict[str, float]:
        return {"accuracy": 0.5, "rows": 7}

    def to_card(self) -> dict[str, float]:
        return {"accuracy": 0.5}

    def to_text(self) -> str:
        return "a table"


@evaluation("output", "into")
def measure() -> Scores:
    """Measure nothing."""
    return Scores()


def run(**files: Path) -> Any:
    return measure.command.run(files=Figures(**files))  # type: ignore[attr-defined]


@pytest.mark.parametrize("model", ["devmap/amd", "embedding", "encoder"])
def test_scores_are_added_to_the_card_of_a_model(model: str, monkeypatch: Any, tmp_path: Path) -> None:
    folder = tmp_path / model
    shutil.copytree(Path(ncc.__file__).parent / "assets" / model, folder)
    (card,) = folder.glob("*.json")
    before = json.loads(card.read_bytes())
    monkeypatch.setattr(sys, "argv", ["ncc", "evaluate", "this", "--into", str(folder)])
    assert run(into=folder).text == "a table"
    after = json.loads(card.read_bytes())
    assert after["card"].pop("scores") == {"accuracy": 0.5}
    assert after["card"].pop("scores_command") == f"ncc evaluate this --into {folder.name}"
    before["card"].pop("scores", None)
    assert after == before
    if model == "embedding":  # the tensors are still those of the card
        assert ncc.load_embedding(folder).card["scores"] == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("content", "error", "noun"), [(None, InputError, "no model"), ("[]", AssetError, "head.json")]
)
def test_scores_are_added_to_models_alone(content: str | None, error: Any, noun: str, tmp_path: Path) -> None:
    if content:
        (tmp_path / "head.json").write_text(content)
    with refuses(error, str(tmp_path), noun):
        run(into=tmp_path)


def test_figures_are_written_with_their_command_and_environment(tmp_path: Path) -> None:
    answer = run(output=tmp_path / "figures.json")
    assert json.loads((tmp_path / "figures.json").read_text()) == answer.json
    assert {"command", "hardware", "versions", "accuracy", "rows"} == answer.json.keys()
