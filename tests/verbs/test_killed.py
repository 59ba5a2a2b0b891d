"""Trainings and evaluations that are killed at random moments and given again: the same, to the byte."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.datasets import needs

ROUNDS = pytest.mark.parametrize("rounds", [pytest.param(10, marks=pytest.mark.full)])


@pytest.fixture
def same_after_kills(killer, tmp_path) -> Callable[..., None]:
    """Runs a command undisturbed, then through kills, and compares what is left in its folder."""

    def compare(
        *arguments: object,
        rounds: int,
        kills: int = 4,
        environment: Callable[[Path], Mapping[str, str]] = lambda _: {},
        result: Callable[[Path], dict[str, object]] | None = None,
    ) -> None:
        read = result or _files
        whole = tmp_path / "whole"
        whole.mkdir()
        duration = killer.run(*_in(arguments, whole), environment=environment(whole))
        expected = read(whole)
        assert expected
        for number in range(rounds):
            folder = tmp_path / f"round{number}"
            folder.mkdir()
            killer.run_through_kills(
                *_in(arguments, folder),
                watched=folder,
                duration_s=duration,
                kills=kills,
                environment=environment(folder),
            )
            assert read(folder) == expected
        assert killer.kills > rounds / 2

    return compare


def _in(arguments: tuple[object, ...], folder: Path) -> list[object]:
    return [str(argument).replace("{folder}", str(folder)) for argument in arguments]


def _files(folder: Path) -> dict[str, object]:
    """All that a command left; of cards, what does not tell of time and place.

    A kill in the moment in which a file takes an old one's place leaves it under a name that nothing reads.
    """
    found: dict[str, object] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")):
        content: object = path.read_bytes()
        if path.suffix == ".json":
            content = _timeless(json.loads(path.read_text()))
        found[str(path.relative_to(folder))] = content
    return found


def _timeless(card: object) -> object:
    if isinstance(card, dict):
        return {name: _timeless(value) for name, value in card.items() if name not in ("seconds", "command", "date")}
    return [_timeless(value) for value in card] if isinstance(card, list) else card


@ROUNDS
def test_a_corpus(same_after_kills, tmp_path, rounds):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        text = f"for (int i = 0; i < n; i++) s += a[i] {'+*-^&|'[number % 6]} {number}; return s {'+*-'[number % 3]} n;"
        (folder / f"f{number}.c").write_text(f"int f{number}(int *a, int n) {{ int s = {number}; {text} }}\n")
    recipe = tmp_path / "many.toml"  # 160 compilations, three batches
    recipe.write_text(f'[[source]]\nname = "many"\nfolder = "{folder}"\noptimization = ["-O0", "-O1", "-O2", "-O3"]\n')
    same_after_kills("corpus", "build", recipe, "--jobs", 2, "-o", "{folder}/out", rounds=rounds)


@ROUNDS
def test_an_embedding(same_after_kills, tiny, rounds):
    options = ["--dim", 24, "--epochs", 200, "--min-count", 1]
    same_after_kills("train", "embedding", tiny.corpus, "-o", "{folder}", *options, rounds=rounds, kills=6)


@ROUNDS
def test_a_classifier(same_after_kills, tiny, rounds):
    same_after_kills(
        *("train", "classify", tiny.programs, "-o", "{folder}/head", "--cache", "{folder}/programs"),
        *("--levels", "1", "--epochs", 3, "--min-steps", 24, "--hidden", 8, "--batch-size", 8),
        rounds=rounds,
        kills=3,
        result=lambda folder: _files(folder / "head"),
    )


@ROUNDS
def test_an_evaluation_of_classifiers(same_after_kills, tiny, rounds):
    same_after_kills(
        *("evaluate", "classify", tiny.programs, "--cache", "{folder}/runs", "--programs", "{folder}/programs"),
        *("--method", "*forest*", "--method", "major*", "--trees", 10, "-o", "{folder}/scores.json"),
        rounds=rounds,
        kills=3,
        result=_scores,
    )


@ROUNDS
def test_an_index(same_after_kills, tiny, tmp_path, rounds):
    code = tmp_path / "code"
    code.mkdir()
    for number in range(10):  # of the same functions, and other files
        for path in tiny.programs.rglob("*.ll"):
            text = f"; copy {number}\n{path.read_text()}"
            (code / f"{path.parent.name}-{path.stem}-{number}.ll").write_text(text)
    same_after_kills("index", code, "-o", "{folder}/index", rounds=rounds, kills=4)


def _scores(folder: Path) -> dict[str, object]:
    """Figures of an evaluation, and which runs it kept."""
    return {
        "figures": _timeless(json.loads((folder / "scores.json").read_text())),
        "runs": sorted(path.name for path in (folder / "runs").iterdir() if path.name[0] != "."),  # of killed writers
    }


@ROUNDS
def test_an_evaluation_of_device_mapping(same_after_kills, rounds):
    needs("devmap")
    same_after_kills(
        *("evaluate", "devmap", "--protocol", "suite", "--platform", "amd", "--method", "opcode*", "--trees", 10),
        *("--cache", "{folder}/runs", "-o", "{folder}/scores.json"),
        rounds=rounds,
        kills=3,
        result=_scores,
    )
