"""Search for hyper-parameters: it finds what is better, goes on after a stop, and ends poor trials early."""

import sys

import pytest

from ncc.errors import AssetError, NccError
from tests.rooms import SearchTrial, search

optuna = pytest.importorskip("optuna", reason="optuna is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def _hill(trial):
    return -((trial.suggest_float("x", -4, 4) - 1) ** 2)


def test_it_finds_what_is_better_and_lists_every_trial(tmp_path):
    seen: list[SearchTrial] = []
    trials = search(_hill, 12, tmp_path / "new" / "study", progress=seen.append)
    assert [trial.number for trial in trials] == list(range(12))
    assert trials == seen
    assert {trial.state for trial in trials} == {"complete"}
    for trial in trials:
        assert trial.value == pytest.approx(-((trial.parameters["x"] - 1) ** 2))
    assert any(trial.value is not None and trial.value > -0.5 for trial in trials)


def test_a_search_that_was_stopped_goes_on_as_it_would_have(tmp_path):
    whole = search(_hill, 6, tmp_path / "whole")
    calls = []

    def stopped(trial):
        calls.append(trial.number)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return _hill(trial)

    with pytest.raises(KeyboardInterrupt):
        search(stopped, 6, tmp_path / "cut")
    again = search(_hill, 6, tmp_path / "cut")
    ended = [trial for trial in again if trial.state == "complete"]
    assert [trial.state for trial in again].count("fail") == 1
    assert [trial.parameters for trial in ended[:2]] == [trial.parameters for trial in whole[:2]]
    assert len(ended) == 6
    assert search(_hill, 6, tmp_path / "cut") == again  # nothing is left to do


def test_poor_trials_are_ended_early(tmp_path):
    epochs = []

    def slow(trial):
        height = trial.suggest_float("height", 0, 1)
        if trial.number >= 4:
            height -= 10  # worse than all before
        for epoch in range(1, 9):
            trial.report(height, epoch)
            epochs.append((trial.number, epoch))
            if trial.should_prune():
                raise optuna.TrialPruned
        return height

    trials = search(slow, 6, tmp_path / "study")
    assert [trial.state for trial in trials] == ["complete"] * 4 + ["pruned"] * 2
    assert max(epoch for number, epoch in epochs if number >= 4) < 8


def test_what_can_not_be_searched_is_refused(tmp_path, monkeypatch):
    def hopeless(trial):
        trial.suggest_float("x", 0, 1)
        raise optuna.TrialPruned

    with pytest.raises(NccError, match="no trial of the search was completed"):
        search(hopeless, 2, tmp_path / "pruned")
    (tmp_path / "damaged").write_bytes(b"\xff\xfe nothing\n{}\n")
    with pytest.raises(AssetError, match="damaged: not a study of a search"):
        search(_hill, 2, tmp_path / "damaged")
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(NccError, match=r"pip install -c constraints.txt '\.\[search\]'"):
        search(_hill, 2, tmp_path / "none")
