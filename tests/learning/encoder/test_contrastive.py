"""Training by contrast: the loss, ranks that share negatives, going on after a stop, and what comes of it."""

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ncc.errors import InputError
from tests.rooms import ContrastiveData, EncoderTraining, LSTMEncoder, contrastive_loss, fit_contrastive, load_encoder
from tests.support.refuses import refuses

SCRIPT = Path(__file__).parents[2] / "samples" / "contrast_ranks.py"
SAMPLE = runpy.run_path(str(SCRIPT))
TRAINING: EncoderTraining = SAMPLE["TRAINING"]


def _fit(training: EncoderTraining, **more: Any) -> LSTMEncoder:
    sequences, label, is_function, vectors = SAMPLE["data"]()
    return fit_contrastive(sequences, label, is_function, vectors, training, **more)


def test_the_loss_is_that_of_its_definition():
    vectors = torch.nn.functional.normalize(torch.randn(7, 4, generator=torch.Generator().manual_seed(0)), dim=1)
    label = [0, 1, 0, 2, 1, 0, 3]
    expected = 0.0
    for i in range(7):
        others = [j for j in range(7) if j != i]
        all_of_them = sum(np.exp(float(vectors[i] @ vectors[j]) / 0.1) for j in others)
        alike = [j for j in others if label[j] == label[i]]
        terms = [-np.log(np.exp(float(vectors[i] @ vectors[j]) / 0.1) / all_of_them) for j in alike]
        expected += sum(terms) / max(len(alike), 1) / 7
    assert float(contrastive_loss(vectors, torch.tensor(label))) == pytest.approx(expected, rel=1e-5)


def test_two_ranks_have_the_loss_gradient_and_weights_of_one(run_ranks, tmp_path):
    alone = SAMPLE["run"]()
    for found in run_ranks(SCRIPT, 2, tmp_path):
        torch.testing.assert_close(found["loss"], alone["loss"], rtol=1e-12, atol=0)
        torch.testing.assert_close(found["gradient"], alone["gradient"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found["losses"], alone["losses"], rtol=1e-5)
        torch.testing.assert_close(found["projection"], alone["projection"], rtol=1e-3, atol=1e-5)
        for name, tensor in alone["tensors"].items():
            torch.testing.assert_close(found["tensors"][name], tensor, rtol=1e-3, atol=1e-5)


def test_batches_have_both_sources_and_two_of_each_label():
    sequences, label, is_function, _ = SAMPLE["data"]()
    for share, functions in ((0.5, 4), (0.0, 0), (1.0, 7)):
        data = ContrastiveData(sequences, label, is_function, replace(TRAINING, function_fraction=share))
        batches = data.batches(14, np.random.default_rng(0))
        assert len(batches) == TRAINING.steps_per_epoch
        assert sum(map(len, batches)) == len(data)
        for batch in batches:
            found, times = np.unique(label[batch], return_counts=True)
            assert (times == 2).all()
            assert len(set(batch.tolist())) == len(batch)
            assert (found >= 4).sum() == functions


def test_it_learns_and_answers_the_same_without_torch(tmp_path):
    losses: list[float] = []
    training = replace(TRAINING, epochs=30, batch_size=24, global_batch=False)
    sequences, label, is_function, vectors = SAMPLE["data"]()
    encoder = fit_contrastive(
        sequences, label, is_function, vectors, training, progress=lambda _, loss: losses.append(loss)
    )
    assert losses[-1] < 0.5 * losses[0]
    encoder.save(tmp_path)
    loaded = load_encoder(tmp_path)
    assert loaded.dim == 5

    def all_of(one):
        rows = zip(sequences.start[:-1], sequences.start[1:], strict=True)
        return np.array(
            [
                one.encode(
                    sequences.word[begin:end],
                    sequences.literal[begin:end].astype(np.uint32),
                    np.arange(end - begin + 1),
                )
                for begin, end in rows
            ]
        )

    found = all_of(encoder)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(all_of(loaded), found, atol=0.01)
    likeness = found @ found.T - 2 * np.eye(len(found))
    assert (label[likeness.argmax(axis=1)] == label).mean() > 0.7


def test_what_does_not_go_is_refused():
    sequences, label, is_function, vectors = SAMPLE["data"]()
    with refuses(InputError, "two functions"):
        fit_contrastive(sequences, np.arange(len(label)), is_function, vectors, TRAINING)
    with refuses(InputError, "mirrored"):
        replace(TRAINING, strategy="local")
    with refuses(InputError, "two sequences"):
        _fit(replace(TRAINING, batch_size=1))
