"""A recipe: search the hyper-parameters of the classifier's network with optuna, in a study that resumes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from ncc.learning.embedding.embedding import Embedding
from ncc.learning.programs.labelled import ProgramSamples
from ncc.tasks.classification.config import NetworkTraining
from ncc.tasks.classification.network import TrainedNetwork, fit_network
from ncc.tasks.classification.train import split_samples

_ENDED = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)


def tune_training(
    samples: ProgramSamples, embedding: Embedding, training: NetworkTraining, num_trials: int, study: Path, seed: int
) -> tuple[NetworkTraining, optuna.Study]:
    """Run trials until the study has ``num_trials``; each is judged on the validation programs after every epoch."""
    split, level = split_samples(samples), next(iter(samples.variants))
    hidden = samples.without_answers(split.test)

    def objective(trial: optuna.Trial) -> float:
        accuracies: list[float] = []

        def judge(epoch: int, _loss: float, network: TrainedNetwork) -> None:
            predicted = network.scores(samples.variants[level].rows(split.valid)).argmax(axis=1)
            accuracies.append(float((predicted == samples.label[split.valid]).mean()))
            trial.report(accuracies[-1], epoch)
            if trial.should_prune():
                raise optuna.TrialPruned

        options, rng = suggest_training(training, trial), np.random.default_rng(seed)
        fit_network(hidden, split.train, embedding, options, rng, progress=judge)
        return accuracies[-1]

    storage = JournalStorage(JournalFileBackend(str(study)))
    trials = optuna.create_study(storage=storage, study_name="ncc", direction="maximize", load_if_exists=True)
    trials.pruner = optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=2)
    while (num_done := len(trials.get_trials(states=_ENDED))) < num_trials:
        trials.sampler = optuna.samplers.TPESampler(seed=seed + num_done)  # so that a stopped search proposes the same
        trials.optimize(objective, n_trials=1)
    return suggest_training(training, trials.best_trial), trials


def suggest_training(training: NetworkTraining, trial: optuna.trial.BaseTrial) -> NetworkTraining:
    """Draw learning rate, size, dropout and label smoothing from a trial; a frozen one gives what it drew."""
    hidden = trial.suggest_categorical("hidden", [64, 96, 128, 192])
    dropout = trial.suggest_float("dropout", 0.0, 0.5, step=0.05)
    words = trial.suggest_float("word_dropout", 0.0, 0.3, step=0.05)
    smoothing = trial.suggest_float("smoothing", 0.0, 0.2, step=0.05)
    rate = trial.suggest_float("learning_rate", 3e-4, 1e-2, log=True)
    encoder = replace(training.encoder, hidden=hidden, dropout=dropout, last_dropout=dropout, word_dropout=words)
    head = replace(training.head, dropout=dropout, dense_dropout=dropout)
    return replace(
        training, encoder=encoder, head=head, label_smoothing=smoothing, loop=replace(training.loop, learning_rate=rate)
    )
