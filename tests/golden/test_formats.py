"""Files of every format, asked through the verb that uses them; heads of another embedding are refused, as ever."""

import json
from pathlib import Path

import pytest

import ncc
from tests.golden.cases import CODE, FEW_KERNELS, IR, MODULES, ROOT
from tests.support.goldens import Goldens, comparable, digest
from tests.support.verbs import run_here

FORMATS = "tests/data/formats"
DEVICE = ["predict-device", *FEW_KERNELS[:4], "--global-size", "1M", "--wgsize", "64"]
COARSENING = ["predict-coarsening", *FEW_KERNELS[:4]]
ASKED: dict[str, list[object]] = {
    "embedding-v1": ["embed", *MODULES[:3], "--level", "function", "--embedding"],
    "encoder-v3": ["embed", MODULES[0], "--encoder"],
    "encoder-v4": ["embed", *MODULES[:3], "--level", "module", "--encoder"],
    "times-v3": [*DEVICE[:2], "--head"],
    "times-v4": [*DEVICE, "--head"],
    "times-lstm-v4": [*DEVICE[:2], "--head"],
    "coarsening-v2": [*COARSENING[:2], "--head"],
    "coarsening-v3": [*COARSENING, "--head"],
    "coarsening-lstm-v3": [*COARSENING[:2], "--head"],
    "classifier-v3": ["classify", CODE[0], "--head"],
    "classifier-v4": ["classify", CODE[0], f"{IR}/saxpy.clang22.ll", "--head"],
}
"""Folder of a format → the verb that is given it."""


@pytest.mark.parametrize("name", ASKED)
def test_a_file_of_a_format_answers_as_it_did(name: str, goldens: Goldens) -> None:
    finished = run_here(*ASKED[name], f"{FORMATS}/{name}", "--json")
    answer = {"code": finished.code, "said": finished.err, "rows": comparable(finished.rows)}
    goldens.check(f"format-{name}", answer)


def test_counts_hold_what_they_held(goldens: Goldens, tmp_path: Path) -> None:
    (tmp_path / "width-2").symlink_to(ROOT / FORMATS / "counts-v1")
    counts = ncc.load_counts(tmp_path)
    found = {
        "texts": digest(list(counts.texts)),
        "statements": counts.statements.tolist(),
        "pairs": [column.tolist() for column in counts.pairs],
    }
    goldens.check("format-counts-v1", comparable(found))


def test_what_ships_is_what_it_was(goldens: Goldens) -> None:
    assets = Path(ncc.__file__).parent / "assets"
    cards = {path.relative_to(assets).as_posix(): json.loads(path.read_bytes()) for path in assets.rglob("*.json")}
    scores = {name: {key: card[key] for key in sorted(card) if key != "words"} for name, card in cards.items()}
    tensors = {path.relative_to(assets).as_posix(): digest(path.read_bytes()) for path in assets.rglob("*.safetensors")}
    goldens.check("shipped", {"cards": comparable(scores), "tensors": tensors})
