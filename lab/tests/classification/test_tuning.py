"""The classifier's search: trials learn from the training programs alone, and the best one is taken."""

from dataclasses import replace

import numpy as np
import pytest

from lab.tests.rooms import tuning
from tests.rooms import (
    NetworkMethod,
    NetworkTraining,
    TrainingConfig,
    load_embedding,
    program_encoder,
    program_head,
    split_samples,
)

pytest.importorskip("optuna", reason="optuna is not installed")

SMALL = NetworkTraining(
    encoder=program_encoder(hidden=8, buckets=64),
    head=program_head(dense=16),
    min_steps=1,
    loop=TrainingConfig(epochs=2, batch_size=8),
)


def test_the_best_of_the_trials_is_taken(samples, tmp_path, monkeypatch):
    split = split_samples(samples)
    fitted = []

    class Watched(NetworkMethod):
        def fit(self, samples, train_idx, rng):
            assert (samples.label[split.test] == -1).all()
            assert np.array_equal(train_idx, split.train)
            fitted.append(self.training)
            super().fit(samples, train_idx, rng)

    monkeypatch.setattr(tuning, "NetworkMethod", Watched)
    one_level = replace(samples, views={"-O1": samples.views["-O1"]})
    best, trials = tuning.tune_training(one_level, load_embedding(), SMALL, 3, tmp_path / "study")
    assert [trial["number"] for trial in trials] == [0, 1, 2]
    values = [trial["value"] for trial in trials]
    assert best == fitted[int(np.argmax(values))]
    assert best.loop.learning_rate == trials[int(np.argmax(values))]["parameters"]["learning_rate"]
    assert best.encoder.buckets == 64
    assert all(0 <= value <= 1 for value in values)
