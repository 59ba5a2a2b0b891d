"""The classifier's search: trials learn from the training programs alone, and the best one is taken."""

from dataclasses import replace

import numpy as np
import pytest

from lab.tests.rooms import NetworkMethod
from tests.rooms import (
    NetworkTraining,
    TrainingConfig,
    load_embedding,
    program_encoder,
    program_head,
    split_samples,
)

pytest.importorskip("optuna", reason="optuna is not installed")
tuning = pytest.importorskip("ncc_lab.classification.tuning")
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=2, batch_size=8),
)


def test_a_search_judges_on_validation_programs_and_resumes(samples, tmp_path, monkeypatch):
    split = split_samples(samples)
    fitted = []

    class Watched(NetworkMethod):
        def fit(self, samples, train_idx, rng):
            assert (samples.label[split.test] == -1).all()
            assert np.array_equal(train_idx, split.train)
            fitted.append(self.training)
            if len(fitted) == 2:
                raise KeyboardInterrupt
            super().fit(samples, train_idx, rng)

    monkeypatch.setattr(tuning, "NetworkMethod", Watched)
    one_level = replace(samples, views={"-O1": samples.views["-O1"]})
    arguments = (one_level, load_embedding(), SMALL, 3, tmp_path / "study", 204)
    with pytest.raises(KeyboardInterrupt):
        tuning.tune_training(*arguments)
    best, study = tuning.tune_training(*arguments)
    del fitted[1]  # the trial that was cut off; another one has taken its place
    values = [trial.value for trial in study.trials if trial.value is not None]
    assert len(fitted) == len(values) == 3
    assert fitted[1].loop.learning_rate != fitted[0].loop.learning_rate
    assert best == fitted[int(np.argmax(values))]
    assert best.encoder.buckets == 64
    assert all(0 <= value <= 1 for value in values)
