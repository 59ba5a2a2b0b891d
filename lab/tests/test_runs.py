"""Running methods through folds: what they see, what is kept, and what is run again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import torch

from lab.tests.rooms import Plan, Run, learned_controls, run_plans
from lab.tests.rooms import devices_splits as splits
from ncc.errors import InputError, NccError
from tests.rooms import DeviceMappingSamples

try:
    import cloudpickle
except ImportError:  # before 1.6, joblib has it inside
    from joblib.externals import cloudpickle

HERE = sys.modules[__name__]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows with an input and an answer."""

    x: np.ndarray
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def without_answers(self, rows: np.ndarray) -> "Numbers":
        y = self.y.copy()
        y[rows] = np.nan
        return replace(self, y=y)


class Level:
    """Predicts the mean of the training answers plus a multiple of the input and a random number, and counts fits."""

    kind: Final = "control"
    slow = False

    def __init__(self, slope: float = 1.0, *, name: str = "level", version: str = "1", log: Path | None = None) -> None:
        self.name, self.slope, self.version, self.log = name, slope, version, log

    @property
    def identity(self) -> Any:
        return self.slope

    def fit(self, samples: Numbers, train_idx: np.ndarray, rng: np.random.Generator) -> None:
        if self.log:
            with self.log.open("a") as log:
                log.write(f"{np.flatnonzero(np.isnan(samples.y)).tolist()}\n")
        self.level = samples.y[train_idx].mean() + rng.random()

    def predict(self, samples: Numbers, test_idx: np.ndarray) -> np.ndarray:
        return np.asarray(self.level + self.slope * samples.x[test_idx])


@pytest.fixture
def numbers() -> Numbers:
    rng = np.random.default_rng(0)
    return Numbers(rng.normal(size=12), rng.normal(size=12))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "fits.txt"


@pytest.fixture
def other_processes_know_this_module() -> Iterator[None]:
    cloudpickle.register_pickle_by_value(HERE)
    yield
    cloudpickle.unregister_pickle_by_value(HERE)


def folds(num_rows: int = 12, num_folds: int = 3) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    rows = np.arange(num_rows)
    return tuple((rows[rows % num_folds != fold], rows[rows % num_folds == fold]) for fold in range(num_folds))


def plan(method: Any, seed: int = 1, protocol: str = "thirds") -> Plan:
    return Plan(method, protocol, seed, folds())


