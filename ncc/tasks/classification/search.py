"""Hyper-parameter search: a resumable optuna study in a file, which ends poor trials early.

References: Akiba et al. 2019 ("Optuna"); Bergstra et al. 2011 (tree-structured Parzen estimators, which propose).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ncc.errors import AssetError, NccError

if TYPE_CHECKING:
    import optuna

_TRIALS_BEFORE_PRUNING = 4
_EPOCHS_BEFORE_PRUNING = 2


@dataclass(frozen=True)
class SearchTrial:
    """One trial of a study, as reports list it.

    Attributes:
        number: From 0.
        parameters: Name → value.
        value: What the objective returned; None where the trial did not end.
        state: "complete", "pruned" or "fail".
        seconds: By the clock.
    """

    number: int
    parameters: dict[str, Any]
    value: float | None
    state: str
    seconds: float


def search(
    objective: Callable[["optuna.Trial"], float],
    num_trials: int,
    study: Path,
    *,
    seed: int = 204,
    progress: Callable[[SearchTrial], None] | None = None,
) -> list[SearchTrial]:
    """Runs trials until a study has as many as asked for, those of earlier runs counted in.

    A trial that was cut off by a stop stays in the study as one that failed, and another takes its place.

    Args:
        objective: Draws its parameters from the trial that it is given, reports a value after each epoch, raises
            `optuna.TrialPruned` where the trial says so, and returns the value that is to be large.
        num_trials: That end, completed or pruned.
        study: File of the study.
        seed: Of the proposals.
        progress: Called with each trial that ended.

    Returns:
        All trials of the study in order.

    Raises:
        NccError: Optuna is not installed, or every trial was pruned.
        AssetError: The file is not a study.
    """
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError as error:
        raise NccError(
            "a search needs optuna: in ncc's checkout, pip install -c constraints.txt '.[search]'"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study.parent.mkdir(parents=True, exist_ok=True)
    try:
        opened = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(study))),
            study_name="ncc",
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(_TRIALS_BEFORE_PRUNING, _EPOCHS_BEFORE_PRUNING),
        )
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise AssetError(f"{study}: not a study of a search ({error}); remove it to start again") from error
    for trial in opened.trials:
        if not trial.state.is_finished():  # of a run that was stopped
            opened.tell(trial.number, state=optuna.trial.TrialState.FAIL, skip_if_finished=True)
    # the proposals depend on the trials so far alone, so that a search that was stopped goes on as it would have
    while (ended := len(_ended(opened.trials))) < num_trials:
        opened.sampler = optuna.samplers.TPESampler(seed=seed + ended)
        opened.optimize(objective, n_trials=1)
        if progress:
            progress(_record(opened.trials[-1]))
    if not any(trial.value is not None and trial.state.name == "COMPLETE" for trial in opened.trials):
        raise NccError("no trial of the search was completed")
    return [_record(trial) for trial in opened.trials]


def _ended(trials: list[Any]) -> list[Any]:
    return [trial for trial in trials if trial.state.name in ("COMPLETE", "PRUNED")]


def _record(trial: Any) -> SearchTrial:
    seconds = trial.duration.total_seconds() if trial.duration else 0.0
    return SearchTrial(trial.number, dict(trial.params), trial.value, trial.state.name.lower(), round(seconds, 1))
