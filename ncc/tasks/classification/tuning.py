"""Tunes the training of the classifier's network: trials on training programs, judged on validation programs."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import ProgramSamples
from ncc.tasks.classification.network import NetworkMethod, NetworkTraining
from ncc.tasks.classification.search import SearchTrial, search
from ncc.tasks.classification.split import split_samples

if TYPE_CHECKING:
    import optuna


def tune_training(
    samples: ProgramSamples,
    embedding: Embedding,
    training: NetworkTraining,
    num_trials: int,
    study: Path,
    *,
    device: str = "cpu",
    seed: int = 204,
    progress: Callable[[SearchTrial], None] | None = None,
) -> tuple[NetworkTraining, list[dict[str, Any]]]:
    """Searches learning rate, size, dropout and smoothing.

    The test programs are never looked at: a trial is trained on the training programs and judged by its accuracy on
    the validation programs, at the first level, after every epoch.

    Args:
        samples: Labelled programs.
        embedding: Vectors to begin with.
        training: What the trials vary.
        num_trials: How many.
        study: File of the study; a search that was stopped goes on.
        device: Where to train.
        seed: Of the proposals and of every trial.
        progress: Called with each trial that ended.

    Returns:
        The best training, and all trials as plain values, for the card.

    Raises:
        NccError: As for `ncc.tasks.classification.search.search`.
    """
    split = split_samples(samples)
    level = next(iter(samples.views))

    def objective(trial: "optuna.Trial") -> float:
        import optuna

        accuracy = 0.0

        def judge(epoch: int, _loss: float) -> None:
            nonlocal accuracy
            found = method.scores(samples, level, split.valid).argmax(axis=1)
            accuracy = float((found == samples.label[split.valid]).mean())
            trial.report(accuracy, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned

        method = NetworkMethod(embedding, _drawn(training, trial), device=device, progress=judge)
        method.fit(samples.without_answers(split.test), split.train, np.random.default_rng(seed))
        return accuracy

    trials = search(objective, num_trials, study, seed=seed, progress=progress)
    best = max((trial for trial in trials if trial.state == "complete"), key=lambda trial: trial.value or 0.0)
    return _with(training, best.parameters), [asdict(trial) for trial in trials]


def _drawn(training: NetworkTraining, trial: "optuna.Trial") -> NetworkTraining:
    values: dict[str, Any] = {
        "learning_rate": trial.suggest_float("learning_rate", 3e-4, 1e-2, log=True),
        "hidden": trial.suggest_categorical("hidden", [64, 96, 128, 192]),
        "dropout": trial.suggest_float("dropout", 0.0, 0.5, step=0.05),
        "word_dropout": trial.suggest_float("word_dropout", 0.0, 0.3, step=0.05),
        "smoothing": trial.suggest_float("smoothing", 0.0, 0.2, step=0.05),
    }
    return _with(training, values)


def _with(training: NetworkTraining, values: dict[str, Any]) -> NetworkTraining:
    dropout = values["dropout"]
    sizes = {name: values[name] for name in ("hidden", "dropout", "word_dropout")}
    return replace(
        training,
        encoder=replace(training.encoder, **sizes, last_dropout=dropout),
        head=replace(training.head, dropout=dropout, dense_dropout=dropout),
        smoothing=values["smoothing"],
        loop=replace(training.loop, learning_rate=values["learning_rate"]),
    )