def num_fits(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def assert_equal(first: list[Run], again: list[Run]) -> None:
    assert len(first) == len(again)
    for one, other in zip(first, again, strict=True):
        assert (one.method, one.protocol, one.seed) == (other.method, other.protocol, other.seed)
        np.testing.assert_array_equal(one.predicted, other.predicted)


def test_predictions_stand_in_their_rows(numbers: Numbers) -> None:
    (run,) = run_plans(numbers, [Plan(Level(), "two of three", 5, folds()[:2])])
    for fold, (train, test) in enumerate(folds()[:2]):
        level = numbers.y[train].mean() + np.random.default_rng((5, fold)).random()
        np.testing.assert_array_equal(run.predicted[test, 0], level + numbers.x[test])
    assert run.predicted.shape == (12, 1)
    assert np.flatnonzero(np.isnan(run.predicted)).tolist() == folds()[2][1].tolist()  # in no fold's test rows
    assert (run.method, run.protocol, run.seed) == ("level", "two of three", 5)
    assert run.seconds > 0


def test_runs_come_in_the_order_of_plans(numbers: Numbers) -> None:
    plans = [plan(Level(name=name), seed, name * 2) for name in "ba" for seed in (2, 1)]
    runs = run_plans(numbers, plans)
    assert [(run.method, run.seed, run.protocol) for run in runs] == [
        ("b", 2, "bb"),
        ("b", 1, "bb"),
        ("a", 2, "aa"),
        ("a", 1, "aa"),
    ]


def test_answers_of_test_rows_are_hidden(numbers: Numbers, log: Path) -> None:
    run_plans(numbers, [plan(Level(log=log))])
    assert log.read_text().splitlines() == [str(test.tolist()) for _, test in folds()]


def test_progress_tells_of_every_fold(numbers: Numbers, tmp_path: Path) -> None:
    for _ in range(2):  # run, then read from the cache
        lines: list[str] = []
        run_plans(numbers, [plan(Level(), seed) for seed in (1, 2)], cache=tmp_path, progress=lines.append)
        assert lines[0] == "1 of 6: thirds, level, seed 1, fold 1"
        assert lines[-1] == "6 of 6: thirds, level, seed 2, fold 3"
        assert len(lines) == 6


def test_processes_give_what_one_gives(toy: DeviceMappingSamples) -> None:
    histograms = np.random.default_rng(5).poisson(3.0, size=(24, 6)).astype(float)
    trees = 5
    methods = (learned_controls("log_ratio", trees, histograms)[-1], learned_controls("label", trees)[-1])
    plans = [
        Plan(method, protocol, seed, tuple(splits(toy, protocol, seed, num_folds=4)))
        for method in methods
        for protocol in ("kernel", "suite")
        for seed in (1, 2)
    ]
    assert_equal(run_plans(toy, plans), run_plans(toy, plans, jobs=2))


@pytest.mark.usefixtures("other_processes_know_this_module")
def test_processes_share_the_cache(numbers: Numbers, tmp_path: Path, log: Path) -> None:
    plans = [plan(Level(log=log), seed) for seed in (1, 2)]
    first = run_plans(numbers, plans, jobs=2, cache=tmp_path / "runs")
    assert num_fits(log) == len(list((tmp_path / "runs").iterdir())) == 6
    assert_equal(first, run_plans(numbers, plans, cache=tmp_path / "runs"))
    assert_equal(first, run_plans(numbers, plans, jobs=2, cache=tmp_path / "runs"))
    assert num_fits(log) == 6
    assert_equal(first, run_plans(numbers, plans))


def test_kept_results_are_not_computed_again(numbers: Numbers, tmp_path: Path, log: Path) -> None:
    (first,) = run_plans(numbers, [plan(Level(log=log))], cache=tmp_path / "runs")
    # an equal method and equal rows, not the same ones, and under another protocol's name
    copy = Numbers(numbers.x.copy(), numbers.y.copy())
    (again,) = run_plans(copy, [plan(Level(log=log), protocol="again")], cache=tmp_path / "runs")
    assert num_fits(log) == 3
    np.testing.assert_array_equal(first.predicted, again.predicted)
    assert first.seconds == again.seconds
    assert again.protocol == "again"


def test_a_fitted_method_is_the_same_method(toy: DeviceMappingSamples, tmp_path: Path) -> None:
    method = learned_controls("label", 2, np.eye(24))[-1]
    plans = [Plan(method, "suite", 1, tuple(splits(toy, "suite")))]
    run_plans(toy, plans, cache=tmp_path)
    run_plans(toy, plans, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("what", ["option", "name", "input", "answer", "seed", "rows", "place", "version"])
def test_what_a_result_depends_on_is_computed_again(numbers: Numbers, tmp_path: Path, log: Path, what: str) -> None:
    cache = tmp_path / "runs"
    first, second, third = folds()
    run_plans(numbers, [plan(Level(log=log))], cache=cache)
    changed, samples, computed = plan(Level(log=log)), numbers, 3
    if what == "option":
        changed = plan(Level(1.5, log=log))
    elif what == "name":
        changed = plan(Level(name="another", log=log))
    elif what == "input":
        samples = replace(numbers, x=np.where(np.arange(12) == 7, 0.5, numbers.x))
    elif what == "answer":
        samples = replace(numbers, y=np.where(np.arange(12) == 7, 0.5, numbers.y))
    elif what == "seed":
        changed = plan(Level(log=log), seed=2)
    elif what == "rows":
        changed, computed = replace(changed, folds=(first, (second[0][1:], second[1]), third)), 1
    elif what == "place":  # a fold's random numbers depend on it
        changed, computed = replace(changed, folds=(first, third, second)), 2
    else:
        changed = plan(Level(version="2", log=log))
    (run,) = run_plans(samples, [changed], cache=cache)
    assert num_fits(log) == 3 + computed
    assert_equal([run], run_plans(samples, [changed]))


@pytest.mark.parametrize("damage", ["truncated", "empty", "rubbish", "flipped", "other rows", "not finite", "another"])
def test_damaged_results_are_computed_again(numbers: Numbers, tmp_path: Path, log: Path, damage: str) -> None:
    cache = tmp_path / "runs"
    first = run_plans(numbers, [plan(Level(log=log))], cache=cache)
    file = min(cache.iterdir())
    whole = file.read_bytes()
    middle = len(whole) // 4  # inside the predictions
    if damage in ("other rows", "not finite", "another"):
        predicted = np.zeros((5 if damage == "other rows" else 4, 1))
        predicted[0] = np.nan if damage == "not finite" else 0
        arrays: dict[str, Any] = {"else" if damage == "another" else "predicted": predicted, "seconds": 1.0}
        np.savez(file, **arrays)
    else:
        file.write_bytes(
            {
                "truncated": whole[: len(whole) // 2],
                "empty": b"",
                "rubbish": bytes(range(256)),
                "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            }[damage]
        )
    assert_equal(first, run_plans(numbers, [plan(Level(log=log))], cache=cache))
    assert num_fits(log) == 4
    assert_equal(first, run_plans(numbers, [plan(Level(log=log))], cache=cache))
    assert num_fits(log) == 4  # it was mended


SLOW = """
import sys, time
from pathlib import Path
import numpy as np
from ncc_lab.runs import Plan, run_plans


class Rows:
    def __init__(self):
        self.x = np.arange(24.0)
    def __len__(self):
        return 24
    def without_answers(self, rows):
        return self


class Slow:
    name, kind, slow, version, identity = "slow", "control", False, "1", ()
    def fit(self, samples, train_idx, rng):
        print("fit", flush=True)
        time.sleep(0.1)
        self.number = rng.random()
    def predict(self, samples, test_idx):
        return np.full(len(test_idx), self.number)


if __name__ == "__main__":
    rows = np.arange(24)
    folds = [(rows[rows % 12 != fold], rows[rows % 12 == fold]) for fold in range(12)]
    (run,) = run_plans(Rows(), [Plan(Slow(), "p", 1, folds)], cache=Path(sys.argv[1]))
    print(run.predicted.tobytes().hex())
"""


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    script, cache = tmp_path / "slow.py", tmp_path / "runs"
    script.write_text(SLOW)
    command = [sys.executable, str(script), str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not cache.exists() or len(list(cache.glob("*.npz"))) < 4:
            assert process.poll() is None, "it came to an end before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    num_kept = len(list(cache.glob("*.npz")))
    assert 4 <= num_kept < 12
    resumed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert resumed.count("fit") == 12 - num_kept
    command[-1] = str(tmp_path / "other")
    whole = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert whole.count("fit") == 12
    assert resumed[-1] == whole[-1]


class Wrong(Level):
    """Returns what a function makes of the number of test rows and the fold."""

    def __init__(self, answer: Any) -> None:
        super().__init__(name="wrong")
        self.answer = answer

    def predict(self, samples: Numbers, test_idx: np.ndarray) -> np.ndarray:
        return np.asarray(self.answer(len(test_idx), int(test_idx[0])))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n, fold: np.full(n, np.nan if fold == 1 else 0), r"fold 1: .* shape \(4,\) with 4 not finite"),
        (lambda n, fold: np.full((n, 3), [0, np.inf, 0]), r"fold 0: .* shape \(4, 3\) with 4 not finite"),
        (lambda n, fold: np.zeros(n - 1), r"fold 0: expected finite numbers for 4 rows, found shape \(3,\)"),
        (lambda n, fold: np.zeros((n, 2, 2)), r"fold 0: .* found shape \(4, 2, 2\)"),
        (lambda n, fold: np.zeros((n, 1 + fold)), r"thirds: .* each fold, found \[1, 2, 3\] in 3 folds"),
    ],
)
def test_unusable_answers_are_refused(numbers: Numbers, tmp_path: Path, answer: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"method 'wrong', {message}"):
        run_plans(numbers, [plan(Wrong(answer))])


@pytest.mark.usefixtures("other_processes_know_this_module")
def test_errors_of_other_processes_are_raised_here(numbers: Numbers) -> None:
    with pytest.raises(InputError, match=r"method 'wrong', fold \d: expected finite numbers for 4 rows"):
        run_plans(numbers, [plan(Wrong(lambda n, fold: np.full(n, np.nan)))], jobs=2)


@pytest.mark.usefixtures("other_processes_know_this_module")
def test_a_process_that_dies_is_reported(numbers: Numbers) -> None:
    with pytest.raises(NccError, match="a process that ran folds died"):
        run_plans(numbers, [plan(Wrong(lambda n, fold: os.kill(os.getpid(), signal.SIGKILL)))], jobs=2)


def test_a_fold_has_one_thread(numbers: Numbers) -> None:
    class Threads(Level):
        def predict(self, samples: Numbers, test_idx: np.ndarray) -> np.ndarray:
            return np.full(len(test_idx), torch.get_num_threads())

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        (run,) = run_plans(numbers, [plan(Threads())])
        assert set(run.predicted[:, 0]) == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_no_jobs_are_refused(numbers: Numbers) -> None:
    with pytest.raises(InputError, match="jobs: expected at least 1, found 0"):
        run_plans(numbers, [plan(Level())], jobs=0)
