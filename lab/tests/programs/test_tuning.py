"""The classifier's search: trials learn from the training programs alone, and the best one is taken."""

from dataclasses import replace

import numpy as np
import pytest

from tests.rooms import load_embedding
from tests.support.classifiers import SMALL

pytest.importorskip("optuna", reason="optuna is not installed")
tuning = pytest.importorskip("ncc_lab.programs.tuning")
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")

ONCE = replace(SMALL, loop=replace(SMALL.loop, epochs=1))


def test_a_search_resumes_and_takes_the_best_trial(samples, tmp_path):
    one_level = replace(samples, variants={"-O1": samples.variants["-O1"]})
    arguments = (one_level, load_embedding(), ONCE)
    tuning.tune_training(*arguments, 1, tmp_path / "study", 204)
    best, study = tuning.tune_training(*arguments, 2, tmp_path / "study", 204)
    values = [trial.value for trial in study.trials if trial.value is not None]
    assert len(values) == 2
    assert all(0 <= value <= 1 for value in values)
    assert best == tuning.suggest_training(ONCE, study.trials[int(np.argmax(values))])
    assert best.encoder.buckets == 64
