"""What holds for all that learns: the command does as the function, the seed decides, and a stop changes nothing."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cases import training_command
from tests.support.tiny import Tiny
from tests.support.verbs import run_here

HOW_IT_WAS_MADE = {"seconds", "command", "seed", "protocol"}
"""Fields of cards, wherever they are, that may differ between models that are the same."""


@dataclass(frozen=True)
class Trainer:
    """What is known of a training of the small world."""

    data: Mapping[str, object]  # that its card names
    seed: bool = True  # something is drawn
    stops: str = ""  # start of the line of progress at which it is stopped, where it can go on


TRAINERS = {
    "corpus": Trainer({"recipe": "programs", "files": {"programs": 30}}, seed=False),
    "embedding": Trainer({"corpora": ["corpus"], "num_files": 30}),
    "encoder": Trainer({"programs": 8, "functions": 16}),
    "lstm-encoder": Trainer({}, stops="epoch 1:"),
    "classifier": Trainer({"programs": 30, "levels": ["-O1"]}, stops="epoch 1:"),
    "device-head": Trainer({"data": "times.csv", "num_kernels": 8}),
    "gpu-head": Trainer({"launches": 12, "programs": 4}),
}
SEEDED = [name for name, one in TRAINERS.items() if one.seed]
LOST_BY_A_STOP = {"lstm-encoder": {"/lstm.json/card/losses"}}
"""A known defect: the card has the losses of the last run alone. What was learnt is the same."""
RESUMING = [name for name, one in TRAINERS.items() if one.stops]


def learnt(folder: Path) -> dict[str, object]:
    """What the files of a model hold."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(folder))] = json.loads(data) if path.suffix == ".json" else data
    return found


def differences(one: Any, other: Any, place: str = "") -> set[str]:
    """Where two models, or two parts of their cards, differ, but for how they were made."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return set() if one == other else {place}
    found = set()
    for name in (one.keys() | other.keys()) - HOW_IT_WAS_MADE:
        found |= differences(one.get(name), other.get(name), f"{place}/{name}")
    return found


class StoppedError(Exception):
    """Ends a training."""


def stop_at(start: str, line: str) -> None:
    """Progress that ends the training at a line that begins so."""
    if line.startswith(start):
        raise StoppedError


@pytest.mark.parametrize("name", TRAINERS)
def test_the_command_gives_the_bits_of_the_function_and_a_card_that_says_how(
    name: str, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = TRAINERS[name]
    command = [str(one) for one in (*training_command(tiny, name), "-o", tmp_path / "made")]
    monkeypatch.setattr(sys, "argv", ["ncc", *command])
    finished = run_here(*command)
    assert finished.code == 0, finished.err
    assert differences(learnt(tmp_path / "made"), learnt(tiny.folder / name)) == set()
    (card_path,) = [path for path in (tmp_path / "made").glob("*.json") if path.name != "plan.json"]
    card = json.loads(card_path.read_bytes())
    about = card.get("card", card.get("about", card))
    assert {field: about[field] for field in trainer.data} == trainer.data
    if name != "corpus":
        assert about["command"].startswith(" ".join(["ncc", *command[:2], Path(command[2]).name]))


@pytest.mark.parametrize("name", SEEDED)
def test_another_seed_gives_another_model(name: str, tiny: Tiny, tmp_path: Path) -> None:
    tiny.train(name, tmp_path / "made", seed=7)
    assert differences(learnt(tmp_path / "made"), learnt(tiny.folder / name))


@pytest.mark.parametrize("name", RESUMING)
def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(name: str, tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(StoppedError):
        tiny.train(name, tmp_path / "made", progress=partial(stop_at, TRAINERS[name].stops))
    left = {path.name for path in (tmp_path / "made").iterdir()}
    assert any(path.startswith("checkpoint") for path in left), left
    told: list[str] = []
    tiny.train(name, tmp_path / "made", progress=told.append)
    assert not any(line.startswith(TRAINERS[name].stops) for line in told)
    assert differences(learnt(tmp_path / "made"), learnt(tiny.folder / name)) == LOST_BY_A_STOP.get(name, set())
