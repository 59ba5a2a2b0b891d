"""What the lab's commands print and write: tables for people, JSON for machines, scores for a model's card."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.cli.printing import print_answer
from ncc.errors import AssetError, InputError
from ncc.system.files.provenance import command_line, environment
from ncc.system.files.writing import folder_lock, write_atomically

if TYPE_CHECKING:
    from ncc_lab.tables import Table

_CARDS = ("head.json", "embedding.json", "encoder.json")


def provenance() -> dict[str, Any]:
    """The command that runs, hardware and versions."""
    return {"command": command_line(), **environment()}


def print_figures(
    figures: dict[str, Any],
    shown: "Sequence[Table | str]",
    output: Path | None,
    as_json: bool,
    into: Path | None = None,
    scores: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Print figures for people or machines, write them with their command and environment, and add them to a card."""
    from ncc.system.files.writing import write_output
    from ncc_lab.tables import text_of

    if into:
        add_scores(into, scores() if scores else figures)
    figures = {**provenance(), **figures}
    if output:
        write_output(output, (json.dumps(figures, indent=1, ensure_ascii=False) + "\n").encode())
    print_answer(figures if as_json else text_of(shown))


def card_of(folder: Path) -> Path:
    """Return the card of the model in a folder."""
    for name in _CARDS:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"{folder}: holds no model; expected one of {', '.join(_CARDS)}")


def add_scores(folder: Path, scores: dict[str, Any]) -> None:
    """Add scores to a model's card under ``scores``, with the command that measured them; all else stays as it is."""
    from ncc.system.files.models import read_whole  # with NumPy

    path = card_of(folder)
    with folder_lock(folder):
        try:
            card = json.loads(read_whole(path))
            card["card" if "card" in card else "about"] |= {"scores": scores, "scores_command": command_line()}
        except (ValueError, KeyError, TypeError) as error:
            raise AssetError(f"{path}: not the card of a model ({error}); the file is damaged") from error
        write_atomically(path, (json.dumps(card, ensure_ascii=False, indent=1) + "\n").encode())
